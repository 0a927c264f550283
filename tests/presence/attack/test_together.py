"""Who learns what, counted against the run itself."""

from collections import Counter

import numpy as np
import pytest

from setveil.presence.attack.linking import linked_rows
from setveil.presence.attack.together import together

from support import presence_attack_runs as runs

EVERYTHING = "every secret"


def learned(counts_to="b", backend="two-party", **values):
    return together(runs.trial(**values), runs.originals(), counts_to=counts_to, backend=backend)


def by(found, who, beginning):
    return [one for one in found if one.who == who and one.what.startswith(beginning)]


def test_numbers_are_those_of_the_ledger():
    divided = runs.trial().a.divided
    openings = Counter(entry.kind for entry in divided.openings.entries)
    found = learned()
    passed = [by(found, who, "which ids are in which part")[0].number for who in "AB"]
    assert sum(passed) == openings["ids"]
    assert by(found, "A", "whether")[0].number == openings["pass"]
    failed = [by(found, who, "that its own cut failed")[0].number for who in "AB"]
    assert sum(failed) == len(divided.ways)
    assert by(found, "A+C", "B's intervals")[0].number == len(divided.ways)


def test_counts_go_to_b_or_to_nobody_else():
    assert by(learned("b"), "B", "the number of common users per sensitive value")
    assert not by(learned("c"), "B", "the number of common users per sensitive value")
    linked = [by(learned(to), "B", "which row")[0].number for to in "bc"]
    assert linked[0] >= linked[1]  # the counts help to find the row


@pytest.mark.parametrize("role", ["a", "b"])
@pytest.mark.parametrize("scope", ["qi", "qi+sa"])
@pytest.mark.parametrize("knows_counts", [False, True])
def test_rows_that_a_provider_finds_are_the_true_ones(role, scope, knows_counts):
    trial, there = runs.trial(scope=scope), runs.originals()
    a, b = trial.a.divided.groups, trial.b.divided.groups
    lows, highs = np.column_stack((a.lows, b.lows)), np.column_stack((a.highs, b.highs))
    common = there.existing("a") & there.existing("b")
    counts = np.zeros((a.groups, 3), dtype=np.int64)
    np.add.at(counts, (a.group_of[common], there.sensitive()[common]), 1)
    found = linked_rows(getattr(trial, role).divided, role, trial.a.table, counts if knows_counts else None)
    assert len(found) > a.groups / 2
    assert len(set(found.values())) == len(found)
    for group, row in found.items():
        assert trial.a.table.lows[row].tolist() == lows[group].tolist()
        assert trial.a.table.highs[row].tolist() == highs[group].tolist()
        assert trial.a.table.counts[row].tolist() == counts[group].tolist()


def test_what_looks_alone_finds_is_less():
    trial = runs.trial()
    groups = trial.a.divided.groups
    looks = Counter((*low, *high) for low, high in zip(groups.lows.tolist(), groups.highs.tolist(), strict=True))
    alone = sum(many == 1 for many in looks.values())
    assert len(linked_rows(trial.a.divided, "a", trial.a.table)) >= alone


@pytest.mark.parametrize("who", ["A+C", "B+C"])
def test_only_with_mpyc_a_provider_and_the_collector_read_all(who):
    assert by(learned(backend="mpyc"), who, EVERYTHING)[0].number == len(runs.originals().population)
    assert not by(learned(backend="two-party"), who, EVERYTHING)
    assert by(learned(backend="clear"), who[0], "everything that secure computation would hide")


def test_own_scores_open_no_winner():
    assert by(learned(score="own"), "A", "which candidate")[0].number == 0
    assert by(learned(), "A", "which candidate")[0].number > 0
