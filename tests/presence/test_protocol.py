"""The whole protocol: equal to its slow twin, the same bits whatever computes them, and nothing opened beside what the ledger may hold."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setveil.errors import BadData, GuaranteeViolated, PeerFailed
from setveil.presence import trial
from setveil.presence.attack.together import together
from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.originals import Originals

from support.exhaustive import examples
from support.presence_worlds import KEYS, LIMITS, methods, opened, run, slow_twin, with_backend, world

QUIETLY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def attempt(method, originals, keys=KEYS):
    """Return the run, or None if the root does not keep the policy."""
    try:
        return run(method, originals, keys)
    except (GuaranteeViolated, BadData):
        return None


@settings(max_examples=examples(60), **QUIETLY)
@given(methods(backend="clear"), st.integers(0, 10**6), st.sampled_from([1, 7, 16, 40, 64]))
def test_the_protocol_equals_its_slow_twin(method, seed, people):
    originals = world(seed, people)
    found, twin = attempt(method, originals), slow_twin(method, originals)
    if found is None:
        assert not twin.opened[("root", "")]
        return
    assert opened(found.a) == opened(found.b) == twin.opened
    names = originals.population.ids.to_pylist()
    for result, side in ((found.a, "a"), (found.b, "b")):
        groups = result.divided.groups
        ways = [way.decode() for way in result.divided.ways]
        assert {names[i]: ways[g] for i, g in enumerate(groups.group_of)} == {
            name: way for way, (ids, _boxes) in twin.leaves.items() for name in ids
        }
        for number, way in enumerate(ways):
            box = list(zip(groups.lows[number].tolist(), groups.highs[number].tolist(), strict=True))
            assert box == [tuple(edges) for edges in twin.leaves[way][1][side]]


@settings(max_examples=examples(15), **QUIETLY)
@given(
    methods(backend="two-party"), st.integers(0, 10**6), st.sampled_from([1, 8, 33, 64]), st.sampled_from(["b", "c"])
)
def test_two_party_opens_the_same_as_the_clear_computation(method, seed, people, counts_to):
    originals = world(seed, people, values=3)
    plain = attempt(with_backend(method, "clear"), originals)
    secure = attempt(with_backend(method, "two-party", counts_to=counts_to), originals)
    assert (plain is None) == (secure is None)
    if plain is not None:
        assert opened(secure.a) == opened(plain.a)
        np.testing.assert_array_equal(secure.outcome.table.counts, plain.outcome.table.counts)
        np.testing.assert_array_equal(secure.outcome.table.lows, plain.outcome.table.lows)


@settings(max_examples=examples(40), **QUIETLY)
@given(methods(backend="clear"), st.integers(0, 10**6), st.sampled_from([12, 40, 120]))
def test_every_table_keeps_what_it_promises(method, seed, people):
    originals = world(seed, people)
    found = attempt(method, originals)
    if found is not None:
        outcome = found.outcome
        for guarantee in method.guarantees:
            verdict = guarantee.check(outcome.table, original=originals, alignment=outcome.groups)
            if method.outsiders or "population-is-the-union" not in verdict.violations:
                assert verdict, verdict


@pytest.mark.parametrize("backend", ["clear", "two-party"])
@pytest.mark.parametrize("score", ["both", "own"])
@pytest.mark.parametrize("counts_to", ["b", "c"])
def test_the_ledger_holds_what_may_be_opened_and_nothing_else(backend, score, counts_to):
    found = run(DummyUsers(**LIMITS, backend=backend, score=score, counts_to=counts_to), world(3, 200))
    leaves = {way.decode() for way in found.a.divided.ways}
    inner = {entry.way for entry in found.a.divided.openings.entries if entry.kind == "ids"}
    asked = leaves | inner
    assert inner
    for result, role in ((found.a, "a"), (found.b, "b")):
        by_kind = {}
        for entry in result.divided.openings.entries:
            by_kind.setdefault(entry.kind, []).append(entry)
        assert [entry.way for entry in by_kind.pop("root")] == [""]
        assert {entry.way: entry.value for entry in by_kind["pass"]} == {way: way in inner for way in asked}
        assert sorted(entry.way for entry in by_kind.pop("side")) == sorted(asked)
        assert sorted(entry.way for entry in by_kind.pop("winner", [])) == (sorted(asked) if score == "both" else [])
        assert sorted(entry.way for entry in by_kind.pop("ids")) == sorted(inner)
        told = by_kind.pop("counts")
        assert sorted(entry.way for entry in told) == sorted(leaves)
        assert {entry.to for entry in told} == {counts_to}
        assert all((entry.value is None) == ((role, counts_to) != ("b", "b")) for entry in told)
        by_kind.pop("pass")
        assert not by_kind


def test_the_same_keys_give_the_same_table_and_others_another():
    originals, method = world(5, 300), DummyUsers(**LIMITS, backend="clear")
    first, second = (run(method, originals).outcome.table for _ in range(2))
    np.testing.assert_array_equal(first.lows, second.lows)
    np.testing.assert_array_equal(first.counts, second.counts)
    other = run(method, originals, Keys(bytes(32), bytes(32))).outcome.table
    assert first.lows.shape != other.lows.shape or np.any(first.lows != other.lows)


def test_whoever_broke_off_and_began_again_sees_the_same_dummies():
    originals, method = world(5, 300), DummyUsers(**LIMITS, backend="clear")
    first, second = (run(method, originals).b.divided for _ in range(2))
    np.testing.assert_array_equal(first.groups.group_of, second.groups.group_of)
    assert first.ways == second.ways


@pytest.mark.parametrize(
    ("chance", "why"), [((1.0, 1.0), "neither"), ((0.02, 0.02), "whole")], ids=["all at both", "hardly anybody common"]
)
def test_a_population_that_breaks_the_policy_ends_with_a_sentence(chance, why):
    method = DummyUsers(**LIMITS, backend="clear", k=3)
    with pytest.raises((GuaranteeViolated, BadData), match=why):
        run(method, world(1, 50, chance=chance))


def test_a_population_of_both_providers_users_alone_is_refused_by_the_secure_root_too():
    """No party sees both tables, so the one bit of the root shows it."""
    originals = world(2, 80, chance=(0.7, 1.0))
    method = DummyUsers(max_a="1", min_a="0", max_b="1", min_b="0", k=1, backend="two-party")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "refuse_union", lambda *_: None)
        with pytest.raises(GuaranteeViolated, match="neither provider"):
            run(method, originals)
        assert run(with_backend(method, "two-party", outsiders=0), originals).outcome.table.records


def test_a_collector_that_publishes_another_file_than_it_showed_is_named():
    originals = world(5, 200)
    policy = trial.policy_of(DummyUsers(**LIMITS, backend="clear"), originals)
    with pytest.raises(
        PeerFailed, match="the collector published a file that differs from the table that it had shown"
    ):
        trial.simulate(policy, originals, KEYS, lambda _table: lambda: "00" * 32)


@pytest.mark.parametrize("backend", ["clear", "two-party"])
def test_the_winner_does_not_tell_that_there_was_nothing_to_cut(backend):
    """Where all rows of both are alike the winner is anywhere in the owner's shuffled list, as it is for a real cut."""
    there = world(4, 24, chance=(0.9, 0.9))
    alike = [replace(table, codes=np.zeros_like(table.codes)) for table in (there.a, there.b)]
    originals = Originals(there.schema, there.population, *alike)
    method = DummyUsers(max_a="1", min_a="0", max_b="1", min_b="0", k=1, outsiders=0, scope="qi", backend=backend)
    won = [
        [
            entry.value
            for entry in run(method, originals, Keys(bytes([key]) * 32, KEYS.b)).a.divided.openings.entries
            if entry.kind == "winner"
        ]
        for key in range(12)
    ]
    assert all(len(one) == 1 for one in won)
    assert len({winner for (winner,) in won}) > 3


