"""A release has the same bytes on every engine: every method in the catalog that works in blocks, in all its ways."""

import pytest

import setveil as sv
from setveil.catalog import METHODS

from contract.filling import filled, ways
from contract.forms import made_from
from support.random_data import make

IN_BLOCKS = {name: kind for name, kind in METHODS.items() if kind.runs_in_blocks}
EVERY_WAY = pytest.mark.parametrize(("kind", "chosen"), ways(IN_BLOCKS)[0], ids=ways(IN_BLOCKS)[1])
ON_SPARK = [IN_BLOCKS[name] for name in ("part-swap", "exact-swap", "disassociation", "insert")]
"""A method of each family: Spark with Java takes seconds for every step."""
SEED = 2**100 + 7


def released(folder, kind, data, chosen, **where):
    """Publish in blocks, and return the files of the release and what the check says."""
    method = filled(kind, data, **chosen)
    terms = {
        "allow_failures": data.records,
        "no_guarantee": True,
        "ids": "drop" if kind.form.why_nameless else "pseudonym",
        "format": None if kind.form.why_nameless else "list",  # holds empty records too
    }
    try:
        release = sv.publish(made_from(kind, data), method, out=folder, seed=SEED, **terms, **where)
    except sv.GuaranteeViolated as refused:
        return str(refused)
    return str(release.verdict), {path.name: path.read_bytes() for path in folder.iterdir()}


def with_ids(seed, records):
    data, _categories = make(seed, records=records, items=40, categories=4, hot=0.7)
    return data.with_ids([f"person-{record}" for record in range(records)])


@pytest.mark.parametrize(
    ("where", "kind", "chosen"),
    [(where, *way) for where in ("local-2", "sail") for way in ways(IN_BLOCKS)[0]]
    + [pytest.param("spark", kind, {}, marks=pytest.mark.exhaustive) for kind in ON_SPARK],
    ids=[f"{where}-{way}" for where in ("local-2", "sail") for way in ways(IN_BLOCKS)[1]]
    + [f"spark-{kind.name}" for kind in ON_SPARK],
    indirect=["where"],
)
def test_same_bytes(tmp_path, where, kind, chosen):
    data = with_ids(7, 60)
    expected = released(tmp_path / "expected", kind, data, chosen, threads=1, block_records=13)
    assert released(tmp_path / "found", kind, data, chosen, block_records=13, **where) == expected


@EVERY_WAY
def test_data_of_one_block_are_published_as_a_whole(tmp_path, kind, chosen):
    data = with_ids(8, 30)
    expected = released(tmp_path / "expected", kind, data, chosen)
    assert released(tmp_path / "found", kind, data, chosen, block_records=30) == expected


@pytest.mark.realdata
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("where", "kind", "name"),
    [
        (where, kind, name)
        for where in ("local-2", "sail")
        for kind in IN_BLOCKS.values()
        for name in ("retail", "bms-pos-100k")
    ]
    + [("spark", kind, "retail") for kind in ON_SPARK],
    indirect=["where"],
)
def test_same_bytes_on_real_data(tmp_path, where, kind, name, real_data):
    data = real_data(name)
    more = {"block_records": 10_000, "metrics": "none", "attacks": "none"}
    expected = released(tmp_path / "expected", kind, data, {}, threads=2, **more)
    assert released(tmp_path / "found", kind, data, {}, **where, **more) == expected
