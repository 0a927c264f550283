"""`setveil mine` of disassociated data: what it prints and writes, and what it refuses."""

import csv
import json
import signal

import numpy as np
import pyarrow.parquet as pq
import pytest

import setveil as sv
from setveil.data.forms.disassociated.files import write_disassociated
from setveil.mining.disassociated_itemsets import mine_bounds, top_bounds

from support.program import HANG_SECONDS, call, hidden_in, names_in, signalled
from support.random_data import make

CLUSTERS = [
    {"size": 4, "record_chunks": [[(["milk", "tea"], 2), (["tea"], 2)], [(["rum"], 3)]], "term_chunk": ["wine"]},
    {"size": 2, "record_chunks": [[(["tea"], 2)]], "term_chunk": ["milk"]},
]
DATA = sv.Disassociated.from_clusters(CLUSTERS)
COLUMNS = ["items", "expected", "certain", "possible", "inside"]


@pytest.fixture
def folder(tmp_path):
    for name in ("data.jsonl.gz", "data.jsonl", "data.parquet"):
        write_disassociated(DATA, tmp_path / name)
    (tmp_path / "plain.dat").write_text("a b\na b c\na\n")
    return tmp_path


def mine(folder, *arguments, data="data.jsonl.gz"):
    ended = call("mine", data, *arguments, cwd=folder)
    assert ended.code == 0, ended.err
    return ended


@pytest.mark.parametrize("name", ["data.jsonl.gz", "data.jsonl", "data.parquet"])
@pytest.mark.parametrize("named", [[], ["--format", "disassociated"]])
def test_the_table_shows_the_four_figures(folder, name, named):
    said = mine(folder, "--min-support", 2, "--rows", 3, *named, data=name).out
    rows = [line.split() for line in said.splitlines()]
    assert rows[1] == COLUMNS
    assert rows[3:6] == [
        ["tea", "6.00", "6", "6", "6"],
        ["milk", "3.00", "3", "4", "2"],
        ["rum", "3.00", "3", "3", "3"],
    ]
    number = len(mine_bounds(DATA, 2))
    end = f"{number} frequent itemsets by expected support, in at least 2 of 6 records; the first 3 are shown\n"
    assert said.endswith(end)


@pytest.mark.parametrize("reading", ["expected", "certain", "possible", "inside"])
def test_every_reading_of_the_support_can_be_chosen(folder, reading):
    found = mine(folder, "--min-support", "30%", "--support", reading, "--json").json
    true = mine_bounds(DATA, 2, support=reading).ordered()
    assert found["itemsets"] == true.to_table().to_pylist()
    assert (found["records"], found["count"], found["number"], found["support"]) == (6, 2, len(true), reading)
    assert f"by {reading} support" in mine(folder, "--min-support", 2, "--support", reading, "--count").out


def test_lengths_top_sample_and_count(folder):
    found = mine(folder, "--min-support", 1, "--length", 2, "--json").json
    assert found["itemsets"] == mine_bounds(DATA, 1, min_length=2, max_length=2).ordered().to_table().to_pylist()
    assert mine(folder, "--min-support", 1, "--max-length", 1, "--count", "--json").json["number"] == 4
    best = mine(folder, "--top", 3, "--support", "possible", "--json").json
    assert best["itemsets"] == top_bounds(DATA, 3, support="possible").to_table().to_pylist()
    assert "3 most frequent itemsets by expected support" in mine(folder, "--top", 3).out
    some = mine(folder, "--min-support", 1, "--sample", 2, "--seed", 5, "--json").json
    assert len(some["itemsets"]) == 2
    assert some == mine(folder, "--min-support", 1, "--sample", 2, "--seed", 5, "--json").json


