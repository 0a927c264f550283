"""`setveil reproduce rho-uncertainty`: a folder as a whole or not at all, and figures at the two values of ρ in short."""

import json

import pytest

from cli.test_reproduce import assert_ctrl_c_leaves_nothing, assert_two_folders, run_twice
from reproduce.tiny import shrink_uncertainty, write_tiny
from support.program import call, names_in

PAPER = ("reproduce", "rho-uncertainty")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uncertainty")
    write_tiny(folder / "data")
    return folder


@pytest.fixture(scope="module")
def told(folder):
    return run_twice(PAPER, shrink_uncertainty, folder)


def test_it_leaves_a_folder_and_nothing_else(folder, told):
    assert_two_folders(PAPER, folder, told)


def test_people_read_the_figures_at_two_values_of_rho_and_the_verdicts(told):
    out = " ".join(told[0].out.split())
    for words in ("WV", "Retail", "POS 100k", "Syn-like", "all sensitive deleted", "estimated bound", "unsplit"):
        assert words in out
    assert "sensitive types left and seconds at ρ=0.3, ρ=0.7; means over 2 draws of sensitive items" in out
    assert "b_max has no effect on the loss. (4.4.2, Figure 8)" in out


def test_machines_get_json(folder, told):
    assert told[1].err == ""
    printed = told[1].json
    assert (printed["paper"], printed["about"]["seeds"]) == ("jia2014", [0])
    assert [entry["name"] for entry in printed["datasets"]] == ["WV"]
    written = json.loads((folder / "again" / "verdicts.json").read_text(encoding="utf-8"))
    assert written["verdicts"] == printed["verdicts"]
    by_claim = {verdict["claim"]: verdict for verdict in written["verdicts"]}
    assert by_claim["all-are-safe"]["status"] == "holds"
    assert by_claim["above-the-bound"]["status"] == "holds"
    assert by_claim["buffer-and-loss"]["status"] == "cannot be decided"
    assert by_claim["counts-of-table-2"]["status"] == "does not hold"  # the data of this test are not the paper's


def test_without_wv_it_ends_with_2(tmp_path):
    write_tiny(tmp_path / "data", names=["retail"])
    ended = call(*PAPER, "--data", "data", cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence().startswith("bms-webview-2.dat.gz is not in data; name the folder that holds it with --data")
    assert names_in(tmp_path) == ["data"]


@pytest.mark.parametrize("after", [0.3, 2.0])
def test_ctrl_c_leaves_nothing(folder, told, tmp_path, after):
    assert told  # all loops are compiled
    assert_ctrl_c_leaves_nothing(PAPER, folder, after, tmp_path)
