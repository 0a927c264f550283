"""ρ-uncertainty: every way to ask for it against the oracle, witnesses that can be verified, and what a budget leaves open."""

import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES
from setveil.data.forms.generalized import Generalized
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.guarantees.rho_uncertainty import INFERRED, INFERRED_FROM_WHOLE, SHOWN_ITEMS, RhoUncertainty
from setveil.kernels.threads import using_threads

from oracle import strongest_rules as strongest
from oracle import uncertainty as oracle
from support.exhaustive import examples
from support.large_data import low_limits
from support.random_data import as_sets, crowd, seeds, with_sensitive
from support.random_trees import some_tree

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off
plain_python = pytest.mark.plain_python
KNOWS = st.sampled_from(["subset", "whole"])
RULE = re.compile(r"(exactly )?\{(.*)\} → (.*)")
COUNTED = re.compile(
    r"([\d,]+) of the ([\d,]+) released records( with these items| with exactly these items that are not sensitive|) hold it: "
    r"([\d.]+) %; at most (.*) is allowed"
)


def guarantee(sensitive, rho, **settings):
    return RhoUncertainty(sensitive=sorted(sensitive), rho=f"{rho.numerator}/{rho.denominator}", **settings)


def check(records, sensitive, rho, **settings):
    return guarantee(sensitive, rho, **settings).check(sv.from_lists([sorted(record) for record in records]))


def assert_can_be_verified(witness, records, sensitive, rho):
    """Read a witness as a person does, and count again."""
    exactly, known, item = RULE.fullmatch(witness.place).groups()
    known = frozenset(known.split(", ")) - {""}
    both, of_all, which, percent, allowed = COUNTED.fullmatch(witness.detail).groups()
    assert witness.items == (item,)
    assert item in sensitive - known
    if exactly:
        assert witness.kind == INFERRED_FROM_WHOLE
        assert which == " with exactly these items that are not sensitive"
        alike = [record for record in records if record - sensitive == known]
    else:
        assert witness.kind == INFERRED
        assert bool(which) == bool(known)
        alike = [record for record in records if known <= record]
    held = sum(item in record for record in alike)
    assert (held, len(alike)) == (int(both.replace(",", "")), int(of_all.replace(",", "")))
    assert Fraction(held, len(alike)) > rho == Fraction(allowed)
    assert percent == f"{100 * held / len(alike):.1f}"


def assert_as_the_oracle_says(records, sensitive, rho, include_empty, knows):
    verdict = check(records, sensitive, rho, include_empty=include_empty, knows=knows)
    expected = oracle.unsafe_items(records, sensitive, rho, include_empty, knows)
    occurs = any(record & sensitive for record in records)
    assert verdict.status == ("violated" if expected else "holds" if occurs else "undecided")
    assert verdict.violations == Counter(kind for kind, _items in expected)
    assert {(w.kind, w.items) for w in verdict.witnesses} == expected
    assert len(verdict.witnesses) == len(expected)
    for witness in verdict.witnesses:
        assert_can_be_verified(witness, records, sensitive, rho)
    assert verdict.counts == {
        "sensitive-items": len(frozenset().union(*records) & sensitive),
        "sensitive-occurrences": sum(len(record & sensitive) for record in records),
        "betrayed-by-their-whole-record": strongest.betrayed_by_their_record(records, sensitive, rho),
    }


# -- any release ----------------------------------------------------------------------------------------------------------


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.booleans(), KNOWS)
def test_every_way_to_ask_agrees_with_the_oracle(seed, include_empty, knows):
    assert_as_the_oracle_says(*with_sensitive(seed), include_empty, knows)


@settings(max_examples=examples(1000))
@given(seeds, st.booleans(), KNOWS)
def test_every_way_to_ask_agrees_with_the_oracle_on_many_tables(seed, include_empty, knows):
    assert_as_the_oracle_says(*with_sensitive(seed, most_records=20), include_empty, knows)


