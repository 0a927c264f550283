"""The forms in which data are published."""

from __future__ import annotations

from typing import Any, TypeAlias

from setveil.data.disassociated import Disassociated
from setveil.data.generalized import Generalized
from setveil.data.grouped import Grouped
from setveil.data.neighbours import Neighbours
from setveil.data.records.transactions import Transactions

Published: TypeAlias = Transactions | Generalized | Grouped | Disassociated | Neighbours
"""What a method makes and a release holds."""


def form_in_words(kind: Any) -> str:
    """Return what people call a form, given as its type."""
    return str(kind.form_in_words)


def rows_of(published: Published) -> int:
    """Return how many rows a release has."""
    return published.records.records if isinstance(published, Generalized) else published.records
