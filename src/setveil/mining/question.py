"""A question to data about their itemsets, and its answer: plain records and disassociated data are asked the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.errors import BadParameter, Missing
from setveil.mining.disassociated_itemsets import BoundedItemsets, mine_bounds, top_bounds
from setveil.mining.frequent import LIMIT, Kind, count, mine, top
from setveil.mining.rules import Rules, association_rules
from setveil.parameters.shares import MinConfidence

if TYPE_CHECKING:
    from setveil.data.forms.base import Published
    from setveil.mining.itemsets import Itemsets
    from setveil.mining.support_bounds import Reading
    from setveil.parameters.shares import MinSupport

DEFAULT_CONFIDENCE = "50%"
DEFAULT_SUPPORT: Reading = "expected"
_EXCLUDE_EACH_OTHER = {
    "length": ("max_length",),
    "top": ("min_support", "rules", "sample"),
    "count": ("top", "rules", "sample"),
    "rules": ("kind", "length", "sample"),
}
_GO_WITH = {"min_confidence": "rules", "min_lift": "rules", "seed": "sample"}
_LEAST = {"length": 1, "max_length": 1, "limit": 1, "top": 1, "sample": 1, "seed": 0}


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which itemsets or rules are wanted, and how many of them; what contradicts itself is refused."""

    min_support: MinSupport | None = None
    """From which support on an itemset is frequent."""
    support: Reading | None = None
    """Which support of disassociated data counts."""
    kind: Kind = "all"
    max_length: int | None = None
    length: int | None = None
    """The number of items of every itemset."""
    limit: int = LIMIT
    """More itemsets than these are refused."""
    top: int | None = None
    """How many of the most frequent itemsets, instead of `min_support`."""
    count: bool = False
    """Whether only their number is wanted."""
    rules: bool = False
    """Whether association rules are wanted instead of itemsets."""
    min_confidence: MinConfidence | None = None
    min_lift: str | None = None
    sample: int | None = None
    """How many of the itemsets, chosen at random."""
    seed: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, others in _EXCLUDE_EACH_OTHER.items():
            for other in others:
                if self._asks(name) and self._asks(other):
                    raise BadParameter(f"{self._said(name)} and {self._said(other)} do not go together; leave one out")
        for name, needed in _GO_WITH.items():
            if self._asks(name) and not self._asks(needed):
                wanted = "`rules=True`" if needed == "rules" else f"`{needed}=`"
                raise BadParameter(f"{self._said(name)} goes with {wanted}, which was not given")
        if self.min_support is None and self.top is None:
            raise Missing(
                "name the least support with `min_support=` (0.1%, or 30 records), or how many itemsets with `top=`"
            )
        for name, least in _LEAST.items():
            number = getattr(self, name)
            if number is not None and number < least:
                raise BadParameter(f"`{name}=` is {number}; allowed is a whole number from {least} on")

    def _asks(self, name: str) -> bool:
        value = getattr(self, name)
        return value is not None and value is not False and value != "all"

    def _said(self, name: str) -> str:
        value = getattr(self, name)
        if value is True:
            return f"`{name}=True`"
        return f"`{name}={value!r}`" if name == "kind" else f"`{name}=`"

    @property
    def least_support(self) -> MinSupport:
        """The support from which on an itemset is frequent, where one was named."""
        assert self.min_support is not None
        return self.min_support

    @property
    def least_confidence(self) -> MinConfidence:
        """The confidence from which on a rule is listed."""
        return self.min_confidence or MinConfidence(DEFAULT_CONFIDENCE)

    @property
    def lengths(self) -> dict[str, int | None]:
        """The bounds of the number of items."""
        return {"min_length": self.length or 1, "max_length": self.length or self.max_length}

    @property
    def itemsets_in_words(self) -> str:
        """What is searched for, without its support."""
        if self.length:
            return f"itemsets of {self.length} items"
        return f"itemsets of up to {self.max_length} items" if self.max_length else "itemsets"

    def answer(self, data: Published, *, place: str = "") -> Answer:
        """Mine; an error names the place of the data."""
        miner: _Miner = _OfClusters(self, data) if data.has_support_bounds else _OfRecords(self, data)
        miner.refuse_unfit(f"{place} holds" if place else "these are")
        return miner.answer()


@dataclass(frozen=True, eq=False)
class Answer:
    """What was found, in the order in which people read it."""

    found: Itemsets | BoundedItemsets | Rules | None
    """None where it was only counted."""
    number: int
    """How many there are in all."""
    in_words: str
    """What they are."""
    asked: dict[str, Any]
    """The data and the question, for machines."""


