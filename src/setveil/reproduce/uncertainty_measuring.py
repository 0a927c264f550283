"""What is measured of releases in which no item may be inferred: the figures of jia2014, and those that it lacks."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from setveil.data.records.ragged import runs
from setveil.data.records.transactions import Transactions
from setveil.methods.uncertainty.global_suppression import GlobalSuppression
from setveil.methods.uncertainty.insert import Insert
from setveil.methods.uncertainty.partial_suppression import PartialSuppression
from setveil.methods.uncertainty.permutation import Permutation
from setveil.methods.uncertainty.td_control import TDControl
from setveil.metrics.distribution import SymmetricKl
from setveil.metrics.itemsets import NonSensitiveRules, RuleSimilarity
from setveil.metrics.reconstruction import ReconstructionKl
from setveil.metrics.suppression import InfoLoss
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.reproduce import uncertainty_lines as lines
from setveil.reproduce.figures import ORIGINAL, Figure
from setveil.reproduce.overlaps import best_overlaps, estimated_bound, most_needed
from setveil.reproduce.paper import Dataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.plain import RowsOfRecords
    from setveil.methods.base import Method, Outcome
    from setveil.reproduce.figures import Figures

SENSITIVE_TYPES = 0.4
BALANCED_FANOUT = 5
CUT = 5
"""So many items of each record are kept where rules are compared."""
MIN_SUPPORT = "0.05%"
PARTIAL = {
    lines.MINE: ("mine", 0),
    lines.MINE_WHOLE: ("mine", 1),
    lines.DIST: ("dist", 0),
    lines.DIST_WHOLE: ("dist", 1),
}
"""What partial suppression preserves, and into how many parts it splits; 0 leaves it to t_max."""
SAME_AS = {
    lines.MINE: lines.MINE,
    lines.MINE_WHOLE: lines.MINE,
    lines.DIST: lines.DIST,
    lines.DIST_WHOLE: lines.DIST,
}
"""Lines that are one method: in the same number of parts they make the same release, which is then made once."""
SMOOTHING = 0.5
"""Records that are added to every cell of Figure 9: without, a sensitive item that is gone has no distribution to compare."""


@dataclass(frozen=True)
class SensitiveSet(Dataset):
    """A data set, and the seeds that draw which of its items are sensitive, in the order of the draws."""

    seeds: tuple[int, ...] = ()
    complete: bool = field(default=True)
    """Whether it is the paper's data set itself."""

    def is_sensitive(self, draw: int) -> NDArray[np.bool_]:
        """Return which items a draw names sensitive."""
        return drawn(len(self.data.vocabulary), self.seeds[draw])

    def sensitive(self, draw: int) -> SensitiveItems:
        """Return the sensitive items of a draw."""
        return SensitiveItems([self.data.vocabulary[code] for code in np.flatnonzero(self.is_sensitive(draw))])

    def share(self, draw: int) -> float:
        """Return which share of all occurrences is sensitive."""
        return float(self.data.supports[self.is_sensitive(draw)].sum() / max(self.data.occurrences, 1))

    def to_dict(self) -> dict[str, Any]:
        """Return its counts as plain values, those of the paper and the seeds beside."""
        shares = ", ".join(f"{seed} ({100 * self.share(draw):.2f} %)" for draw, seed in enumerate(self.seeds))
        return {**super().to_dict(), "sensitive": f"seeds {shares}", "sensitive_seeds": [*self.seeds]}


def drawn(types: int, seed: int) -> NDArray[np.bool_]:
    """Return which of so many items, in label order, a seed names sensitive: 40 %."""
    chosen = np.zeros(types, np.bool_)
    chosen[np.random.default_rng(seed).permutation(types)[: int(SENSITIVE_TYPES * types)]] = True
    return chosen


