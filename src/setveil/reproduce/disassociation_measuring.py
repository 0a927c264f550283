"""What is measured of disassociated and re-associated data: the figures of awad2020, and those that it lacks."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from setveil.data.forms.disassociated import Disassociated
from setveil.data.records.ragged import distinct
from setveil.errors import BadData
from setveil.guarantees.km_anonymity import KmAnonymity
from setveil.methods.disassociation.disassociation import Disassociation
from setveil.methods.disassociation.reassociation import spin
from setveil.metrics.associations import AlphaConfidence, RelativeAssociationError, records_with_any
from setveil.mining.frequent import mine
from setveil.mining.rare_itemsets import rare_itemsets
from setveil.mining.rules import association_rules
from setveil.mining.supports import supports
from setveil.mining.tree_distance import tree_distance
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.reproduce.disassociation_lines import (
    FREQUENT,
    HP,
    HP_SAFE,
    KMEANS,
    KMEANS_SAFE,
    PAIRS,
    RANDOM,
    READ_AS,
    RULE_SETS,
    RULES,
    TRIPLES,
    UGAC,
    UGAC_FIGHTING,
    UGAC_SAFE,
    WHEEL,
    at,
)
from setveil.reproduce.figures import ORIGINAL, Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setveil.data.records.transactions import Transactions
    from setveil.reproduce.figures import Figures
    from setveil.reproduce.paper import Dataset

PAIR_SUPPORT, TRIPLE_SUPPORT, RULE_SUPPORT, RULE_CONFIDENCE = "0.8%", "0.5%", 0.001, "80%"
"""80 % is what the paper's program, arules, takes where nothing is said."""
UTILITY_RULES, AMONG = 70, 20_000
"""How many utility rules there are, and from how many of the most frequent pairs random ones are drawn."""
RULES_K, RULES_DELTA = 3, 20
"""The k, m and δ of Table 3, which the paper does not tell."""
RARE_BUDGET = 1_000_000_000
FEWEST_FOR_CENTROID = 3
LINES: dict[str, dict[str, Any]] = {
    HP: {"partition": "frequency", "safe": False},
    HP_SAFE: {"partition": "frequency", "safe": True},
    UGAC: {"partition": "ants", "safe": False, "stable": False},
    UGAC_FIGHTING: {"partition": "ants", "safe": True, "stable": False},
    UGAC_SAFE: {"partition": "ants", "safe": True, "stable": True},
    KMEANS: {"partition": "kmeans", "safe": False},
    KMEANS_SAFE: {"partition": "kmeans", "safe": True},
}
"""How the lines of Table 3 put records into clusters."""

Labels = tuple[str, ...]