class _Miner:
    """Answers a question about data of one form."""

    asked: ClassVar[tuple[str, ...]]
    """What of the question stands in the answer."""

    def __init__(self, question: Question, data: Any) -> None:
        self.question = question
        self.data = data

    def refuse_unfit(self, where: str) -> None:
        """Refuse what cannot be asked of data of this form."""
        raise NotImplementedError

    def answer(self) -> Answer:
        """Mine."""
        if self.question.count:
            return self._answer(None, self.counted())
        if self.question.top is not None:
            best = self.best(self.question.top)
            return self._answer(best, len(best))
        found = self.all().ordered()
        return self._answer(self._sampled(found), len(found))

    def counted(self) -> int:
        """Return how many there are."""
        raise NotImplementedError

    def best(self, how_many: int) -> Any:
        """Return the most frequent itemsets."""
        raise NotImplementedError

    def all(self) -> Any:
        """Return everything that has the support."""
        raise NotImplementedError

    def in_words(self) -> str:
        """Say what is found."""
        raise NotImplementedError

    def _sampled(self, found: Any) -> Any:
        sample, number = self.question.sample, len(found)
        if sample is None:
            return found
        if sample > number:
            raise BadParameter(f"{sample:,} itemsets were asked for, but there are {number:,} {self.in_words()}")
        # From the ordered ones, so that the choice depends on the data and the seed alone.
        chosen = np.random.default_rng(self.question.seed).choice(number, size=sample, replace=False)
        return found.take(np.sort(chosen))

    def _answer(self, found: Any, number: int) -> Answer:
        asked = {name: getattr(self.question, name) for name in self.asked}
        asked |= {"min_support": self.question.min_support, **self.more_asked()}
        plain = {
            name: value if isinstance(value, int) else str(value) for name, value in asked.items() if value is not None
        }
        if self.question.min_support is not None:
            plain["count"] = self.question.min_support.count(self.data.records)
        return Answer(found, number, self.in_words(), {"records": self.data.records, **plain})

    def more_asked(self) -> dict[str, Any]:
        """Return what was not asked for and holds by default."""
        return {}

    def _records_in_words(self) -> str:
        return f"in at least {self.question.least_support.count(self.data.records):,} of {self.data.records:,} records"


class _OfRecords(_Miner):
    """Plain records, of which every support is known."""

    asked = ("kind", "length", "max_length", "top", "sample", "seed", "min_lift")

    def refuse_unfit(self, where: str) -> None:
        if self.question.support is not None:
            raise BadParameter(
                f"`support=` is for disassociated data, but {where} {self.data.form_in_words}; leave it out"
            )

    def _chosen(self) -> dict[str, Any]:
        return {"kind": self.question.kind, **self.question.lengths, "threads": self.question.threads}

    def counted(self) -> int:
        return count(self.data, self.question.least_support, **self._chosen())

    def best(self, how_many: int) -> Itemsets:
        return top(self.data, how_many, limit=self.question.limit, **self._chosen())

    def all(self) -> Itemsets | Rules:
        question = self.question
        found = mine(self.data, question.least_support, limit=question.limit, **self._chosen())
        if not question.rules:
            return found
        return association_rules(found, question.least_confidence, min_lift=question.min_lift, threads=question.threads)

    def more_asked(self) -> dict[str, Any]:
        return {"min_confidence": self.question.least_confidence} if self.question.rules else {}

    def in_words(self) -> str:
        question = self.question
        if question.rules:
            return f"association rules of a confidence from {question.least_confidence} on {self._records_in_words()}"
        kind = "" if question.kind == "all" else f"{question.kind} "
        what = f"frequent {kind}{question.itemsets_in_words}"
        return f"most {what}" if question.top is not None else f"{what} {self._records_in_words()}"


class _OfClusters(_Miner):
    """Disassociated data, which do not say how many records hold an itemset."""

    asked = ("length", "max_length", "top", "sample", "seed")

    def refuse_unfit(self, where: str) -> None:
        del where
        if self.question.kind != "all":
            raise BadParameter(
                f"`kind={self.question.kind!r}` is not for disassociated data: which itemsets are closed or maximal is not told"
            )
        if self.question.rules:
            raise BadParameter("`rules=True` is not for disassociated data: re-associate it, and mine the records")

    @property
    def _support(self) -> Reading:
        return self.question.support or DEFAULT_SUPPORT

    def _chosen(self) -> dict[str, Any]:
        question = self.question
        return {"support": self._support, **question.lengths, "limit": question.limit, "threads": question.threads}

    def counted(self) -> int:
        return len(self.all())

    def best(self, how_many: int) -> BoundedItemsets:
        return top_bounds(self.data, how_many, **self._chosen())

    def all(self) -> BoundedItemsets:
        return mine_bounds(self.data, self.question.least_support, **self._chosen())

    def more_asked(self) -> dict[str, Any]:
        return {"support": self._support}

    def in_words(self) -> str:
        what = f"frequent {self.question.itemsets_in_words} by {self._support} support"
        return f"most {what}" if self.question.top is not None else f"{what}, {self._records_in_words()}"
