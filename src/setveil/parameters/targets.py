"""Targets: the maximum number of records that may hold each named itemset."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.errors import BadParameter
from setveil.parameters.shares import Threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

_NUMBERS = re.compile(r"[0-9]{1,18}( *, *[0-9]{1,18})*", re.ASCII)
RANDOM, BORDER = "random", "border"


class Targets(Threshold):
    """Targets of itemsets: `random`, `border` (just below the minimum support), one number for all, or one number per itemset.

    >>> Targets("border").of(2, 60)
    array([59, 59])
    >>> Targets("0").of(2, 60)
    array([0, 0])
    """

    what: ClassVar[str] = "target"
    allowed_text: ClassVar[str] = "random | border | a number of records | one for each itemset (3,0,5)"
    example: ClassVar[str] = '"border"'
    bad_values = ("often", "", -1, "3,", 1.5, True, [])
    ways = ("0",)

    def __init__(self, value: Targets | str | int | Sequence[int] | NDArray[np.integer]) -> None:
        super().__init__(value if isinstance(value, Targets) else _text_of(value))

    def _read(self, text: str) -> tuple[Any, ...]:
        self._numbers: tuple[int, ...] = ()
        if text in (RANDOM, BORDER):
            return (text,)
        if not _NUMBERS.fullmatch(text):
            raise BadParameter(f"the target {text[:40]!r} is not {self.allowed_text}")
        self._numbers = tuple(int(part) for part in text.split(","))
        return self._numbers

    @classmethod
    def example_for(cls, _data: Transactions) -> Targets:
        """Return random targets."""
        return cls(RANDOM)

    def numbers(self, itemsets: int) -> tuple[int, ...]:
        """Return the given numbers, one per itemset; an empty tuple for `random` and `border`."""
        return self._numbers * itemsets if len(self._numbers) == 1 else self._numbers

    def take(self, places: Sequence[int]) -> Targets:
        """Return the targets of the itemsets at these positions."""
        return Targets([self._numbers[place] for place in places]) if len(self._numbers) > 1 else self

    def of(self, itemsets: int, frequent_from: int, rng: Generator | None = None) -> NDArray[np.int64]:
        """Return a target below `frequent_from` for each itemset; random targets are drawn by `rng` and are at least half of it."""
        if self.text == BORDER:
            return np.full(itemsets, frequent_from - 1, dtype=np.int64)
        if self.text == RANDOM:
            if rng is None:
                raise BadParameter("random targets must be drawn before they are used")
            return rng.integers(min((frequent_from + 1) // 2, frequent_from - 1), frequent_from, size=itemsets)
        if len(self._numbers) not in (1, itemsets):
            raise BadParameter(
                f"there are {len(self._numbers)} targets for {itemsets} itemsets; give one target, or one for each itemset"
            )
        if max(self._numbers) >= frequent_from:
            raise BadParameter(
                f"the target {max(self._numbers):,} is not below {frequent_from:,}, the minimum number of records of a frequent itemset; "
                f"allowed is 0 to {frequent_from - 1:,}"
            )
        return np.broadcast_to(np.array(self._numbers, dtype=np.int64), itemsets).copy()


def _text_of(value: Any) -> str:
    """Return a value as command-line text, or raise `BadParameter`."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str):
        return value
    if _is_number(value):
        return str(value)
    if isinstance(value, list | tuple) and value and all(map(_is_number, value)):
        return ",".join(map(str, value))
    raise BadParameter(f"a target is {Targets.allowed_text}, not {_describe(value)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _describe(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "a list with other values than whole numbers" if value else "an empty list"
    return type(value).__name__
