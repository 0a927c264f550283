"""A provider's table is the same table from every kind of file and database."""

import gzip
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv

from support.exhaustive import examples

AGE = sv.NumericAttribute("age", Decimal(0), Decimal(120), Decimal("0.5"))
SEX = sv.OrderedAttribute("sex", ("f", "m"))
TITLE = sv.OrderedAttribute("title", ("X", "Y, too", 'Z "z"'))
CSV = 'sex,other,id,age,title\nf,1,u1,37,X\nm,2,u2,0.5,"Y, too"\nf,3,u3,119.9999999999999,"Z ""z"""\n'
CELLS = [[74, 0], [1, 1], [239, 0]]


def read(source, **given_):
    return sv.read_provider_table(source, (AGE, SEX), TITLE, **given_)


def assert_is_the_table(table):
    assert table.ids.to_pylist() == ["u1", "u2", "u3"]
    assert table.codes.tolist() == CELLS
    assert table.sensitive.tolist() == [0, 1, 2]


def rows(**replaced):
    columns = {
        "id": ["u1", "u2", "u3"],
        "age": [37.0, 0.5, 119.9999999999999],
        "sex": ["f", "m", "f"],
        "title": list(TITLE.values),
        "other": [None, None, None],
    }
    return pa.table(columns | replaced)


def test_csv_plain_packed_and_with_another_separator(tmp_path):
    plain = tmp_path / "a.csv"
    plain.write_text(CSV)
    assert_is_the_table(read(plain))
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(CSV.encode()))
    assert_is_the_table(read(str(packed)))
    zipped = tmp_path / "a.csv.zst"
    with pa.CompressedOutputStream(pa.OSFile(str(zipped), "wb"), "zstd") as out:
        out.write(CSV.encode())
    assert_is_the_table(read(zipped))
    other = tmp_path / "b.csv"
    other.write_text('id;age;sex;title\nu1;37;f;X\nu2;0.5;m;Y, too\nu3;119.9999999999999;f;"Z ""z"""\n')
    assert_is_the_table(read(other, separator=";"))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_column_files(tmp_path, kind):
    path = tmp_path / f"a.{kind}"

    def write(table):
        if kind == "parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as out:
                out.write_table(table)

    write(rows())
    assert_is_the_table(read(path))
    write(rows(sex=pa.array(["f", "m", "f"]).dictionary_encode(), id=pa.array([b"u1", b"u2", b"u3"]).cast(pa.string())))
    assert_is_the_table(read(path))
    if kind == "arrow":  # Parquet holds no such thing
        unused = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), pa.array(["f", "m", None]))
        write(rows(sex=unused))  # a null that nobody has
        assert_is_the_table(read(path))
    exact = pa.array([Decimal("37.00"), Decimal("0.50"), Decimal("119.99")], pa.decimal128(20, 2))
    write(rows(age=exact))
    assert read(path).codes.tolist() == CELLS
    write(rows(age=pa.array([37, 1, 120], pa.uint8()), id=pa.array([1, 2, 3])))
    assert read(path).codes[:, 0].tolist() == [74, 2, 240]
    assert read(path).ids.to_pylist() == ["1", "2", "3"]


def test_databases(tmp_path, sqlite_url, fill):
    values = list(zip(["u1", "u2", "u3"], [37, 0.5, 119.9999999999999], "fmf", TITLE.values, strict=True))
    fill("CREATE TABLE people (id, age, sex, title)", rows=values, insert="INSERT INTO people VALUES (?, ?, ?, ?)")
    assert_is_the_table(read(sqlite_url, query="SELECT * FROM people ORDER BY id"))
    path = tmp_path / "duck.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (id VARCHAR, age DECIMAL(30, 15), sex VARCHAR, title VARCHAR, x HUGEINT)"
        )
        for one in values:
            connection.execute("INSERT INTO people VALUES (?, ?, ?, ?, 7)", one)
    assert_is_the_table(read(f"duckdb:///{path}", query="SELECT * FROM people ORDER BY id"))
    numbered = sv.read_population(f"duckdb:///{path}", id_column="x", query="SELECT x FROM people LIMIT 1")
    assert numbered.ids.to_pylist() == ["7"]