class Experiment:
    """BMS1: what the original is, then one setting after the other, and Table 3."""

    def __init__(self, dataset: Dataset, figures: Figures) -> None:
        self.dataset, self.data, self.figures = dataset, dataset.data, figures
        self._published: Disassociated | None = None
        self._made: dict[int, Transactions] = {}
        """What the last setting gave, and what was put together from it, by seed."""
        self._counts: dict[tuple[str, int], list[Counter[Labels]]] = {}
        self._rule_supports: dict[tuple[str, int], list[Any]] = {}
        self._sizes: dict[tuple[str, int], list[int]] = {}
        self.top_sets: dict[str, Labels] = {}
        """The pairs and triples of Tables 5 and 6, most frequent first, by the name of their setting."""
        self.top_rules: list[tuple[Labels, str]] = []
        """The rules of Figure 6."""

    # -- the original ---------------------------------------------------------------------------------------------------------

    def measure_original(self) -> None:
        """Count records and items, and look for the sets and rules that Tables 5 and 6 and Figure 6 follow."""
        data = self.data
        self._add(ORIGINAL, None, "records", data.records)
        self._add(ORIGINAL, None, "items", data.occurrences)
        for what, size, support, how_many in (("pair", 2, PAIR_SUPPORT, PAIRS), ("triple", 3, TRIPLE_SUPPORT, TRIPLES)):
            found = mine(data, support, min_length=size, max_length=size).ordered()
            self._add(ORIGINAL, None, "frequent-sets", len(found), what)
            # Of two with the same count the one of later labels comes first: so the pairs 9 and 10 fall as they do in print.
            ranked = sorted(found, key=lambda entry: entry[1])[::-1]
            for place, (labels, count) in enumerate(ranked[:how_many], start=1):
                self.top_sets[f"{what} {place}"] = labels
                self._add(ORIGINAL, None, "count", count, f"{what} {place}")
                self._add(ORIGINAL, None, "rank", place, f"{what} {place}")
        rules = association_rules(mine(data, RULE_SUPPORT), RULE_CONFIDENCE).ordered()
        rules = rules.take(np.argsort(-rules.supports, kind="stable")[:RULES])
        self.top_rules = [*rules]
        for place, count in enumerate(rules.supports.tolist(), start=1):
            self._add(ORIGINAL, None, "support", count / data.records, f"rule {place}")

    # -- Tables 4 to 6, Figures 5 and 6 -----------------------------------------------------------------------------------------

    def measure_setting(self, line: str, k: int, delta: int) -> None:
        """Disassociate, and look for clusters that break k^m-anonymity; nothing here is drawn."""
        method = Disassociation(k=k, m=k, delta=delta, safe=line != WHEEL)
        rng = np.random.default_rng(0)
        made = method.bind(self.data, linked=False, rng=rng).apply(self.data, rng=rng)
        setting = at(k, delta)
        self._published = cast("Disassociated", made.published)
        self._made = {}
        verdict = KmAnonymity(k=k, m=k).check(made.published)
        self._add(line, None, "clusters", made.account["clusters"], setting)
        self._add(line, None, "clusters-below-k", made.account["clusters-below-k"], setting)
        note = "" if verdict.status != "undecided" else verdict.reason
        self._add(line, None, "violations", None if note else sum(verdict.violations.values()), setting, note)
        if line == WHEEL:
            self._add_rare(ORIGINAL, None, self.data, k, setting)

    def measure_neighbour(self, line: str, k: int, delta: int, seed: int) -> None:
        """Put records together once, and compare them with the original."""
        setting = at(k, delta)
        assert self._published is not None  # measure_setting came before
        made, _slots = spin(self._published, np.random.default_rng([seed, k, delta]), "drop")
        self._made[seed] = made
        self._add(line, seed, "ted", tree_distance(self.data, made), setting)
        self._add(line, seed, "records", made.records, setting)
        self._sizes.setdefault((line, seed), []).append(made.records)
        self._add(line, seed, "items-left-out", self.data.occurrences - made.occurrences, setting)
        self._add_rare(line, seed, made, k, setting)
        # What is in fewer records than the threshold counts as 0, as in Figure 6.
        frequent = mine(made, RULE_SUPPORT, min_length=2, max_length=3)
        self._counts.setdefault((line, seed), []).append(Counter({_key(labels): n for labels, n in frequent}))
        of_rules = supports(made, [[*left, right] for left, right in self.top_rules]) / max(made.records, 1)
        self._rule_supports.setdefault((line, seed), []).append(of_rules)

    def measure_spread(self, line: str, k: int, delta: int, *, centroid: bool) -> None:
        """Tell how far the distances of the last setting are apart, and where asked for those of its sets among themselves.

        The centroid is the set that is nearest to the others: it is found without looking at the original.
        """
        setting, made = at(k, delta), self._made
        if len(made) > 1:
            self._add(line, None, "ted-deviation", stdev(self._ted(line, setting, seed) for seed in made), setting)
        if not centroid or len(made) < FEWEST_FOR_CENTROID:
            return
        seeds = [*made]
        distances: list[int] = []
        sums = dict.fromkeys(seeds, 0)
        for place, one in enumerate(seeds):
            for other in seeds[:place]:
                distance = tree_distance(made[one], made[other])
                distances.append(distance)
                sums[one] += distance
                sums[other] += distance
        nearest = min(seeds, key=lambda seed: sums[seed])
        self._add(line, None, "ted-among", fmean(distances), setting)
        self._add(line, None, "ted-of-centroid", self._ted(line, setting, nearest), setting)
        self._add(line, None, "ted-mean", fmean(self._ted(line, setting, seed) for seed in seeds), setting)

    def measure_means(self, line: str, seed: int) -> None:
        """Average over the settings what Tables 5 and 6 and Figure 6 tell."""
        settings = len(self._counts[line, seed])
        self._add(line, seed, "mean-records", fmean(self._sizes[line, seed]))
        total: Counter[Labels] = Counter()
        for counts in self._counts[line, seed]:
            total.update(counts)
        by_size = {size: sorted(n for labels, n in total.items() if len(labels) == size) for size in (2, 3)}
        for name, labels in self.top_sets.items():
            ranked, own = by_size[len(labels)], total[_key(labels)]
            above = len(ranked) - int(np.searchsorted(ranked, own, side="right"))
            self._add(line, seed, "count", own / settings, name)
            self._add(line, seed, "rank", 1 + above, name)
        if self.top_rules:
            mean = np.mean(self._rule_supports[line, seed], axis=0)
            kept = np.where(mean < RULE_SUPPORT, 0.0, mean)
            for place, support in enumerate(kept.tolist(), start=1):
                self._add(line, seed, "support", support, f"rule {place}")
            self._add(line, seed, "rules-below", int(np.count_nonzero(kept == 0)))

    # -- Table 3 ------------------------------------------------------------------------------------------------------------------

    def measure_rules(self, kind: str, seed: int, lines: Sequence[str]) -> None:
        """Disassociate the records that hold a utility rule, alone, and tell what became of rules and couples."""
        rules = draw_rules(self.data, kind, seed=seed)
        held = self.data.take(records_with_any(self.data, rules)).compacted()
        self._add(ORIGINAL, seed, "records-with-a-rule", held.records, kind)
        self._add(ORIGINAL, seed, "items-of-records-with-a-rule", held.occurrences, kind)
        for line in lines:
            how = LINES[line] | ({"rules": rules} if LINES[line]["partition"] == "ants" else {})
            method = Disassociation(k=RULES_K, m=RULES_K, delta=RULES_DELTA, **how)
            rng = np.random.default_rng(seed)
            made = method.bind(held, linked=False, rng=rng).apply(held, rng=rng)
            if "rules-reached" in made.account:
                self._add(line, seed, "rules-reached", made.account["rules-reached"], kind)
            for reading in READ_AS:
                for whose, over in (("ga", "pairs"), ("ur", "rules")):
                    error = RelativeAssociationError(rules=rules, reading=reading, over=over)(held, made.published)
                    self._add(line, seed, f"rae-{whose}-{reading}", error.value, kind, error.reason)
                found = AlphaConfidence(rules=rules, reading=reading)(held, made.published)
                told = found.details.get("by-rule", ())
                self._add(line, seed, f"alpha-mean-{reading}", found.value, kind, found.reason)
                if told:
                    least = min(alpha * RULES_DELTA ** len(rule) for rule, _before, _after, alpha in told)
                    self._add(line, seed, f"alpha-least-{reading}", least, kind)
                    self._add(line, seed, f"alpha-most-{reading}", max(row[3] for row in told), kind)

    def _add_rare(self, line: str, seed: int | None, data: Transactions, k: int, setting: str) -> None:
        """Add how many sets are in fewer than k records while all their parts are in more: pairs, and all of at most m = k items."""
        pairs = rare_itemsets(data, k, 2, budget=RARE_BUDGET, limit=0)
        self._add(line, seed, "rare-pairs", pairs.by_size.get(2, 0), setting)
        found = pairs if k == 2 else rare_itemsets(data, k, k, budget=RARE_BUDGET, limit=0)
        note = "" if found.complete else "at least so many: counting all would take too long"
        self._add(line, seed, "rare-itemsets", found.found, setting, note)
        self._add(line, seed, "records-with-rare-itemsets", found.exposed, setting, note)

    def _ted(self, line: str, setting: str, seed: int) -> float:
        return self.figures.value(self.dataset.name, line, "ted", seed, setting) or 0.0

    def _add(
        self, method: str, seed: int | None, metric: str, value: float | None, setting: str = "", note: str = ""
    ) -> None:
        number = None if value is None else float(value)
        self.figures.add(Figure(self.dataset.name, method, seed, setting, metric, number, note))


