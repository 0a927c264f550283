"""The column of a provider's own customer keys: read like the ids from every source, and no part of what a table is."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import setveil as sv

AGE = sv.NumericAttribute("age", Decimal(0), Decimal(120), Decimal(1))
TITLE = sv.OrderedAttribute("title", ("X", "Y"))
LINES = ["id,customer,age,title", "u1,C7,37,X", "u2,C9,38,Y", "u3,C8,39,X"]
KEYS = ["C7", "C9", "C8"]


def read(source, person="customer", **how):
    return sv.read_provider_table(source, (AGE,), TITLE, person=person, **how)


@pytest.fixture
def csv_file(tmp_path):
    """Give a function that writes a CSV file, one line of which may be another."""

    def write(number=1, line=LINES[0]):
        path = tmp_path / "b.csv"
        path.write_text("\n".join([*LINES[: number - 1], line, *LINES[number:]]) + "\n")
        return path

    return write


def test_the_keys_are_read_from_every_source(tmp_path, csv_file, sqlite_url, fill):
    columns = {"id": ["u1", "u2", "u3"], "customer": KEYS, "age": [37, 38, 39], "title": ["X", "Y", "X"]}
    pq.write_table(pa.table(columns), tmp_path / "b.parquet")
    rows = list(zip(*columns.values(), strict=True))
    fill("CREATE TABLE people (id, customer, age, title)", rows=rows, insert="INSERT INTO people VALUES (?, ?, ?, ?)")
    tables = [
        read(csv_file()),
        read(tmp_path / "b.parquet"),
        read(sqlite_url, query="SELECT * FROM people ORDER BY id"),
    ]
    for table in tables:
        assert table.persons.type == pa.large_string()
        assert table.persons.to_pylist() == KEYS
        assert table.checksum() == tables[0].checksum()


def test_whole_numbers_are_keys_and_the_ids_may_be_them(tmp_path, csv_file):
    pq.write_table(
        pa.table({"id": [1, 2], "customer": [70, 9], "age": [37, 38], "title": ["X", "Y"]}), tmp_path / "b.parquet"
    )
    assert read(tmp_path / "b.parquet").persons.to_pylist() == ["70", "9"]
    assert read(csv_file(), person="id").persons.to_pylist() == ["u1", "u2", "u3"]
    assert read(csv_file(), person=None).persons is None


def test_the_checksum_of_a_table_does_not_depend_on_the_keys(csv_file):
    without = read(csv_file(), person=None).checksum()
    assert read(csv_file()).checksum() == without
    assert read(csv_file(2, "u1,another,37,X")).checksum() == without
    assert read(csv_file(2, "u1,C7,36,X")).checksum() != without


ONE_ROW = r"; expected one row per customer; name the column of your own customer keys with `person='COLUMN'`$"


@pytest.mark.parametrize(
    ("number", "line", "sentence"),
    [
        (1, "id,number,age,title", r"b\.csv, line 1: has no column 'customer'; .*: id, number, .* customer keys with `person='COLUMN'`"),
        (4, "u3,C7,39,X", r"b\.csv, line 4: the column 'customer' contains this value twice" + ONE_ROW),
        (3, "u2,,38,Y", r"b\.csv, line 3: the value of 'customer' is empty or holds a control character$"),
        (3, '"u2","C\t9",38,Y', r"b\.csv, line 3: the value of 'customer' is empty or holds a control character$"),
    ],
)  # fmt: skip
def test_faults_of_the_keys_are_reported_with_their_line(csv_file, number, line, sentence):
    with pytest.raises(sv.BadData, match=sentence) as refused:
        read(csv_file(number, line))
    assert "C7" not in str(refused.value)
    read(csv_file(number, line), person=None)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (["C7", None], r"row 2: the column 'customer' has no value \(null\); expected a value in every row"),
        ([1.0, 2.0], r": the column 'customer' is of type double; expected text or whole numbers"),
        ([7, 7], r"row 2: the column 'customer' contains this value twice" + ONE_ROW),
    ],
)
def test_faults_of_the_keys_are_reported_with_their_row(tmp_path, keys, sentence):
    path = tmp_path / "b.parquet"
    pq.write_table(pa.table({"id": ["u1", "u2"], "customer": keys, "age": [37, 38], "title": ["X", "Y"]}), path)
    with pytest.raises(sv.BadData, match=sentence):
        read(path)


@pytest.mark.parametrize("name", ["age", "title"])
def test_a_column_of_the_policy_is_no_customer_key(csv_file, name):
    with pytest.raises(
        sv.BadParameter, match=f"the column '{name}' is an attribute of the policy, .*`person='COLUMN'`"
    ):
        read(csv_file(), person=name)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (["C7", "C7"], "the table has the same customer key twice" + ONE_ROW),
        (["C7", ""], "row 2: the customer key is empty"),
        (["C\n7", "C8"], "row 1: the customer key is empty or holds a control character"),
        (["C7"], "the table has 2 ids and 1 customer key; expected one key per user"),
    ],
)
def test_a_table_refuses_bad_keys(keys, sentence):
    ids, keys = (pa.array(values, pa.large_string()) for values in (["u1", "u2"], keys))
    with pytest.raises(sv.BadData, match=sentence):
        sv.ProviderTable(ids, np.zeros((2, 1), dtype=np.int32), persons=keys)
