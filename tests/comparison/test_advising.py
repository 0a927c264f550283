"""`advise`: what it tries for the answers of six owners of data, what it recommends, and why."""

import pytest

import setveil as sv
from setveil.comparison.advising import ACCEPTABLE, frontier, recommended
from setveil.comparison.candidates import Candidate, Gap, candidates, warnings
from setveil.comparison.trials import TrialResult

RETAILER = {
    "record": "person",
    "recipients": "contract",
    "hide": ["identity"],
    "known": "2",
    "rows": "true",
    "work": ["recommendation"],
    "earlier": "no",
}
CASES = {
    "a retailer's baskets for a university": {},
    "a retailer's baskets for everyone, every month": {"recipients": "everyone", "earlier": "regularly", "known": "3"},
    "what customers prefer": {"hide": ["preference"], "rows": "counts", "work": ["rules"]},
    "a retailer's trade secrets": {"hide": ["itemsets"], "rows": "counts", "work": ["rules"]},
    "a hospital's sensitive diagnoses": {
        "hide": ["sensitive-items", "identity"],
        "known": "whole",
        "work": ["prediction"],
    },
    "a web team's sessions": {"record": "event", "recipients": "inside", "known": "1", "work": ["counts"]},
}


@pytest.fixture(scope="module")
def data():
    return sv.read("sample:supermarket?records=1500")


@pytest.fixture(scope="module")
def files(data):
    return sv.SideFiles(
        categories=sv.read_categories("sample:supermarket", level="department"),
        sensitive=sv.read_sensitive("sample:supermarket"),
        itemsets=[[*data.vocabulary[:2]], [*data.vocabulary[2:4]]],
        min_support=2,
        hierarchy=sv.read_hierarchy("sample:supermarket"),
    )


def context(case):
    return sv.Context(**RETAILER | CASES[case])


@pytest.mark.parametrize("case", CASES)
def test_each_case_gets_set_ups_that_hide_what_was_asked_for(case, data, files):
    answers = context(case)
    found = sv.advise(data, answers, files)
    assert 1 <= len(found.set_ups) <= 3
    assert found.set_ups[0].role.startswith("recommended")
    assert {one.candidate.hides for one in found.set_ups} == set(answers.hide)
    for one in found.set_ups:
        assert one.result.status == "holds"
        assert one.candidate.method.guarantee is not None
        headings = [heading for heading, _text in one.lines()]
        assert headings[:2] == ["Why", "Bound"]
        assert {"Utility", "Not protected"} <= {*headings}
        is_relative = answers.work[0] not in ("counts", "rules")
        assert is_relative != ("the original itself: " in dict(one.lines())["Utility"])
        if one.utility is not None:
            limits = " to ".join(f"{limit:.3f}" for limit in one.utility.interval)
            assert f": {one.kept:.3f} (95 % interval {limits}, from " in dict(one.lines())["Utility"]
        if answers.rows == "true":
            assert one.candidate.method.truthful != "no"
        same = [other for other in found.tried if other.candidate.hides == one.candidate.hides]
        assert not any(other.kept > one.kept and other.excess < one.excess for other in same)
    assert "held out" in found.sample


def test_the_same_question_has_the_same_answer(data):
    def figures():
        found = sv.advise(data, RETAILER, records=800, seed=3)
        return [(one.role, one.kept, one.excess, one.bound) for one in found.tried]

    assert figures() == figures()


@pytest.mark.parametrize(
    ("recipients", "known", "expected"),
    [("everyone", "3", (10, 3)), ("contract", "1", (5, 1)), ("inside", "whole", (3, 3))],
)
def test_the_limits_follow_from_recipients_and_knowledge(recipients, known, expected):
    answers = sv.Context(**RETAILER | {"recipients": recipients, "known": known})
    method = candidates(answers, sv.SideFiles())[0].method
    assert (method.k, method.m) == expected


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"hide": ["preference"]}, "keeps every item true"),
        ({"hide": ["preference"], "rows": "counts"}, "`categories=`"),
        ({"hide": ["sensitive-items"]}, "`sensitive=`"),
        ({"hide": ["itemsets"]}, "`itemsets=`"),
        ({"hide": ["customers"]}, "two providers and a collector"),
    ],
)
def test_what_no_set_up_hides_is_said_with_what_to_do(change, text, data):
    found = sv.advise(data, RETAILER | change)
    assert found.set_ups == found.tried == []
    (gap,) = found.gaps
    assert text in gap.text


def test_warnings_depend_on_the_answers():
    assert warnings(sv.Context(**RETAILER)) == []
    found = " ".join(
        warnings(
            sv.Context(
                **RETAILER
                | {"record": "event", "known": "whole", "earlier": "once", "hide": ["identity", "preference"]}
            )
        )
    )
    for text in ("can have several", "all items of a person", "`register=`", "two of these guarantees"):
        assert text in found


class WithFigures:
    """A set-up as the choice sees it: its figures, its guarantee's status, and what it hides."""

    def __init__(self, kept, excess, *, width=0.0, status="holds", risk="an attack"):
        self.kept, self.excess, self.excess_at_least, self.excess_at_most = kept, excess, excess - width, excess + width
        self.result, self.candidate, self.utility, self.risk = TrialResult(status), CANDIDATE, kept, risk


