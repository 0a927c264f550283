"""Choose a few records that show what a release did to them: typical and strong changes, and a record that keeps every item.

The choice is deterministic. The examples hold records of people, so they belong in the private folder only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.display import cut
from setveil.data.forms.views import items_of
from setveil.data.records.ragged import distinct, pieces
from setveil.engines.growing import GrowingArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.forms.views import View
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions

LOOKED_AT = (100, 1_000)
"""Numbers of records that the examples are chosen from, evenly spaced over the original; the larger one if few of them changed."""
MOST_CHANGED = 4
"""Maximum number of examples that changed."""
READABLE = (2, 14)
"""Numbers of items of a record that is easy to read; others are chosen only if there are too few of these."""
MOST_ITEMS = 40
MOST_CHARACTERS = 60
"""Longer labels are cut."""


def example_records(original: Transactions, published: Published, alignment: Alignment) -> list[dict[str, Any]]:
    """Return a few records before and after, as plain values."""
    for most in LOOKED_AT:
        looked_at = _spaced(original, most).tolist()
        if not looked_at:
            return []
        views = [*published.views(original, alignment, looked_at)]
        if sum(view.changed > 0 for view in views) >= MOST_CHANGED:
            break
    chosen = _chosen(np.array([view.changed for view in views]), original.lengths[looked_at])
    return [
        {
            "kind": kind,
            "record": looked_at[place] + 1,
            "id": None if original.ids is None else cut(original.ids[looked_at[place]].as_py(), MOST_CHARACTERS),
            "items": _marked(items_of(original, looked_at[place]), views[place].removed),
            "parts": _parts(views[place]),
        }
        for place, kind in chosen
    ]


def _spaced(original: Transactions, most: int) -> NDArray[np.int64]:
    """Return evenly spaced records, of those that are easy to read if there are enough."""
    readable = _of_length(original, *READABLE)
    usable = readable if len(readable) >= 5 else _of_length(original, 1, original.occurrences)
    places = np.linspace(0, len(usable) - 1, min(len(usable), most)).round().astype(np.int64)
    return usable[distinct(places)]


def _of_length(original: Transactions, shortest: int, longest: int) -> NDArray[np.int64]:
    """Return the records with numbers of items in a range."""
    found = GrowingArray(np.int64)
    for part in pieces(original.records):
        lengths = np.diff(original.offsets[part.start : part.stop + 1])
        found.append(part.start + np.flatnonzero((lengths >= shortest) & (lengths <= longest)))
    return found.finish()


def _chosen(changed: NDArray[np.float64], lengths: NDArray[np.int64]) -> list[tuple[int, str]]:
    """Return the places of the examples, each once, with what they are examples of."""
    unusual = np.abs(lengths - np.median(lengths))
    among = np.flatnonzero(changed > 0)
    found: dict[int, str] = {}
    if len(among):
        middle = np.median(changed[among])
        for place in among[np.lexsort((unusual[among], np.abs(changed[among] - middle)))][:2].tolist():
            found[place] = "typical change"
        for place in among[np.lexsort((unusual[among], -changed[among]))].tolist():
            if place not in found and changed[place] > middle:
                found[place] = "strong change"
            if len(found) == MOST_CHANGED:
                break
    same = np.flatnonzero(changed == 0)
    found |= dict.fromkeys(
        same[np.argsort(unusual[same], kind="stable")][: 1 if len(among) else 2].tolist(), "every item kept"
    )
    return [*found.items()]


def _parts(view: View) -> list[dict[str, Any]]:
    return [
        {
            "where": cut(part.where),
            "items": _as_values(part.items[:MOST_ITEMS]),
            "more": max(0, len(part.items) - MOST_ITEMS),
            "others": part.others,
        }
        for part in view.parts
    ]


def _marked(items: tuple[str, ...], removed: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the items of a record, each with whether the release still shows it."""
    return _as_values((item, "removed" if item in removed else "kept") for item in items[:MOST_ITEMS])


def _as_values(items: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"item": cut(label, MOST_CHARACTERS), "how": how} for label, how in items]
