"""Tables and files of a Spark cluster as data."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import setveil as sv
from setveil.data.databases import is_database, shown

from support.databases import refused
from support.pages import NOT_RUN, Block, blocks_of, run_command, run_python
from support.program import call
from support.random_data import make

SEED = ("--seed", 2**100 + 7)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Write the same records with one row per item and with lists; return the records, and how Spark names the files."""
    folder = tmp_path_factory.mktemp("tables")
    data, _categories = make(5, records=70, items=20)
    data = data.without_empty()
    data = data.with_ids([f"person-{record:03}" for record in range(data.records)])
    lists = data.to_lists()
    long = [{"customer": of, "product": label} for of, record in zip(data.ids, lists, strict=True) for label in record]
    pq.write_table(pa.Table.from_pylist(long[::-1]), folder / "long.parquet")
    pq.write_table(pa.table({"customer": data.ids, "products": lists}), folder / "lists.parquet")
    return data, f"parquet.`{folder}/long.parquet`", f"parquet.`{folder}/lists.parquet`"


def test_rows_of_items_and_rows_of_lists(sail, tables, notes):
    data, long, lists = tables
    read = sv.read(
        sail, query=f"SELECT customer, product FROM {long} ORDER BY customer", person="customer", item="product"
    )
    assert list(map(str, read.ids)) == list(map(str, data.ids))
    assert read.to_lists() == data.to_lists()
    assert read == data.with_unit("person")
    assert list(map(str, read.ids)) == list(map(str, data.ids))
    assert read.source.place == sail
    also = sv.read(sail, query=f"SELECT * FROM {lists} ORDER BY customer", id="customer", items="products")
    assert also == data
    assert not notes()
    sv.read(sail, query=f"SELECT * FROM {lists}", id="customer", items="products")
    assert "no ORDER BY" in notes()


def test_published_where_the_data_are(sail, tables, tmp_path):
    data, long, _lists = tables
    sv.write(data, tmp_path / "baskets.csv")
    query = ("--query", f"SELECT customer AS id, product AS item FROM {long} ORDER BY customer")
    method = (
        "--method",
        "rand-swap",
        "--mode",
        "plain",
        "--block-records",
        20,
        "--no-guarantee",
        "--release-format",
        "long.csv",
    )
    engine = ("--engine", "spark", "--spark-remote", sail)
    for place, out in (("baskets.csv",), "here"), ((sail, *query, *engine), "there"):
        ended = call("publish", *place, *method, *SEED, "--out", out, cwd=tmp_path)
        assert ended.code == 0, ended.err
    assert (tmp_path / "there" / "data.csv").read_bytes() == (tmp_path / "here" / "data.csv").read_bytes()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT missing FROM range(3)", "missing"),
        ("SELECT id FROM nowhere", "nowhere"),
        ("WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a", "the query holds 'insert'; only reading is allowed"),
        ("DROP TABLE a", "give a single SELECT"),
        ("SELECT id, assert_true(id < 2) AS item FROM range(3)", "the query cannot be run"),
        (None, "name the rows with `query=`"),
    ],
)
def test_bad_queries(sail, query, why):
    with pytest.raises(sv.InputError) as caught:
        sv.read(sail, query=query)
    assert why in refused(caught.value)


def test_values_of_the_data_are_not_told(sail):
    with pytest.raises(sv.BadData) as caught:
        sv.read(sail, query="SELECT 1 AS id, CAST(concat('secret', id) AS INT) AS item FROM range(3)")
    assert "secret" not in refused(caught.value)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sc://spark.example:15002", "sc://spark.example:15002"),
        ("sc://spark.example/;token=hidden;use_ssl=true", "sc://spark.example:15002"),
        ("sc://[::1]:99/;user_id=hidden", "sc://[::1]:99"),
        ("sc://ann:hidden@spark.example:15002", "sc://..."),
        ("sc://spark.example:15002/hidden", "sc://..."),
    ],
)
def test_addresses_are_shown_without_secrets(url, told):
    assert is_database(url)
    assert shown(url) == told


def test_tables_are_not_written(sail):
    with pytest.raises(sv.OutputRefused, match="write a Parquet file"):
        sv.write(sv.from_lists([["milk"]]), sail, table="baskets")


def test_the_page_runs_as_printed(sail, tables, tmp_path):
    _data, long, _lists = tables
    pq.write_table(pq.read_table(long.split("`")[1]), tmp_path / "sales")
    lines = [line for block in blocks_of("spark.md") for line in block.lines]
    assert len([line for line in lines if "sc://" in line]) == 2
    for line in lines:
        if not NOT_RUN.match(line):
            run_command(line.replace("sc://spark.example:15002", sail).replace("/lake/", f"{tmp_path}/"), tmp_path)
    (block,) = (block for block in blocks_of("spark.md") if block.kind == "python")
    run_python(Block(None, "python", block.text.replace("sc://spark.example:15002", sail)), "spark.md", tmp_path)
