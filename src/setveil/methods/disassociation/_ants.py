"""Form clusters by ants that keep utility rules together (UGAC).

Paper    awad2020 (references.bib), section 2.5, algorithms 1 to 4.
Idea     each rule has a cluster and an ant, and each record that holds rules is in the cluster of one of them. An ant is unsatisfied if its
         cluster has less than a share beta of its rule's records, or fewer than k although more than k exist. It takes one record from the
         cluster in which the rule is densest and that has more than k. A satisfied ant does so for the rule that lacks the most records.
Departs  as printed it cannot run. `A[l][c]`, how many records of cluster c hold rule l, is updated for every rule of a record that moves,
         and not for one rule. It ends once all ants are satisfied or none moved, as well as at `iterations`. A satisfied ant does nothing
         if no rule lacks a record, and the record goes to the cluster of the rule that it is taken for. Of the records of a cluster that
         hold a rule, the one that came first is taken.
         `stable`: nothing is taken from a cluster that would then have less than a share beta of its own rule's records. Every move then
         brings a rule nearer to its share and no rule below it, so it ends. Without it two ants may take the same records from
         each other forever.
         Each record of a cluster holds the rule of this cluster, so the cluster has `A[c][c]` records.
         With `safe`, clusters are cut evenly, with records of the same rules next to each other (`_groups`).
Cost     for each rule, the records of its rarest item. A move: the number of rules, and the rules of the record. Memory: three numbers for
         each pair of rules.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.ragged import inverted, offsets_of, owner_of, ranks_of_sequences, read_only
from setveil.errors import BadParameter
from setveil.kernels.threads import run
from setveil.methods.disassociation._groups import NO_GROUP, of_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.methods.disassociation._horizontal import Clustering, Mode
    from setveil.parameters.named_itemsets import NamedItemsets

MOST_RULES = 4000
"""Maximum number of rules: the numbers for their pairs take 0.4 GB."""


def by_ants(
    data: Transactions,
    rules: NamedItemsets,
    k: int,
    delta: int,
    *,
    beta: float,
    iterations: int,
    stable: bool,
    safe: bool,
    mode: Mode,
) -> tuple[Clustering, dict[str, Any]]:
    """Return clusters in which rules stay together, and an account."""
    from setveil.methods.disassociation import _ants_kernels as kernels  # noqa: PLC0415 - imports Numba
    from setveil.methods.disassociation._horizontal_kernels import Holders  # noqa: PLC0415 - imports Numba

    if len(rules) > MOST_RULES:
        raise BadParameter(
            f"{len(rules):,} rules are too many for ants; allowed are at most {MOST_RULES:,}: select the most important ones"
        )
    order = data.content_order()
    starts, holders = _holders(data, rules, order)
    supports = np.diff(starts)
    # Every record has a place for each of its rules; these places link the records of a cluster that hold the same rule.
    first, rule_of = inverted(starts, holders, data.records)
    record_of = owner_of(first)
    share = Fraction(str(beta))
    wanted = [share * support for support in supports.tolist()]
    need = np.array([-(-number.numerator // number.denominator) for number in wanted], np.int64)
    # What rules lack is compared exactly: first in whole records, then by the fraction that was rounded up.
    by_rest = np.array(sorted(range(len(rules)), key=lambda rule: need[rule] - wanted[rule]), np.int64)
    least = np.maximum(need, k) if stable else np.full(len(rules), k)
    pairs = (len(rules), len(rules))
    pheromone, heads, tails = np.zeros(pairs, np.int64), np.full(pairs, -1, np.int64), np.empty(pairs, np.int64)
    group = np.full(data.records, NO_GROUP, np.int64)
    places = kernels.Places(*map(read_only, (first, rule_of, record_of)))
    needs = kernels.Needs(*map(read_only, (supports, need, least, by_rest)))
    clusters = kernels.Clusters(group, pheromone, heads, tails, np.empty((2, len(record_of)), np.int64))

    def work(control: NDArray[np.int64]) -> tuple[int, int]:
        kernels.settle(places, Holders(read_only(starts), read_only(holders)), clusters, control)
        return kernels.carry(places, needs, k, iterations, clusters, control)  # type: ignore[no-any-return]  # a kernel has no types

    done, moves = run("moving records between clusters", work, total=iterations)
    reached = (np.diagonal(pheromone) >= need) & (supports > 0)
    account = {
        "rules": len(rules),
        "rules-that-no-record-holds": int(np.count_nonzero(supports == 0)),
        "rules-reached": int(np.count_nonzero(reached)),
        "records-that-hold-rules": int(np.count_nonzero(group != NO_GROUP)),
        "moves-of-ants": moves,
        "iterations-of-ants": done,
    }
    if safe:
        place = np.argsort(order)
        pattern = ranks_of_sequences(first, rule_of)
        order = np.lexsort((place, pattern))
    else:
        order = np.arange(data.records)
    clustering, counts = of_groups(data, group, order, k, delta, safe=safe, mode=mode)
    return clustering, account | counts


def _holders(
    data: Transactions, rules: NamedItemsets, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the records of each rule start, and the records that hold it, in the given order, rule by rule."""
    from setveil.methods.disassociation import _ants_kernels as kernels  # noqa: PLC0415 - imports Numba
    from setveil.methods.disassociation._horizontal_kernels import Holders, Records  # noqa: PLC0415 - imports Numba

    rule_offsets, codes = rules.bind(data)
    # The rarest item of each rule comes first: only its records are examined.
    codes = codes[np.lexsort((codes, data.supports[codes], owner_of(rule_offsets)))]
    # List the records of each item that is the first of a rule.
    begins = np.zeros(len(data.vocabulary), np.bool_)
    begins[codes[rule_offsets[:-1]]] = True
    sorted_records = data.take(order, ids=None)
    listed = np.flatnonzero(begins[sorted_records.items])
    listed = listed[np.argsort(sorted_records.items[listed], kind="stable")]
    item_starts = offsets_of(np.where(begins, data.supports, 0))
    item_holders = order[owner_of(sorted_records.offsets)[listed]]
    holders = Holders(read_only(item_starts), read_only(item_holders))
    to_find = kernels.Rules(read_only(rule_offsets), read_only(codes))
    ends = np.empty(len(rules), np.int64)
    found = run(
        "finding the records of each rule",
        lambda control: kernels.find(Records(data.offsets, data.items), holders, to_find, ends, control),
        total=len(rules),
    )
    return np.concatenate((np.zeros(1, np.int64), ends)), found[: ends[-1]]
