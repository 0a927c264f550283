"""`setveil presence policy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import setveil as sv
from setveil.base.atomic import make_file, refuse_file
from setveil.cli.options import Declared, ForceOption, OutputOptions, Value, about, declared
from setveil.cli.presence.options import EitherTableOptions, TableAOption, TableBOption
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode, Missing
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.policy_draft import LIMITS, Drafting

if TYPE_CHECKING:
    from setveil.presence.policy import Policy


def policy(
    *,
    sensitive: Annotated[str | None, about("The sensitive column of provider B.")] = None,
    person: Annotated[
        str | None, about("The column of a provider's own customer keys, which does not become part of the policy.")
    ] = None,
    a: TableAOption = None,
    b: TableBOption = None,
    tables: EitherTableOptions,
    show: Annotated[
        str | None, about("Print the hash and the contents of this policy file, and write nothing.")
    ] = None,
    out: Annotated[str | None, about("The policy file to write.")] = None,
    force: ForceOption = False,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(DummyUsers, after="out", defaults=LIMITS)],
) -> ExitCode:
    r"""Draft the policy that both providers and the collector agree on.

    Writes a draft from the columns of both tables: numeric columns get a grid of round steps, other columns get categories in label order.
    Review the draft before you share it: ranges and categories come from the data. If the providers must not see each other's tables, each
    drafts a part from its own table only, and they combine the two parts. Do the same if their customer key columns (--person) have
    different names. --show prints the hash of a policy, to compare by telephone.

    Example:
      setveil presence policy --a trial/a.csv --b trial/b.csv --person customer --sensitive genre \
          --population trial/population.csv --out policy.toml
    """
    if show:
        _show(sv.read_policy(show), output)
        return ExitCode.OK
    if not out:
        raise Missing(
            "--out is missing: name the policy file to write with --out, or print an existing one with --show"
        )
    target = Path(out)
    for role, table, query in (("a", a, tables.query_a), ("b", b, tables.query_b)):
        if query and not table:
            raise Missing(f"--{role} is missing: name the database that --query-{role} reads")
    drafting = Drafting(
        a=tables.source("a", a) if a else None,
        b=tables.source("b", b) if b else None,
        population=tables.people(),
        sensitive=sensitive,
        person=person,
    )
    refuse_file(target, force=force)
    drafted = drafting.draft(declared(DummyUsers, parameters, None))
    with make_file(target, force=force) as file:
        file.write_text(drafted.text, encoding="utf-8")
    if drafted.policy is None:
        found = {"out": str(target), "part": drafted.part}
        other = "B" if drafted.part == "a" else "A"
        sentence = (
            f"{target} holds the part of provider {drafted.part.upper()}; combine it with the part of provider {other}"
        )
    else:
        found = {"out": str(target), "sha256": drafted.policy.sha256}
        sentence = f"{target} has the hash {drafted.policy.sha256}"
    if output.json:
        say_json(found)
    else:
        say(sentence)
    return ExitCode.OK


def _show(policy: Policy, output: OutputOptions) -> None:
    if output.json:
        say_json({
            "sha256": policy.sha256,
            "population": policy.population,
            "limits": policy.method.model_dump(mode="json"),
            "schema": policy.schema.to_dict(),
        })  # fmt: skip
        return
    say(f"hash        {policy.sha256}")
    say(f"population  {policy.population}")
    for p in policy.method.parameters():
        say(f"{p.name:<11} {getattr(policy.method, p.name)}")
    for role in ("a", "b"):
        columns = ", ".join(f"{one.name} ({one.kind}, {one.cells} cells)" for one in policy.schema.of(role))
        say(f"provider {role.upper()}  {columns}")
    say(f"sensitive   {policy.schema.sensitive.name} ({policy.schema.sensitive.cells} values)")
