"""The secure backend `mpyc` on a population of the size of Adult: seconds and bytes of each kind of step, and of a whole tree.

30,162 ids: 12,000 at A alone, 6,000 at B alone, 6,000 at both, the rest at neither. Three real processes, lines within this one (so no TLS
and no network). Cuts are halves of the groups by a random order of each; every answer is compared with a plain count.
Run: python benchmarks/bench_mpyc.py [own] [both]
"""

from __future__ import annotations

import resource
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from setveil.presence.secure.base import Level
from setveil.presence.secure.mpyc_session import MpycCollectorSide, MpycSession
from setveil.presence.secure.rules import SCORE_UNIT, Linear, Rules

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.mpyc_lines import play, triangle

VALUES, CANDIDATES = 2, 8
K = 7  # so many common users in a part make about a thousand checks, as Adult has with k = 2
NEITHER, A_ALONE, B_ALONE, BOTH = 6_162, 12_000, 6_000, 6_000


def rules_of_whole(population):
    """Return the rules c >= k and 1/20 <= c/a, c/b <= 19/20: scope qi."""
    common, at_b = [1] * VALUES, [1] * VALUES
    rows, constants = [[0] + [0] * VALUES + common], [-K]
    for sign, twentieths in ((1, 1), (-1, 19)):
        rows.append([-sign * twentieths] + [0] * VALUES + [sign * 20 * c for c in common])
        rows.append([0] + [-sign * twentieths * b for b in at_b] + [sign * 20 * c for c in common])
        constants += [0, 0]
    linear = Linear(np.array(rows), np.array(constants))
    return Rules(population, VALUES, CANDIDATES, linear, linear, 1, 0.34)