@plain_python
@settings(max_examples=examples(150))
@given(seeds, st.booleans(), KNOWS, st.sampled_from([1, 2, 5, 13]), st.booleans())
def test_the_verdict_does_not_depend_on_the_size_of_blocks(seed, include_empty, knows, size, crowded):
    records, sensitive, rho = crowd(seed, records=20 + seed % 90) if crowded else with_sensitive(seed)
    chosen = {"include_empty": include_empty, "knows": knows}
    whole = check(records, sensitive, rho, **chosen)
    for threads in (1, 2):
        with using_engine(LocalEngine(size)), using_threads(threads), low_limits():
            assert check(records, sensitive, rho, **chosen).to_dict() == whole.to_dict()


@pytest.mark.parametrize("knows", ["subset", "whole"])
@pytest.mark.parametrize("planted", [0, 1, 20])
def test_the_verdict_on_many_records_does_not_depend_on_the_size_of_blocks(knows, planted):
    data = sv.read("sample:supermarket?records=6000")
    method = sv.Insert(sensitive=sv.read_sensitive("sample:supermarket", data), rho="1/2", knows=knows)
    lists = method.apply(data, rng=np.random.default_rng(3)).published.to_lists()
    is_sensitive = method.sensitive.among(data)
    rows = np.random.default_rng(planted).choice(data.holding(is_sensitive), planted, replace=False)
    for row in rows.tolist():
        lists[row] = list(data[row])
    released = sv.from_lists(lists)
    whole = method.guarantee.check(released)
    assert whole.status == ("violated" if planted else "holds")
    for size in (500, 2000):
        with using_engine(LocalEngine(size)):
            assert method.guarantee.check(released).to_dict() == whole.to_dict()


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.booleans(), KNOWS)
def test_a_table_stands_at_its_highest_confidence_and_falls_just_below(seed, include_empty, knows):
    records, sensitive, _rho = with_sensitive(seed)
    border = max_confidence(records, sensitive, include_empty, knows)
    if border is not None:
        assert check(records, sensitive, border, include_empty=include_empty, knows=knows)
    if border:
        below = border - Fraction(1, 10**6)
        assert check(records, sensitive, below, include_empty=include_empty, knows=knows).status == "violated"
        assert_as_the_oracle_says(records, sensitive, below, include_empty, knows)


def max_confidence(records, sensitive, include_empty, knows):
    there = strongest.confidences(records, sensitive, include_empty)
    if knows == "whole":
        parts = Counter(record - sensitive for record in records)
        held = Counter((record - sensitive, item) for record in records for item in record & sensitive)
        there += [Fraction(n, parts[part]) for (part, _item), n in held.items() if part or include_empty]
    return max(there, default=None)


@plain_python
@pytest.mark.parametrize(
    ("rho", "include_empty", "records", "status"),
    [
        ("0", False, [["e"], ["a"]], "holds"),  # known items lead to nothing
        ("0", True, [["e"], ["a"]], "violated"),
        ("0", False, [["e", "a"], ["a"]], "violated"),
        ("0", True, [["a"], []], "undecided"),  # nothing that was named is there
        ("1", True, [["e", "a"]], "holds"),
        ("1/2", True, [["e"], []], "holds"),  # an empty record is a record
        ("1/2", True, [["e"]], "violated"),
        ("1/3", False, [["e", "a"], ["a"], ["a"]], "holds"),
        ("33.3%", False, [["e", "a"], ["a"], ["a"]], "violated"),
        ("0.999999999", False, [["e", "a"]], "violated"),
    ],
)
def test_no_and_full_confidence_and_exact_fractions(rho, include_empty, records, status):
    verdict = RhoUncertainty(sensitive=["e"], rho=rho, include_empty=include_empty).check(sv.from_lists(records))
    assert verdict.status == status


