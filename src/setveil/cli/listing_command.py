"""`setveil methods`, `guarantees` and `metrics`: the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from setveil.catalog import GUARANTEES, METHODS, METRICS, named
from setveil.cli.options import OutputOptions, about
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode
from setveil.presence import catalog as joined

if TYPE_CHECKING:
    from cyclopts import Parameter

ABOUT = ("title", "paper", "truthful", "needs", "unit", "better", "about", "formula", "blind_to")


class Catalog(NamedTuple):
    """Declarations of one kind."""

    noun: str
    of_records: dict[str, Any]
    joined: dict[str, Any]
    """What is about tables that two providers join, and stands under a heading of its own."""

    @property
    def all(self) -> dict[str, Any]:
        """Both parts."""
        return self.of_records | self.joined

    def choice(self) -> Parameter:
        """Return the help text of the argument that names one."""
        return about(f"Describe this one: {' | '.join(self.all)}.")


_METHODS = Catalog("method", {**METHODS}, {**joined.METHODS})
_GUARANTEES = Catalog("guarantee", {**GUARANTEES}, {**joined.GUARANTEES})
_METRICS = Catalog("metric", {**METRICS}, {**joined.METRICS})


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
    say()
    say("of tables that two providers join:")
    say_table(columns, [[kind.name, kind.summary()] for kind in catalog.joined.values()])
    say(f"more: setveil {catalog.noun}s NAME")


def _show_one(kind: Any, output: OutputOptions) -> None:
    plain = _plain(kind)
    if output.json:
        say_json(plain)
        return
    say(f"{kind.name}: {kind.summary()}")
    say()
    for key, value in plain.items():
        if key in ABOUT and value:
            say(f"{key.replace('_', ' ')}: {', '.join(value) if isinstance(value, list | tuple) else value}")
    if plain["parameters"]:
        columns = ["name", "allowed", "default", "public", "description"]
        say_table(columns, [[p[c] for c in columns] for p in plain["parameters"]])


def _plain(kind: Any) -> dict[str, Any]:
    about_it = {key: getattr(kind, key) for key in ABOUT if hasattr(kind, key)}
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
    return {"name": kind.name, "summary": kind.summary(), **about_it, "parameters": parameters}
