"""`setveil presence policy`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.base.atomic import make_file, refuse_file
from setveil.base.progress import note
from setveil.cli.options import FORCE, Option, of_declaration
from setveil.cli.presence.options import EITHER_TABLE, population_of, query_of
from setveil.cli.show import say, say_json
from setveil.errors import BadParameter, Missing
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.policy import Policy, attribute_tables, read_policy, sensitive_table
from setveil.presence.tables.drafting import draft_attributes, draft_sensitive
from setveil.presence.tables.schema import Schema

TEXT = """Writes a draft from the columns of both tables: numbers get a grid of round steps, other columns categories in label order.
Look at it before you hand it over: the range and the categories are those of the data. Two providers who must not show each other their
tables each draft with the other's table left out, and put the parts together. They also do so where their columns of customer keys
(--person) have two names. With --show the hash of a policy is printed, to compare by telephone.

Example:
  setveil presence policy --a trial/a.csv --b trial/b.csv --person customer --sensitive genre \\
      --population trial/population.csv --out policy.toml"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    limits = {"max_a": "0.9", "min_a": "0.1", "max_b": "0.9", "min_b": "0.1"}
    declared = [
        Option(option.name, option.kind, option.help, limits.get(option.name)) for option in of_declaration(DummyUsers)
    ]
    return [
        Option("sensitive", str, "The sensitive column of provider B."),
        Option("person", str, "The column of a provider's own customer keys, which stays out of the policy."),
        *EITHER_TABLE,
        Option("show", str, "Print the hash of this policy file and what it says, and write nothing."),
        Option("out", str, "The policy file to write."),
        *declared,
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Draft or show."""
    if given["show"]:
        return _show(given["show"], as_json=given["json"])
    _require(given)
    out = Path(given["out"])
    refuse_file(out, force=given["force"])
    sides = {
        role: draft_attributes(
            given[role],
            leaving_out=[name for name in (given["person"], given["sensitive"] if role == "b" else None) if name],
            **_reading(role, given),
        )
        for role in ("a", "b")
        if given[role]
    }
    if len(sides) < 2:
        role = next(iter(sides))
        text = _part(role, sides[role], given)
        _write(out, text, force=given["force"])
        note(_LOOK)
        if given["json"]:
            say_json({"out": str(out), "part": role})
        else:
            say(f"{out} holds the part of provider {role.upper()}; put it together with the other's")
        return 0
    schema = Schema(sides["a"], sides["b"], draft_sensitive(given["b"], given["sensitive"], **_reading("b", given)))
    values = {p.name: given[p.name] for p in DummyUsers.parameters() if given[p.name] is not None}
    policy = Policy(DummyUsers(**values), schema, population_of(given).sha256)
    _write(out, policy.to_toml(), force=given["force"])
    note(_LOOK)
    if given["json"]:
        say_json({"out": str(out), "sha256": policy.sha256})
    else:
        say(f"{out} has the hash {policy.sha256}")
    return 0


_LOOK = "the ranges, steps and categories of the draft come from the data: look at them before you hand it over"


def _reading(role: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return how the table of a provider is read."""
    query = query_of(given[role], given, f"query_{role}")
    return {"id_column": given["id"], "separator": given["separator"], "query": query}


def _write(out: Path, text: str, *, force: bool) -> None:
    with make_file(out, force=force) as file:
        file.write_text(text, encoding="utf-8")


def _require(given: dict[str, Any]) -> None:
    if not given["out"]:
        raise Missing("--out is missing: where to write the policy; or look at one with --show")
    if not given["a"] and not given["b"]:
        raise Missing("--a and --b are missing: the tables of the providers, at least one of them")
    if given["b"] and not given["sensitive"]:
        raise Missing("--sensitive is missing: which column of provider B is the sensitive one")
    if given["a"] and given["b"] and not given["population"]:
        raise Missing("--population is missing: the ids of all people, whose hash stands in the policy")
    if given["sensitive"] and not given["b"]:
        raise BadParameter("--sensitive goes with --b, whose column it is")
    if given["sensitive"] == given["id"]:
        raise BadParameter(
            f"--sensitive is {given['id']!r}, the column of ids, which no policy may hold; name another column"
        )
    if given["sensitive"] and given["sensitive"] == given["person"]:
        raise BadParameter(
            f"--sensitive and --person are both {given['person']!r}; the sensitive column is published, and your own customer keys "
            "are not: name two columns"
        )
    for role in ("a", "b"):
        if given[f"query_{role}"] and not given[role]:
            raise Missing(f"--{role} is missing: the database that --query-{role} asks")


def _part(role: str, attributes: tuple[Any, ...], given: dict[str, Any]) -> str:
    """Return the tables of one provider alone."""
    lines = attribute_tables(role, attributes)
    if role == "b":
        lines = sensitive_table(draft_sensitive(given["b"], given["sensitive"], **_reading("b", given))) + lines
    return "\n".join(lines).strip() + "\n"


def _show(file: str, *, as_json: bool) -> int:
    policy = read_policy(file)
    if as_json:
        say_json({
            "sha256": policy.sha256,
            "population": policy.population,
            "limits": policy.method.model_dump(mode="json"),
            "schema": policy.schema.to_dict(),
        })  # fmt: skip
        return 0
    say(f"hash        {policy.sha256}")
    say(f"population  {policy.population}")
    for p in policy.method.parameters():
        say(f"{p.name:<11} {getattr(policy.method, p.name)}")
    for role in ("a", "b"):
        columns = ", ".join(f"{one.name} ({one.kind}, {one.cells} cells)" for one in policy.schema.of(role))
        say(f"provider {role.upper()}  {columns}")
    say(f"sensitive   {policy.schema.sensitive.name} ({policy.schema.sensitive.cells} values)")
    return 0