@plain_python
@pytest.mark.parametrize("include_empty", [True, False])
def test_what_is_left_of_a_whole_record_counts_only_with_no_other_items(include_empty):
    # Half of those with a have e, but all of those with a and nothing else that is not sensitive.
    records = [{"a", "e"}, {"a", "e"}, {"a", "b"}, {"a", "b"}, {"f"}, {"f"}, {"g"}, {"h"}]
    chosen = {"include_empty": include_empty}
    assert check(records, {"e"}, Fraction(1, 2), **chosen)
    assert check(records, {"e", "f"}, Fraction(1, 2), **chosen)
    verdict = check(records, {"e", "f"}, Fraction(1, 2), knows="whole", **chosen)
    found = {witness.place: witness.detail.split(" released")[0] for witness in verdict.witnesses}
    expected = {"exactly {a} → e": "2 of the 2"} | ({"exactly {} → f": "2 of the 2"} if include_empty else {})
    assert found == expected
    assert verdict.violations == {INFERRED_FROM_WHOLE: len(expected)}


@plain_python
@pytest.mark.parametrize("first", [1, 3])
def test_of_several_whole_parts_the_strongest_is_told(first):
    records = [["a", "e"]] * first + [["b", "e"]] * (4 - first) + [["a", "b"]] * 9
    verdict = RhoUncertainty(sensitive=["e"], rho="1/2", knows="whole").check(sv.from_lists(records))
    shown = [(w.place, w.detail.split(" released")[0]) for w in verdict.witnesses]
    assert shown == [(f"exactly {{{'a' if first == 3 else 'b'}}} → e", "3 of the 3")]


# -- forms and labels -------------------------------------------------------------------------------------------------------


@plain_python
def test_in_generalized_records_nodes_are_known_items():
    tree = sv.Hierarchy({"a1": "a", "a2": "a", "e1": "e", "e2": "e", "a": "all", "e": "all"})
    records = sv.from_lists([["a", "e1"], ["a"], ["a", "e2"], ["a", "e2"], ["e1"], ["e2"], ["b"], ["b"]])
    verdict = RhoUncertainty(sensitive=["e1", "e2"], rho=0.4).check(Generalized(records, tree))
    assert [witness.place for witness in verdict.witnesses] == ["{a} → e2"]
    assert verdict.violations == {INFERRED: 1}
    assert RhoUncertainty(sensitive=["e1", "e2"], rho="1/2").check(Generalized(records, tree))


@plain_python
@pytest.mark.parametrize("below", [["asthma"], ["asthma", "cold"]])
@pytest.mark.parametrize("knows", ["subset", "whole"])
def test_a_node_above_a_sensitive_item_is_sensitive(below, knows):
    tree = sv.Hierarchy({**dict.fromkeys(below, "N"), "N": "top", "beer": "top", "tea": "top"})
    records = sv.from_lists([["beer", "N"]] * 3 + [["tea"]] * 4)
    verdict = RhoUncertainty(sensitive=["asthma"], rho="1/2", knows=knows).check(Generalized(records, tree))
    assert verdict.status == "violated"
    assert verdict.counts["sensitive-items"] == 1
    assert verdict.counts["sensitive-occurrences"] == 3
    assert {w.items for w in verdict.witnesses} == {("N",)}
    assert verdict.witnesses[0].place == "{beer} → N"
    assert verdict.witnesses[0].detail.startswith("3 of the 3 released records with these items hold it: 100.0 %")
    assert RhoUncertainty(sensitive=["tea"], rho="4/7", include_empty=False).check(Generalized(records, tree))


@plain_python
def test_a_sensitive_node_counts_together_with_the_sensitive_names_below_it():
    """Half of those with beer have asthma, shown as itself or as the node above it; each alone is in a quarter."""
    tree = sv.Hierarchy({"asthma": "N", "cold": "N", "N": "top", "beer": "top"})
    records = sv.from_lists([["beer", "asthma"], ["beer", "N"], ["beer"], ["beer"], ["cold"], ["cold"]])
    verdict = RhoUncertainty(sensitive=["asthma"], rho="1/3").check(Generalized(records, tree))
    (witness,) = verdict.witnesses
    assert witness.place == "{beer} → N"
    assert witness.detail.startswith(
        "2 of the 4 released records with these items hold it or a sensitive name below it: 50.0 %"
    )
    assert RhoUncertainty(sensitive=["asthma"], rho="1/2").check(Generalized(records, tree))