def draw_rules(data: Transactions, kind: str, *, seed: int) -> NamedItemsets:
    """Draw utility rules: pairs from the most frequent one down to one that two records hold.

    `random`: the others are drawn from the most frequent ones. `spread`: their counts are as far apart as powers. `frequent`: they are the
    most frequent.
    """
    pairs = mine(data, 2, min_length=2, max_length=2).ordered()
    if not len(pairs):
        raise BadData("no two items are together in two records, so that there are no utility rules")
    rng = np.random.default_rng([seed, RULE_SETS.index(kind)])
    last = int(rng.choice(np.flatnonzero(pairs.supports == pairs.supports[-1])))
    others = np.setdiff1d(np.arange(1, len(pairs)), [last], assume_unique=True)
    wanted = min(UTILITY_RULES - 2, len(others))
    if kind == FREQUENT:
        chosen = others[:wanted]
    elif kind == RANDOM:
        chosen = rng.choice(others[:AMONG], wanted, replace=False)
    else:
        chosen = _spread(pairs.supports, others, wanted, rng)
    numbers = distinct(np.concatenate(([0], chosen, [last])))
    return NamedItemsets(pairs.take(numbers).to_lists())


def _spread(counts: Any, others: Any, wanted: int, rng: np.random.Generator) -> Any:
    """Return pairs whose counts are nearest to those of equal steps in powers."""
    left = rng.permutation(others)
    chosen = []
    for target in np.geomspace(counts[0], counts[-1], wanted + 2)[1:-1]:
        place = int(np.argmin(np.abs(counts[left] - target)))
        chosen.append(left[place])
        left = np.delete(left, place)
    return np.array(chosen, dtype=np.int64)


def _key(labels: Sequence[str]) -> Labels:
    """Return a set in an order that does not depend on the data it is from."""
    return tuple(sorted(labels))