class World:
    """The population, and what a plain count of it says."""

    def __init__(self, mode):
        self.mode = mode
        chance = np.random.default_rng(1)
        kind = chance.permutation(np.repeat([0, 1, 2, 3], [NEITHER, A_ALONE, B_ALONE, BOTH]))
        self.at_a = (kind & 1) == 1
        self.value = np.where(kind >= 2, chance.integers(0, VALUES, len(kind)), -1)
        self.rules = rules_of_whole(len(kind))
        self.numbers = np.zeros((len(kind), 1 + 2 * VALUES), np.int64)
        self.numbers[:, 0] = self.at_a
        for s in range(VALUES):
            self.numbers[:, 1 + s] = self.value == s
            self.numbers[:, 1 + VALUES + s] = (self.value == s) & self.at_a

    def keeps(self, rows, starts):
        """Tell which groups keep the rules."""
        return (self.rules.part.values(np.add.reduceat(rows, starts)) >= 0).all(axis=1)

    def cuts(self, level, chance):
        """Balanced cuts: the lower half of each group by an order of its own."""
        group = np.repeat(np.arange(level.groups), level.sizes)
        cuts = np.zeros((len(level.ids), CANDIDATES), bool)
        for candidate in range(CANDIDATES):
            order = np.lexsort((chance.random(len(level.ids)), group))
            within = np.arange(len(level.ids)) - np.repeat(level.starts[:-1], level.sizes)
            cuts[order, candidate] = within < np.repeat(level.sizes // 2, level.sizes)
        return cuts

    def best(self, level, owned, cuts, scores):
        """Return the first cut of the highest score of each group."""
        dummy = np.where(np.repeat(owned, level.sizes), self.value[level.ids] < 0, ~self.at_a[level.ids])
        low = np.add.reduceat(cuts * dummy[:, None], level.starts[:-1], dtype=np.int64)
        high = np.add.reduceat(dummy, level.starts[:-1], dtype=np.int64)[:, None] - low
        tables = [self.rules.entropy(int(size)) for size in level.sizes]
        return np.array(
            [
                np.argmax(score + table[d] + table[e])
                for score, table, d, e in zip(scores, tables, low, high, strict=True)
            ]
        )

    def provider(self, session, role, told):
        """Play a provider to the end of the tree."""
        chance = np.random.default_rng(2)
        here = self.at_a if role == "a" else self.value >= 0
        told("begin", 1, lambda: session.begin(here, None if role == "a" else self.value))
        assert told("root", 1, session.root)
        level = Level(np.arange(len(here)), np.array([0, len(here)]))
        finals, levels, checks = 0, 0, 0
        while level.groups:
            widths = chance.integers(0, 1 << 20, (2, level.groups))
            mine = widths[0 if role == "a" else 1]
            owned = told("wider", level.groups, lambda mine=mine: session.wider(mine))
            assert (owned == (widths[0] >= widths[1])).all()
            cuts = self.cuts(level, chance)
            best = np.zeros(level.groups, np.int64)
            if self.mode == "both":
                scores = chance.integers(-SCORE_UNIT // 8, 0, (level.groups, CANDIDATES))
                args = (level, owned, cuts, scores)
                best = told("winners", level.groups, lambda args=args: session.winners(*args))
                assert (best == self.best(*args)).all()
            lower = cuts[np.arange(len(cuts)), np.repeat(best, level.sizes)]
            args = (level, owned, lower)
            passed = told("verdicts", level.groups, lambda args=args: session.verdicts(*args))
            rows = self.numbers[level.ids]
            kept = self.keeps(rows * lower[:, None], level.starts[:-1])
            assert (passed == (kept & self.keeps(rows * ~lower[:, None], level.starts[:-1]))).all()
            args = (level, passed, lower)
            told("descend", level.groups, lambda args=args: session.descend(*args))
            finals, levels, checks = finals + int((~passed).sum()), levels + 1, checks + level.groups
            goes_on = np.repeat(passed, level.sizes)
            part = 2 * np.repeat(np.arange(passed.sum()), level.sizes[passed]) + ~lower[goes_on]
            sizes = np.bincount(part, minlength=2 * int(passed.sum()))
            ids = level.ids[goes_on][np.argsort(part, kind="stable")]
            level = Level(ids, np.concatenate([[0], np.cumsum(sizes)]))
        counts = told("counts", finals, lambda: session.counts(np.arange(finals), "b"))
        assert counts is None or counts.sum() == BOTH
        return levels, checks, finals


def processor_seconds():
    """Return what processes that have ended used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(mode):
    world, lines = World(mode), triangle()
    seconds, asked, sent = defaultdict(float), defaultdict(int), defaultdict(int)

    def traffic():
        return sum(line.traffic.bytes_sent for line in lines.values())

    def told(name, groups, work):
        started, before = time.perf_counter(), traffic()
        result = work()
        seconds[name] += time.perf_counter() - started
        sent[name] += traffic() - before
        asked[name] += groups
        if name in {"winners", "verdicts"}:
            print(f"  {name}: {groups} groups, {time.perf_counter() - started:.2f} s", flush=True)
        return result

    def provider(role):
        session = MpycSession(role, world.rules, lines[role, "b" if role == "a" else "a"], lines[role, "c"])
        try:
            return world.provider(session, role, told if role == "a" else lambda _name, _groups, work: work())
        finally:
            session.close()

    def collector():
        side = MpycCollectorSide(lines["c", "a"], lines["c", "b"], world.rules)
        try:
            side.follow()
        finally:
            side.close()

    started, worked = time.perf_counter(), processor_seconds()
    results = play({"a": lambda: provider("a"), "b": lambda: provider("b"), "c": collector}, seconds=1800)
    whole = time.perf_counter() - started
    for result in results.values():
        if isinstance(result, Exception):
            raise result
    levels, checks, finals = results["a"]
    worked = processor_seconds() - worked
    print(f"mode {mode}: {levels} levels, {checks} checks, {finals} final groups in {whole:.1f} s")
    print(f"  {worked:.1f} s of the processors for all three processes, {traffic() / 1e6:.1f} MB on all lines")
    for pair, line in sorted(lines.items()):
        print(
            f"  {pair[0]} to {pair[1]}: {line.traffic.bytes_sent / 1e6:.1f} MB, {line.traffic.messages_sent} messages"
        )
    for name, spent in seconds.items():
        print(f"  {name}: {spent:.2f} s for {asked[name]} groups, {sent[name] / 1e6:.1f} MB")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or ("own", "both"):
        measure(chosen)
