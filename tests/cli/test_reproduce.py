"""`setveil reproduce`: a folder as a whole or not at all, and a sentence where it cannot be made."""

import json
import signal

import pytest

from reproduce.tiny import shrink, shrink_itemsets, write_tiny, write_tiny_foodmart
from support.program import HANG_SECONDS, call, hidden_in, names_in, signalled

PAPER = ("reproduce", "tendency-swapping")
ITEMSETS = ("reproduce", "itemset-swapping")
FILES = ["figures.csv", "report.html", "verdicts.json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduce")
    write_tiny(folder / "data")
    return folder


@pytest.fixture(scope="module")
def told(folder):
    return run_twice(PAPER, shrink, folder)


def run_twice(paper, shrinking, folder):
    """Run a paper on data that were made small, once for people, in full, and once for machines."""
    with pytest.MonkeyPatch.context() as patch:
        shrinking(patch)
        people = call(*paper, "--data", "data", cwd=folder)
        machines = call(*paper, "--data", "data", "--quick", "--json", "--quiet", "--out", "again", cwd=folder)
    return people, machines


def assert_two_folders(paper, folder, told):
    """Both runs ended well and left a folder, and nothing else."""
    people, machines = told
    assert (people.code, machines.code) == (0, 0), people.err + machines.err
    made = "-".join(paper)
    assert names_in(folder) == ["again", "data", made]
    for name in ("again", made):
        assert names_in(folder / name) == FILES
        assert (folder / name / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


def assert_ctrl_c_leaves_nothing(paper, folder, after, empty):
    """Stopped after so many seconds in an empty folder, it says so and leaves nothing there."""
    ended = signalled(*paper, "--data", folder / "data", number=signal.SIGINT, after=after, cwd=empty)
    assert ended.code == 130, ended.err
    assert ended.sentence() == "stopped; nothing was written"
    assert names_in(empty) == []
    assert ended.seconds < HANG_SECONDS


def test_it_ends_well_and_leaves_a_folder_and_nothing_else(folder, told):
    assert_two_folders(PAPER, folder, told)


def test_people_read_the_figures_and_the_verdicts(folder, told):
    out = told[0].out
    for words in ("BMS1", "WD-like", "POS 100k", "PartSwap (paper)", "whole records permuted", "What the paper claims"):
        assert words in out
    assert "SplitPerson's dissimilarity is always zero. (5.3, Figure 5)" in out
    assert str((folder / "reproduce-tendency-swapping" / "report.html").resolve()) in out


def test_machines_get_json_and_nothing_else(folder, told):
    assert told[1].err == ""
    printed = told[1].json
    assert printed["out"] == "again"
    assert {entry["size"] for entry in printed["datasets"]} == {"paper"}
    written = json.loads((folder / "again" / "verdicts.json").read_text(encoding="utf-8"))
    assert written["verdicts"] == printed["verdicts"]
    by_claim = {verdict["claim"]: verdict for verdict in written["verdicts"]}
    assert by_claim["split-person-zero"]["status"] == "holds"
    assert by_claim["not-for-large-data"]["status"] == "cannot be decided"
    assert all(verdict["rule"] and verdict["findings"] for verdict in written["verdicts"])


def test_without_a_name_it_lists_what_can_be_reproduced(tmp_path):
    ended = call("reproduce", cwd=tmp_path)
    assert ended.code == 0
    assert "tendency-swapping" in ended.out
    assert "gunawan2019" in ended.out
    assert "itemset-swapping" in ended.out
    assert "gunawan2021" in ended.out
    assert "rho-uncertainty" in ended.out
    assert "jia2014" in ended.out
    assert "awad2020" in ended.out
    names = [paper["name"] for paper in call("reproduce", "--json").json]
    assert names == ["tendency-swapping", "itemset-swapping", "rho-uncertainty", "disassociation", "site-presence"]


def test_a_name_that_is_not_known_gets_the_nearest(tmp_path):
    ended = call("reproduce", "tendency-swaping", cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence() == (
        "there is no paper 'tendency-swaping'; there are: disassociation, itemset-swapping, rho-uncertainty, site-presence, "
        "tendency-swapping. "
        "Did you mean 'tendency-swapping'?"
    )
    assert names_in(tmp_path) == []


def test_help_shows_an_example():
    ended = call("reproduce", "--help")
    assert ended.out.rstrip().endswith("Example:\n  setveil reproduce")
    assert "setveil reproduce tendency-swapping --quick" in " ".join(ended.out.split())
    for option in ("--data", "--out", "--quick", "--threads", "--force"):
        assert option in ended.out


def test_missing_data_end_with_2_and_are_named(tmp_path, monkeypatch):
    monkeypatch.delenv("SETVEIL_DATA", raising=False)
    for given in ((), ("--data", tmp_path)):
        ended = call(*PAPER, *given, cwd=tmp_path)
        assert ended.code == 2
        assert ended.sentence().startswith("bms-webview-1.dat.gz and bms-webview-2.dat.gz are not in ")
        assert "with --data" in ended.sentence()
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("again", "again exists; choose another path, or replace it with --force"),
        ("no/such/folder", "no/such is not a folder"),
        ("..", "is not a valid name for a new folder"),
        ("", "reproduce-tendency-swapping exists"),
    ],
)
def test_a_place_that_cannot_be_taken_is_refused_before_any_work(folder, told, out, why):
    assert told
    before = names_in(folder)
    ended = call(*PAPER, "--data", "nowhere", "--out", out, cwd=folder)
    assert ended.code == 2
    assert why in ended.sentence()
    assert names_in(folder) == before


