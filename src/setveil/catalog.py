"""The catalog: tables of all methods, guarantees, metrics, formats and forms.

The command line, job files, web forms, docs and contract tests read it. Each family registers its members in its `__init__.py`, one line
per member. These lists only name modules, so that importing one method does not import all of them. This module imports all of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from setveil import guarantees, metrics
from setveil.data import forms
from setveil.data.formats import FORMATS
from setveil.errors import UnknownName
from setveil.methods import disassociation, itemsets, tendency, uncertainty

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from setveil.base.declaration import Declaration
    from setveil.data.forms.base import Published
    from setveil.guarantees.base import Guarantee
    from setveil.methods.base import Method
    from setveil.metrics.base import Metric

__all__ = [
    "FORMATS",
    "FORMS",
    "GUARANTEES",
    "METHODS",
    "METRICS",
    "members_of",
    "named",
]


def _classes(package: str, members: Mapping[str, str]) -> list[Any]:
    """Import classes, each from its module in a package."""
    return [getattr(import_module(f"{package}.{module}"), name) for name, module in members.items()]


def members_of(family: ModuleType) -> dict[str, Any]:
    """Import the members that a family registers; return them by their command-line names."""
    return {kind.name: kind for kind in _classes(family.__name__, family.MEMBERS)}


METHODS: dict[str, type[Method]] = {
    name: method
    for family in (tendency, itemsets, uncertainty, disassociation)
    for name, method in members_of(family).items()
}

GUARANTEES: dict[str, type[Guarantee]] = members_of(guarantees)

METRICS: dict[str, type[Metric]] = members_of(metrics)

FORMS: dict[str, type[Published]] = {form.form_name: form for form in _classes("setveil.data", forms.MEMBERS)}
"""The forms of published data."""

Kind = TypeVar("Kind", bound="Declaration")


def named(kind: str, table: Mapping[str, type[Kind]], name: str) -> type[Kind]:
    """Return the entry with this name, or raise `UnknownName`, which lists all names."""
    if name not in table:
        raise UnknownName(kind, name, table)
    return table[name]
