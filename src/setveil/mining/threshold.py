"""From which support on an itemset is frequent."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from pydantic_core import core_schema

from setveil.errors import BadParameter

_COUNT = re.compile(r"[0-9]{1,18}", re.ASCII)
_SHARE = re.compile(r"([0-9]{0,9}\.?[0-9]{0,30}) ?(%?)", re.ASCII)


class MinSupport:
    """A number of records (`30`) or a share of them (`0.1%`, `0.001`); a share is rounded up to whole records.

    >>> MinSupport("0.05%").count(59_602)
    30
    >>> MinSupport(30).count(59_602)
    30
    """

    in_words: ClassVar[str] = "a number of records (30) or a share of them (0.1%)"

    def __init__(self, value: MinSupport | str | float) -> None:
        text: str = value.text if isinstance(value, MinSupport) else _text_of(value)
        self.text: str = text
        self._count: int | None = None
        self._share: Fraction | None = None
        if _COUNT.fullmatch(text):
            self._count = int(text)
        elif (match := _SHARE.fullmatch(text)) and any(sign.isdigit() for sign in match[1]):
            self._share = Fraction(match[1]) / (100 if match[2] else 1)
        right = self._count is not None and self._count >= 1
        if not right and not (self._share is not None and 0 < self._share <= 1):
            raise BadParameter(
                f"the support {text[:40]!r} is neither a number of records from 1 on (30) nor a share of them up to 100% (0.1% or 0.001)"
            )

    def count(self, records: int) -> int:
        """Return the least number of records, at least 1."""
        if self._count is not None:
            return self._count
        assert self._share is not None
        return max(1, -(-self._share.numerator * records // self._share.denominator))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"MinSupport({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MinSupport) and (self._count, self._share) == (other._count, other._share)

    def __hash__(self) -> int:
        return hash((self._count, self._share))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        """Let pydantic take a number or a text, and give the text back as JSON."""
        return core_schema.no_info_plain_validator_function(
            cls._validated, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def _validated(cls, value: Any) -> MinSupport:
        try:
            return cls(value)
        except BadParameter as error:
            raise ValueError(str(error)) from None


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadParameter(f"a support is {MinSupport.in_words}, not {type(value).__name__}")
    # A float stands for the decimal number that a person wrote: 0.001, not the binary fraction nearest to it.
    return format(Decimal(repr(value)), "f")
