"""Who learns what, counted against the run itself."""

from collections import Counter

import pytest

from setveil.presence.attack.together import together

import presence_attack_runs as runs

EVERYTHING = "every secret"


def learned(counts_to="b", backend="two-party", **values):
    return together(runs.trial(**values), runs.originals(), counts_to=counts_to, backend=backend)


def by(found, who, beginning):
    return [one for one in found if one.who == who and one.what.startswith(beginning)]


def test_numbers_are_those_of_the_ledger():
    divided = runs.trial().a.divided
    openings = Counter(entry.kind for entry in divided.openings.entries)
    found = learned()
    passed = [by(found, who, "who went")[0].number for who in "AB"]
    assert sum(passed) == openings["ids"]
    assert by(found, "A", "whether")[0].number == openings["pass"]
    failed = [by(found, who, "that an own cut failed")[0].number for who in "AB"]
    assert sum(failed) == len(divided.ways)
    assert by(found, "A+C", "B's intervals")[0].number == len(divided.ways)


def test_counts_go_to_b_or_to_nobody_else():
    assert by(learned("b"), "B", "how many common")
    assert not by(learned("c"), "B", "how many common")
    linked = [by(learned(to), "B", "which row")[0].number for to in "bc"]
    assert linked[0] >= linked[1]  # the counts help to find the row
    boxes = {}
    groups = runs.trial().b.divided.groups
    for low, high in zip(groups.lows.tolist(), groups.highs.tolist(), strict=True):
        boxes[(*low, *high)] = boxes.get((*low, *high), 0) + 1
    assert linked[1] == sum(many == 1 for many in boxes.values())


@pytest.mark.parametrize("who", ["A+C", "B+C"])
def test_only_with_mpyc_a_provider_and_the_collector_read_all(who):
    assert by(learned(backend="mpyc"), who, EVERYTHING)[0].number == len(runs.originals().population)
    assert not by(learned(backend="two-party"), who, EVERYTHING)
    assert by(learned(backend="clear"), who[0], "everything of the other")


def test_own_scores_open_no_winner():
    assert by(learned(score="own"), "A", "which candidate")[0].number == 0
    assert by(learned(), "A", "which candidate")[0].number > 0
