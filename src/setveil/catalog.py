"""The catalog: tables of all methods, guarantees, metrics, attacks, formats and forms.

The command line, job files, web forms, docs and contract tests read it. Each family registers its members in its `__init__.py`, one line
per member: its name, its module and its class. A table knows all names, and imports a member when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from setveil import attacks, guarantees, metrics
from setveil.data import forms
from setveil.data.formats import FORMATS
from setveil.errors import UnknownName
from setveil.methods import disassociation, itemsets, tendency, uncertainty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from setveil.attacks.base import Attack
    from setveil.base.declaration import Declaration
    from setveil.data.forms.base import Published
    from setveil.data.forms.own_format import DataFormat
    from setveil.guarantees.base import Guarantee
    from setveil.methods.base import Method
    from setveil.metrics.base import Metric

__all__ = [
    "ATTACKS",
    "FORMATS",
    "FORMS",
    "GUARANTEES",
    "METHODS",
    "METRICS",
    "Table",
    "named",
    "own_format_of",
]


class Table(Mapping[str, Any]):
    """Classes by their command-line names, in the order of their registrations; each is imported when it is asked for."""

    def __init__(self, registered: Mapping[str, Mapping[str, str]]) -> None:
        self._places = {
            name: f"{package}.{place}" for package, members in registered.items() for name, place in members.items()
        }

    @classmethod
    def of(cls, *families: ModuleType) -> Table:
        """Return a table of the members that these families register."""
        return cls({family.__name__: family.MEMBERS for family in families})

    def __getitem__(self, name: str) -> Any:
        module, _, kind = self._places[name].rpartition(".")
        return getattr(import_module(module), kind)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


METHODS: Mapping[str, type[Method]] = Table.of(tendency, itemsets, uncertainty, disassociation)

GUARANTEES: Mapping[str, type[Guarantee]] = Table.of(guarantees)

METRICS: Mapping[str, type[Metric]] = Table.of(metrics)

ATTACKS: Mapping[str, type[Attack]] = Table.of(attacks)

FORMS: Mapping[str, type[Published]] = Table({"setveil.data": forms.MEMBERS})
"""The forms of published data."""

Kind = TypeVar("Kind", bound="Declaration")


def named(kind: str, table: Mapping[str, type[Kind]], name: str, *, levels: tuple[str, ...] = ()) -> type[Kind]:
    """Return the entry with this name, or raise `UnknownName`, which lists all names, and the levels that could be given instead."""
    if name not in table:
        raise UnknownName(kind, name, [*table, *levels])
    return table[name]


def own_format_of(path: Path, format_name: str | None) -> DataFormat | None:
    """Return the format of a data file whose form is not plain records; None if no such form recognizes the file."""
    form = next((form for form in FORMS.values() if form.claims(path, format_name)), None)
    return None if form is None else form.format_named(format_name or form.default_format("drop"))
