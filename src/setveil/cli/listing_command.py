"""`setveil methods`, `guarantees`, `metrics` and `attacks`: the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from setveil.base.translation import as_command_line
from setveil.catalog import ATTACKS, GUARANTEES, METHODS, METRICS, named
from setveil.cli.options import OutputOptions, about
from setveil.cli.show import say, say_json, say_pairs, say_table
from setveil.errors import ExitCode
from setveil.method_description import describe_method
from setveil.presence import catalog as joined

if TYPE_CHECKING:
    from cyclopts import Parameter

    from setveil.method_description import MethodDescription

ABOUT = (
    "title",
    "paper",
    "truthful",
    "needs",
    "unit",
    "better",
    "about",
    "formula",
    "knows",
    "statistic",
    "base_rate",
    "blind_to",
)


class Catalog(NamedTuple):
    """The methods, the guarantees, the metrics or the attacks."""

    noun: str
    of_records: dict[str, Any]
    joined: dict[str, Any]
    """Declarations for joined tables, which are listed under their own heading."""

    @property
    def all(self) -> dict[str, Any]:
        """All declarations, of both kinds of data."""
        return self.of_records | self.joined

    def choice(self) -> Parameter:
        """Return the help text of the argument that names one."""
        return about(f"The one to describe: {' | '.join(self.all)}.")


_METHODS = Catalog("method", {**METHODS}, {**joined.METHODS})
_GUARANTEES = Catalog("guarantee", {**GUARANTEES}, {**joined.GUARANTEES})
_METRICS = Catalog("metric", {**METRICS}, {**joined.METRICS})
_ATTACKS = Catalog("attack", {**ATTACKS}, {})


def methods(name: Annotated[str | None, _METHODS.choice()] = None, /, *, output: OutputOptions) -> ExitCode:
    """List the methods, or describe one.

    Example:
      setveil methods part-swap
    """
    return _show(_METHODS, name, output)


def guarantees(name: Annotated[str | None, _GUARANTEES.choice()] = None, /, *, output: OutputOptions) -> ExitCode:
    """List the guarantees, or describe one.

    Example:
      setveil guarantees hidden-tendency
    """
    return _show(_GUARANTEES, name, output)


def metrics(name: Annotated[str | None, _METRICS.choice()] = None, /, *, output: OutputOptions) -> ExitCode:
    """List the metrics, or describe one.

    Example:
      setveil metrics tendency-posterior
    """
    return _show(_METRICS, name, output)


def attacks(name: Annotated[str | None, _ATTACKS.choice()] = None, /, *, output: OutputOptions) -> ExitCode:
    """List the attacks, or describe one.

    Example:
      setveil attacks find-record
    """
    return _show(_ATTACKS, name, output)


def _show(catalog: Catalog, name: str | None, output: OutputOptions) -> ExitCode:
    if name is None:
        _show_all(catalog, output)
    else:
        _show_one(named(catalog.noun, catalog.all, name), output)
    return ExitCode.OK


def _show_all(catalog: Catalog, output: OutputOptions) -> None:
    if output.json:
        say_json([_plain(kind) for kind in catalog.all.values()])
        return
    columns = ["name", "what it does"]
    say_table(columns, [[kind.name, kind.summary()] for kind in catalog.of_records.values()])
    if catalog.joined:
        say()
        say("For joined tables of two providers:")
        say_table(columns, [[kind.name, kind.summary()] for kind in catalog.joined.values()])
    say(f"Describe one with: setveil {catalog.noun}s NAME")


def _show_one(kind: Any, output: OutputOptions) -> None:
    plain = _plain(kind)
    if output.json:
        say_json(plain)
        return
    is_method = kind.name in _METHODS.all
    say(f"{kind.name}: {kind.summary()}")
    say()
    say_pairs(_method_pairs(kind) if is_method else _pairs(plain))
    if plain["parameters"]:
        columns = ["name", "allowed", "default", "public", "description"]
        say_table(columns, [[p[c] for c in columns] for p in plain["parameters"]])
    if is_method:
        _show_examples(describe_method(kind))


def _pairs(plain: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the facts about a guarantee, a metric or an attack, with their headings."""
    return [
        (key.replace("_", " ").capitalize(), ", ".join(value) if isinstance(value, list | tuple) else str(value))
        for key, value in plain.items()
        if key in ABOUT and value
    ]


def _method_pairs(kind: Any) -> list[tuple[str, str]]:
    """Return the facts about a method, with their headings."""
    found = describe_method(kind)
    return [
        ("Title", found.title),
        ("Guarantee", found.guarantee_text),
        ("Publishes", found.form_title),
        ("Files", found.files_text),
        ("Truthful", found.truthful_text),
        ("Page", found.page),
        ("Paper", f"{kind.paper}: {found.citation}"),
    ]


def _show_examples(found: MethodDescription) -> None:
    """Print the example commands and the Python lines that do the same, each ready to copy."""
    commands = [as_command_line(one) for one in found.example]
    for heading, lines in (("Example", commands), ("In Python", found.python)):
        say(f"{heading}:")
        for line in lines:
            say(f"  {line}")
        say()


def _plain(kind: Any) -> dict[str, Any]:
    """Return a declaration for machines."""
    facts = {key: getattr(kind, key) for key in ABOUT if hasattr(kind, key)}
    if kind.name in _METHODS.all:
        found = describe_method(kind)
        facts |= found.to_dict() | {"example": [as_command_line(one) for one in found.example]}
    parameters = [
        {
            "name": p.name,
            "allowed": p.allowed,
            "default": "required" if p.required else p.default_text,
            "public": "yes" if p.public else "no, but the release shows it" if p.inferable else "no",
            "description": p.description,
        }
        for p in kind.parameters()
    ]
    return {"name": kind.name, "summary": kind.summary(), **facts, "parameters": parameters}
