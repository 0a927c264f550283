"""Association rules A → b with one item b as consequent, from frequent itemsets.

Every part of a frequent itemset is frequent, so that the supports of antecedents stand in the collection itself. Confidence is compared
with its limit as a fraction of whole numbers. Cost: one look-up for each item of each set.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments
from setveil.base.display import MOST_ROWS, ShownTable, share, to_html
from setveil.base.frames import as_pandas
from setveil.data.records.labels import as_arrow
from setveil.data.records.ragged import owner_of
from setveil.errors import BadParameter
from setveil.kernels.threads import with_threads
from setveil.mining.itemsets import are_among_first, table_of_first
from setveil.mining.lookup import Lookup
from setveil.parameters.shares import MinConfidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.mining.itemsets import Itemsets

_SAFE = 1 << 62
"""Products of whole numbers up to here fit 64 bits."""


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules A → b. An antecedent is the number of an itemset: there are often more rules than itemsets, and they share antecedents."""

    itemsets: Itemsets
    antecedents: NDArray[np.int64]
    """For each rule the number of the itemset A."""
    wholes: NDArray[np.int64]
    """For each rule the number of the itemset of A and b."""
    consequents: NDArray[np.int32]
    """For each rule the code of b."""

    def __post_init__(self) -> None:
        for array in (self.antecedents, self.wholes, self.consequents):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.consequents)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Give each rule as labels: antecedent and consequent."""
        texts = zip(self.to_arrow().to_pylist(), self.consequents.tolist(), strict=True)
        for antecedent, consequent in texts:
            yield tuple(antecedent), self.vocabulary[consequent]

    def __repr__(self) -> str:
        return f"Rules({len(self):,} rules, in {self.records:,} records)"

    def __str__(self) -> str:
        return self._shown().to_text()

    def _repr_html_(self) -> str:
        return to_html(self._shown())

    def _shown(self) -> ShownTable:
        """Return a table of the most certain rules."""
        first = self.take(are_among_first(self.confidence)).ordered()
        figures = zip(first, first.supports.tolist(), first.confidence.tolist(), first.lift.tolist(), strict=True)
        rows = [
            (", ".join(antecedent), consequent, support, share(confidence), lift)
            for (antecedent, consequent), support, confidence, lift in islice(figures, MOST_ROWS)
        ]
        return table_of_first(rows, ["antecedent", "consequent", "support", "confidence", "lift"], self)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The labels of the items."""
        return self.itemsets.vocabulary

    @property
    def records(self) -> int:
        """The number of records of the data."""
        return self.itemsets.records

    @property
    def supports(self) -> NDArray[np.int64]:
        """The number of records that hold A and b."""
        return self.itemsets.supports[self.wholes]

    @property
    def consequent_supports(self) -> NDArray[np.int64]:
        """The number of records that hold b."""
        sets = self.itemsets
        of_item = np.zeros(len(sets.vocabulary), dtype=np.int64)
        alone = sets.lengths == 1
        of_item[sets.items[sets.offsets[:-1][alone]]] = sets.supports[alone]
        return of_item[self.consequents]

    @property
    def antecedent_supports(self) -> NDArray[np.int64]:
        """The number of records that hold A."""
        return self.itemsets.supports[self.antecedents]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Which share of the records with A hold b too."""
        return self.supports / self.antecedent_supports

    @property
    def lift(self) -> NDArray[np.float64]:
        """How many times as common b is among the records with A as among all."""
        return self.confidence / (self.consequent_supports / max(self.records, 1))

    def antecedent_sets(self) -> Itemsets:
        """Return the antecedent of each rule as an itemset."""
        return self.itemsets.take(self.antecedents)

    def take(self, chosen: NDArray[Any]) -> Rules:
        """Return the rules of these numbers in this order, or those where a mask is true."""
        return Rules(self.itemsets, self.antecedents[chosen], self.wholes[chosen], self.consequents[chosen])

    def ordered(self) -> Rules:
        """Return the rules as people read them: the most certain first, then the more frequent, the shorter, then in label order."""
        sets = self.itemsets
        by_content = np.empty(len(sets), dtype=np.int64)
        by_content[sets.as_records().content_order()] = np.arange(len(sets))
        lengths = sets.lengths[self.antecedents]
        keys = (self.consequents, by_content[self.antecedents], lengths, -self.supports, -self.confidence)
        return self.take(np.lexsort(keys))

    def to_arrow(self) -> Any:
        """Return the antecedents as an Arrow column of lists of texts."""
        return self.antecedent_sets().to_arrow()

    def to_table(self) -> Any:
        """Return an Arrow table: `antecedent`, `consequent`, `support` in records, `confidence`, `lift`."""
        consequents = as_arrow(self.vocabulary).take(pa.array(self.consequents))
        columns = {"antecedent": self.to_arrow(), "consequent": consequents, "support": self.supports}
        return pa.table({**columns, "confidence": self.confidence, "lift": self.lift})

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`, the antecedents as tuples; pandas must be installed."""
        return as_pandas(self.to_table(), tuples="antecedent")


