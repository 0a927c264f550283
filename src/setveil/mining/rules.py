"""Association rules A → b with one item b as consequent, from frequent itemsets.

Every subset of a frequent itemset is frequent, so the collection itself contains the supports of antecedents. Confidence is compared with
its limit as a fraction of whole numbers. Cost: one look-up per item of each itemset.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments
from setveil.base.display import MOST_ROWS, ShownTable, quantity, share, to_html
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
"""Products of whole numbers up to this one fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class Rules:
    """Association rules A → b, as `association_rules` returns them.

    Iterating yields each rule as labels: the antecedent A as a tuple, and the consequent b. Antecedents are stored as numbers of itemsets,
    because there are often more rules than itemsets, and rules share antecedents.

    Attributes
    ----------
    itemsets : Itemsets
        The itemsets that the rules refer to.
    antecedents : array of int64
        The number of the itemset A of each rule.
    wholes : array of int64
        The number of the itemset of A and b of each rule.
    consequents : array of int32
        The code of b of each rule.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["tea", "milk"], ["tea", "milk"], ["tea"]])
    >>> found = sv.association_rules(sv.mine(data, 1), "80%")
    >>> found
    Rules(1 rule, in 3 records)
    >>> list(found)
    [(('milk',), 'tea')]
    """

    itemsets: Itemsets
    antecedents: NDArray[np.int64]
    wholes: NDArray[np.int64]
    consequents: NDArray[np.int32]

    def __post_init__(self) -> None:
        for array in (self.antecedents, self.wholes, self.consequents):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.consequents)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield each rule as labels: antecedent and consequent."""
        texts = zip(self.to_arrow().to_pylist(), self.consequents.tolist(), strict=True)
        for antecedent, consequent in texts:
            yield tuple(antecedent), self.vocabulary[consequent]

    def __repr__(self) -> str:
        return f"Rules({quantity(len(self), 'rule')}, in {quantity(self.records, 'record')})"

    def __str__(self) -> str:
        return self._shown().to_text()

    def _repr_html_(self) -> str:
        return to_html(self._shown())

    def _shown(self) -> ShownTable:
        """Return a table of the rules with the highest confidence."""
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
        """The share of the records with A that also hold b."""
        return self.supports / self.antecedent_supports

    @property
    def lift(self) -> NDArray[np.float64]:
        """The confidence divided by the share of b among all records."""
        return self.confidence / (self.consequent_supports / max(self.records, 1))

    def antecedent_sets(self) -> Itemsets:
        """Return the antecedent of each rule as an itemset."""
        return self.itemsets.take(self.antecedents)

    def take(self, chosen: NDArray[Any]) -> Rules:
        """Return some of the rules.

        Parameters
        ----------
        chosen : array of int or bool
            The numbers of the rules, in the order to return them, or a mask.

        Returns
        -------
        Rules
            These rules.
        """
        return Rules(self.itemsets, self.antecedents[chosen], self.wholes[chosen], self.consequents[chosen])

    def ordered(self) -> Rules:
        """Return the rules sorted for reading: by falling confidence, falling support, rising length, then in label order."""
        sets = self.itemsets
        by_content = np.empty(len(sets), dtype=np.int64)
        by_content[sets.as_records().content_order()] = np.arange(len(sets))
        lengths = sets.lengths[self.antecedents]
        keys = (self.consequents, by_content[self.antecedents], lengths, -self.supports, -self.confidence)
        return self.take(np.lexsort(keys))

    def to_arrow(self) -> Any:
        """Return the antecedents as an Arrow array of lists of labels."""
        return self.antecedent_sets().to_arrow()

    def to_table(self) -> Any:
        """Return an Arrow table with the columns `antecedent`, `consequent`, `support` (number of records), `confidence` and `lift`."""
        consequents = as_arrow(self.vocabulary).take(pa.array(self.consequents))
        columns = {"antecedent": self.to_arrow(), "consequent": consequents, "support": self.supports}
        return pa.table({**columns, "confidence": self.confidence, "lift": self.lift})

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`, and antecedents as tuples. It requires pandas."""
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
    """Return the association rules A → b with at least this confidence, where A with b is one of the itemsets and A is not empty.

    Parameters
    ----------
    itemsets : Itemsets
        All frequent itemsets, possibly with a maximum length, as `mine` returns them. Closed or maximal itemsets lack the supports of their
        subsets.
    min_confidence : str, float or MinConfidence
        Minimum share of the records with A that also hold b: "80%" or 0.8.
    min_lift : str or float, optional
        Minimum lift: the confidence divided by the share of b among all records.
    threads : int, optional
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    Rules
        The rules; `ordered()` puts those with the highest confidence first.

    Raises
    ------
    BadParameter
        If a subset of an itemset is missing, or a limit is not allowed.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["tea", "milk"], ["tea", "milk"], ["tea"]])
    >>> list(sv.association_rules(sv.mine(data, 1), "80%"))
    [(('milk',), 'tea')]
    """
    least = MinConfidence(min_confidence).share
    least_lift = None if min_lift is None else _lift(min_lift)
    lookup = Lookup(itemsets.offsets, itemsets.items, len(itemsets.vocabulary))
    most = int(itemsets.supports.max(initial=0))
    parts = lookup.places_of_parts(itemsets.supports, _least_parts(most, least))
    if (parts == -1).any():
        raise BadParameter(
            "rules need all frequent itemsets, but a subset of an itemset is missing; mine with kind 'all' and without a minimum "
            "length"
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
        raise BadParameter(f"the lift {str(value)[:40]!r} is not a number of at least 0")
    return lift


def _least_parts(most: int, share: Fraction) -> NDArray[np.int64]:
    """Return, for every whole from 0 to `most`, the smallest part that is at least this share of it."""
    if most * share.numerator + share.denominator < _SAFE:
        return -(-np.arange(most + 1, dtype=np.int64) * share.numerator // share.denominator)
    return np.array([-(-share.numerator * whole // share.denominator) for whole in range(most + 1)], dtype=np.int64)


def _lifted(rules: Rules, least: Fraction) -> NDArray[np.bool_]:
    """Return where support x records / (antecedent x consequent) is at least the limit, in whole numbers of any size."""
    columns = rules.supports, rules.antecedent_supports, rules.consequent_supports
    left, right = rules.records * least.denominator, least.numerator
    if max(rules.records, 1) * max(left, rules.records * right) < _SAFE:
        support, antecedent, consequent = columns
        return support * left >= antecedent * consequent * right
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return np.fromiter((s * left >= a * c * right for s, a, c in rows), dtype=bool, count=len(rules))
