"""Methods that promise nothing: that must be asked for, everybody is told, and every command goes on working."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from setveil.release.opening import open_release

from support.program import assert_complete, call, names_in

SAMPLE = "sample:supermarket?records=200&seed=5"
BY_DEPARTMENT = ("--categories", "sample:supermarket", "--level", "department")
METHODS = {
    "rand-swap": BY_DEPARTMENT,
    "rand-swap-matched": ("--mode", "matched", *BY_DEPARTMENT),
    "part-supp": BY_DEPARTMENT,
    "split-person": BY_DEPARTMENT,
}
EVERY = pytest.mark.parametrize("name", METHODS)


def publish(folder, name, *more, out=None):
    method = name.removesuffix("-matched")
    return call("publish", SAMPLE, "--method", method, *METHODS[name], "--out", out or name, *more, cwd=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with a release of each; no test may change it."""
    folder = tmp_path_factory.mktemp("folder")
    for name in METHODS:
        ended = publish(folder, name, "--no-guarantee", "--seed", 2**90)
        assert ended.code == 0, ended.err
        assert "none: " in ended.out
        assert "may be shared" not in ended.out
        assert "no guarantee: do not share it as protected data" in ended.out
    return folder


def check(folder, name, *more):
    return call("check", name, "--original", SAMPLE, "--private", f"{name}.private", *more, cwd=folder)


def check_tendency(folder, name, *more):
    return check(folder, name, "--guarantee", "hidden-tendency", *BY_DEPARTMENT, "--json", *more)


@EVERY
def test_without_the_word_nothing_is_published(tmp_path, name):
    ended = publish(tmp_path, name)
    assert ended.code == 2
    assert ended.sentence().endswith("guarantees nothing here; set --no-guarantee to publish it anyway")
    assert ended.out == ""
    assert names_in(tmp_path) == []


@EVERY
def test_the_card_and_the_report_say_that_nothing_is_promised(folder, name):
    assert_complete(folder / name, folder / f"{name}.private")
    card = json.loads((folder / name / "card.json").read_text(encoding="utf-8"))
    assert card["guarantee"]["name"] is None
    assert card["guarantee"]["statement"] == "no guarantee: this method is a baseline"
    assert card["guarantee"]["not_covered"] == ["everything"]
    assert card["unit_in_words"].startswith("protects nobody; ")
    assert card["truthful"] == ("no" if name.startswith("rand-swap") else "subset")
    assert "No guarantee" in (folder / f"{name}.private" / "report.html").read_text(encoding="utf-8")


@EVERY
def test_as_json_there_is_no_verdict(tmp_path, name):
    said = publish(tmp_path, name, "--no-guarantee", "--json", out="new").json
    assert said["verdict"] is None
    assert said["card"]["guarantee"]["name"] is None


@EVERY
def test_there_is_nothing_to_check_unless_a_guarantee_is_named(folder, name):
    ended = check(folder, name)
    assert ended.code == 2
    assert ended.sentence() == "the card names no guarantee; name one to check with --guarantee"
    assert ended.out == ""


@pytest.mark.parametrize("name", ["rand-swap", "rand-swap-matched"])
def test_random_swapping_does_not_hide_tendencies_and_loses_items(folder, name):
    ended = check_tendency(folder, name, "--witnesses", "3")
    assert ended.code == 3
    said = ended.json
    assert said["status"] == "violated"
    assert said["violations"].keys() == {"not-hidden", "more-taken-than-the-tendency", "support-changed"}
    assert said["failures"] == said["violations"]["not-hidden"] > 50
    assert len(said["witnesses"]) == 3


def test_suppression_hides_mixed_records_and_no_others(folder):
    ended = check_tendency(folder, "part-supp", "--records", "mixed", "--lossless", "false")
    assert (ended.code, ended.json["status"]) == (0, "holds")
    assert check_tendency(folder, "part-supp", "--records", "mixed").json["violations"].keys() == {"support-changed"}
    whole = check_tendency(folder, "part-supp", "--lossless", "false")
    assert whole.code == 3
    assert whole.json["violations"].keys() == {"not-hidden"}


