"""The policy that both providers and the collector agree on: a TOML file, whose hash they compare before a run.

The hash covers the values of the file, not its text: comments, the order of keys and the notation of fractions do not matter. If the
policy names the file of a taxonomy, the hash covers the contents of that file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.arguments import check_arguments
from setveil.data.files.toml_files import parse_toml, read_settings
from setveil.errors import BadData, BadParameter
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.parameters.shares import Share
from setveil.presence import PROTECTS
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.attributes import TaxonomyAttribute
from setveil.presence.tables.schema import Schema

if TYPE_CHECKING:
    from setveil.presence.secure.rules import Rules
    from setveil.presence.tables.attributes import Attribute, OrderedAttribute
    from setveil.presence.tables.population import Population

POLICY_VERSION = 1
_SHA256_DIGITS = 64


@dataclass(frozen=True)
class Policy:
    """The agreement of both providers and the collector on a run: the limits, the columns and the population.

    Read one with `read_policy`.

    Parameters
    ----------
    method : DummyUsers
        The method with its limits.
    schema : Schema
        The columns of both providers, and the sensitive column of provider B.
    population : str
        The SHA-256 checksum of the population, in hexadecimal digits.

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> originals = sample(people=400).originals
    >>> method = sv.DummyUsers(max_a="0.9", min_a="0.1", max_b="0.9", min_b="0.1")
    >>> policy = sv.Policy(method, originals.schema, originals.population.sha256)
    >>> policy.changed(k=3).method.k
    3
    >>> policy.changed(k=3).sha256 == policy.sha256
    False
    """

    method: DummyUsers
    schema: Schema
    population: str

    @cached_property
    def sha256(self) -> str:
        """The checksum that the parties compare before a run."""
        return self._digest(without=())

    @cached_property
    def division_sha256(self) -> str:
        """The checksum of what determines the groups, and with them the dummies: all but `backend` and `counts_to`."""
        return self._digest(without=("backend", "counts_to"))

    def _digest(self, without: tuple[str, ...]) -> str:
        limits = {
            name: str(value.share) if isinstance(value, Share) else value
            for name, value in ((p.name, getattr(self.method, p.name)) for p in self.method.parameters())
            if name not in without
        }
        whole = {
            "version": POLICY_VERSION,
            "limits": limits,
            "schema": self.schema.to_dict(),
            "population": self.population,
        }
        text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def rules(self, population: int) -> Rules:
        """Return the rules as numbers.

        Parameters
        ----------
        population : int
            The number of people in the population.

        Returns
        -------
        Rules
            The rules for secure computation.
        """
        return self.method.rules(self.schema.sensitive.cells, population)

    def changed(self, **limits: Any) -> Policy:
        """Return a copy of the policy with other limits.

        Parameters
        ----------
        **limits
            Parameters of the method by name, for example ``k=3`` or ``backend="clear"``.

        Returns
        -------
        Policy
            The changed policy. Its checksum differs from that of the original.

        Raises
        ------
        BadParameter
            A limit is unknown or not allowed.
        """
        values = self.method.model_dump(mode="json") | limits
        return Policy(DummyUsers(**values), self.schema, self.population)

    def refuse_other(self, population: Population) -> None:
        """Refuse a population that is not the one that the policy names.

        Parameters
        ----------
        population : Population
            The population to compare.

        Raises
        ------
        BadData
            The checksums differ.
        """
        if population.sha256 != self.population:
            raise BadData(
                f"the population has the checksum {population.sha256[:12]}… and the policy names {self.population[:12]}…; "
                "both providers must have the same ids in the same order"
            )

    def to_toml(self) -> str:
        """Return the policy as the text of a policy file, which `read_policy` reads."""
        lines = [
            "# The policy that both providers and the collector agree on. They compare its hash before a run.",
            f"# {PROTECTS}",
            f"population = {_quoted(self.population)}",
            "",
        ]
        for p in self.method.parameters():
            value = getattr(self.method, p.name)
            lines += [f"# {p.description}", f"{p.name} = {value if isinstance(value, int) else _quoted(str(value))}"]
        lines += sensitive_table(self.schema.sensitive)
        for side in ("a", "b"):
            lines += attribute_tables(side, self.schema.of(side))
        return "\n".join(lines) + "\n"


def sensitive_table(sensitive: OrderedAttribute) -> list[str]:
    """Return the lines of a policy file that declare the sensitive attribute."""
    return ["", "[sensitive]", f"name = {_quoted(sensitive.name)}", f"values = {_listed(list(sensitive.values))}"]


def attribute_tables(side: str, attributes: tuple[Attribute, ...]) -> list[str]:
    """Return the lines of a policy file that declare the attributes of one provider."""
    lines = []
    for attribute in attributes:
        lines += ["", f"[[{side}]]"]
        for key, value in attribute.to_dict().items():
            if isinstance(value, dict):
                pairs = ", ".join(f"{_quoted(node)} = {_quoted(parent)}" for node, parent in value.items())
                lines.append(f"{key} = {{ {pairs} }}")
            else:
                lines.append(f"{key} = {_listed(value) if isinstance(value, list) else _quoted(value)}")
    return lines


@check_arguments
def read_policy(path: str | Path) -> Policy:
    """Read a policy file.

    Parameters
    ----------
    path : str or Path
        The policy file, in TOML. Taxonomy files that it names are relative to its folder.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    BadData
        The file does not exist, cannot be read, or is not a valid policy.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> from setveil.presence.sample_files import write_sample
    >>> folder = Path(tempfile.mkdtemp()) / "trial"
    >>> originals = write_sample(folder, people=400, seed=1, made_by="an example")
    >>> policy = sv.read_policy(folder / "policy.toml")
    >>> policy.method.k, policy.schema.sensitive.name
    (2, 'genre')
    """
    file = Path(path)
    given = parse_toml(read_settings(file, "a policy file"), file, "a policy file")
    try:
        return policy_from_dict(given, folder=file.parent)
    except BadParameter as error:
        raise BadData(str(error), file=str(file)) from None
    except BadData as error:  # from a taxonomy, which may have its own file
        raise (error if error.file else BadData(str(error), file=str(file))) from None


def policy_from_dict(given: dict[str, Any], *, folder: Path) -> Policy:
    """Return the policy of parsed TOML; taxonomy files that it names are relative to `folder`."""
    values = dict(given)
    columns = {key: values.pop(key, None) for key in ("a", "b", "sensitive")}
    for side in ("a", "b"):
        for attribute in columns[side] if isinstance(columns[side], list) else ():
            _load_taxonomy(attribute, folder)
    population = values.pop("population", None)
    if (
        not isinstance(population, str)
        or len(population) != _SHA256_DIGITS
        or set(population) - set("0123456789abcdef")
    ):
        raise BadParameter(
            "population is missing or is not a SHA-256 checksum (64 hexadecimal digits); draft a policy with setveil presence policy"
        )
    schema = Schema.from_dict(columns, where="the policy")
    return Policy(DummyUsers(**values), schema, population)


def _load_taxonomy(attribute: Any, folder: Path) -> None:
    """Replace the key `file` of a taxonomy by the contents of that file."""
    if isinstance(attribute, dict) and attribute.get("kind") == "taxonomy" and "file" in attribute:
        name = attribute.pop("file")
        if not isinstance(name, str):
            raise BadParameter(f"the key file of a taxonomy is {name!r}; expected the name of a file, as text")
        attribute["parents"] = dict(TaxonomyAttribute.over("taxonomy", read_hierarchy(folder / name)).parents)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(texts: list[str]) -> str:
    return "[" + ", ".join(map(_quoted, texts)) + "]"
