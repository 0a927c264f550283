"""The order of item labels, on which codes, ties and distances rest.

Numeric if all labels are canonical integers (`7`, `-3`, not `007` or `+1`), else by code point: the order depends on the labels alone.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_DIGITS_BACKWARDS = str.maketrans("0123456789", "9876543210")


class Vocabulary(tuple[str, ...]):
    """Labels that are known to be texts, each once, in label order."""

    __slots__ = ()


def are_integers(labels: Sequence[str]) -> bool:
    """Tell whether every label is a canonical integer."""
    return all(_CANONICAL_INTEGER.fullmatch(label) for label in labels)


def _integer_key(label: str) -> tuple[int, int, str]:
    """Order canonical integers of any length without making numbers of them."""
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
    """Tell whether the labels stand in label order, each once."""
    if are_integers(labels):
        return all(_integer_key(a) < _integer_key(b) for a, b in pairwise(labels))
    return all(a < b for a, b in pairwise(labels))


def are_texts(labels: Sequence[str]) -> bool:
    """Tell whether every label is a text that can be written as UTF-8, which half a surrogate pair cannot."""
    try:
        "".join(labels).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def as_arrow(labels: Sequence[str]) -> pa.Array:
    """Return the labels as an Arrow column."""
    return pa.array(labels, type=pa.large_string())