def test_rows_of_split_records_do_not_correspond_and_nothing_else_is_said_against_them(folder):
    ended = check_tendency(folder, "split-person")
    assert ended.code == 3
    assert ended.json["violations"] == {"rows-do-not-correspond": 1}
    assert check_tendency(folder, "split-person", "--allow-failures", "9999").code == 3


def spoil_alignment(private):
    """Give a row of one record to another, one with several rows."""
    table = pq.read_table(private / "alignment.parquet")
    rows = table.column("original_row").to_pylist()
    several = [r for r, record in enumerate(rows) if rows.count(record) > 1]
    other = next(r for r in several if rows[r] != rows[several[0]])
    rows[several[0]], rows[other] = rows[other], rows[several[0]]
    pq.write_table(table.set_column(1, "original_row", [rows]), private / "alignment.parquet")


def test_pseudonyms_of_split_records_are_those_of_the_seed(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    spoil_alignment(copy / "split-person.private")
    said = check_tendency(copy, "split-person").json
    assert said["violations"]["not-the-pseudonym"] >= 2


def test_another_seed_in_the_dossier_of_split_records_is_refused(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    dossier = copy / "split-person.private" / "dossier.json"
    whole = json.loads(dossier.read_text(encoding="utf-8"))
    dossier.write_text(json.dumps(whole | {"seed": "5"}), encoding="utf-8")
    ended = check_tendency(copy, "split-person")
    assert ended.code == 2
    assert "notes a seed or a recipe that does not give its run id" in ended.sentence()


@EVERY
def test_figures_are_measured(folder, name):
    given = ("measure", SAMPLE, name, "--private", f"{name}.private", "--json")
    ended = call(*given, cwd=folder)
    assert ended.code == 0, ended.err
    said = {m["name"]: m for m in ended.json["metrics"]}
    lost = {m["parameters"]["form"]: m["value"] for m in ended.json["metrics"] if m["name"] == "dissimilarity"}
    assert 0 < said["record-loss"]["value"] < 1
    assert (lost["per-item"] == 0) == (name == "split-person")
    assert (said["false-content"]["value"] > 0) == name.startswith("rand-swap")
    for privacy in ("still-on-top", "tendency-posterior"):
        if name == "split-person":
            assert said[privacy]["value"] is None
            assert said[privacy]["reason"].startswith("records were split")
        else:
            assert 0 <= said[privacy]["value"] <= 1


def test_each_row_of_a_split_record_carries_a_pseudonym_of_its_own(folder):
    data = open_release(folder / "split-person").data
    assert data.records > 800
    assert len(set(data.ids.to_pylist())) == data.records


def test_what_becomes_of_ids_of_split_records(tmp_path):
    kept = publish(tmp_path, "split-person", "--no-guarantee", "--ids", "keep")
    assert kept.code == 2
    assert "two rows cannot have the same id; publish with --ids pseudonym" in kept.sentence()
    assert names_in(tmp_path) == []
    assert publish(tmp_path, "split-person", "--no-guarantee", "--ids", "drop").code == 0
    assert open_release(tmp_path / "split-person").data.ids is None
    assert check_tendency(tmp_path, "split-person").json["violations"] == {"rows-do-not-correspond": 1}


def test_random_swapping_needs_categories_for_a_matched_budget_alone(tmp_path):
    given = ("publish", SAMPLE, "--method", "rand-swap", "--no-guarantee", "--out", "new")
    ended = call(*given, "--mode", "matched", cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence().startswith("rand-swap: mode 'matched' needs categories: ")
    assert call(*given, cwd=tmp_path).code == 0
    told = call("measure", SAMPLE, "new", "--private", "new.private", "--json", cwd=tmp_path).json["metrics"]
    assert {m["name"]: m for m in told}["still-on-top"]["reason"] == "no categories were given"
    told = call("measure", SAMPLE, "new", "--private", "new.private", *BY_DEPARTMENT, "--json", cwd=tmp_path)
    assert {m["name"]: m for m in told.json["metrics"]}["still-on-top"]["value"] > 0.5
