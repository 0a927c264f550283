"""What two-party computation takes beside the same in the clear, in one run: the set-up, checks in batches, the choice of cuts.

Both providers run in threads of one process, over queues, without a network. Times are of the processor for both ends together, which
others who use the machine change less than the time by the clock; that is told too. Bytes are those of messages, both ways.
"""

from __future__ import annotations

import argparse
import queue
import threading
import time

import numpy as np

from setveil.presence.channel import Traffic
from setveil.presence.secure.base import Level
from setveil.presence.secure.clear import ClearSession
from setveil.presence.secure.rules import Linear, Rules
from setveil.presence.secure.two_party.session import TwoPartySession

ADULT = 30_162
IN_A, IN_B = 12_000 / ADULT + 0.2, 0.4


class End:
    """One end of a line made of two queues."""

    in_one_process = True

    def __init__(self, peer, outgoing, incoming):
        self.peer, self.traffic = peer, Traffic()
        self._outgoing, self._incoming = outgoing, incoming

    def send(self, kind, payload):  # noqa: D102 - as a channel does
        self.traffic.messages_sent += 1
        self.traffic.bytes_sent += len(payload)
        self._outgoing.put((kind, bytes(payload)))

    def receive(self, kind, size):  # noqa: D102 - as a channel does
        told, payload = self._incoming.get(timeout=600)
        if (told, len(payload)) != (kind, size):
            raise RuntimeError(f"{told} of {len(payload)} bytes came, not {kind} of {size}")
        return payload


