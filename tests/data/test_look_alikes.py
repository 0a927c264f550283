"""Labels that look alike and blanks at the ends of labels, wherever labels come from."""

import json
import sqlite3
from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.records.labels import BLANKS
from setveil.data.records.look_alikes import LookAlikes, folded
from setveil.guarantees.rho_uncertainty import RhoUncertainty
from setveil.profiling import profile
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import Opened, open_release

from oracle import look_alikes as oracle
from support.program import call

CAFE, CAFE_APART = "caf\u00e9", "cafe\u0301"
ODD = st.text(
    "aAbB1\u00e9e\u0301\u00df\u1e9e\u0130i\u0131\u200b\u00ad\ufeff\ufe0f\u034f\u212b\u00c5\uff21 \u00a0",
    min_size=1,
    max_size=5,
)
pandas = pytest.importorskip("pandas")


# -- folding ----------------------------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(ODD, st.text(min_size=1, max_size=4)), max_size=12, unique=True))
def test_the_oracle_finds_the_same_pairs(labels):
    found = LookAlikes.among(labels)
    assert {tuple(sorted(pair)) for alike in found.groups for pair in combinations(alike, 2)} == oracle.pairs(labels)
    assert found.pairs == len(oracle.pairs(labels))
    for label in labels:
        assert set(found.others(label)) == {
            other for other in labels if other != label and folded(other) == folded(label)
        }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CAFE, CAFE_APART),
        (" ", "\u00a0"),
        (" tea", "tea"),
        ("Milk", "milk"),
        ("Stra\u00dfe", "STRASSE"),
        ("milk", "mi\u200blk"),
        ("milk", "\ufeffmilk"),
        ("\uff4d\uff49\uff4c\uff4b", "milk"),
        ("10", "\uff11\uff10"),
        ("tea", "tea\u00ad"),
        ("tea", "tea\u3164"),
        ("tea", "t\u17b5ea"),
        ("tea", "te\u2800a"),
    ],
)
def test_these_look_alike(one, other):
    assert LookAlikes.among([one, other]).groups == ((one, other),)


@pytest.mark.parametrize(("one", "other"), [("milk", "silk"), ("007", "7"), ("rye bread", "ryebread"), ("e", "\u00e9")])
def test_these_do_not(one, other):
    assert LookAlikes.among([one, other]).pairs == 0


def test_the_samples_labels_all_look_different():
    assert profile(sv.read("sample:supermarket?records=500"), known=1).look_alike_pairs == 0


# -- blanks at the ends -----------------------------------------------------------------------------------------------------


def test_blanks_are_all_white_space_but_control_characters():
    assert set(BLANKS) == {chr(n) for n in range(32, 0x110000) if chr(n).isspace()}


@pytest.mark.parametrize("end", ["\t", "\n", "\r"])
def test_a_control_character_at_the_end_is_still_refused(tmp_path, end):
    """A quote that is never closed would otherwise make an item of the rest of the file."""
    (tmp_path / "d.csv").write_text(f'id,item\np1,milk\np2,"tea{end}"\n')
    with pytest.raises(sv.BadData, match=r"line 3: the column 'item' is empty or holds a control character"):
        sv.read(tmp_path / "d.csv")


LISTS = [["milk ", "\u00a0bread"], ["milk", " milk", "tea"], ["tea\u3000"]]
EXPECTED = [["bread", "milk"], ["milk", "tea"], ["tea"]]
IDS = [" p1", "p2 ", "p3"]


def as_long(tmp_path):
    rows = "".join(f"{name},{item}\n" for name, record in zip(IDS, LISTS, strict=True) for item in record)
    (tmp_path / "d.csv").write_text("id,item\n" + rows)
    return sv.read(tmp_path / "d.csv")


def as_tsv(tmp_path):
    (tmp_path / "d.tsv").write_text("items\n" + "".join(";".join(record) + "\n" for record in LISTS))
    return sv.read(tmp_path / "d.tsv", items="items", separator=";")


def as_ragged(tmp_path):
    (tmp_path / "d.csv").write_text("".join(",".join(record) + "\n" for record in LISTS))
    return sv.read(tmp_path / "d.csv", ragged=True)


