"""Item labels and their order, which determines codes, ties and distances.

The order is numeric if all labels are canonical integers (`7`, `-3`, not `007` or `+1`), and by code point otherwise. It depends on the
labels only.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from setveil.base import progress
from setveil.base.display import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLANKS = " \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""White space that is stripped from the ends of labels. It excludes tabs and line ends: labels that hold them are refused."""
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_DIGITS_BACKWARDS = str.maketrans("0123456789", "9876543210")


class Vocabulary(tuple[str, ...]):
    """Labels that are valid: distinct texts in label order."""

    __slots__ = ()


def are_integers(labels: Sequence[str]) -> bool:
    """Return whether every label is a canonical integer."""
    return all(_CANONICAL_INTEGER.fullmatch(label) for label in labels)


def _integer_key(label: str) -> tuple[int, int, str]:
    """Return a sort key for canonical integers of any length, without converting them to numbers."""
    if label.startswith("-"):
        return (0, -len(label), label.translate(_DIGITS_BACKWARDS))
    return (1, len(label), label)


def label_order(labels: Sequence[str]) -> NDArray[np.int64]:
    """Return the positions of the labels in label order."""
    if are_integers(labels):
        if all(len(label) <= 18 for label in labels):
            return np.argsort(np.array([int(label) for label in labels], dtype=np.int64), kind="stable")
        return np.array(sorted(range(len(labels)), key=lambda i: _integer_key(labels[i])), dtype=np.int64)
    return np.array(sorted(range(len(labels)), key=labels.__getitem__), dtype=np.int64)


def are_in_order(labels: Sequence[str]) -> bool:
    """Return whether the labels are distinct and in label order."""
    if are_integers(labels):
        return all(_integer_key(a) < _integer_key(b) for a, b in pairwise(labels))
    return all(a < b for a, b in pairwise(labels))


def stripped(labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the labels without blanks at their ends, and the labels that had some."""
    clean = [label.strip(BLANKS) for label in labels]
    return clean, [label for label, bare in zip(labels, clean, strict=True) if label != bare]


def note_stripped(count: int, what: str = "items") -> None:
    """Announce that blanks were stripped, if any were."""
    if count:
        progress.note(f"blanks at the ends were stripped from {quantity(count, 'name')} of {what}")


def note_other_separator(labels: Sequence[str]) -> None:
    """Announce a character that often separates items and that half of the items hold, which were separated by blanks."""
    for separator in ",;|":
        count = sum(separator in label for label in labels)
        if count and 2 * count >= len(labels):
            progress.note(
                f"{count:,} of {len(labels):,} items hold {separator!r}; if it separates items, read them with `separator={separator!r}`"
            )


def are_texts(labels: Sequence[str]) -> bool:
    """Return whether every label is a text that can be encoded as UTF-8; a lone surrogate cannot."""
    try:
        "".join(labels).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def as_arrow(labels: Sequence[str]) -> pa.Array:
    """Return the labels as an Arrow column."""
    return pa.array(labels, type=pa.large_string())