def test_postgresql(postgres_server):
    database = postgres_server.new_database()
    statement = (
        "CREATE TABLE people AS SELECT * FROM (VALUES ('u1', 37.0::numeric, 'f', 'X'), ('u2', 0.5, 'm', 'Y, too'), "
        "('u3', 119.9999999999999, 'f', 'Z \"z\"')) AS t(id, age, sex, title)"
    )
    postgres_server.run(statement, database=database)
    assert_is_the_table(read(postgres_server.url(database), query="SELECT * FROM people ORDER BY id"))


@settings(max_examples=examples(100), deadline=None)
@given(numbers=st.lists(st.floats(0, 120, width=64), min_size=1, max_size=20), narrow=st.booleans())
def test_floating_point_numbers_fall_into_the_cell_of_what_a_person_reads(tmp_path_factory, numbers, narrow):
    column = pa.array(numbers, pa.float64()).cast(pa.float32() if narrow else pa.float64(), safe=False)
    path = tmp_path_factory.mktemp("floats") / "a.parquet"
    pq.write_table(pa.table({"id": list(map(str, range(len(numbers)))), "age": column}), path)
    shown = [np.format_float_positional(number) for number in column.to_numpy()]
    if any(len(text.partition(".")[2]) > 60 for text in shown):
        with pytest.raises(sv.BadData, match="is not a number"):
            sv.read_provider_table(path, (AGE,), None)
        return
    expected = [int(Decimal(text) // Decimal("0.5")) for text in shown]
    assert sv.read_provider_table(path, (AGE,), None).codes[:, 0].tolist() == expected


def test_a_number_of_32_bits_is_taken_as_it_is_written(tmp_path):
    tenths = sv.NumericAttribute("age", Decimal(0), Decimal(1), Decimal("0.1"))
    path = tmp_path / "a.parquet"
    column = pa.array([0.1, 0.3, 0.6, 0.7], pa.float32())
    pq.write_table(pa.table({"id": list("abcd"), "age": column}), path)
    assert sv.read_provider_table(path, (tenths,), None).codes[:, 0].tolist() == [1, 3, 6, 7]


FAULTS = [
    ("id,age,sex\nu1,37,f\n", r"line 1: has no column 'title'; the columns are: id, age, sex\. "),
    ("age,sex,title\n37,f,X\n", r"line 1: has no column 'id'"),
    ("id,age,age,sex,title\nu1,37,37,f,X\n", r"line 1: has 2 columns 'age'"),
    ("id,age,sex,title\nu1,37,f,X\n\nu2,,m,X\n", r"line 4: the value '' of 'age' is not a number"),
    ("id,age,sex,title\nu1,121,f,X\n", r"line 2: the value '121' of 'age' is not between 0 and 120"),
    ("id,age,sex,title\nu1,1e1,f,X\n", r"line 2: the value '1e1' of 'age' is not a number"),
    (
        'id,age,sex,title,note\nu1,37,f,X,"a\nb"\nu2,3,x,X,\n',
        r"line 4: the value 'x' of 'sex' is not one of its 2 categories",
    ),
    ("id,age,sex,title\nu1,37,f,W\n", r"line 2: the value 'W' of 'title' is not one of its 3 categories"),
    ("id,age,sex,title\nu1,37,f,X\n,38,f,X\n", r"line 3: the id is empty or holds a control character"),
    ("id,age,sex,title\nu1,1,f,X\nu2,1,f,X\nu1,1,f,X\n", r"line 4: the id also occurs in an earlier row"),
    ("id,age,sex,title\n", r"has no rows; expected one row per person"),
    ("id,age,sex,title\nu1,37,f\n", r"line 2: has 3 fields where the header has 4"),
    ("", r"is empty; expected a header line"),
]


@pytest.mark.parametrize(("content", "sentence"), FAULTS)
def test_faults_of_a_csv_file_are_said_with_their_line(tmp_path, content, sentence):
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(sv.BadData, match=sentence) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}")
    assert len(str(refused.value).splitlines()) == 1
    assert "u1" not in str(refused.value)


@pytest.mark.parametrize(
    ("replaced", "sentence"),
    [
        ({"age": [1.0, None, 2.0]}, r"row 2: the column 'age' has no value \(null\)"),
        ({"id": ["u1", "u2", None]}, r"row 3: the column 'id' has no value \(null\)"),
        ({"id": [1.0, 2.0, 3.0]}, r": the column 'id' is of type double; expected text or whole numbers"),
        ({"age": [True, False, True]}, r": the column 'age' is of type bool; expected text or numbers"),
        ({"age": [float("nan"), 1.0, 2.0]}, r"row 1: the value 'nan' of 'age' is not a number"),
        ({"age": [1.0, float("inf"), 2.0]}, r"row 2: the value 'inf' of 'age' is not a number"),
        ({"sex": [["f"], ["m"], ["f"]]}, r": the column 'sex' is of type list.*; expected text or numbers"),
        ({"id": ["u1", "u2", "u2"]}, r"row 3: the id also occurs in an earlier row; expected one row per user"),
    ],
)
def test_faults_of_a_column_file_are_said_with_their_row(tmp_path, replaced, sentence):
    path = tmp_path / "a.parquet"
    pq.write_table(rows(**replaced), path)
    with pytest.raises(sv.BadData, match=sentence):
        read(path)


def test_other_faults(tmp_path, sqlite_url, fill):
    with pytest.raises(sv.BadData, match="there is no such file"):
        read(tmp_path / "a.csv")
    with pytest.raises(sv.BadData, match="has an unknown file extension"):
        read(tmp_path / "a.xlsx")
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(sv.BadParameter, match="a query requires a database"):
        read(tmp_path / "a.csv", query="SELECT 1")
    with pytest.raises(sv.BadParameter, match="which is also an attribute"):
        read(tmp_path / "a.csv", id_column="age")
    fill("CREATE TABLE people (id, age)", "INSERT INTO people VALUES ('u1', 'old')")
    with pytest.raises(sv.BadData, match="has no column 'sex'"):
        read(sqlite_url, query="SELECT * FROM people")
    with pytest.raises(sv.BadData, match=r"row 1: the value 'old' of 'age' is not a number"):
        sv.read_provider_table(sqlite_url, (AGE,), None, query="SELECT * FROM people")


# -- populations -------------------------------------------------------------------------------------------------------


def test_a_population_is_the_same_from_every_file(tmp_path):
    ids = ["u2", "u1", "ü 3"]
    paths = {name: tmp_path / f"p.{name}" for name in ("txt", "txt.gz", "csv", "parquet")}
    paths["txt"].write_bytes("\ufeffu2\r\nu1\r\nü 3\r\n".encode())
    paths["txt.gz"].write_bytes(gzip.compress("u2\nu1\nü 3".encode()))
    paths["csv"].write_text("other,id\n1,u2\n2,u1\n3,ü 3\n", encoding="utf-8")
    pq.write_table(pa.table({"id": ids}), paths["parquet"])
    found = [sv.read_population(path) for path in paths.values()]
    assert all(one.ids.to_pylist() == ids for one in found)
    assert len({one.sha256 for one in found}) == 1


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("p.txt", "a\n\nb\n", "line 2: the id is empty"),
        ("p.txt", "a\nb\na\n", "line 3: the id also occurs in an earlier row; expected one row per person"),
        ("p.txt", "", "is empty; expected one id per line"),
        ("p.txt", b"a\n\xff\n", "line 2: holds the byte 0xff"),
        ("p.csv", "who\na\n", "has no column 'id'.*`id_column=`"),
        ("p.csv", "id\na\nb\nb\n", "line 4: the id also occurs in an earlier row"),
    ],
)
def test_faults_of_a_population_are_said_with_their_line(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(sv.BadData, match=sentence):
        sv.read_population(path)
    if name.endswith("txt"):
        with pytest.raises(sv.BadParameter, match="a query requires a database"):
            sv.read_population(path, query="SELECT 1")