def as_basket(tmp_path):
    (tmp_path / "d.dat").write_text("".join(";".join(record) + "\n" for record in LISTS))
    return sv.read(tmp_path / "d.dat", separator=";")


def as_json_lines(tmp_path):
    lines = (json.dumps({"id": name, "items": record}) for name, record in zip(IDS, LISTS, strict=True))
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    return sv.read(tmp_path / "d.jsonl")


def as_parquet(tmp_path):
    pq.write_table(pa.table({"id": IDS, "items": LISTS}), tmp_path / "d.parquet")
    return sv.read(tmp_path / "d.parquet")


def as_arrow_file(tmp_path):
    table = pa.table({"id": IDS, "items": LISTS})
    with pa.ipc.new_file(tmp_path / "d.arrow", table.schema) as file:
        file.write_table(table)
    return sv.read(tmp_path / "d.arrow")


def as_query(tmp_path):
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("CREATE TABLE sales (id TEXT, item TEXT)")
        rows = [(name, item) for name, record in zip(IDS, LISTS, strict=True) for item in record]
        database.executemany("INSERT INTO sales VALUES (?, ?)", rows)
    return sv.read(f"sqlite:///{tmp_path}/d.db", query="SELECT id, item FROM sales ORDER BY rowid")


def as_frame(_tmp_path):
    return sv.from_pandas(pandas.DataFrame({"id": IDS, "items": LISTS}))


def as_dictionary(_tmp_path):
    flat = [(name, item) for name, record in zip(IDS, LISTS, strict=True) for item in record]
    names, items = zip(*flat, strict=True)
    return sv.from_arrow(pa.table({"id": pa.array(names), "item": pa.array(items).dictionary_encode()}))


def as_lists(_tmp_path):
    return sv.from_lists(LISTS, ids=IDS)


@pytest.mark.parametrize(
    "make",
    [
        as_long, as_tsv, as_ragged, as_basket, as_json_lines, as_parquet, as_arrow_file, as_query, as_frame, as_dictionary,
        as_lists,
    ],
)  # fmt: skip
def test_blanks_at_the_ends_of_labels_are_stripped_everywhere(tmp_path, notes, make):
    data = make(tmp_path)
    assert [sorted(record) for record in data.to_lists()] == EXPECTED == list(map(sorted, oracle.without_blanks(LISTS)))
    if data.ids is not None:
        assert data.ids.to_pylist() == IDS, "ids are no labels"
    text_lines = make in (as_tsv, as_ragged, as_basket)  # ASCII blanks around an item are layout there
    assert f"blanks at the ends were stripped from {2 if text_lines else 4} names of items" in notes()


def test_labels_of_many_batches_are_stripped_and_counted_once(tmp_path, notes):
    (tmp_path / "d.csv").write_text(
        "id,item\n" + "".join(f"p{n},item {n % 50:0100}{' ' * (n % 2)}\n" for n in range(40_000))
    )
    data = sv.read(tmp_path / "d.csv")
    assert len(data.vocabulary) == 50
    assert data.occurrences == 40_000
    assert "stripped from 25 names of items" in notes()


def test_a_label_of_blanks_alone_is_empty(tmp_path):
    (tmp_path / "d.csv").write_text("id,item\np1,milk\np2,  \n")
    with pytest.raises(sv.BadData, match=r"line 3: the column 'item' is empty or holds a control character"):
        sv.read(tmp_path / "d.csv")


@given(st.lists(st.lists(st.text("ab \u00a0\u3000", min_size=1, max_size=3), max_size=4), max_size=5))
def test_lists_are_stripped_as_the_oracle_strips_them(lists):
    assert [set(record) for record in sv.from_lists(lists).to_lists()] == oracle.without_blanks(lists)