@with_threads
@check_arguments
def association_rules(
    itemsets: Itemsets,
    min_confidence: MinConfidence | str | float,
    *,
    min_lift: str | float | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Rules:
    """Return the rules A → b of at least this confidence, where A with b is one of the itemsets and A is not empty.

    The itemsets must be all frequent ones, up to a length at most: closed or maximal ones lack the supports of their parts.

    >>> association_rules(mine(data, "1%"), "80%").ordered().to_table()     # doctest: +SKIP
    """
    least = MinConfidence(min_confidence).share
    least_lift = None if min_lift is None else _lift(min_lift)
    lookup = Lookup(itemsets.offsets, itemsets.items, len(itemsets.vocabulary))
    most = int(itemsets.supports.max(initial=0))
    parts = lookup.places_of_parts(itemsets.supports, _least_parts(most, least))
    if (parts == -1).any():
        raise BadParameter(
            "rules need all frequent itemsets, but a part of an itemset is not among these: closed and maximal ones, and those from a "
            "length on, do not tell the supports of their parts"
        )
    chosen = np.flatnonzero(parts >= 0)
    wholes = owner_of(itemsets.offsets)[chosen]
    found = Rules(itemsets, parts[chosen], wholes, itemsets.items[chosen])
    return found if least_lift is None else found.take(_lifted(found, least_lift))


def _lift(value: str | float) -> Fraction:
    try:
        lift = Fraction(value.strip() if isinstance(value, str) else repr(value))
    except (ValueError, ZeroDivisionError):
        lift = Fraction(-1)
    if lift < 0 or isinstance(value, bool):
        raise BadParameter(f"the lift {str(value)[:40]!r} is not a number from 0 on")
    return lift


def _least_parts(most: int, share: Fraction) -> NDArray[np.int64]:
    """Return for every whole from 0 to `most` the least part that is at least this share of it."""
    if most * share.numerator + share.denominator < _SAFE:
        return -(-np.arange(most + 1, dtype=np.int64) * share.numerator // share.denominator)
    return np.array([-(-share.numerator * whole // share.denominator) for whole in range(most + 1)], dtype=np.int64)


def _lifted(rules: Rules, least: Fraction) -> NDArray[np.bool_]:
    """Tell where support x records / (antecedent x consequent) is at least the limit, in whole numbers of any size."""
    columns = rules.supports, rules.antecedent_supports, rules.consequent_supports
    left, right = rules.records * least.denominator, least.numerator
    if max(rules.records, 1) * max(left, rules.records * right) < _SAFE:
        support, antecedent, consequent = columns
        return support * left >= antecedent * consequent * right
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return np.fromiter((s * left >= a * c * right for s, a, c in rows), dtype=bool, count=len(rules))
