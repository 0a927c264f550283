"""A question to data: what contradicts itself is refused in the words of Python, and the answer is what the functions of mining return."""

import json

import numpy as np
import pytest

import setveil as sv
from setveil.mining.files import write_mined
from setveil.mining.question import Question
from setveil.parameters.shares import MinConfidence, MinSupport

LISTS = [["bread", "milk"], ["bread", "milk", "tea"], ["bread"], ["milk", "tea"]]
CLUSTERS = [{"size": 4, "record_chunks": [[(["milk", "tea"], 2), (["tea"], 2)]], "term_chunk": ["wine"]}]


@pytest.fixture
def data():
    return sv.from_lists(LISTS)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "a minimum support is missing; give `min_support=`"),
        ({"top": 3, "min_support": MinSupport(2)}, "`top=` and `min_support=` cannot be combined"),
        ({"top": 3, "count": True}, "`count=True` and `top=` cannot be combined"),
        (
            {"min_support": MinSupport(2), "rules": True, "kind": "closed"},
            "`rules=True` and `kind='closed'` cannot be combined",
        ),
        (
            {"min_support": MinSupport(2), "min_confidence": MinConfidence("80%")},
            "requires `rules=True`, which is not given",
        ),
        ({"min_support": MinSupport(2), "seed": 0}, "`seed=` requires `sample=`, which is not given"),
        ({"top": 0}, "`top=` is 0; it must be at least 1"),
        ({"min_support": MinSupport(1), "max_length": 0}, "`max_length=` is 0; it must be at least 1"),
    ],
)
def test_a_question_that_contradicts_itself_is_refused(asked, says):
    with pytest.raises(sv.InputError) as refused:
        Question(**asked)
    assert says in str(refused.value)
    assert "--" not in str(refused.value)


def test_the_answer_is_what_mining_returns(data):
    answer = Question(min_support=MinSupport(2)).answer(data)
    assert answer.found.to_lists() == sv.mine(data, 2).ordered().to_lists()
    assert answer.number == len(answer.found)
    assert answer.description == "frequent itemsets in at least 2 of 4 records"
    assert answer.asked == {"records": 4, "kind": "all", "min_support": "2", "count": 2}


def test_a_count_lists_nothing(data):
    answer = Question(min_support=MinSupport(2), count=True).answer(data)
    assert (answer.found, answer.number) == (None, len(sv.mine(data, 2)))


def test_rules_have_a_confidence_by_default(data):
    answer = Question(min_support=MinSupport(2), rules=True).answer(data)
    assert answer.asked["min_confidence"] == "50%"
    assert answer.found.to_table() == sv.association_rules(sv.mine(data, 2), "50%").ordered().to_table()


def test_the_same_seed_chooses_the_same_itemsets(data):
    question = Question(min_support=MinSupport(1), sample=3, seed=4)
    first, second = (question.answer(data) for _ in range(2))
    assert first.found.to_lists() == second.found.to_lists()
    assert len(first.found) == 3 < first.number


def test_disassociated_data_are_asked_the_same_way():
    clusters = sv.Disassociated.from_clusters(CLUSTERS)
    answer = Question(min_support=MinSupport(1), support="certain").answer(clusters)
    assert answer.found.to_lists() == sv.mine_bounds(clusters, 1, support="certain").ordered().to_lists()
    assert answer.description == "frequent itemsets by certain support, in at least 1 of 4 records"
    for asked, says in (
        ({"rules": True}, "`rules=True` does not apply to"),
        ({"kind": "closed"}, "`kind='closed'` does not apply to"),
    ):
        with pytest.raises(sv.BadParameter, match=says):
            Question(min_support=MinSupport(1), **asked).answer(clusters)


def test_plain_records_have_one_support(data):
    with pytest.raises(
        sv.BadParameter, match="`support=` applies to disassociated data only, but these are plain records"
    ):
        Question(min_support=MinSupport(1), support="inside").answer(data)


def test_what_was_mined_is_written_from_python(data, tmp_path):
    found = sv.mine(data, 2).ordered()
    write_mined(found, tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == found.to_table().to_pylist()
    with pytest.raises(sv.OutputRefused, match="exists"):
        write_mined(found, tmp_path / "found.json")
    spaced = sv.mine(sv.from_lists([["red wine"], ["red wine"]]), 2)
    with pytest.raises(sv.OutputRefused, match="choose another `to_separator=`"):
        write_mined(spaced, tmp_path / "spaced.txt")
    write_mined(spaced, tmp_path / "spaced.txt", to_separator=";")
    assert (tmp_path / "spaced.txt").read_text() == "red wine\n"
    with pytest.raises(
        sv.OutputRefused, match=r"rules cannot be written to a file with this extension; allowed are \.csv"
    ):
        write_mined(sv.association_rules(sv.mine(data, 2), "50%"), tmp_path / "rules.txt")
    assert not np.any([path.name == "rules.txt" for path in tmp_path.iterdir()])
