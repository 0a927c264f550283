"""Permutation privacy at its edges; that it agrees with the oracle is a contract test."""

import pytest

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES

from oracle import permutation as oracle


def grouped(*groups):
    return sv.Grouped.from_groups(groups)


def rows(number):
    return [["a"]] * number


@pytest.mark.parametrize(
    ("count", "size", "p", "holds"),
    [
        (1, 4, 4, True),
        (1, 3, 4, False),
        (2, 8, 4, True),
        (2, 7, 4, False),
        (3, 8, 4, False),
        (1, 2, 2, True),
        (1, 1, 2, False),
    ],
)
def test_at_most_one_row_in_p(count, size, p, holds):
    verdict = sv.PermutationPrivacy(sensitive=["s"], p=p).check(grouped((rows(size), {"s": count})))
    assert bool(verdict) == holds
    if not holds:
        (witness,) = verdict.witnesses
        assert witness.kind == "too-often-in-a-group"
        assert (witness.place, witness.group, witness.items) == ("group 1", 0, ("s",))
        assert witness.detail == f"{count} of its {size} rows hold 's'; p = {p} allows at most {size // p}"


def test_a_p_beyond_all_numbers_is_only_too_high():
    verdict = sv.PermutationPrivacy(sensitive=["s"], p=10**40).check(grouped((rows(3), {"s": 1})))
    assert verdict.violations == {"too-often-in-a-group": 1}
    none_left = sv.PermutationPrivacy(sensitive=["s"], p=10**40)
    assert none_left.check(grouped((rows(3), {})), original=sv.from_lists([["s"]]))


def test_items_that_were_not_named_are_free():
    data = grouped(([["a"], ["t"]], {"t": 2, "s": 1}))
    assert sv.PermutationPrivacy(sensitive=["s"], p=2).check(data)
    verdict = sv.PermutationPrivacy(sensitive=["s", "t"], p=2).check(data)
    assert verdict.violations == {"too-often-in-a-group": 1, "sensitive-item-in-a-row": 1}
    assert verdict.counts["sensitive-items"] == 2
    assert verdict.counts["sensitive-occurrences"] == 3


def test_a_sensitive_item_in_a_row_is_told_with_its_place():
    verdict = sv.PermutationPrivacy(sensitive=["s"], p=2).check(grouped((rows(2), {}), ([["a"], ["b", "s"]], {})))
    (witness,) = verdict.witnesses
    assert (witness.place, witness.row, witness.group) == ("group 2, row 2 of it", 3, 1)
    assert witness.detail == "shows the sensitive item 's'"


def test_counts_are_complete_and_the_worst_stand_first():
    data = grouped(*((rows(4), {f"s{g}": 1 + g % 4}) for g in range(400)))
    sensitive = [f"s{g}" for g in range(400)]
    verdict = sv.PermutationPrivacy(sensitive=sensitive, p=4).check(data)
    assert verdict.violations == {"too-often-in-a-group": 300}
    assert len(oracle.violations(data.to_groups(), set(sensitive), 4)) == 300
    assert len(verdict.witnesses) == MOST_WITNESSES
    assert all(witness.detail.startswith("4 of its 4") for witness in verdict.witnesses)
    assert verdict.counts["groups"] == 400
    assert not verdict.acceptable(10**9)


def test_it_is_weaker_than_rho_uncertainty_and_says_so():
    """Who knows beer is sure of wine: the same records break ρ-uncertainty with ρ = 1/2, grouped they keep permutation privacy."""
    lists = [["beer", "wine"], ["a"]] * 10
    release = sv.publish(sv.from_lists(lists), sv.Permutation(sensitive=["beer", "wine"], p=2))
    assert release.verdict
    assert not sv.RhoUncertainty(sensitive=["beer", "wine"], rho="1/2").check(sv.from_lists(lists))
    coverage = sv.PermutationPrivacy.coverage
    assert any("ρ-uncertainty with ρ = 1/p, which is stronger" in line for line in coverage.not_covered)
    guarantee = sv.PermutationPrivacy(sensitive=["beer"], p=2)
    for said in (guarantee.statement, guarantee.name, guarantee.title, coverage.inference, coverage.attacker):
        assert "uncertainty" not in said


def test_plain_records_are_refused():
    with pytest.raises(
        sv.BadParameter, match="permutation-privacy applies to grouped data only, but this is plain records"
    ):
        sv.PermutationPrivacy(sensitive=["s"], p=2).check(sv.from_lists([["a"]]))
