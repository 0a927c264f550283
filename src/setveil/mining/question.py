"""Queries for itemsets or rules and their results, the same for plain records, disassociated data and several sets of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.base.display import quantity
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter, Missing
from setveil.mining.disassociated_itemsets import BoundedItemsets, mine_bounds, top_bounds
from setveil.mining.frequent import LIMIT, Kind, count, mine, top
from setveil.mining.rules import Rules, association_rules
from setveil.mining.support_intervals import (
    count_together,
    mine_intervals,
    records_of_a_set,
    top_intervals,
)
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
    """A query: which itemsets or rules to find, and how many of them. Contradictory parameters raise `BadParameter`."""

    min_support: MinSupport | None = None
    """Minimum support of a frequent itemset."""
    support: Reading | None = None
    """For disassociated data: which figure counts as the support."""
    kind: Kind = "all"
    max_length: int | None = None
    length: int | None = None
    """The number of items of every itemset."""
    limit: int = LIMIT
    """Maximum number of itemsets."""
    top: int | None = None
    """Number of most frequent itemsets to find, instead of using `min_support`."""
    count: bool = False
    """Whether to return only their number."""
    rules: bool = False
    """Whether to find association rules instead of itemsets."""
    min_confidence: MinConfidence | None = None
    min_lift: str | None = None
    sample: int | None = None
    """Number of itemsets to choose at random."""
    seed: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, others in _EXCLUDE_EACH_OTHER.items():
            for other in others:
                if self._asks(name) and self._asks(other):
                    raise BadParameter(
                        f"{self._mark(name)} and {self._mark(other)} cannot be combined; give only one of them"
                    )
        for name, needed in _GO_WITH.items():
            if self._asks(name) and not self._asks(needed):
                wanted = "`rules=True`" if needed == "rules" else f"`{needed}=`"
                raise BadParameter(f"{self._mark(name)} requires {wanted}, which is not given")
        if self.min_support is None and self.top is None:
            raise Missing(
                "a minimum support is missing; give `min_support=` (a share such as 0.1%, or a number of records such as 30), or the "
                "number of itemsets with `top=`"
            )
        for name, least in _LEAST.items():
            number = getattr(self, name)
            if number is not None and number < least:
                raise BadParameter(f"`{name}=` is {number}; it must be at least {least}")

    def _asks(self, name: str) -> bool:
        value = getattr(self, name)
        return value is not None and value is not False and value != "all"

    def _mark(self, name: str) -> str:
        """Return a parameter as messages mark it."""
        value = getattr(self, name)
        if value is True:
            return f"`{name}=True`"
        return f"`{name}={value!r}`" if name == "kind" else f"`{name}=`"

    @property
    def least_support(self) -> MinSupport:
        """The minimum support of a frequent itemset; one must be given."""
        assert self.min_support is not None
        return self.min_support

    @property
    def least_confidence(self) -> MinConfidence:
        """The minimum confidence of a rule."""
        return self.min_confidence or MinConfidence(DEFAULT_CONFIDENCE)

    @property
    def lengths(self) -> dict[str, int | None]:
        """The minimum and maximum number of items."""
        return {"min_length": self.length or 1, "max_length": self.length or self.max_length}

    @property
    def itemsets_text(self) -> str:
        """The itemsets to find, without their support."""
        if self.length:
            return f"itemsets of {quantity(self.length, 'item')}"
        return f"itemsets of up to {quantity(self.max_length, 'item')}" if self.max_length else "itemsets"

    def answer(self, data: Published, *, place: str = "") -> Answer:
        """Mine the data; `place` names them in error messages."""
        miner: _Miner
        if data.has_support_bounds:
            miner = _OfClusters(self, data)
        else:
            miner = _OfRecords(self, data) if len(data.sets) == 1 else _OfSets(self, data)
        miner.refuse_unfit(f"{place} holds" if place else "these are")
        return miner.answer()


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of a query, sorted for reading."""

    found: Itemsets | BoundedItemsets | Rules | None
    """None if only the number was requested."""
    number: int
    """Total number of itemsets or rules."""
    description: str
    """What was found, as a noun phrase."""
    asked: dict[str, Any]
    """The size of the data and the query, for JSON output."""