@plain_python
@settings(max_examples=examples(300))
@given(seeds, st.booleans(), KNOWS)
def test_generalized_records_agree_with_the_oracle(seed, include_empty, knows):
    """Any name may stand in any record: items, nodes above them, both, and names that the hierarchy does not know."""
    rng = np.random.default_rng(seed)
    items = [f"i{j}" for j in range(int(rng.integers(1, 8)))]
    parent_of = some_tree(items, rng)
    names = sorted({*parent_of, *parent_of.values(), "unknown"})
    table = rng.random((int(rng.integers(0, 20)), len(names))) < rng.choice([0.1, 0.3, 0.5])
    records = [{name for name, held in zip(names, row, strict=True) if held} for row in table]
    sensitive = {name for name in [*items, "unknown"] if rng.random() < 0.4}
    rho = Fraction(int(rng.integers(0, 11)), 10)
    published = Generalized(sv.from_lists([sorted(record) for record in records]), sv.Hierarchy(parent_of))
    verdict = guarantee(sensitive, rho, include_empty=include_empty, knows=knows).check(published)
    expected = oracle.unsafe_names(records, parent_of, sensitive, rho, include_empty, knows)
    assert verdict.violations == Counter(kind for kind, _items in expected)
    assert {(w.kind, w.items) for w in verdict.witnesses} == expected


@plain_python
def test_a_release_need_not_hold_every_sensitive_item():
    released = sv.from_lists([["a", "e"], ["a"], ["b"]])
    verdict = RhoUncertainty(sensitive=["e", "gone", "gone too"], rho=0.5).check(released)
    assert verdict
    assert verdict.counts["sensitive-items"] == 1
    unwritten = sv.Transactions(
        np.array([0, 2]), np.array([0, 1], np.int32), ("a", "b", "e")
    )  # e is a label of no item
    assert RhoUncertainty(sensitive=["e"], rho=0.5).check(unwritten).counts["sensitive-items"] == 0
    for empty in (sv.from_lists([]), sv.from_lists([[], []]), sv.from_lists([["a"]])):
        for knows in ("subset", "whole"):
            gone = RhoUncertainty(sensitive=["gone"], rho=0, knows=knows)
            assert gone.check(empty, original=sv.from_lists([["gone"]]))
            assert gone.check(empty).status == "undecided"
            assert RhoUncertainty(sensitive=[], rho=0, knows=knows).check(empty).status == "undecided"


@plain_python
def test_the_strongest_cases_are_shown_and_all_are_counted():
    labels = [f"e{k:03}" for k in range(MOST_WITNESSES + 20)]
    records = [[label, f"a{k}"] for k, label in enumerate(labels) for _ in range(k + 1)]
    verdict = RhoUncertainty(sensitive=labels, rho="1/2", knows="whole").check(sv.from_lists(records))
    assert verdict.violations == {INFERRED: len(labels), INFERRED_FROM_WHOLE: len(labels)}
    shown = {kind: [w.items[0] for w in verdict.witnesses if w.kind == kind] for kind in verdict.violations}
    assert shown == dict.fromkeys(verdict.violations, labels[::-1][:MOST_WITNESSES])


@plain_python
def test_of_long_records_the_first_items_are_shown():
    others = [f"a{k:02}" for k in range(SHOWN_ITEMS + 1)]
    shown = ", ".join(others[:SHOWN_ITEMS])
    places = {}
    for size in (SHOWN_ITEMS, SHOWN_ITEMS + 1):
        records = sv.from_lists([[*others[:size], "e"]] + [[other] for other in others for _ in range(3)])
        verdict = RhoUncertainty(sensitive=["e"], rho="1/2", knows="whole").check(records)
        places[size] = [w.place for w in verdict.witnesses]
    for size, rest in ((SHOWN_ITEMS, ""), (SHOWN_ITEMS + 1, ", …")):
        assert places[size] == [f"{{{shown}{rest}}} → e", f"exactly {{{shown}{rest}}} → e"]