def test_side_files_and_lists_are_stripped_alike(tmp_path, notes):
    (tmp_path / "c.csv").write_text("item,category\ncream cheese ,dairy\n ham,meat \n")
    assert dict(sv.read_categories(tmp_path / "c.csv")) == {"cream cheese": "dairy", "ham": "meat"}
    assert sv.read_hierarchy(tmp_path / "c.csv").leaves == ("cream cheese", "ham")
    assert f"blanks at the ends were stripped from 3 names of {tmp_path / 'c.csv'}" in notes()
    (tmp_path / "s.txt").write_text(" cream cheese\u00a0\n")
    assert sv.read_sensitive(tmp_path / "s.txt") == ("cream cheese",)
    (tmp_path / "i.jsonl").write_text('["cream cheese ", "ham"]\n')
    assert sv.read_itemsets(tmp_path / "i.jsonl") == (("cream cheese", "ham"),)
    assert list(sv.SensitiveItems(["ham ", "ham"])) == ["ham"]
    assert list(sv.NamedItemsets([["ham ", "ham"], [" tea"]])) == [("ham",), ("tea",)]
    assert dict(sv.Categories({" ham": "meat"})) == {"ham": "meat"}
    with pytest.raises(sv.BadData, match="two categories"):
        sv.Categories({"ham": "meat", "ham ": "fish"})
    with pytest.raises(sv.BadData, match="the name 'ham ' has blanks at its ends; strip them"):
        sv.Hierarchy({"ham ": "meat"})
    (tmp_path / "c.csv").write_text("item,category\nham,dairy\n ham,meat\n")
    with pytest.raises(sv.BadData, match="has two categories"):
        sv.read_categories(tmp_path / "c.csv")


def test_data_with_blanks_match_a_taxonomy_with_blanks(tmp_path):
    """A1 of the review: groceries has 'cream cheese ' in the data and in the taxonomy, and was refused."""
    (tmp_path / "d.csv").write_text("cream cheese ,ham\nham,tea\ncream cheese ,tea,ham\n")
    (tmp_path / "c.csv").write_text("item,category\ncream cheese ,dairy\nham,meat\ntea,drinks\n")
    categories = sv.read_categories(tmp_path / "c.csv")
    assert categories.bind(sv.read(tmp_path / "d.csv", ragged=True))[1] == ("dairy", "drinks", "meat")


# -- look-alikes in data ----------------------------------------------------------------------------------------------------


ALIKE = sv.from_lists([["beer", CAFE], ["beer", CAFE_APART], ["tea"], ["tea", "Milk"], ["milk"]] * 4)


@pytest.fixture
def files(tmp_path):
    sv.write(ALIKE, tmp_path / "data.jsonl")
    (tmp_path / "secret.txt").write_text(CAFE + "\n")
    (tmp_path / "tea.txt").write_text("tea\n")
    return tmp_path


def test_reading_notes_pairs_that_look_alike(files, notes):
    sv.read(files / "data.jsonl")
    assert notes() == r"2 pairs of labels look alike, such as 'Milk' and 'milk'; they count as different items"
    sv.from_arrow(pa.table({"id": ["p", "q"], "item": [CAFE, CAFE_APART]}))
    assert notes().endswith(
        r"1 pair of labels looks alike, such as 'cafe\u0301' and 'caf\xe9'; they count as different items"
    )


def methods(name):
    return [
        sv.Insert(sensitive=[name], rho="90%"),
        sv.GlobalSuppression(sensitive=[name], rho="90%"),
        sv.Permutation(sensitive=[name], p=2),
        sv.ExactSwap(itemsets=[[name, "beer"]], min_support=2, target="border"),
    ]


@pytest.mark.parametrize("place", range(4))
def test_a_label_that_looks_like_a_named_one_is_refused(place):
    with pytest.raises(sv.BadData, match="which looks alike and would not be protected") as no:
        sv.publish(ALIKE, methods(CAFE)[place])
    assert r"'caf\xe9', and the data hold 'cafe\u0301'" in str(no.value)
    assert sv.publish(ALIKE, methods(CAFE)[place], distinct_labels=True, metrics=[]).verdict
    assert sv.publish(ALIKE, methods("tea")[place], metrics=[]).verdict


def test_a_name_that_only_looks_like_a_label_is_refused_and_not_merely_missing():
    method = sv.Insert(sensitive=["Tea", "beer"], rho="90%")
    with pytest.raises(sv.BadData, match="sensitive names 'Tea', and the data hold 'tea', which looks alike"):
        sv.publish(ALIKE, method)
    assert sv.publish(ALIKE, method, distinct_labels=True, metrics=[]).names[0].occur == 1