class _Miner:
    """Answers a query on data of one form."""

    asked: ClassVar[tuple[str, ...]]
    """The parameters of the query that the answer repeats."""

    def __init__(self, question: Question, data: Any) -> None:
        self.question = question
        self.data = data

    def refuse_unfit(self, where: str) -> None:
        """Raise `BadParameter` for a query that does not apply to this form; `where` begins the phrase about the data."""
        raise NotImplementedError

    def answer(self) -> Answer:
        """Mine the data."""
        if self.question.count:
            return self._answer(None, self.counted())
        if self.question.top is not None:
            best = self.best(self.question.top)
            return self._answer(best, len(best))
        found = self.all().ordered()
        return self._answer(self._sampled(found), len(found))

    def counted(self) -> int:
        """Return the number of results."""
        raise NotImplementedError

    def best(self, how_many: int) -> Any:
        """Return the most frequent itemsets."""
        raise NotImplementedError

    def all(self) -> Any:
        """Return all results with the minimum support."""
        raise NotImplementedError

    def description(self) -> str:
        """Return a noun phrase for the results."""
        raise NotImplementedError

    def _sampled(self, found: Any) -> Any:
        sample, number = self.question.sample, len(found)
        if sample is None:
            return found
        if sample > number:
            raise BadParameter(
                f"`sample=` is {sample:,}, but there are only {number:,} {self.description()}; give a smaller number"
            )
        # Choose from the sorted itemsets, so that the choice depends only on the data and the seed.
        chosen = np.random.default_rng(self.question.seed).choice(number, size=sample, replace=False)
        return found.take(np.sort(chosen))

    def _answer(self, found: Any, number: int) -> Answer:
        asked = {name: getattr(self.question, name) for name in self.asked}
        asked |= {"min_support": self.question.min_support, **self.more_asked()}
        plain = {
            name: value if isinstance(value, int) else str(value) for name, value in asked.items() if value is not None
        }
        if self.question.min_support is not None:
            plain["count"] = self.question.min_support.count(self.records)
        return Answer(found, number, self.description(), {"records": self.records, **plain})

    @property
    def records(self) -> int:
        """The number of records that supports are compared with."""
        found: int = self.data.records
        return found

    def more_asked(self) -> dict[str, Any]:
        """Return defaults that apply to this query."""
        return {}

    def _records_text(self) -> str:
        return f"in at least {self.question.least_support.count(self.records):,} of {self.records:,} records"


class _OfRecords(_Miner):
    """Plain records, in which every support is known."""

    asked = ("kind", "length", "max_length", "top", "sample", "seed", "min_lift")

    def refuse_unfit(self, where: str) -> None:
        if self.question.support is not None:
            raise BadParameter(
                f"`support=` applies to disassociated data only, but {where} {self.data.form_title}; omit it"
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

    def description(self) -> str:
        question = self.question
        if question.rules:
            return f"association rules with a confidence of at least {question.least_confidence} {self._records_text()}"
        kind = "" if question.kind == "all" else f"{question.kind} "
        what = f"frequent {kind}{question.itemsets_text}"
        return f"most {what}" if question.top is not None else f"{what} {self._records_text()}"


class _OfSets(_OfRecords):
    """Several sets of records, which are imputations of the same data: supports are means, with intervals."""

    def refuse_unfit(self, where: str) -> None:
        super().refuse_unfit(where)
        if self.question.rules:
            raise BadParameter(
                f"`rules=True` does not apply to several sets of records, but {where} {self.data.why_not_plain}"
            )

    @property
    def records(self) -> int:
        return records_of_a_set(self.data)

    def counted(self) -> int:
        return count(
            Transactions.concatenated(self.data.datasets),
            count_together(self.data, self.question.least_support),
            **self._chosen(),
        )

    def best(self, how_many: int) -> Itemsets:
        return top_intervals(self.data, how_many, limit=self.question.limit, **self._chosen())

    def all(self) -> Itemsets:
        return mine_intervals(self.data, self.question.least_support, limit=self.question.limit, **self._chosen())

    def more_asked(self) -> dict[str, Any]:
        return {"sets": len(self.data)}

    def description(self) -> str:
        return f"{super().description()}, as the mean of {len(self.data)} sets"


class _OfClusters(_Miner):
    """Disassociated data, which do not show how many records hold an itemset."""

    asked = ("length", "max_length", "top", "sample", "seed")

    def refuse_unfit(self, where: str) -> None:
        del where
        if self.question.kind != "all":
            raise BadParameter(
                f"`kind={self.question.kind!r}` does not apply to disassociated data, which do not show which itemsets are closed or "
                "maximal; omit it, or re-associate the data and mine the records"
            )
        if self.question.rules:
            raise BadParameter(
                "`rules=True` does not apply to disassociated data; re-associate the data and mine the records"
            )

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

    def description(self) -> str:
        what = f"frequent {self.question.itemsets_text} by {self._support} support"
        return f"most {what}" if self.question.top is not None else f"{what}, {self._records_text()}"