# -- a budget, threads, long records ----------------------------------------------------------------------------------------


def needs_a_search(unsafe):
    """A table whose rules are all safe but perhaps one of four known items, which no look at whole records tells."""
    q, own = [f"q{k}" for k in range(4)], ["u1", "u2", "u3"]
    records = [[*q, mine, "e"] for mine in own] + [q + own] * (2 if unsafe else 3)
    records += [[item for item in q if item != without] for without in q] + [["e", "z"], ["z"], ["z"], ["z"]]
    return sv.from_lists(records)


@plain_python
def test_without_enough_steps_it_is_undecided():
    asked = {"sensitive": ["e"], "rho": "1/2", "include_empty": False}
    for unsafe, status in ((True, "violated"), (False, "holds")):
        data = needs_a_search(unsafe)
        assert RhoUncertainty(**asked).check(data).status == status
        verdict = RhoUncertainty(**asked, budget=0).check(data)
        assert verdict.status == "undecided"
        assert verdict.counts["undecided-items"] == 1
        assert verdict.reason == (
            "the search for the rules of 1 sensitive item did not end within 0 steps each; a larger budget may decide it"
        )
        assert not verdict.witnesses
    broken = RhoUncertainty(**asked | {"sensitive": ["e", "u1"]}, budget=0).check(needs_a_search(unsafe=True))
    assert broken.status == "violated"  # what is certain is told
    assert {w.items for w in broken.witnesses} == {("u1",)}
    assert RhoUncertainty(**asked, budget=0).check(sv.from_lists([["e", "a"], ["a"]]))


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.booleans(), KNOWS, st.sampled_from([0, 3, 30]))
def test_with_few_steps_it_never_holds_wrongly(seed, include_empty, knows, budget):
    records, sensitive, rho = with_sensitive(seed)
    verdict = check(records, sensitive, rho, include_empty=include_empty, knows=knows, budget=budget)
    expected = oracle.unsafe_items(records, sensitive, rho, include_empty, knows)
    found = {(w.kind, w.items) for w in verdict.witnesses}
    assert found <= expected
    if verdict.status == "holds":
        assert not expected
    assert bool(found) == (verdict.status == "violated")


@pytest.mark.parametrize("length", [500, 5000])
def test_long_records(length):
    rng = np.random.default_rng(length)
    labels = [f"{k:04}" for k in range(length)]
    sensitive = set(rng.choice(labels, 40, replace=False).tolist())
    records = [set(labels), set(labels) - sensitive, set(labels) - set(labels[::7])]
    records += [set(rng.choice(labels, 30, replace=False).tolist()) for _ in range(30)]
    data = sv.from_lists([sorted(record) for record in records])
    for rho in (Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)):
        expected = oracle.unsafe_items(records, sensitive, rho, include_empty=False, knows="whole")
        verdict = guarantee(sensitive, rho, include_empty=False, knows="whole").check(data)
        assert {(w.kind, w.items) for w in verdict.witnesses} == expected
    quiet = sv.from_lists([sorted(record - sensitive) for record in as_sets(data)] + [sorted(sensitive)[:1]])
    assert guarantee(sensitive, Fraction(1, 3), include_empty=False).check(quiet)


@plain_python
def test_the_statement_says_what_counts():
    for include_empty in (False, True):
        for knows in ("subset", "whole"):
            text = RhoUncertainty(sensitive=["e"], rho="7/10", include_empty=include_empty, knows=knows).statement
            assert "a share of 7/10 holds" in text
            assert (", or none" in text) == include_empty
            assert ("no other items" in text) == (knows == "whole")