def test_files_hold_the_figures_or_the_itemsets_alone(folder):
    true = mine_bounds(DATA, 1).ordered().to_table().to_pylist()
    for name in ("new.csv", "new.json", "new.parquet", "new.txt", "new.jsonl"):
        assert mine(folder, "--min-support", 1, "--out", name, "--json").json["out"] == name
    assert json.loads((folder / "new.json").read_text()) == true
    assert pq.read_table(folder / "new.parquet").to_pylist() == true
    rows = list(csv.reader((folder / "new.csv").read_text().splitlines()))
    assert rows[0] == COLUMNS
    assert rows[1] == ["tea", "6.0", "6", "6", "6"]
    assert [line.split() for line in (folder / "new.txt").read_text().splitlines()] == [row["items"] for row in true]
    assert json.loads((folder / "new.jsonl").read_text().splitlines()[0]) == ["tea"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kind", "closed"], "--kind closed does not apply to disassociated data"),
        (["--rules"], "--rules does not apply to disassociated data"),
        (["--limit", 1], "there are more than 1 itemsets with a support (expected) of at least 1 of 6 records"),
        (["--sample", 50], "--sample is 50, but there are only"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, arguments, words):
    ended = call("mine", "data.jsonl", "--min-support", 1, *arguments, "--quiet", cwd=folder)
    assert ended.code == 2
    assert words in ended.sentence()


def test_the_support_of_plain_records_is_one_number(folder):
    ended = call("mine", "plain.dat", "--min-support", 1, "--support", "certain", cwd=folder)
    assert ended.code == 2
    assert "--support applies to disassociated data only, but plain.dat holds" in ended.sentence()


def test_release_folders_are_mined(tmp_path):
    data, categories = make(7, records=130, items=20, categories=6, hot=0.0)
    method = sv.PartSwap(categories=categories)
    release = sv.publish(data, method, ids="drop", seed=2**90, allow_failures=data.records, metrics=[])
    release.save(tmp_path / "plain")
    found = mine(tmp_path, "--min-support", 30, "--json", data="plain").json
    assert found["itemsets"] == sv.mine(release.data, 30).ordered().to_table().to_pylist()
    assert len(found["itemsets"]) > 100
    ended = call("mine", "plain", "--min-support", 3, "--empty", "drop", cwd=tmp_path)
    assert ended.code == 2
    assert "--empty does not apply to a release folder" in ended.sentence()
    with_rare = sv.from_lists(
        [[*record, "rare"] if number % 5 == 0 else record for number, record in enumerate(data.to_lists())]
    )
    grouped = sv.publish(with_rare, sv.Permutation(sensitive=["rare"], p=2), seed=2**90, metrics=[])
    grouped.save(tmp_path / "grouped")
    ended = call("mine", "grouped", "--min-support", 3, cwd=tmp_path)
    assert ended.code == 2
    assert "grouped holds grouped data, which cannot be read as plain records" in ended.sentence()
    (tmp_path / "none").mkdir()
    assert call("mine", "none", "--min-support", 3, cwd=tmp_path).code == 2
    assert set(names_in(tmp_path)) == {"plain", "plain.private", "grouped", "grouped.private", "none"}


def test_measure_reads_rules_from_a_file(folder):
    (folder / "original.dat").write_text("milk rum tea\nmilk tea rum\ntea rum wine\ntea\ntea milk\ntea\n")
    (folder / "rules.txt").write_text("milk tea\nrum tea\n")
    asked = ["--metric", "relative-association-error:over=rules", "--metric", "alpha-confidence", "--metric", "tlost"]
    read = ["measure", "original.dat", "data.jsonl", "--json", *asked]
    alone = call(*read, cwd=folder).json["metrics"]
    assert [m["reason"] for m in alone] == ["not computed, needs rules"] * 2 + ["not computed, needs k"]
    error, alpha, lost = call(*read, "--rules", "rules.txt", "--k", 1, cwd=folder).json["metrics"]
    assert error["value"] == pytest.approx(1 / 2.5 + 2)  # 3 and 2 records with milk and tea, 3 and 0 with rum and tea
    assert alpha["value"] == pytest.approx(1 / 3)
    assert lost["value"] == 1 / 4
    assert all("rules" not in m["parameters"] for m in (error, alpha))


def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path):
    """Hundreds of thousands of pairs, each possible: to try what they make together would take minutes."""
    rng = np.random.default_rng(3)
    labels = np.array([f"i{j}" for j in range(1500)])
    drawn = [rng.choice(labels, 250, replace=False).tolist() for _ in range(500)]
    clusters = [{"size": 20, "record_chunks": [[([one[0]], 5)]], "term_chunk": one[1:]} for one in drawn]
    write_disassociated(sv.Disassociated.from_clusters(clusters), tmp_path / "data.jsonl")
    arguments = ("mine", "data.jsonl", "--support", "possible", "--min-support", 270, "--out", "new.csv")
    mine(tmp_path, "--top", 1, data="data.jsonl")  # compiles, if that was not done before
    for after in (1.5, 4.0):
        ended = signalled(*arguments, number=signal.SIGINT, after=after, cwd=tmp_path)
        assert ended.code == 130, ended.err
        assert ended.seconds < HANG_SECONDS
        assert names_in(tmp_path) == ["data.jsonl"]
        assert hidden_in(tmp_path) == []
