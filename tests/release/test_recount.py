"""`recount.sql`: DuckDB counts what a release states, agrees with good releases, and sees what is wrong with spoiled ones."""

import shutil

import duckdb
import pytest

import setveil as sv
from setveil.data.forms.disassociated.files import write_disassociated

SAMPLE = "sample:supermarket?records=400&seed=5"
CATEGORIES = sv.read_categories("sample:supermarket")
SENSITIVE = sv.read_sensitive("sample:supermarket")
PLACES = {"long": "baskets.csv", "list": "baskets.jsonl", "basket": "baskets.dat", "table": "baskets.parquet"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with the sample in several formats."""
    made = tmp_path_factory.mktemp("recount")
    data = sv.read(SAMPLE)
    for name in PLACES.values():
        sv.convert(data, made / name)
    return made


@pytest.fixture(scope="module")
def itemsets(folder):
    """Give frequent pairs of the sample."""
    return sv.mine(sv.read(folder / "baskets.csv"), "2%", min_length=2, max_length=2).ordered().to_lists()[:6]


def methods(itemsets):
    """Return a method for each guarantee that SQL can count."""
    return {
        "part-swap": sv.PartSwap(categories=CATEGORIES),
        "all-ties": sv.PartSwap(
            categories=CATEGORIES, ties="all", whole_records=False, leftovers=("cycle", "helper", "suppress")
        ),
        "exact-swap": sv.ExactSwap(itemsets=itemsets, min_support="2%"),
        "by-number": sv.ExactSwap(itemsets=itemsets, min_support=9, target="border"),
        "disassociation": sv.Disassociation(k=3, m=2),
        "generalization": sv.AprioriGeneralization(k=2, m=1, hierarchy=sv.read_hierarchy("sample:supermarket")),
        "insert": sv.Insert(sensitive=SENSITIVE, rho="50%"),
    }


def counted(private):
    """Run the statements in the private folder, as an auditor does, and return the last table."""
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{private}'")
        found = connection.execute((private / "recount.sql").read_text(encoding="utf-8")).fetchall()
    return {statement: (counted, stated, agrees) for statement, counted, stated, agrees in found}


def publish(folder, name, method, place, **options):
    """Publish and return the private folder."""
    out = folder / f"{name}-{place}"
    options |= {"seed": 2**70, "metrics": "none", "attacks": "none", "force": True}
    sv.publish(folder / PLACES[place], method, out=out, **options)
    return out.with_name(f"{out.name}.private")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", methods([["a", "b"]]))
def test_duckdb_agrees_with_a_release(folder, itemsets, name, place, monkeypatch):
    monkeypatch.chdir(folder)
    private = publish(folder, name, methods(itemsets)[name], place)
    monkeypatch.chdir(private)
    found = counted(private)
    assert len(found) >= 4
    assert all(agrees for *_, agrees in found.values()), found


@pytest.mark.parametrize("place", PLACES)
def test_duckdb_reads_every_file_of_divided_data(folder, place, monkeypatch):
    """Tendencies are compared row by row, so the rows must be in the order of the files."""
    monkeypatch.chdir(folder)
    method = sv.PartSwap(categories=CATEGORIES)
    found = []
    for name, file_records in (("whole", None), ("divided", 150)):
        private = publish(folder, name, method, place, file_records=file_records)
        assert len([*(folder / f"{name}-{place}").glob("data-*")]) == (0 if file_records is None else 3)
        monkeypatch.chdir(private)
        found.append(counted(private))
    assert found[0] == found[1]
    assert all(agrees for *_, agrees in found[0].values())


@pytest.mark.parametrize(
    ("name", "statements"),
    [
        ("part-swap", {"records whose row holds an item of a category to hide"}),
        ("exact-swap", {"named itemsets that are frequent"}),
        (
            "insert",
            {"rules from one item above the limit", "rules from two items above the limit", "occurrences", "items"},
        ),
    ],
)
def test_duckdb_sees_that_the_original_was_released(folder, itemsets, name, statements, monkeypatch):
    private = publish(folder, name, methods(itemsets)[name], "basket")
    shutil.copy(folder / PLACES["basket"], folder / f"{name}-basket" / "data.dat")
    monkeypatch.chdir(private)
    wrong = {statement for statement, (*_, agrees) in counted(private).items() if not agrees}
    assert statements - {"occurrences", "items"} <= wrong
    assert wrong <= statements | {"named itemsets above their target"}


def test_duckdb_sees_a_cluster_that_is_too_small_and_a_rare_pair(folder, monkeypatch):
    private = publish(folder, "disassociation", sv.Disassociation(k=3, m=2), "basket")
    clusters = [
        {"size": 2, "record_chunks": [[(["a", "b"], 2)]], "term_chunk": []},
        {"size": 5, "record_chunks": [[(["a"], 3), (["a", "c"], 2), (["c"], 2)], [(["a"], 4)]], "term_chunk": ["d"]},
    ]
    write_disassociated(sv.Disassociated.from_clusters(clusters), folder / "disassociation-basket" / "data.jsonl.gz")
    monkeypatch.chdir(private)
    found = {statement: number for statement, (number, *_) in counted(private).items()}
    assert found == {
        "clusters of fewer than k records": 1,
        "items in two chunks of a cluster": 1,
        "sets of 1 item in fewer than 3 subrecords of a chunk": 2,
        "sets of 2 items in fewer than 3 subrecords of a chunk": 2,
    }


def test_what_sql_cannot_count_is_said(folder):
    private = publish(folder, "part-swap", sv.PartSwap(categories=CATEGORIES), "basket")
    of_sample = folder / "sampled"
    sv.publish(SAMPLE, sv.PartSwap(categories=CATEGORIES), out=of_sample, metrics="none", attacks="none")
    text = (folder / "sampled.private" / "recount.sql").read_text(encoding="utf-8")
    assert "-- Not counted, because SQL cannot read the files as setveil did: items with another support" in text
    assert "Not counted" not in (private / "recount.sql").read_text(encoding="utf-8")
