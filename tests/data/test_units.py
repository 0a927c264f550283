"""Whether a record is a person: only if somebody says so, whatever the format, and never by converting."""

import pyarrow as pa
import pytest

import setveil as sv
from setveil.release.opening import open_release

from support.program import call

LONG = "customer,product\nann,milk\nann,tea\nbob,milk\nbob,ham\ncid,tea\ncid,ham\n"
TABLE = pa.table({"id": ["a", "a", "b"], "item": ["x", "y", "x"]})
NAMED = {"id": "customer", "item": "product"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sales.csv").write_text(LONG)
    (tmp_path / "baskets.dat").write_text("milk tea\nmilk\n")
    return tmp_path


def test_a_record_is_no_person_unless_that_is_said(folder):
    assert sv.read(folder / "sales.csv", **NAMED).unit == "record"
    assert sv.read(folder / "baskets.dat").unit == "record"
    assert sv.from_arrow(TABLE).unit == "record"
    assert sv.read(folder / "sales.csv", **NAMED, unit="person").unit == "person"
    assert sv.read(folder / "baskets.dat", unit="person").unit == "person"


def test_the_customers_of_the_sample_have_one_record_each():
    assert sv.read("sample:supermarket?records=10").unit == "person"
    assert sv.read("sample:supermarket?records=10", unit="record").unit == "record"


def test_person_names_the_column_and_says_the_unit(folder):
    data = sv.read(folder / "sales.csv", person="customer", item="product")
    assert data.unit == "person"
    assert data == sv.read(folder / "sales.csv", **NAMED)
    renamed = TABLE.rename_columns(["who", "item"])
    assert sv.from_arrow(renamed, person="who").unit == "person"
    assert sv.from_arrow(renamed, person="who", id="who", unit="person").records == 2
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"who": ["a", "a", "b"], "item": ["x", "y", "x"]})
    assert sv.from_pandas(frame, person="who").unit == "person"
    assert sv.from_pandas(frame, id="who").unit == "record"


def test_contrary_options_are_refused(folder):
    with pytest.raises(
        sv.BadParameter, match="person is the column 'customer', and id is 'product'; give one of them only"
    ):
        sv.read(folder / "sales.csv", person="customer", id="product")
    with pytest.raises(sv.BadParameter, match="and unit is 'record'; give one of them only"):
        sv.from_arrow(TABLE, person="id", unit="record")
    with pytest.raises(sv.BadParameter, match="the data have no column of ids; use `unit='person'` instead"):
        sv.read(folder / "baskets.dat", person="customer")
    with pytest.raises(sv.BadParameter, match=r"unit is 'people'; allowed is person \| record"):
        sv.from_arrow(TABLE, unit="people")


def test_converting_makes_no_people_of_records(folder):
    """C1 of the review: a file whose ids setveil invented itself was published as data of people."""
    assert call("convert", "baskets.dat", "a.parquet", cwd=folder).code == 0
    assert call("convert", "a.parquet", "b.csv", cwd=folder).code == 0
    assert sv.read(folder / "b.csv").unit == "record"
    assert call("convert", "sample:supermarket?records=20", "c.csv", cwd=folder).code == 0
    assert sv.read(folder / "c.csv").unit == "record"


@pytest.mark.parametrize(
    ("said", "unit", "words"),
    [
        (("--id", "customer"), "record", "protects records"),
        (("--person", "customer"), "person", "protects people"),
        (("--id", "customer", "--unit", "person"), "person", "protects people"),
    ],
)
def test_the_card_says_what_was_said(folder, said, unit, words):
    options = ("--item", "product", "--method", "disassociation", "--k", 2, "--m", 1, "--delta", 3, "--out", "out")
    assert call("publish", "sales.csv", *said, *options, cwd=folder).code == 0
    card = open_release(folder / "out").card
    assert card.unit == unit
    assert words in card.unit_in_words
    wrong = call("publish", "sales.csv", "--person", "customer", "--unit", "record", *options, "--force", cwd=folder)
    assert wrong.code == 2


def test_person_names_the_column_of_a_release_too(folder):
    (folder / "c.csv").write_text("item,category\nmilk,x\ntea,y\nham,z\n")
    options = ("--item", "product", "--method", "rand-swap", "--categories", "c.csv", "--no-guarantee", "--out", "out")
    assert call("publish", "sales.csv", "--person", "customer", *options, cwd=folder).code == 0
    assert (folder / "out" / "data.csv").read_text().startswith("customer,product\n")
    assert call("convert", "sales.csv", "new.csv", "--person", "customer", "--item", "product", cwd=folder).code == 0
    assert (folder / "new.csv").read_text().startswith("customer,product\n")