def test_force_replaces_an_earlier_run_and_nothing_else(folder, told, tmp_path, monkeypatch):
    assert told
    shrink(monkeypatch)
    (folder / "again" / "report.html").write_text("old", encoding="utf-8")
    ended = call(*PAPER, "--data", "data", "--quick", "--quiet", "--out", "again", "--force", cwd=folder)
    assert ended.code == 0, ended.err
    assert "</html>" in (folder / "again" / "report.html").read_text(encoding="utf-8")
    assert hidden_in(folder) == []
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "link").symlink_to(folder / "again")
    for name, why in (
        ("mine", "mine contains 'thesis.txt'"),
        ("file", "file is a file"),
        ("link", "link is a symbolic link"),
    ):
        ended = call(*PAPER, "--data", folder / "data", "--out", name, "--force", cwd=tmp_path)
        assert ended.code == 2
        assert why in ended.sentence()
    assert names_in(tmp_path) == ["file", "link", "mine"]


def test_a_disk_that_fails_leaves_nothing(folder, told, tmp_path, monkeypatch):
    assert told

    def fail(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    shrink(monkeypatch)
    monkeypatch.setattr("setveil.base.atomic._sync", fail)
    ended = call(*PAPER, "--data", folder / "data", "--quick", "--quiet", "--out", "new", cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence() == "new cannot be written: No space left on device"
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("after", [0.3, 2.0])
def test_ctrl_c_leaves_nothing(folder, told, tmp_path, after):
    assert told  # all loops are compiled
    assert_ctrl_c_leaves_nothing(PAPER, folder, after, tmp_path)


# -- the itemset paper ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def itemsets_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("itemsets")
    write_tiny_foodmart(write_tiny(folder / "data"))
    return folder


@pytest.fixture(scope="module")
def itemsets_told(itemsets_folder):
    return run_twice(ITEMSETS, shrink_itemsets, itemsets_folder)


def test_the_itemset_paper_leaves_a_folder_and_nothing_else(itemsets_folder, itemsets_told):
    assert_two_folders(ITEMSETS, itemsets_folder, itemsets_told)


def test_people_read_what_the_itemset_paper_prints_beside_ours(itemsets_told):
    out = " ".join(itemsets_told[0].out.split())
    for words in (
        "FoodMart",
        "BMS2",
        "retail",
        "means over 2 draws of named itemsets",
        "with SW, all itemsets",
        "on other data",
    ):
        assert words in out
    assert "MC, avoidable MC and AFI at 0.03%, 0.05%, 0.07%, 0.1%" in out
    assert "HEU makes no artificial itemset. (IV.A.4, Table V)" in out


def test_machines_get_the_itemset_paper_as_json(itemsets_folder, itemsets_told):
    printed = itemsets_told[1].json
    assert itemsets_told[1].err == ""
    assert (printed["paper"], printed["about"]["seeds"]) == ("gunawan2021", [0])
    assert [entry["name"] for entry in printed["datasets"]] == ["FoodMart"]
    assert {row["method"] for row in printed["item_frequencies"]} >= {"sw-one", "heu", "nv"}
    written = json.loads((itemsets_folder / "again" / "verdicts.json").read_text(encoding="utf-8"))
    assert written["verdicts"] == printed["verdicts"]
    by_claim = {verdict["claim"]: verdict for verdict in written["verdicts"]}
    assert by_claim["leaving-out-cannot-fail"]["status"] == "holds"
    assert by_claim["failure-of-heu-and-nv"]["status"] == "does not hold"


def test_without_foodmart_the_itemset_paper_ends_with_2(tmp_path):
    write_tiny(tmp_path / "data")
    ended = call(*ITEMSETS, "--data", "data", cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence().startswith("foodmart.dat.gz is not in data; name the folder that holds it with --data")
    assert names_in(tmp_path) == ["data"]


@pytest.mark.parametrize("after", [0.3, 2.0])
def test_ctrl_c_leaves_nothing_of_the_itemset_paper(itemsets_folder, itemsets_told, tmp_path, after):
    assert itemsets_told  # all loops are compiled
    ended = signalled(*ITEMSETS, "--data", itemsets_folder / "data", number=signal.SIGINT, after=after, cwd=tmp_path)
    assert ended.code == 130, ended.err
    assert ended.sentence() == "stopped; nothing was written"
    assert names_in(tmp_path) == []
    assert ended.seconds < HANG_SECONDS