CANDIDATE = Candidate(sv.Disassociation(k=2, m=1), "identity", "why")


def chosen(monkeypatch, *tried):
    """Return the place among those tried of each set-up that is shown, with its role."""
    tried = list(tried)
    roles = []
    monkeypatch.setattr(
        "setveil.comparison.advising.replace", lambda one, role: roles.append((tried.index(one), role)) or one
    )
    recommended(tried, sv.Context(**RETAILER))
    return roles


def test_of_acceptable_risks_the_most_useful_is_recommended(monkeypatch):
    limit = ACCEPTABLE["contract"]
    tried = WithFigures(0.9, limit + 0.1), WithFigures(0.7, limit - 0.01), WithFigures(0.5, 0.0), WithFigures(0.4, 0.01)
    assert chosen(monkeypatch, *tried) == [
        (1, "recommended"),
        (0, "keeps more, at more risk"),
        (2, "less risk, keeps less"),
    ]


def test_if_no_risk_is_acceptable_one_that_may_have_the_least_is_recommended(monkeypatch):
    clear = WithFigures(0.9, 0.6), WithFigures(0.5, 0.3)
    assert chosen(monkeypatch, *clear)[0] == (1, "recommended, but its risk is above 10.0 %")
    unclear = WithFigures(0.9, 0.6, width=0.2), WithFigures(0.5, 0.3, width=0.2)
    assert chosen(monkeypatch, *unclear)[0] == (0, "recommended, but its risk is above 10.0 %")


def test_an_unclear_risk_is_named(monkeypatch):
    assert chosen(monkeypatch, WithFigures(0.9, 0.05, width=0.1))[0] == (0, "recommended; its risk may be above 10.0 %")


def test_equal_figures_and_missing_attacks_are_named(monkeypatch):
    assert chosen(monkeypatch, WithFigures(0.9, 0.05), WithFigures(0.9, 0.05))[1] == (1, "same utility and risk")
    found = chosen(monkeypatch, WithFigures(0.9, 1.0, risk=None))
    assert found == [(0, "recommended, but no attack on identity had a result")]


def test_what_does_not_hold_is_never_shown(monkeypatch):
    tried = WithFigures(0.9, 0.0, status="violated"), WithFigures(0.1, 0.05), WithFigures(0.2, 0.0, status="refused")
    assert frontier([*tried]) == [tried[1]]
    assert chosen(monkeypatch, *tried) == [(1, "recommended")]


def test_gaps_and_set_ups_come_in_the_order_of_the_answers():
    answers = sv.Context(**RETAILER | {"hide": ["preference", "identity", "itemsets"]})
    found = candidates(answers, sv.SideFiles())
    assert [one.hides for one in found if isinstance(one, Gap)] == ["preference", "itemsets"]
    assert found[0].hides == "preference"


@pytest.mark.parametrize("records", [0, True, "many"])
def test_the_size_of_the_sample_is_checked(records, data):
    with pytest.raises(sv.BadParameter, match=r"records=?`? is"):
        sv.advise(data, RETAILER, records=records)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"files": {"sensitive": ["a"]}}, "files is of the type dict; expected SideFiles"),
        ({"context": {1: "person"}}, "context is of the type dict; expected a file with the answers"),
        ({"context": None}, "context is None; expected"),
        ({"seed": "1"}, "seed is '1'; expected a whole number"),
        ({"seed": -1}, "`seed=` is -1; allowed is a whole number of at least 0"),
    ],
)
def test_what_nobody_expects_is_refused(wrong, text, data):
    with pytest.raises(sv.BadParameter, match=text):
        sv.advise(**{"data": data, "context": RETAILER} | wrong)


@pytest.mark.parametrize("known", ["1", "3"])
def test_the_risk_is_that_of_attackers_who_know_as_much_as_was_answered(known, data):
    (one, *_others) = sv.advise(data, RETAILER | {"known": known}).tried
    found = {each.parameters["known"]: each for each in one.result.findings if each.name == "find-record"}
    assert {*found} == {int(known), 2}
    allowed = [each for items, each in found.items() if items <= int(known)]
    assert one.risk == max(allowed, key=lambda each: each.excess.low)


def test_side_files_that_do_not_fit_refuse_only_what_needs_them(data):
    hide = {"hide": ["preference", "itemsets", "identity"], "rows": "counts"}
    files = sv.SideFiles(categories={"a": "x", "b": "y"}, itemsets=[["a", "b"]], min_support=2)
    found = sv.advise(data, RETAILER | hide, files)
    assert {one.candidate.hides for one in found.set_ups} == {"identity"}
    problems = " ".join(problem for _title, problem in found.problems())
    assert "items have no category" in problems
    assert all(one.bound == "" for one in found.tried if one.candidate.hides != "identity")


def test_set_ups_that_refuse_the_sample_are_listed_with_their_reasons(data):
    files = sv.SideFiles(sensitive=["no-such-item"])
    found = sv.advise(data, RETAILER | {"hide": ["sensitive-items"]}, files)
    assert found.set_ups == []
    problems = found.problems()
    assert [title.split()[0] for title, _problem in problems] == ["insert", "permutation", "insert"]
    for _title, problem in problems:
        assert problem.startswith("refused on the sample: ")
