"""Global suppression against its slow twin and the definition of ρ-uncertainty."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.methods.uncertainty import _live, global_suppression
from setveil.methods.uncertainty._live import items_to_suppress
from setveil.methods.uncertainty.global_suppression import GlobalSuppression

from oracle import global_suppression as oracle
from oracle.uncertainty import unsafe_items
from support.exhaustive import examples
from support.global_suppression_cases import KNOWS, PAYOFFS, apply, drawn
from support.random_data import as_sets, make, seeds

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off


@pytest.mark.plain_python
@settings(max_examples=examples(150))
@given(seed=seeds, payoff=PAYOFFS, include_empty=st.booleans(), knows=KNOWS)
def test_the_oracle_suppresses_the_same_items(seed, payoff, include_empty, knows):
    data, sensitive, rho = drawn(seed)
    limit = {"include_empty": include_empty, "knows": knows}
    method = GlobalSuppression(sensitive=sensitive, rho=str(rho), payoff=payoff, **limit)
    outcome = apply(method, data)
    records, released = as_sets(data), as_sets(outcome.published)
    assert released == oracle.global_suppression(records, sensitive, rho, include_empty, knows, payoff)
    assert unsafe_items(released, sensitive, rho, include_empty, knows) == set()
    assert method.guarantee.check(outcome.published, original=data).status == ("holds" if sensitive else "undecided")
    left = set().union(*records) - set().union(*released)
    assert payoff == "cao" or left <= sensitive
    assert outcome.account == {
        "types-suppressed": len(left),
        "sensitive-types-suppressed": len(left & sensitive),
        "occurrences-suppressed": sum(len(t - s) for t, s in zip(records, released, strict=True)),
        "records-made-empty": sum(bool(t) and not s for t, s in zip(records, released, strict=True)),
    }


@settings(max_examples=examples(100))
@given(seed=seeds, include_empty=st.booleans(), knows=KNOWS)
def test_no_suppressed_item_can_be_restored_alone(seed, include_empty, knows):
    data, sensitive, rho = drawn(seed)
    method = GlobalSuppression(sensitive=sensitive, rho=str(rho), include_empty=include_empty, knows=knows)
    records, released = as_sets(data), as_sets(apply(method, data).published)
    stays = set().union(*released)
    for item in set().union(*records) - stays:
        again = [record & (stays | {item}) for record in records]
        assert unsafe_items(again, sensitive, rho, include_empty, knows)


@pytest.mark.parametrize("payoff", ["sensitive", "cao"])
@pytest.mark.parametrize("knows", ["subset", "whole"])
@pytest.mark.parametrize("include_empty", [True, False])
@pytest.mark.parametrize("rho", ["0", "1", "1/3"])
@pytest.mark.parametrize(
    ("lists", "sensitive"),
    [
        ([], []),
        ([[], []], []),
        ([["a", "b"], ["a"]], []),
        ([["a", "b"], ["b"], ["a"], []], ["a", "b"]),
        ([["s", f"i{r}"] for r in range(6)], ["s"]),
        ([["s"]] * 3 + [["t"]] * 9, ["s"]),
        ([["s"], [], [], []], ["s"]),
        ([["s", "x"], ["x"], ["x"], ["x", "y"], ["s", "t", "x", "y"], ["t"]], ["s", "t"]),
    ],
)
def test_edge_cases_of_small_data(payoff, knows, include_empty, rho, lists, sensitive):
    data = sv.from_lists(lists)
    method = GlobalSuppression(sensitive=sensitive, rho=rho, payoff=payoff, include_empty=include_empty, knows=knows)
    released = as_sets(apply(method, data).published)
    expected = (as_sets(data), set(sensitive), Fraction(rho), include_empty, knows, payoff)
    assert released == oracle.global_suppression(*expected)
    assert rho != "1" or released == as_sets(data)


def test_without_include_empty_only_items_beside_others_can_be_inferred():
    data = sv.from_lists([["s"], ["s", "x"], ["x"]])
    apart = GlobalSuppression(sensitive=["s"], rho=0, include_empty=False)
    assert apply(apart, data).published.to_lists() == [[], ["x"], ["x"]]
    data = sv.from_lists([["s"], ["x"], ["x"]])
    assert apply(apart, data).published == data
    with_empty = GlobalSuppression(sensitive=["s"], rho=0)
    assert apply(with_empty, data).published.to_lists() == [[], ["x"], ["x"]]


def test_the_paper_suppresses_the_item_with_the_most_rules_per_occurrence():
    """Both sensitive items are revealed by x, which is in two records; s and t are in three."""
    lists = [["x", "s", "t"]] * 2 + [["s"], ["t"]] + [["y"]] * 9
    data = sv.from_lists(lists)
    paper = apply(GlobalSuppression(sensitive=["s", "t"], rho="2/3", include_empty=False, payoff="cao"), data)
    assert "x" not in set().union(*as_sets(paper.published))
    ours = apply(GlobalSuppression(sensitive=["s", "t"], rho="2/3", include_empty=False), data)
    assert "x" in set().union(*as_sets(ours.published))


def test_too_many_rules_are_not_listed_and_all_is_still_safe(monkeypatch):
    monkeypatch.setattr(global_suppression, "MOST_RULES", 3)
    data, _categories = make(5, records=60, items=25)
    sensitive = set(data.vocabulary[::3])
    method = GlobalSuppression(sensitive=sensitive, rho=0.4, payoff="cao")
    released = as_sets(apply(method, data, threads=2).published)
    assert released == oracle.global_suppression(as_sets(data), sensitive, Fraction(2, 5), True, "subset", "sensitive")
    assert not unsafe_items(released, sensitive, Fraction(2, 5))


@pytest.mark.parametrize("payoff", ["sensitive", "cao"])
def test_the_result_is_the_same_on_any_number_of_threads(payoff):
    data, _categories = make(8, records=300, items=150, hot=1.5)  # more first items than one part of the listing has
    method = GlobalSuppression(sensitive=data.vocabulary[::3], rho=0.6, payoff=payoff)
    made = [apply(method, data, threads).published for threads in (1, 2, 3)]
    assert made[0] == made[1] == made[2] != data
    assert made[0].occurrences > 0


def test_the_search_stops_on_request(halt):
    data = sv.from_lists([["s"], ["x"], ["x", "s"], ["x"]])
    method = GlobalSuppression(sensitive=["s"], rho=0.5)
    assert apply(method, data).published == data
    halt(_live, "restoring sensitive items")
    assert apply(method, data).published.supports.tolist() == [0, 3]  # items that were not tried stay suppressed


@pytest.mark.realdata
@pytest.mark.parametrize(("rho", "types"), [("0.7", 1_327), ("0.3", 1_330)])
def test_the_papers_setting_on_real_data(real_data, rho, types):
    data = real_data("bms-webview-2")
    order = np.random.default_rng(23).permutation(len(data.vocabulary))
    sensitive = [data.vocabulary[code] for code in order[: int(0.4 * len(order))]]
    method = GlobalSuppression(sensitive=sensitive, rho=rho, include_empty=False)
    outcome = apply(method, data, threads=2)
    assert outcome.account["types-suppressed"] == types
    assert outcome.account["occurrences-suppressed"] / data.occurrences <= 0.38412
    assert method.guarantee.check(outcome.published, original=data)


@settings(max_examples=examples(40))
@given(seed=seeds)
def test_searches_that_do_not_end_suppress_items_and_leave_nothing_unsafe(seed):
    data, sensitive, rho = drawn(seed)
    method = GlobalSuppression(sensitive=sensitive, rho=str(rho))
    whole = apply(method, data).published
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_live, "STEPS_PER_ITEM", 0)
        released = apply(method, data).published
    assert unsafe_items(as_sets(released), sensitive, rho) == set()
    assert all(s - sensitive == t - sensitive for s, t in zip(as_sets(released), as_sets(whole), strict=True))


def test_items_to_suppress_before_records_are_proved_safe():
    data = sv.from_lists([["s", "x"], ["s", "x"], ["x", "t"], ["t"], ["t"], ["t"]])
    limit = {"sensitive": ["s", "t"], "include_empty": False}
    assert items_to_suppress(data, sv.RhoUncertainty(rho="1/2", **limit)) == ["s"]
    assert items_to_suppress(data, sv.RhoUncertainty(rho="2/3", **limit)) == []
    # Both records whose only non-sensitive item is x hold s.
    assert items_to_suppress(data, sv.RhoUncertainty(rho="2/3", sensitive=["s"])) == []
    assert items_to_suppress(data, sv.RhoUncertainty(rho="2/3", sensitive=["s"], knows="whole")) == ["s"]
    assert items_to_suppress(data, sv.RhoUncertainty(rho="1/2", sensitive=["t"])) == ["t"]
