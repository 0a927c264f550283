"""`setveil mine`: what it prints and writes, that other commands read it, and that wrong uses end with one sentence."""

import json
import re
import signal
from pathlib import Path

import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import setveil as sv
from setveil.mining.rules import association_rules

from oracle import mining as oracle
from support.program import HANG_SECONDS, call, hidden_in, names_in, run, signalled

SAMPLE = "sample:supermarket?records=2000"
PAGE = Path(__file__).parents[2] / "docs" / "mining.md"
RECORDS = [["a", "b", "c"], ["a", "b"], ["a", "b", "d"], ["c", "d"], ["a"], []]
FREQUENT = [("a", 4), ("b", 3), ("a b", 3), ("c", 2), ("d", 2)]
"""The itemsets that at least two of the records hold, as they are shown."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.dat").write_text("".join(" ".join(record) + "\n" for record in RECORDS))
    (tmp_path / "blanks.dat").write_text("red wine,ale\nred wine,ale\nale\n")
    return tmp_path


def mine(folder, *arguments, data="data.dat"):
    ended = call("mine", data, *arguments, cwd=folder)
    assert ended.code == 0, ended.err
    return ended


def test_the_example_of_this_file_is_right():
    found = oracle.frequent([set(record) for record in RECORDS], 2)
    assert found == {frozenset(items.split()): support for items, support in FREQUENT}


def test_the_table_tells_how_many_there_are(folder):
    said = mine(folder, "--min-support", 2, "--rows", 2).out
    assert [line.split() for line in said.splitlines()[3:5]] == [["a", "4", "66.7", "%"], ["b", "3", "50.0", "%"]]
    assert said.endswith("5 frequent itemsets in at least 2 of 6 records; the first 2 are shown\n")
    assert mine(folder, "--min-support", 2).out.endswith("5 frequent itemsets in at least 2 of 6 records\n")
    assert mine(folder, "--min-support", "100%").out == "0 frequent itemsets in at least 6 of 6 records\n"


def test_json_tells_all(folder):
    found = mine(folder, "--min-support", "30%", "--json").json
    assert [(" ".join(row["items"]), row["support"]) for row in found["itemsets"]] == FREQUENT
    assert (found["records"], found["count"], found["number"], found["min_support"]) == (6, 2, 5, "30%")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--kind", "closed"], ["a", "a b", "c", "d"]),
        (["--kind", "maximal"], ["a b", "c", "d"]),
        (["--max-length", 1], ["a", "b", "c", "d"]),
        (["--length", 2], ["a b"]),
        (["--kind", "maximal", "--length", 1], ["c", "d"]),
    ],
)
def test_kinds_and_lengths(folder, options, expected):
    found = mine(folder, "--min-support", 2, *options, "--json").json
    assert [" ".join(row["items"]) for row in found["itemsets"]] == expected
    counted = mine(folder, "--min-support", 2, *options, "--count", "--json").json
    assert counted["number"] == len(expected)
    assert "itemsets" not in counted


def test_the_most_frequent(folder):
    assert [row["support"] for row in mine(folder, "--top", 3, "--json").json["itemsets"]] == [4, 3, 3]
    assert mine(folder, "--top", 2, "--kind", "closed").out.endswith("2 most frequent closed itemsets\n")


def test_count_says_a_number_and_nothing_else(folder):
    assert mine(folder, "--min-support", 2, "--count").out == "5 frequent itemsets in at least 2 of 6 records\n"
    said = mine(folder, "--min-support", 1, "--count", "--length", 3, "--kind", "maximal").out
    assert said == "2 frequent maximal itemsets of 3 items in at least 1 of 6 records\n"


def test_rules(folder):
    found = mine(folder, "--min-support", 2, "--rules", "--min-confidence", "75%", "--json").json["rules"]
    assert [(row["antecedent"], row["consequent"], row["confidence"]) for row in found] == [
        (["b"], "a", 1.0),
        (["a"], "b", 0.75),
    ]
    said = mine(folder, "--min-support", 2, "--rules", "--min-confidence", "0.76").out
    assert [line.split() for line in said.splitlines()[3:4]] == [["b", "a", "3", "100.0", "%", "1.5"]]
    assert said.endswith("1 association rule with a confidence of at least 0.76 in at least 2 of 6 records\n")
    assert mine(folder, "--min-support", 2, "--rules", "--min-lift", "1.6", "--json").json["rules"] == []
    assert len(mine(folder, "--min-support", 2, "--rules", "--json").json["rules"]) == 2  # from 50 % on


# -- files -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["o.txt", "o.dat.gz", "o.basket", "o.jsonl", "o.ndjson.zst"])
def test_side_files_are_read_by_other_commands(folder, name):
    said = mine(folder, "--min-support", 2, "--out", name).out
    assert said.endswith(f"{name}: 5 itemsets written\n")
    assert sv.read_itemsets(folder / name) == tuple(tuple(items.split()) for items, _support in FREQUENT)
    known = call("profile", "data.dat", "--itemsets", name, "--json", cwd=folder).json["itemsets"]
    assert [one["records"] for one in known] == [support for _items, support in FREQUENT]


def test_tables_hold_the_supports(folder):
    expected = [{"items": items.split(), "support": support, "share": support / 6} for items, support in FREQUENT]
    for name in ("o.json", "o.parquet", "o.arrow", "o.csv"):
        mine(folder, "--min-support", 2, "--out", name)
    assert json.loads((folder / "o.json").read_text()) == expected
    assert pq.read_table(folder / "o.parquet").to_pylist() == expected
    assert pf.read_table(folder / "o.arrow").to_pylist() == expected
    assert (folder / "o.csv").read_text().splitlines()[:4] == [
        "items,support,share",
        f"a,4,{4 / 6}",
        "b,3,0.5",
        "a b,3,0.5",
    ]
    mine(folder, "--min-support", "100%", "--out", "none.json")
    assert json.loads((folder / "none.json").read_text()) == []


def test_files_of_rules(folder):
    for name in ("o.json", "o.jsonl", "o.parquet", "o.csv"):
        mine(folder, "--min-support", 2, "--rules", "--out", name)
    rows = json.loads((folder / "o.json").read_text())
    assert [(row["antecedent"], row["consequent"], row["lift"]) for row in rows] == [
        (["b"], "a", 1.5),
        (["a"], "b", 1.5),
    ]
    assert [json.loads(line) for line in (folder / "o.jsonl").read_text().splitlines()] == rows
    assert pq.read_table(folder / "o.parquet").to_pylist() == rows
    assert (folder / "o.csv").read_text().splitlines()[1] == "b,a,3,1.0,1.5"


def test_items_with_blanks_keep_their_separator(folder):
    options = ("--separator", ",", "--min-support", 2)
    mine(folder, *options, "--out", "o.txt", data="blanks.dat")
    assert sv.read_itemsets(folder / "o.txt", separator=",") == (("ale",), ("red wine",), ("ale", "red wine"))
    mine(folder, *options, "--out", "o.csv", "--to-separator", ";", data="blanks.dat")
    assert "ale;red wine,2," in (folder / "o.csv").read_text()
    ended = call("mine", "blanks.dat", *options, "--out", "p.txt", "--to-separator", " ", cwd=folder)
    assert ended.code == 2
    assert "p.txt: the item 'red wine' contains the separator ' '" in ended.sentence()
    assert "p.txt" not in names_in(folder)


def test_json_with_a_file_tells_where_it_is(folder):
    found = mine(folder, "--min-support", 2, "--out", "o.txt", "--json").json
    assert (found["out"], found["number"]) == ("o.txt", 5)
    assert "itemsets" not in found


def test_an_old_file_is_replaced_only_when_forced(folder):
    (folder / "o.txt").write_text("old")
    ended = call("mine", "data.dat", "--min-support", 2, "--out", "o.txt", cwd=folder)
    assert (ended.code, (folder / "o.txt").read_text()) == (2, "old")
    assert "o.txt exists" in ended.sentence()
    mine(folder, "--min-support", 2, "--out", "o.txt", "--force")
    assert (folder / "o.txt").read_text().startswith("a\nb\n")


# -- samples ---------------------------------------------------------------------------------------------------------------------


def test_a_sample_is_chosen_by_its_seed_and_can_be_hidden(tmp_path):
    options = ("--min-support", "0.5%", "--length", 2, "--sample", 7)
    for name, seed in (("one.txt", 3), ("same.txt", 3), ("other.txt", 4)):
        mine(tmp_path, *options, "--seed", seed, "--out", name, data=SAMPLE)
    one, same, other = ((tmp_path / name).read_text() for name in ("one.txt", "same.txt", "other.txt"))
    assert one == same != other
    data = sv.read(SAMPLE)
    chosen = sv.read_itemsets(tmp_path / "one.txt", data)
    assert len(set(chosen)) == 7
    assert {len(itemset) for itemset in chosen} == {2}
    assert sv.supports(data, chosen).min() >= 10
    mine(tmp_path, *options, "--seed", 3, "--threads", 1, "--out", "thread.txt", data=SAMPLE)
    assert (tmp_path / "thread.txt").read_text() == one


def test_every_itemset_is_as_likely_as_any_other(folder):
    options = ("--min-support", 2, "--sample", 2, "--json", "--quiet")
    seen = [mine(folder, *options, "--seed", seed).json["itemsets"] for seed in range(60)]
    often = [sum(" ".join(row["items"]) == items for rows in seen for row in rows) for items, _support in FREQUENT]
    assert all(one != other for one, other in seen)
    assert sum(often) == 120
    assert min(often) > 12  # 24 of 60 are expected of each
    assert max(often) < 36


# -- wrong uses ------------------------------------------------------------------------------------------------------------------

SUPPORT = ("--min-support", "2")
WRONG = [
    ([], "a minimum support is missing; give --min-support"),
    (["--min-support", "0"], "the support '0' is neither a number of records"),
    (["--min-support", "often"], "the support 'often'"),
    (["--min-support", "101%"], "the support '101%'"),
    ([*SUPPORT, "--kind", "open"], "open"),
    ([*SUPPORT, "--length", "0"], "--length is 0; it must be at least 1"),
    ([*SUPPORT, "--max-length", "0"], "--max-length is 0; it must be at least 1"),
    ([*SUPPORT, "--limit", "0"], "--limit is 0; it must be at least 1"),
    ([*SUPPORT, "--rows", "-1"], "rows is -1; allowed is a whole number of at least 0"),
    ([*SUPPORT, "--length", "2", "--max-length", "3"], "--length and --max-length cannot be combined"),
    ([*SUPPORT, "--top", "3"], "--top and --min-support cannot be combined"),
    (["--top", "0"], "--top is 0; it must be at least 1"),
    (["--top", "3", "--rules"], "--top and --rules cannot be combined"),
    (["--top", "3", "--count"], "--count and --top cannot be combined"),
    ([*SUPPORT, "--count", "--rules"], "--count and --rules cannot be combined"),
    ([*SUPPORT, "--count", "--out", "new.txt"], "--count cannot be combined with --out"),
    ([*SUPPORT, "--rules", "--kind", "closed"], "--rules and --kind closed cannot be combined"),
    ([*SUPPORT, "--rules", "--sample", "3"], "--rules and --sample cannot be combined"),
    ([*SUPPORT, "--rules", "--min-confidence", "80"], "the confidence '80' is more than 100%"),
    ([*SUPPORT, "--rules", "--min-lift", "high"], "the lift 'high' is not a number"),
    ([*SUPPORT, "--min-confidence", "80%"], "--min-confidence requires --rules, which is not given"),
    ([*SUPPORT, "--min-lift", "2"], "--min-lift requires --rules"),
    ([*SUPPORT, "--seed", "0"], "--seed requires --sample"),
    ([*SUPPORT, "--force"], "--force requires --out"),
    ([*SUPPORT, "--sample", "0"], "--sample is 0; it must be at least 1"),
    (
        [*SUPPORT, "--sample", "6"],
        "--sample is 6, but there are only 5 frequent itemsets in at least 2 of 6 records",
    ),
    ([*SUPPORT, "--sample", "2", "--seed", "-1"], "--seed is -1; it must be at least 0"),
    ([*SUPPORT, "--limit", "4"], "the limit is 4"),
    ([*SUPPORT, "--threads", "0"], "0 threads"),
    (
        [*SUPPORT, "--out", "new.xyz"],
        "new.xyz: itemsets cannot be written to a file with this extension; allowed are .txt",
    ),
    ([*SUPPORT, "--out", "new.parquet.gz"], "a .parquet file is compressed internally; omit the extension .gz"),
    (
        [*SUPPORT, "--rules", "--out", "new.txt"],
        "new.txt: rules cannot be written to a file with this extension; allowed are .csv",
    ),
    ([*SUPPORT, "--out", "new.txt", "--to-separator", "ab"], "the separator is 'ab'"),
    ([*SUPPORT, "--out", "missing/new.txt"], "missing is not a folder"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=[" ".join(a)[-50:].replace("/", "|") for a, _ in WRONG])
def test_a_wrong_use_ends_with_two_and_one_sentence(folder, arguments, says):
    before = names_in(folder)
    ended = call("mine", "data.dat", *arguments, cwd=folder)
    assert ended.code == 2, ended.err
    assert says in ended.sentence()
    assert ended.out == ""
    assert names_in(folder) == before


@pytest.mark.realdata
def test_an_explosion_is_refused_soon_with_the_number(real_folder, tmp_path):
    data = real_folder / "bms-webview-1.dat.gz"
    ended = run("mine", data, "--min-support", "0.05%", "--out", "new.txt", cwd=tmp_path)
    assert ended.code == 2
    assert "there are 35,349,566,550,691 frequent itemsets" in ended.sentence()
    assert names_in(tmp_path) == []


@pytest.mark.realdata
def test_ctrl_c_ends_it_and_leaves_nothing(real_folder, tmp_path):
    # Takes half a minute, if it is not stopped.
    options = ("--kind", "closed", "--min-support", 20, "--limit", 10**9, "--out", "new.csv")
    arguments = ("mine", real_folder / "bms-pos-100k.dat.gz", *options)
    mine(tmp_path, "--top", 1, data=SAMPLE)  # compiles, if that was not done before
    for after in (0.5, 2.0, 4.0):
        ended = signalled(*arguments, number=signal.SIGINT, after=after, cwd=tmp_path)
        assert ended.code == 130, ended.err
        assert ended.seconds < HANG_SECONDS
        assert ended.sentence() == "stopped; nothing was written"
        assert hidden_in(tmp_path) == names_in(tmp_path) == []


def test_the_commands_on_the_page_work_as_printed(tmp_path):
    section = (
        PAGE.read_text(encoding="utf-8")
        .partition("## Find itemsets and rules")[2]
        .partition("```\n")[2]
        .partition("```")[0]
    )
    lines = section.replace("\\\n", " ").splitlines()
    assert len(lines) == 6
    for line in lines:
        words = line.replace("sample:supermarket", SAMPLE).split()
        ended = call(*words[1:], cwd=tmp_path)
        assert ended.code == 0, (line, ended.err)
    written = set(re.findall(r"--out (\S+)", section))
    assert set(names_in(tmp_path)) == written == {"closed.parquet", "rules.csv", "secrets.txt"}
    data = sv.read(SAMPLE)
    rules = association_rules(sv.mine(data, "1%"), "80%", min_lift="1.2")
    assert len((tmp_path / "rules.csv").read_text().splitlines()) == len(rules) + 1
