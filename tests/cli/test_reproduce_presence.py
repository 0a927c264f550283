"""`setveil reproduce site-presence`: a folder as a whole or not at all, people counted and figures at each selectivity in short."""

import json

import pytest

from cli.test_reproduce import assert_ctrl_c_leaves_nothing, assert_two_folders, run_twice
from reproduce.tiny import shrink_presence, write_tiny_adult
from support.program import call, names_in

PAPER = ("reproduce", "site-presence")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("presence")
    write_tiny_adult(folder / "data")
    return folder


@pytest.fixture(scope="module")
def told(folder):
    return run_twice(PAPER, shrink_presence, folder)


def test_it_leaves_a_folder_and_nothing_else(folder, told):
    assert_two_folders(PAPER, folder, told)


def test_people_read_how_many_are_where_the_figures_and_the_verdicts(told):
    out = " ".join(told[0].out.split())
    assert "472 people, 270 at A, 180 at B, 90 at both" in out
    assert "error (domain) and error (even) at θ=5%, θ=10%, θ=20%, θ=30%; means over 2 pairs of keys" in out
    for words in ("protocol, score as printed", "extended Mondrian, retrying, qi", "MPALM, fixed rows", "one group"):
        assert words in out
    assert "The error gets worse where a limit of A is near 0.3. (V-C, Figure 4(a))" in out
    assert "by quasi-identifiers" in out


def test_machines_get_json(folder, told):
    assert told[1].err == ""
    printed = told[1].json
    assert (printed["paper"], printed["about"]["seeds"], printed["about"]["quick"]) == ("takenouchi2012", [0], True)
    assert [entry["name"] for entry in printed["datasets"]] == ["Adult", "Adult, B inside A"]
    written = json.loads((folder / "again" / "verdicts.json").read_text(encoding="utf-8"))
    assert written["verdicts"] == printed["verdicts"]
    by_claim = {verdict["claim"]: verdict for verdict in written["verdicts"]}
    assert by_claim["dropped-divides-nothing"]["status"] == "holds"
    assert by_claim["every-pair"]["status"] == "holds in part"
    assert {finding["reading"] for finding in by_claim["every-pair"]["findings"]} == {"qi+sa", "qi"}


def test_without_the_data_it_ends_with_2(tmp_path):
    (tmp_path / "data").mkdir()
    ended = call(*PAPER, "--data", "data", cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence().startswith("adult.csv.gz is not in data; name the folder that holds it with --data")
    assert names_in(tmp_path) == ["data"]


@pytest.mark.realdata
@pytest.mark.parametrize("after", [1.0, 6.0])
def test_ctrl_c_leaves_nothing(real_folder, tmp_path, after):
    (tmp_path / "data").symlink_to(real_folder)
    (tmp_path / "empty").mkdir()
    assert_ctrl_c_leaves_nothing(PAPER, tmp_path, after, tmp_path / "empty")
