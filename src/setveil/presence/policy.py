"""What both providers and the collector agree on before a run: a TOML file, whose hash they compare first.

The hash is of what the file says and not of its text: comments, order of keys and ways to write a fraction do not count. Where a taxonomy
is named by its file, what stands in that file counts.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.arguments import check_arguments
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
    """The method with its limits, the columns, and the population, by its checksum."""

    method: DummyUsers
    schema: Schema
    population: str

    @cached_property
    def sha256(self) -> str:
        """The checksum that parties compare."""
        return self._digest(leaving_out=())

    @cached_property
    def division_sha256(self) -> str:
        """The checksum of what decides on the groups, which dummies are drawn for: whatever computes it, they are the same."""
        return self._digest(leaving_out=("backend", "counts_to"))

    def _digest(self, leaving_out: tuple[str, ...]) -> str:
        limits = {
            name: str(value.share) if isinstance(value, Share) else value
            for name, value in ((p.name, getattr(self.method, p.name)) for p in self.method.parameters())
            if name not in leaving_out
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
        """Return the rules as numbers."""
        return self.method.rules(self.schema.sensitive.cells, population)

    def changed(self, **limits: Any) -> Policy:
        """Return the policy with some limits of its method changed."""
        values = self.method.model_dump(mode="json") | limits
        return Policy(DummyUsers(**values), self.schema, self.population)

    def refuse_other(self, population: Population) -> None:
        """Refuse a population that the policy does not speak of."""
        if population.sha256 != self.population:
            raise BadData(
                f"the population has the checksum {population.sha256[:12]}… and the policy names {self.population[:12]}…; "
                "both providers must have the same ids in the same order"
            )

    def to_toml(self) -> str:
        """Return the text of a policy file."""
        lines = [
            "# What both providers and the collector agree on; the hash of what this says is compared before a run.",
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
    """Return the lines of the sensitive attribute."""
    return ["", "[sensitive]", f"name = {_quoted(sensitive.name)}", f"values = {_listed(list(sensitive.values))}"]


def attribute_tables(side: str, attributes: tuple[Attribute, ...]) -> list[str]:
    """Return the lines of the attributes of one provider."""
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
    """Read a policy file, or say in one sentence what is wrong with it."""
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadData("is not there; expected a policy file", file=str(file)) from None
    except OSError as error:
        what = "is a folder" if isinstance(error, IsADirectoryError) else f"cannot be read: {error.strerror or error}"
        raise BadData(f"{what}; expected a policy file", file=str(file)) from None
    except UnicodeDecodeError:
        raise BadData("is not UTF-8 text; expected a policy file", file=str(file)) from None
    except tomllib.TOMLDecodeError as error:
        raise BadData(f"is not TOML ({error})", file=str(file)) from None
    except RecursionError:
        raise BadData("is nested too deeply; expected a policy file", file=str(file)) from None
    except ValueError:
        raise BadData("is not a name that a file can have", file=repr(str(file))) from None
    try:
        return policy_from_dict(given, folder=file.parent)
    except BadParameter as error:
        raise BadData(str(error), file=str(file)) from None
    except BadData as error:  # of a tree, which may be in a file of its own
        raise (error if error.file else BadData(str(error), file=str(file))) from None


def policy_from_dict(given: dict[str, Any], *, folder: Path) -> Policy:
    """Make a policy from what a file says; taxonomies that it names are beside it."""
    values = dict(given)
    columns = {key: values.pop(key, None) for key in ("a", "b", "sensitive")}
    for side in ("a", "b"):
        for attribute in columns[side] if isinstance(columns[side], list) else ():
            _take_in_taxonomy(attribute, folder)
    population = values.pop("population", None)
    if (
        not isinstance(population, str)
        or len(population) != _SHA256_DIGITS
        or set(population) - set("0123456789abcdef")
    ):
        raise BadParameter(
            "population is missing or no sha256 (64 hexadecimal digits); draft a policy with setveil presence policy"
        )
    schema = Schema.from_dict(columns, where="the policy")
    return Policy(DummyUsers(**values), schema, population)


def _take_in_taxonomy(attribute: Any, folder: Path) -> None:
    if isinstance(attribute, dict) and attribute.get("kind") == "taxonomy" and "file" in attribute:
        name = attribute.pop("file")
        if not isinstance(name, str):
            raise BadParameter("file of a taxonomy must be a text")
        attribute["parents"] = dict(TaxonomyAttribute.over("taxonomy", read_hierarchy(folder / name)).parents)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(texts: list[str]) -> str:
    return "[" + ", ".join(map(_quoted, texts)) + "]"