def both(work):
    """Run both providers' ends and return what they found."""
    found = {}
    threads = [threading.Thread(target=lambda role=role: found.__setitem__(role, work(role))) for role in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def presence_rules(population, values, candidates):
    """Return the rules of k = 2 and shares in tenths, for the group and for every sensitive value."""
    size = 1 + 2 * values
    rows, constants = [], []

    def add(constant, **weights):
        row = np.zeros(size, dtype=np.int64)
        row[0] = weights.get("a", 0)
        row[1 : 1 + values] = weights.get("b", 0)
        row[1 + values :] = weights.get("c", 0)
        rows.append(row)
        constants.append(constant)

    add(-2, c=1)
    for low, high in (((1, 0), (9, 0)), ((0, 1), (0, 9))):
        add(0, a=-low[0], b=-low[1], c=10)
        add(0, a=high[0], b=high[1], c=-10)
    for value in range(values if values > 1 else 0):
        for of_b, of_c in ((-1, 10), (9, -10)):
            row = np.zeros(size, dtype=np.int64)
            row[1 + value], row[1 + values + value] = of_b, of_c
            rows.append(row)
            constants.append(0)
    linear = Linear(np.array(rows), np.array(constants))
    return Rules(population, values, candidates, linear, linear, 1, 0.34)


class Run:
    """Two sessions of a backend over one population."""

    def __init__(self, backend, rules):
        random = np.random.default_rng(1)
        there, back = queue.SimpleQueue(), queue.SimpleQueue()
        self.ends = {"a": End("b", there, back), "b": End("a", back, there)}
        self.sessions = {role: backend(role, rules, self.ends[role]) for role in "ab"}
        in_b = random.random(rules.population) < IN_B
        self._inputs = {
            "a": (random.random(rules.population) < IN_A, None),
            "b": (in_b, np.where(in_b, random.integers(0, rules.values, rules.population), -1)),
        }

    def measured(self, work):
        """Return seconds, bytes, messages and seconds by the clock of some work, and what it found."""
        before = self._traffic()
        started, clock = time.process_time(), time.perf_counter()
        found = both(lambda role: work(self.sessions[role], role))
        seconds, clock = time.process_time() - started, time.perf_counter() - clock
        sent, messages = (now - then for now, then in zip(self._traffic(), before, strict=True))
        return seconds, sent, messages, clock, found

    def begin(self):
        """Begin at both ends, and ask for the root."""
        return self.measured(lambda session, role: (session.begin(*self._inputs[role]), session.root())[1])

    def _traffic(self):
        ends = self.ends.values()
        return sum(end.traffic.bytes_sent for end in ends), sum(end.traffic.messages_sent for end in ends)


def level_of(population, groups):
    starts = np.linspace(0, population, groups + 1).astype(np.int64)
    return Level(np.random.default_rng(2).permutation(population), starts)


def open_at_once(clear, secure, level, values):
    """Put the sessions where a run would have come to if these were the open groups: with one share all, the other nothing."""
    plain = clear.sessions["a"]
    common = plain._numbers(level, np.ones(len(level.ids), dtype=np.bool_))[:, 1 + values :]  # noqa: SLF001
    for run, parts in ((clear, (1, 1)), (secure, (1, 0))):
        for session, part in zip(run.sessions.values(), parts, strict=True):
            session._common.open = (part * common).astype(session._common.open.dtype)  # noqa: SLF001


def line_of(name, of_clear, of_secure, each):
    seconds, sent, messages, clock, found = of_secure
    plain, *_, expected = of_clear
    equal = all(np.array_equal(found[role], expected[role]) for role in "ab")
    a_piece = f"{1000 * seconds / each:9.3f} {sent / each / 1000:9.2f}"
    times = f"{1000 * plain:9.2f}{1000 * clock:9.1f}{1000 * seconds:10.1f}{seconds / plain:8.1f}"
    print(f"{name:<34}{times}{sent / 1e6:9.3f}{messages:6d} {a_piece}  {equal}")


def whole_run(rules, candidates):
    """Return one provider's walk down to the end, with cuts by lot, as a function of its session and role."""

    def walk(session, _role):
        random = np.random.default_rng(4)
        level = level_of(rules.population, 1)
        answers = []
        while level.groups:
            owned = random.random(level.groups) < 0.5
            lower = random.random((len(level.ids), candidates)) < 0.5
            scores = random.integers(-1000, 1000, (level.groups, candidates))
            session.wider(random.integers(0, rules.widest, level.groups))
            won = session.winners(level, owned, lower, scores)
            chosen = lower[np.arange(len(level.ids)), np.repeat(won, level.sizes)]
            passed = session.verdicts(level, owned, chosen)
            session.descend(level, passed, chosen)
            answers += [*won.tolist(), *passed.tolist()]
            group = np.repeat(np.arange(level.groups), level.sizes)
            part = 2 * group + ~chosen
            kept = passed[group]
            order = np.argsort(part[kept], kind="stable")
            sizes = np.bincount(part[kept], minlength=2 * level.groups).reshape(-1, 2)[passed].reshape(-1)
            level = Level(level.ids[kept][order], np.concatenate([[0], np.cumsum(sizes)]))
        counts = session.counts(np.arange(len(session._common.final)), "b")  # noqa: SLF001
        return np.array(answers + ([] if counts is None else counts.reshape(-1).tolist()))

    return walk


def best(runs):
    return min(runs, key=lambda run: run[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--population", type=int, default=ADULT)
    parser.add_argument("--values", type=int, default=2)
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rules = presence_rules(given.population, given.values, given.candidates)
    print(
        f"{given.population} ids, {given.values} sensitive values, {len(rules.part.constants)} rules a part, {rules.ring_bits} bits"
    )
    print(
        f"{'':<34}{'clear ms':>9}{'by clock':>9}{'secure ms':>10}{'ratio':>8}{'MB':>9}{'msgs':>6} {'ms each':>9} {'KB each':>9}  equal"
    )
    clear, secure = Run(ClearSession, rules), Run(TwoPartySession, rules)
    line_of("set-up and root", clear.begin(), secure.begin(), 1)
    walk = whole_run(rules, given.candidates)
    taken = [run.measured(walk) for run in (clear, secure)]
    checks = 2 * len(secure.sessions["a"]._common.final) - 1  # noqa: SLF001
    line_of(f"whole run, {checks} checks", *taken, checks)
    random = np.random.default_rng(3)
    for groups in (1, 100, 500):
        level = level_of(given.population, groups)
        owned = random.random(groups) < 0.5
        lower = {role: random.random((given.population, given.candidates)) < 0.5 for role in "ab"}
        scores = {role: random.integers(-1000, 1000, (groups, given.candidates)) for role in "ab"}
        widths = {role: random.integers(0, rules.widest, groups) for role in "ab"}
        open_at_once(clear, secure, level, rules.values)
        for name, work in {
            "wider": lambda session, role, widths=widths: session.wider(widths[role]),
            "verdicts": lambda session, role, level=level, owned=owned, lower=lower: session.verdicts(
                level, owned, lower[role][:, 0]
            ),
            "winners": lambda session, role, level=level, owned=owned, lower=lower, scores=scores: session.winners(
                level, owned, lower[role], scores[role]
            ),
        }.items():
            taken = [best([run.measured(work) for _ in range(given.repeats)]) for run in (clear, secure)]
            line_of(f"{name}, {groups} groups of all ids", *taken, groups)


if __name__ == "__main__":
    main()