def nearest_seeds(data: Transactions, share: float, *, among: int, how_many: int) -> tuple[int, ...]:
    """Return the seeds that draw sensitive items of nearly this share of all occurrences, the nearest first."""
    apart = [
        abs(float(data.supports[drawn(len(data.vocabulary), seed)].sum()) / max(data.occurrences, 1) - share)
        for seed in range(among)
    ]
    return tuple(np.argsort(apart, kind="stable")[:how_many].tolist())


def cut_to(data: Transactions, most: int) -> Transactions:
    """Keep the first items of each record, in label order."""
    keeps = runs(np.zeros_like(data.lengths), data.lengths) < most
    return data.keeping(keeps)


def without_sensitive(data: Transactions, is_sensitive: NDArray[np.bool_]) -> Transactions:
    """Delete every sensitive item: the trivial solution."""
    return data.keeping(~is_sensitive[data.items])


def tree_apart(data: Transactions, sensitive: SensitiveItems) -> Hierarchy:
    """Return a balanced tree over the items that occur and are not sensitive, beside which the sensitive ones stand.

    So every node can be shown, as in the paper, whose trees know no sensitive items. Published, it would name the sensitive items.
    """
    labels = [data.vocabulary[code] for code in np.flatnonzero(data.supports).tolist()]
    tree = Hierarchy.balanced([label for label in labels if label not in sensitive], BALANCED_FANOUT)
    apart = [tree.root, *(label for label in labels if label in sensitive)]
    return Hierarchy(tree.parent_of() | dict.fromkeys(apart, tree.root + "*"))


def method_of(
    line: str,
    sensitive: SensitiveItems,
    rho: str,
    data: Transactions,
    *,
    t_max: int = lines.DEFAULT_T_MAX,
    parts: int = 0,
) -> Method:
    """Return the method of a line for some data. The empty set of known items does not count, as in the paper."""
    given: dict[str, Any] = {"sensitive": sensitive, "rho": rho, "include_empty": False}
    if line in PARTIAL:
        objective, whole = PARTIAL[line]
        return PartialSuppression(**given, objective=objective, t_max=t_max, parts=whole or parts, restore=False)
    if line == lines.INSERT:
        return Insert(**given)
    if line == lines.TD:
        return TDControl(**given, hierarchy=tree_apart(data, sensitive))
    return GlobalSuppression(**given, payoff="cao" if line == lines.GLOBAL else "sensitive")