def test_look_alikes_of_different_categories_are_refused():
    same = {"beer": "w", CAFE: "x", CAFE_APART: "x", "tea": "y", "milk": "y", "Milk": "y"}
    options = {"metrics": [], "allow_failures": 20}
    assert sv.publish(ALIKE, sv.PartSwap(categories=same), **options).data
    with pytest.raises(sv.BadData, match="'Milk' and 'milk' look alike, and categories does not give them the same"):
        sv.publish(ALIKE, sv.PartSwap(categories=same | {"milk": "z"}), **options)
    only_one = {item: name for item, name in same.items() if item != CAFE}
    with pytest.raises(sv.BadData, match="look alike"):
        sv.publish(ALIKE, sv.PartSwap(categories=only_one), **options)
    assert sv.publish(ALIKE, sv.PartSwap(categories=same | {"milk": "z"}), distinct_labels=True, **options).data


def test_a_check_refuses_them_too_and_the_command_line_can_allow_them(files):
    asked = ("check", "data.jsonl", "--guarantee", "rho-uncertainty", "--rho", "60%", "--sensitive")
    assert call(*asked, "secret.txt", cwd=files).code == 2
    assert call(*asked, "secret.txt", "--distinct-labels", cwd=files).code == 0
    made = ("publish", "data.jsonl", "--method", "insert", "--rho", "50%", "--out", "out", "--sensitive", "secret.txt")
    assert call(*made, cwd=files).code == 2
    assert call(*made, "--distinct-labels", cwd=files).code == 0
    assert call("check", "out", "--private", "out.private", cwd=files).code == 0, "decided when it was published"


def test_profile_shows_how_many_pairs_there_are(files):
    said = call("profile", "data.jsonl", cwd=files)
    assert "2 pairs of labels that look alike" in said.out
    assert call("profile", "data.jsonl", "--json", cwd=files).json["look_alike_pairs"] == 2


# -- categories and hierarchies ---------------------------------------------------------------------------------------------


def test_categories_that_look_alike_are_refused():
    data = sv.from_lists([["a1", "a2", "b1"], ["b1", "b2", "c1"], ["c1", "c2", "a1"]] * 4)
    data = data.with_ids([f"p{number}" for number in range(data.records)])
    of_item = {"a1": "a", "a2": "A", "b1": "b", "b2": "b", "c1": "c", "c2": "c"}
    with pytest.raises(sv.BadData, match="'a' and 'A', which look alike"):
        sv.publish(data, sv.PartSwap(categories=of_item), metrics=[], allow_failures=12)
    release = sv.publish(data, sv.PartSwap(categories=of_item), metrics=[], allow_failures=12, distinct_labels=True)
    assert release.terms.distinct_labels


def test_blanks_at_the_ends_of_category_names_are_stripped():
    assert sv.Categories({"x": "beer ", "y": "beer"}) == sv.Categories({"x": "beer", "y": "beer"})


def test_a_release_made_with_distinct_labels_passes_its_own_check(tmp_path):
    records = [["Beer", "beer", "tea"], ["tea", "ham", "nuts"], ["ham", "nuts", "Beer"], ["nuts", "pie", "beer"]] * 5
    data = sv.from_lists(records).with_ids([f"p{number}" for number in range(20)])
    of_item = {"Beer": "drink", "beer": "snack", "tea": "drink", "ham": "meat", "nuts": "snack", "pie": "cake"}
    method = sv.PartSwap(categories=of_item)
    release = sv.publish(data, method, metrics=[], allow_failures=20, distinct_labels=True)
    release.save(tmp_path / "out")
    opened, private = open_release(tmp_path / "out"), Private.load(tmp_path / "out.private")
    verdict = check_release(opened, guarantee_of(opened, private), original=data, private=private)
    assert verdict.acceptable(20)


def test_a_look_alike_below_a_node_is_found(tmp_path):
    """The records show the node alone, and only the hierarchy has the label."""
    tree = sv.Hierarchy({CAFE_APART: "N", "tea": "*", "beer": "*", "N": "*"})
    shown = sv.Generalized(sv.from_lists([["beer", "N"]] * 3 + [["tea", "beer"]] * 4), tree)
    opened = Opened(tmp_path, None, shown)
    named = RhoUncertainty(sensitive=[CAFE, "tea"], rho="90%")
    with pytest.raises(sv.BadData, match=r"sensitive names .* which looks alike"):
        check_release(opened, named)
    assert check_release(opened, named, distinct_labels=True)