@pytest.mark.parametrize("given", [{"entropy": "child"}, {"normalise": "max"}])
def test_with_the_score_as_printed_nobody_says_what_could_be_foreseen(given):
    found = run(DummyUsers(**LIMITS, backend="clear", **given), world(5, 200))
    assert found.a.divided.unforeseen is found.b.divided.unforeseen is None
    told = [one.what for one in together(found, world(5, 200), counts_to="b", backend="clear")]
    assert not [what for what in told if "another candidate won" in what]


def test_a_margin_does_not_make_limits_where_there_are_none():
    free = {"max_a": "0.9", "min_a": "0.1", "max_b": "1", "min_b": "0", "scope": "qi"}
    with_margin, without = (DummyUsers(**free, margin=margin).rules(2, 100).part for margin in ("1/20", "0"))
    assert with_margin.weights.shape == without.weights.shape == (3, 5)
    assert DummyUsers(**free, margin="1/20").drawn_in("a") == (Fraction(3, 20), Fraction(17, 20))
    assert DummyUsers(**free, margin="1/20").drawn_in("b") == (0, 1)


@pytest.mark.parametrize("score", ["both", "own"])
def test_winners_that_the_owner_could_not_foresee_are_counted(score):
    """Where only its own dummies count, an owner learns nothing from the winner; and a provider without dummies is foreseen too."""
    hidden = run(DummyUsers(**LIMITS, backend="clear", score=score, alpha="0", scope="qi"), world(5, 600))
    told = [result.divided.unforeseen for result in (hidden.a, hidden.b)]
    assert (sum(told) > 0) == (score == "both")
    everybody_at_b = world(3, 200, chance=(0.5, 1.0))
    limits = LIMITS | {"min_b": "0", "max_b": "1", "max_a": "1"}
    plain = run(DummyUsers(**limits, backend="clear", score=score, outsiders=0), everybody_at_b)
    assert plain.a.divided.unforeseen == 0