class Experiment:
    """One data set: what the original is, and then one release after the other."""

    def __init__(self, dataset: SensitiveSet, figures: Figures) -> None:
        self.dataset, self.data, self.figures = dataset, dataset.data, figures
        self._overlaps: NDArray[np.int64] | None = None

    @cached_property
    def cut(self) -> Transactions:
        """The data set with the first items of each record only."""
        return cut_to(self.data, CUT)

    def measure_original(self, rhos: Sequence[str]) -> None:
        """Count what the data set holds, and prepare the bounds of all ρ."""
        data = self.data
        counts = {"records": data.records, "items": data.occurrences, "distinct-items": len(data.vocabulary)}
        for metric, count in counts.items():
            self.add(ORIGINAL, None, "", metric, float(count))
        self._overlaps = best_overlaps(data, most_needed(map(Fraction, rhos)))

    def made(self, data: Transactions, method: Method, draw: int) -> tuple[Outcome, float]:
        """Make a release, and return how long that took too."""
        bound = method.bind(data, linked=False, rng=np.random.default_rng(0))
        started = time.perf_counter()
        outcome = bound.apply(data, rng=np.random.default_rng(self.dataset.seeds[draw]))
        return outcome, time.perf_counter() - started

    def measure_limits(self, draw: int, rho: str) -> None:
        """Add what every loss stands between: deleting all that is sensitive, and the estimated bound."""
        is_sensitive, at = self.dataset.is_sensitive(draw), lines.at_rho(rho)
        self._add_release(lines.TRIVIAL, draw, at, without_sensitive(self.data, is_sensitive), {})
        assert self._overlaps is not None
        bound = estimated_bound(self.data, is_sensitive, Fraction(rho), self._overlaps)
        self.add(lines.BOUND, draw, at, "info-loss", bound)

    def measure(self, line: str, draw: int, rho: str, *, rules: bool = False, proof: bool = False) -> None:
        """Make a release and measure it; `rules` mines it too, `proof` has its guarantee checked once more."""
        sensitive, at = self.dataset.sensitive(draw), lines.at_rho(rho)
        method = method_of(line, sensitive, rho, self.data)
        outcome, seconds = self.made(self.data, method, draw)
        self.add(line, draw, at, "seconds", seconds)
        published = self._add_release(line, draw, at, cast("RowsOfRecords", outcome.published), outcome.account)
        if rules:
            self._add_rules(line, draw, rho, self.data, published, sensitive, "")
        if proof:
            self._add_proof(line, draw, at, method, outcome.published)

    def _add_proof(self, line: str, draw: int, at: str, method: Method, published: Any) -> None:
        """Add how many sensitive items the release betrays, by a search that trusts no method."""
        assert method.guarantee is not None
        verdict = method.guarantee.check(published)
        decided = verdict.status != "undecided"
        betrayed = float(sum(verdict.violations.values()))
        self.add(line, draw, at, "unsafe-items", betrayed if decided else None, "" if decided else verdict.reason)

    def measure_cut(self, line: str, draw: int, rho: str) -> None:
        """Make a release of the cut records, for the rules that can be mined there."""
        sensitive, data = self.dataset.sensitive(draw), self.cut
        if line == lines.TRIVIAL:
            published = without_sensitive(data, self.dataset.is_sensitive(draw))
        else:
            made, _seconds = self.made(data, method_of(line, sensitive, rho, data), draw)
            published = made.rows
        self._add_rules(line, draw, rho, data, published, sensitive, "cut-")

    def measure_table_3(self, line: str, draw: int) -> None:
        """Add the seconds of Table 3; a release that would be made in the same parts as before is not made again."""
        if line in (lines.MINE, lines.DIST):
            self._add_split(line, draw, self.data, lines.TABLE_T_MAX, "table-3", "")
        else:
            self._copy(line, draw, (lines.at_rho(lines.HIGH), "seconds"), line, ("", "table-3-seconds"))

    def measure_t_max(self, line: str, draw: int, t_max: int) -> None:
        """Add loss and seconds at a t_max."""
        self._add_split(line, draw, self.data, t_max, "t-max", lines.at_t_max(t_max))

    def measure_fifth(self, line: str, draw: int, fifth: str) -> None:
        """Add the seconds on the first fifths of the records, split at the t_max of Table 3 or not at all."""
        records = int(Fraction(fifth) * self.data.records)
        part = self.data if records == self.data.records else self.data.take(np.arange(records), ids=None)
        self._add_split(line, draw, part, lines.TABLE_T_MAX, "scale", fifth)

    def measure_permutation(self, line: str, draw: int, p: int) -> None:
        """Add how well sensitive items beside others can be reconstructed, and the seconds; ρ is 1/p."""
        sensitive, at = self.dataset.sensitive(draw), lines.at_degree(p)
        permutes = line == lines.PERMUTATION
        method = Permutation(sensitive=sensitive, p=p) if permutes else method_of(line, sensitive, f"1/{p}", self.data)
        outcome, seconds = self.made(self.data, method, draw)
        note = outcome.advice
        self.add(line, draw, at, "permutation-seconds", None if note else seconds, note)
        found = ReconstructionKl(sensitive=sensitive, smoothing=SMOOTHING)(self.data, outcome.published)
        self.add(line, draw, at, "reconstruction-kl", None if note else found.value, note or found.reason)
        if permutes:
            return
        apart = SymmetricKl()(self.data, outcome.published)
        self.add(line, draw, at, "permutation-symmetric-kl", apart.value, apart.reason)

    def _add_split(self, line: str, draw: int, data: Transactions, t_max: int, prefix: str, at: str) -> None:
        """Add seconds, loss and number of parts of partial suppression at ρ = 0.7, from an earlier run where there is the very same one."""
        method = method_of(line, self.dataset.sensitive(draw), lines.HIGH, data, t_max=t_max)
        assert isinstance(method, PartialSuppression)
        parts = method.number_of_parts(data)
        self.add(line, draw, at, f"{prefix}-parts", float(parts))
        name = self.dataset.name
        known = f"{parts} of {data.records}"
        like = SAME_AS[line]
        if self.figures.value(name, like, "seconds-in-parts", draw, known) is None:
            outcome, seconds = self.made(data, method, draw)
            loss = InfoLoss()(data, outcome.published).value
            self.add(like, draw, known, "seconds-in-parts", seconds)
            self.add(like, draw, known, "loss-in-parts", loss)
        for what in ("seconds", "loss"):
            self._copy(like, draw, (known, f"{what}-in-parts"), line, (at, f"{prefix}-{what}"))

    def _copy(self, line: str, draw: int, found: tuple[str, str], new_line: str, new: tuple[str, str]) -> None:
        """Add a figure again, under another line, setting and metric."""
        value = self.figures.value(self.dataset.name, line, found[1], draw, found[0])
        if value is not None:
            self.add(new_line, draw, new[0], new[1], value)

    def _add_release(
        self, line: str, draw: int, at: str, published: RowsOfRecords, account: dict[str, Any]
    ) -> Transactions:
        """Add loss, divergence, what is left of sensitive types and what went of the others; return plain records."""
        records, data = published.rows, self.data
        if published.tree is not None:
            suppressed, general = account["suppression-loss"], account["generalization-loss"]
            self.add(line, draw, at, "suppression-loss", suppressed)
            self.add(line, draw, at, "generalization-loss", general)
            self.add(line, draw, at, "info-loss", suppressed + general)
        else:
            self.add(line, draw, at, "info-loss", InfoLoss()(data, records).value)
        apart = SymmetricKl()(data, records)
        self.add(line, draw, at, "symmetric-kl", apart.value, apart.reason)
        is_sensitive = self.dataset.is_sensitive(draw)
        held = {records.vocabulary[code] for code in np.flatnonzero(records.supports)}
        types = [data.vocabulary[code] for code in np.flatnonzero(is_sensitive & (data.supports > 0))]
        self.add(line, draw, at, "sensitive-types-left", sum(label in held for label in types) / max(len(types), 1))
        if "parts" in account and line in PARTIAL and at == lines.at_rho(lines.HIGH):
            known, like = f"{account['parts']} of {data.records}", SAME_AS[line]
            if self.figures.value(self.dataset.name, like, "seconds-in-parts", draw, known) is None:
                self._copy(line, draw, (at, "seconds"), like, (known, "seconds-in-parts"))
                self._copy(line, draw, (at, "info-loss"), like, (known, "loss-in-parts"))
        return records

    def _add_rules(
        self,
        line: str,
        draw: int,
        rho: str,
        before: Transactions,
        after: Transactions,
        sensitive: SensitiveItems,
        prefix: str,
    ) -> None:
        """Add how similar the rules are that can be mined before and after, all of them and those without sensitive items."""
        given = {"min_support": MIN_SUPPORT, "min_confidence": rho}
        at = lines.at_rho(rho)
        for metric, measured in {
            "rule-similarity": RuleSimilarity(**given),
            "non-sensitive-rules": NonSensitiveRules(**given, sensitive=sensitive),
        }.items():
            found = measured(before, after)
            self.add(line, draw, at, f"{prefix}{metric}", found.value, found.reason)
            for detail in ("before", "after"):
                if metric == "rule-similarity" and detail in found.details:
                    self.add(line, draw, at, f"{prefix}rules-{detail}", float(found.details[detail]))

    def add(self, line: str, draw: int | None, at: str, metric: str, value: float | None, note: str = "") -> None:
        """Add a figure."""
        self.figures.add(Figure(self.dataset.name, line, draw, at, metric, value, note))
