"""What exists: explicit tables that the command line, job files, forms, docs and contract tests read.

Each family registers its members in its `__init__.py`, one line each. These lists name modules and import none, so that importing one
method does not import all of them. This module does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from setveil import guarantees, metrics
from setveil.data.disassociated import Disassociated
from setveil.data.formats import FORMATS
from setveil.data.generalized import Generalized
from setveil.data.grouped import Grouped
from setveil.data.neighbours import Neighbours
from setveil.data.records.transactions import Transactions
from setveil.errors import UnknownName
from setveil.methods import disassociation, itemsets, tendency, uncertainty

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from setveil.base.declaration import Declaration
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


def members_of(family: ModuleType) -> dict[str, Any]:
    """Import the members that a family registers; return them by their names on the command line."""
    kinds = (getattr(import_module(f"{family.__name__}.{module}"), name) for name, module in family.MEMBERS.items())
    return {kind.name: kind for kind in kinds}


METHODS: dict[str, type[Method]] = {
    name: method
    for family in (tendency, itemsets, uncertainty, disassociation)
    for name, method in members_of(family).items()
}

GUARANTEES: dict[str, type[Guarantee]] = members_of(guarantees)

METRICS: dict[str, type[Metric]] = members_of(metrics)

FORMS: dict[str, type] = {
    "transactions": Transactions,
    "generalized": Generalized,
    "grouped": Grouped,
    "disassociated": Disassociated,
    "reassociated": Neighbours,
}
"""The forms in which data are published."""

Kind = TypeVar("Kind", bound="Declaration")


def named(kind: str, table: Mapping[str, type[Kind]], name: str) -> type[Kind]:
    """Return the entry of that name, or say which there are."""
    if name not in table:
        raise UnknownName(kind, name, table)
    return table[name]
