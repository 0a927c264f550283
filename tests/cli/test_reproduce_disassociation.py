"""`setveil reproduce disassociation`: a folder as a whole or not at all, and figures at two settings in short."""

import json

import pytest

from cli.test_reproduce import assert_ctrl_c_leaves_nothing, assert_two_folders, run_twice
from reproduce.tiny import shrink_disassociation, write_tiny
from support.program import call, names_in

PAPER = ("reproduce", "disassociation")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disassociation")
    write_tiny(folder / "data", names=["bms-webview-1"])
    return folder


@pytest.fixture(scope="module")
def told(folder):
    return run_twice(PAPER, shrink_disassociation, folder)


def test_it_leaves_a_folder_and_nothing_else(folder, told):
    assert_two_folders(PAPER, folder, told)


def test_people_read_the_figures_at_two_settings_and_the_verdicts(told):
    out = " ".join(told[0].out.split())
    for words in ("BMS1", "wheel (as printed)", "wheel, safe", "UGAC, safe and stable", "k-means, safe", "UR expected"):
        assert words in out
    assert "rare pairs and violations at k=m=2, δ=20, k=m=4, δ=20; means over 3 seeds" in out
    assert "Smaller δ gives data sets nearer to the original. (5.1.2, Figure 5)" in out
    assert "89956 78631" in out  # what is printed, at both settings
    assert "on other data" not in out  # there are none


def test_machines_get_json(folder, told):
    assert told[1].err == ""
    printed = told[1].json
    assert (printed["paper"], printed["about"]["seeds"], printed["about"]["quick"]) == ("awad2020", [0, 1], True)
    assert [entry["name"] for entry in printed["datasets"]] == ["BMS1"]
    written = json.loads((folder / "again" / "verdicts.json").read_text(encoding="utf-8"))
    assert written["verdicts"] == printed["verdicts"]
    by_claim = {verdict["claim"]: verdict for verdict in written["verdicts"]}
    safe = next(f for f in by_claim["km-anonymous"]["findings"] if f["reading"] == "safe")
    assert safe["status"] == "holds"
    assert by_claim["centroid-nearer"]["status"] == "cannot be decided"
    assert by_claim["records-of-section-5"]["status"] == "does not hold"  # the data of this test are not the paper's


def test_without_the_data_it_ends_with_2(tmp_path):
    write_tiny(tmp_path / "data", names=["retail"])
    ended = call(*PAPER, "--data", "data", cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence().startswith("bms-webview-1.dat.gz is not in data; name the folder that holds it with --data")
    assert names_in(tmp_path) == ["data"]


@pytest.mark.parametrize("after", [0.3, 2.0])
def test_ctrl_c_leaves_nothing(folder, told, tmp_path, after):
    assert told  # all loops are compiled
    assert_ctrl_c_leaves_nothing(PAPER, folder, after, tmp_path)
