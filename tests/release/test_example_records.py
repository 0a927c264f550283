"""Records before and after: chosen the same way each time, true to the release, short, and never in the release folder."""

import json

import pytest

import setveil as sv
from setveil.catalog import METHODS
from setveil.data.records.alignment import Alignment
from setveil.release.example_records import MOST_CHARACTERS, MOST_ITEMS, example_records

from contract.filling import filled
from contract.forms import made_from
from support.random_data import make

KINDS = {"typical change", "strong change", "every item kept"}


def some_data():
    return make(7, records=80, items=30, categories=4, hot=0.7)[0].without_empty()


def published(kind, data, **options):
    given = {
        "no_guarantee": True,
        "allow_failures": data.records,
        "metrics": [],
        "attacks": [],
        "seed": 2**100,
    } | options
    return sv.publish(made_from(kind, data), filled(kind, data), **given)


def pairs(shown):
    """Return the items that an example shows, each with what happened to it."""
    return [(one["item"], one["how"]) for one in shown["items"]]


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_examples_of_every_method_are_true_to_the_original_and_the_release(kind):
    data = some_data()
    release = published(kind, data, ids="pseudonym" if kind.name == "full-swap" else "drop")
    lists = data.to_lists()
    found = example_records(data, release.data, release.alignment)
    assert found == example_records(data, release.data, release.alignment)
    assert 1 <= len(found) <= 5
    assert len({one["record"] for one in found}) == len(found)
    for one in found:
        assert one["kind"] in KINDS
        own = lists[one["record"] - 1]
        assert [label for label, _how in pairs(one)] == own
        removed = {label for label, how in pairs(one) if how == "removed"}
        shown = {(label, how) for part in one["parts"] for label, how in pairs(part)}
        assert {label for label, how in shown if how in ("kept", "listed")} <= set(own)
        assert not {label for label, how in shown if how == "added"} & set(own)
        labels = {label for label, _how in shown}
        assert removed <= set(own) - labels
        assert {label for label, _how in shown} <= set(release.data.labels_shown).union(
            *(each.vocabulary for each in release.data.sets)
        )
        if one["kind"] == "every item kept":
            assert {label for label, how in shown if how == "kept"} == set(own)
            assert not removed
        if release.data.rows_are_records and not any(how == "generalized" for _label, how in shown):
            assert removed == set(own) - labels


def test_a_typical_change_is_one_of_those_that_were_changed():
    data = sv.from_lists([["a", "b", "c", "d"]] * 90 + [["a", "b", "c", f"d{n}"] for n in range(10)])
    rows = sv.from_lists([["a", "b", "c", "d"]] * 90 + [["a", "b", "c"]] * 9 + [["x"]])
    found = example_records(data, rows, Alignment.identity(100))
    kinds = {one["kind"]: one for one in found}
    (removed,) = [label for label, how in pairs(kinds["typical change"]) if how == "removed"]
    assert removed.startswith("d")
    assert kinds["strong change"]["record"] == 100
    assert pairs(kinds["strong change"]["parts"][0]) == [("x", "added")]


def test_records_that_changed_are_found_if_they_are_few():
    rows = [["a", "b", "c", "d"]] * 5000
    data = sv.from_lists(rows)
    rows[1::89] = [["a", "b", "c"]] * 40 + [["x"]] * 17
    found = example_records(data, sv.from_lists(rows), Alignment.identity(5000))
    assert [one["kind"] for one in found] == ["typical change"] * 2 + ["strong change"] * 2 + ["every item kept"]


def test_plain_rows_are_shown_as_they_are():
    data = some_data()
    release = published(METHODS["part-swap"], data, ids="pseudonym")
    rows = release.data.to_lists()
    for one in example_records(data, release.data, release.alignment):
        (part,) = one["parts"]
        number = int(part["where"].removeprefix("row ").partition(",")[0])
        assert [label for label, _how in pairs(part)] == rows[number - 1]
        assert release.alignment.rows[number - 1] == one["record"] - 1
        assert release.data.ids[number - 1].as_py() in part["where"]


def test_a_release_that_changes_nothing_has_examples_of_that_only():
    data = some_data()
    same = example_records(data, data, Alignment.identity(data.records))
    assert [one["kind"] for one in same] == ["every item kept"] * 2


def test_long_labels_and_records_are_cut_and_empty_data_have_no_examples():
    long = [[f"{'x' * 200}{number:03}" for number in range(60)]] * 3
    data = sv.from_lists(long)
    (one, *_others) = example_records(data, data, Alignment.identity(3))
    assert len(one["items"]) == MOST_ITEMS
    assert {len(label) for label, _how in pairs(one)} == {MOST_CHARACTERS}
    assert one["parts"][0]["more"] == 60 - MOST_ITEMS
    empty = sv.from_lists([[], []])
    assert example_records(empty, empty, Alignment.identity(2)) == []


def test_examples_are_in_the_dossier_and_the_report_and_nowhere_in_the_release_folder(tmp_path):
    data = some_data()
    published(METHODS["partial-suppression"], data, out=tmp_path / "out")
    dossier = json.loads((tmp_path / "out.private" / "dossier.json").read_text())
    assert dossier["examples"]
    page = (tmp_path / "out.private" / "report.html").read_text()
    assert "Examples: records before and after" in page
    texts = [path.read_text() for path in (tmp_path / "out").iterdir() if path.suffix in (".json", ".md")]
    assert not any("examples" in text or "every item kept" in text for text in texts)


def test_a_release_made_without_its_original_has_no_examples_until_it_is_given(tmp_path):
    data = some_data()
    published(METHODS["disassociation"], data, out=tmp_path / "apart")
    sv.publish(tmp_path / "apart", sv.Reassociation(), out=tmp_path / "out", seed=2**100, metrics="none")
    dossier = tmp_path / "out.private" / "dossier.json"
    assert json.loads(dossier.read_text())["examples"] == []
    sv.write_report(tmp_path / "out", "quick", original=data)
    assert json.loads(dossier.read_text())["examples"]
