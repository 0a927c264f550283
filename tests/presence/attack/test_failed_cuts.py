"""Posteriors of whole runs, certain users, and what a margin changes."""

from fractions import Fraction

import numpy as np
import pytest

from setveil.presence.attack.certain import certain
from setveil.presence.attack.failed_cuts import failed_cuts, margins, with_margin
from setveil.presence.trial import policy_of, simulate

from oracle import presence_posteriors as oracle
from support import presence_attack_runs as runs


@pytest.mark.parametrize("party", ["a", "b"])
@pytest.mark.parametrize("scope", ["qi", "qi+sa"])
def test_numbers_of_a_run_fit_together(party, scope):
    trial, there, method = runs.trial(scope=scope), runs.originals(), runs.method(scope=scope)
    found = failed_cuts(trial, there, method, party)
    divided = getattr(trial, party).divided
    owned = {entry.way for entry in divided.openings.entries if entry.kind == "side" and entry.value == party}
    assert found.failed == sum(way.decode() in owned for way in divided.ways)
    assert found.groups == len(divided.ways) == found.failed + found.calm.groups
    assert found.unknown.users + found.calm.users <= len(there.table(party))
    if party == "a" or scope == "qi+sa":
        assert found.calm.outside == 0
        assert Fraction(1, 10) <= found.calm.lowest <= found.calm.highest <= Fraction(9, 10)
    else:
        assert found.calm.outside > 0
    assert 0 <= found.explained <= found.failed
    assert found.to_dict()["own"]["users"] == found.own.users


@pytest.mark.parametrize(
    ("party", "seed", "values"),
    [
        ("a", 5, {"k": 2, "scope": "qi"}),
        ("b", 5, {"k": 2, "scope": "qi"}),
        ("b", 6, {"k": 1, "scope": "qi+sa", "min_b": "0.02", "max_b": "0.98", "min_a": "0.02", "max_a": "0.98"}),
    ],
)
def test_a_small_run_has_the_posteriors_of_every_set(party, seed, values):
    """All of it once more, from the ids of the run: parts, kinds, truth, the estimate of q, and both readings."""
    there, method = runs.originals(400), runs.method(**values)
    trial = runs.trial(seed, 400, **values)
    divided, exists = getattr(trial, party).divided, there.existing(party)
    common = there.existing("a") & there.existing("b")
    kind = there.sensitive() if party == "b" else np.zeros(400, dtype=int)
    least, most = getattr(method, f"min_{party}").share, getattr(method, f"max_{party}").share
    rules = {"k": method.k, "least": least, "most": most, "by_kind": values["scope"] == "qi+sa", "kinds": 1}
    cuts = []
    for group in range(len(divided.ways)):
        of = np.flatnonzero((divided.groups.group_of == group) & exists)
        if (divided.failed_lower[of] < 0).any():
            continue
        users = [(int(kind[one]), bool(divided.failed_lower[one])) for one in of]
        counts = [int((common[of] & (kind[of] == one)).sum()) for one in range(3 if party == "b" else 1)]
        truth = {place for place, one in enumerate(of) if common[one]}
        cuts.append((users, counts, oracle.keeps(users, truth, rules)))
    found = failed_cuts(trial, there, method, party)
    explained = sum(not kept for _users, _counts, kept in cuts)
    assert (found.failed, found.explained) == (len(cuts), explained)
    assert found.other_fails == Fraction(len(cuts) - explained, len(cuts))
    for reading, other_fails in ((found.own, 0), (found.unknown, found.other_fails)):
        expected = [oracle.posteriors(users, counts, rules, other_fails) for users, counts, _kept in cuts]
        chances = [chance for some in expected if some for chance in some]
        assert (reading.users, reading.groups) == (len(chances), sum(some is not None for some in expected))
        assert (reading.lowest, reading.highest) == (min(chances), max(chances))
        assert reading.outside == sum(not least <= chance <= most for chance in chances)
        assert (reading.absent, reading.present) == (chances.count(0), chances.count(1))


def test_groups_that_take_too_long_are_left_out_and_counted(monkeypatch):
    monkeypatch.setattr("setveil.presence.attack.failed_cuts.MOST_STEPS", 3 * 4**2)
    trial, there, method = runs.trial(5, 400, k=2, scope="qi"), runs.originals(400), runs.method(k=2, scope="qi")
    common = there.existing("a") & there.existing("b")
    divided = trial.b.divided
    failed = np.unique(divided.groups.group_of[divided.failed_lower >= 0])
    sizes = np.bincount(divided.groups.group_of[common])[failed]
    found = failed_cuts(trial, there, method, "b")
    assert found.too_large == (sizes > 4).sum() > 0
    assert found.failed == len(failed)
    assert found.unknown.groups <= (sizes <= 4).sum()
    assert failed_cuts(trial, there, method, "a").too_large == 0


def test_margins_cost_groups_and_impossible_ones_are_said():
    there = runs.originals()
    policy = policy_of(runs.method(margin="1/25"), there)
    assert with_margin(policy) == (0, Fraction(1, 50), Fraction(1, 25), Fraction(1, 20), Fraction(1, 10))
    rows = margins(policy, there, runs.keys(1), (Fraction(0), Fraction(1, 5), Fraction(1, 2)))
    assert [row.margin for row in rows] == [0, Fraction(1, 5), Fraction(1, 2)]
    assert rows[0].groups == runs.trial().a.divided.groups.groups > rows[1].groups
    assert rows[1].a.own.outside <= rows[0].a.own.outside
    assert rows[2].to_dict() == {"margin": "1/2", "groups": None, "a": None, "b": None}


def test_nobody_is_certain_with_the_sensitive_value_in_scope():
    there = runs.originals()
    for party in "ab":
        found = certain(runs.trial(scope="qi+sa").a.divided, there, party)
        assert (found.present, found.absent, found.users) == (0, 0, len(there.table(party)))


def test_some_are_certain_without_it():
    there = runs.originals()
    divided = runs.trial(scope="qi").a.divided
    found = certain(divided, there, "b")
    exists, at_a, value = there.existing("b"), there.existing("a"), there.sensitive()
    cells = {}
    for one in np.flatnonzero(exists):
        cells.setdefault((divided.groups.group_of[one], value[one]), []).append(bool(at_a[one]))
    assert found.present == sum(len(cell) for cell in cells.values() if all(cell)) > 0
    assert found.absent == sum(len(cell) for cell in cells.values() if not any(cell)) > 0


@pytest.mark.realdata
def test_adult_as_in_the_specification(real_folder):
    from setveil.reproduce.adult import adult_originals  # noqa: PLC0415 - with the real data alone

    there = adult_originals(real_folder)
    found = {}
    for scope in ("qi+sa", "qi"):
        trial = simulate(policy_of(runs.method(scope=scope), there), there, runs.keys(1))
        found[scope] = certain(trial.b.divided, there, "b")
    assert (found["qi+sa"].present, found["qi+sa"].absent) == (0, 0)
    assert 100 < found["qi"].present < 300  # 149 to 231 there
    assert 350 < found["qi"].absent < 550  # 431 to 449 there
