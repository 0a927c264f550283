"""Thresholds of support and confidence, kept as exact fractions."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from setveil.base.arguments import describe
from setveil.errors import BadParameter
from setveil.parameters.kind import ParameterKind

if TYPE_CHECKING:
    from setveil.data.records.transactions import Transactions

_COUNT = re.compile(r"[0-9]{1,18}", re.ASCII)
_SHARE = re.compile(r"([0-9]{0,9}\.?[0-9]{0,30}) ?(%?)", re.ASCII)
_RATIO = re.compile(r"([0-9]{1,12}) ?/ ?([0-9]{1,12})", re.ASCII)

LARGEST_DENOMINATOR = 10**9
"""The largest denominator of a confidence that kernels compare with: times a number of records, it fits 64 bits."""


class Threshold(ParameterKind):
    """A parameter that is a number and keeps the text it was given as."""

    what: ClassVar[str]

    def __init__(self, value: Self | str | float) -> None:
        self.text: str = value.text if isinstance(value, Threshold) else self._text_of(value)
        self._key = self._read(self.text)

    def _read(self, text: str) -> tuple[Any, ...]:
        """Parse the text; return a key by which values are compared, or raise `BadParameter`."""
        raise NotImplementedError

    @classmethod
    def _text_of(cls, value: Any) -> str:
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadParameter(f"the {cls.what} is {describe(value)}; expected {cls.allowed_text}")
        # A float means the decimal number as written: 0.001, not the nearest binary fraction.
        return format(Decimal(repr(value)), "f")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def to_json(self) -> str:
        """Return the text as given."""
        return self.text


def _share(text: str) -> Fraction | None:
    """Return the fraction for a text such as `0.1%` or `0.001`, or None."""
    match = _SHARE.fullmatch(text)
    if not match or not any(sign.isdigit() for sign in match[1]):
        return None
    return Fraction(match[1]) / (100 if match[2] else 1)


class MinSupport(Threshold):
    """The minimum support of an itemset: a number of records (`30`) or a share of them (`0.1%`, `0.001`).

    Parameters
    ----------
    value : str, int or float
        Whole numbers are records, other numbers and percentages are shares. A share is rounded up to whole records.

    Raises
    ------
    BadParameter
        If the value is neither at least 1 record nor a share above 0 and up to 100%.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.MinSupport("0.05%").count(59_602)
    30
    >>> sv.MinSupport(30).count(59_602)
    30
    """

    what: ClassVar[str] = "support"
    allowed_text: ClassVar[str] = "a number of records (30) or a share of them (0.1%)"
    example: ClassVar[str] = '"1%"'
    bad_values = ("often", "101%", -0.5, "")

    @classmethod
    def example_for(cls, _data: Transactions) -> MinSupport:
        """Return a share at which small data still have frequent itemsets."""
        return cls("10%")

    def _read(self, text: str) -> tuple[int | None, Fraction | None]:
        self._count = int(text) if _COUNT.fullmatch(text) else None
        self._share = _share(text) if self._count is None else None
        if not (self._count or 0) >= 1 and not (self._share is not None and 0 < self._share <= 1):
            raise BadParameter(
                f"the support {text[:40]!r} is neither a number of records, at least 1 (30), nor a share of them up to 100% (0.1%)"
            )
        return self._count, self._share

    @property
    def share(self) -> Fraction | None:
        """The share of the records; None for a number of records."""
        return self._share

    def count(self, records: int) -> int:
        """Return the minimum number of records, at least 1, for data with `records` records."""
        if self._count is not None:
            return self._count
        assert self._share is not None
        return max(1, -(-self._share.numerator * records // self._share.denominator))


class MinConfidence(Threshold):
    """The minimum confidence of a rule: a share from 0 to 1, such as `0.8` or `80%`, kept as an exact fraction.

    >>> MinConfidence("80%") == MinConfidence(0.8)
    True
    """

    what: ClassVar[str] = "confidence"
    allowed_text: ClassVar[str] = "a share up to 100% (80% or 0.8)"
    example: ClassVar[str] = '"80%"'
    bad_values = ("often", "101%", -0.5, "")

    @classmethod
    def example_for(cls, _data: Transactions) -> MinConfidence:
        """Return 50 %."""
        return cls("50%")

    def _read(self, text: str) -> tuple[Fraction]:
        share = _share(text)
        if share is None:
            raise BadParameter(f"the confidence {text[:40]!r} is not {self.allowed_text}")
        if share > 1:
            raise BadParameter(f"the confidence {text[:40]!r} is more than 100%; allowed is {self.allowed_text}")
        self.share = share
        return (share,)


class Share(Threshold):
    """A share from 0 to 1, such as `0.7`, `70%` or `7/10`, kept as an exact fraction.

    >>> Share("7/10") == Share(0.7) == Share("70%")
    True
    """

    what: ClassVar[str] = "share"
    allowed_text: ClassVar[str] = "a share up to 100% (0.7, 70% or 7/10)"
    example: ClassVar[str] = '"50%"'
    bad_values = ("often", "101%", -0.5, "", "7/0", "8/7", True, "0.0000000001")

    @classmethod
    def example_for(cls, _data: Transactions) -> Self:
        """Return 50 %."""
        return cls("0.5")

    def _read(self, text: str) -> tuple[Fraction]:
        ratio = _RATIO.fullmatch(text)
        share = _share(text) if ratio is None else Fraction(int(ratio[1]), int(ratio[2])) if int(ratio[2]) else None
        if share is None:
            raise BadParameter(f"the {self.what} {text[:40]!r} is not {self.allowed_text}")
        if share > 1:
            raise BadParameter(f"the {self.what} {text[:40]!r} is more than 100%; allowed is {self.allowed_text}")
        if share.denominator > LARGEST_DENOMINATOR:
            raise BadParameter(
                f"the {self.what} {text[:40]!r} has too many digits; allowed is a fraction with a denominator up to {LARGEST_DENOMINATOR:,}"
            )
        self.share = share
        return (share,)


class MaxConfidence(Share):
    """The maximum confidence of a rule.

    >>> MaxConfidence("7/10") == MaxConfidence(0.7) == MaxConfidence("70%")
    True
    """

    what: ClassVar[str] = "confidence"
