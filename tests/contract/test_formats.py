"""What every format must keep; a format that stands in FORMATS is tested here under every ending without another line."""

import gzip
import re
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from setveil.cli.options import ReadingOptions
from setveil.data.formats import FORMATS, Layout, format_named, format_of, format_to_write
from setveil.data.formats.record_tables import RecordTable
from setveil.data.reading.detection import reading_of
from setveil.data.reading.source import read
from setveil.data.records.transactions import from_lists
from setveil.errors import BadData, OutputRefused, UnknownName

from contract.kinds import (
    KINDS,
    Kind,
    every_kind,
    every_packing,
    every_text_kind,
    example_of,
    main_kinds,
    other_kinds,
    written,
)
from support.exhaustive import examples

plain_labels = st.one_of(
    st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6),
    st.sampled_from(
        ["007", "7", "-1", "1e5", "NA", "null", "nan", "true", '"', "''", ",", "a,b", '"a""b"', ";", "#", "@"]
    ),
    st.integers(-(10**20), 10**20).map(str),
)
any_labels = st.one_of(
    plain_labels,
    st.text(max_size=4),
    st.sampled_from(
        ["", " ", "a b", "\t", "a\nb", "\r", "\r\n", "a\x00", "\x7f", "\ufeff", "\ufeffa", "\u2028", "\xa0"]
    ),
)


@st.composite
def data_sets(draw, kind, labels, *, minimum=1):
    """Draw data in what the format holds: ids where it holds them, empty records where it holds those."""
    pool = draw(st.lists(labels, min_size=1, max_size=8, unique=True))
    least = 0 if kind.form.holds_empty_records else 1
    lists = draw(st.lists(st.lists(st.sampled_from(pool), min_size=least, max_size=6), min_size=minimum, max_size=8))
    if not kind.form.holds_any_items:
        names = labels.filter(lambda name: name.partition("=")[0])
        columns = draw(st.lists(names, min_size=1, max_size=3, unique_by=lambda name: name.partition("=")[0]))
        lists = [[f"{name}={draw(st.sampled_from(pool))}" for name in columns] for _ in lists]
    if not kind.holds_ids or (kind.form.ids == "optional" and lists and draw(st.booleans())):
        return from_lists(lists)
    size = len(lists)
    return from_lists(lists, ids=draw(st.lists(labels, min_size=size, max_size=size, unique=True)), unit="person")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formats")


# -- round trips -------------------------------------------------------------------------------------------------------


def goes_round(folder, kind, draw):
    data = draw.draw(data_sets(kind, plain_labels))
    assume(data.occurrences or not isinstance(kind.form, RecordTable))  # its columns are items
    path = kind.path(folder, "plain", draw.draw(st.sampled_from(["", ".gz", ".zst"])) if kind.is_text else "")
    written(kind, data, path)
    assert kind.form.read(path, kind.layout) == data
    assert read(path, format=kind.form.name, ragged=kind.ragged) == data


@main_kinds
@settings(max_examples=examples(1000))
@given(st.data())
def test_plain_labels_come_back_as_they_were(folder, kind, draw):
    goes_round(folder, kind, draw)


@other_kinds
@settings(max_examples=examples(50))
@given(st.data())
def test_plain_labels_come_back_under_other_endings(folder, kind, draw):
    goes_round(folder, kind, draw)


@main_kinds
@settings(max_examples=examples(300))
@given(st.data())
def test_any_data_comes_back_or_is_refused(folder, kind, draw):
    data = draw.draw(data_sets(kind, any_labels, minimum=0))
    separator = draw.draw(st.sampled_from([None, ",", ";", "|", "\t", "a", "'"]))
    path, layout = kind.path(folder, "any"), Layout(separator=separator, ragged=kind.ragged)
    path.unlink(missing_ok=True)
    refusal = None
    try:
        kind.form.write(data, path, layout)
    except OutputRefused as error:
        refusal = str(error)
    if refusal is None:
        assert kind.form.read(path, layout) == data
    else:
        assert not path.exists()
        assert "\n" not in refusal


@every_kind
def test_ids_come_back_exactly_where_the_format_holds_them(folder, kind):
    data = example_of(Kind(FORMATS["long"], ".csv") if kind.form.holds_any_items else kind)
    path = kind.path(folder, "ids")
    written(kind, data, path)
    assert kind.form.read(path, kind.layout) == (data if kind.holds_ids else data.with_ids(None))


# -- bytes -------------------------------------------------------------------------------------------------------------


@every_packing
def test_the_same_data_gives_the_same_bytes_under_any_name(folder, kind, packing):
    data = example_of(kind)
    again = from_lists([record[::-1] for record in data.to_lists()], ids=data.ids)
    paths = [kind.path(folder, name, packing) for name in ("one", "another")]
    first, second = (written(kind, d, path) for d, path in zip((data, again), paths, strict=True))
    assert first == second
    assert kind.form.read(paths[1], kind.layout) == data
    other = data.take(range(1, data.records))
    assert written(kind, other, paths[0]) != first


@every_text_kind
def test_gzip_tells_neither_time_nor_name(folder, kind):
    content = written(kind, example_of(kind), kind.path(folder, "told", ".gz"))
    magic, flags, time = content[:2], content[3], content[4:8]
    assert (magic, flags, time) == (b"\x1f\x8b", 0, b"\0\0\0\0")
    assert gzip.decompress(content) == written(kind, example_of(kind), kind.path(folder, "told"))
    assert b"told" not in content


@every_kind
def test_a_file_tells_nothing_but_the_data_and_who_wrote_parquet(folder, kind):
    content = written(kind, example_of(kind), kind.path(folder, "bare"))
    for told in (b"ARROW:schema", b"pandas", b"setveil", str(folder).encode()):
        assert told not in content


# -- refusals of writing -----------------------------------------------------------------------------------------------


def unheld(kind):
    """Name what the format cannot hold, with data that has it."""
    ids = ["x", "y"] if kind.holds_ids else None
    cases = {"an empty item": from_lists([["a"], [""]], ids=ids), "a NUL": from_lists([["a"], ["b\0"]], ids=ids)}
    if kind.form.ids == "required":
        cases["no ids"] = from_lists([["a"]])
    if kind.holds_ids:
        cases["an empty id"] = from_lists([["a"], ["b"]], ids=["x", ""])
    if not kind.form.holds_empty_records:
        cases["empty records"] = from_lists([["a"], []], ids=ids)
    return cases


@pytest.mark.parametrize(("kind", "what"), [(kind, what) for kind in KINDS for what in unheld(kind)], ids=str)
def test_what_the_format_cannot_hold_is_refused_and_leaves_no_file(tmp_path, kind, what):
    with pytest.raises(OutputRefused) as refused:
        kind.form.write(unheld(kind)[what], kind.path(tmp_path, "out"), kind.layout)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@every_kind
def test_a_place_that_cannot_be_written_is_refused(tmp_path, kind):
    (tmp_path / f"folder{kind.ending}").mkdir()
    for place in (tmp_path / "absent" / f"out{kind.ending}", tmp_path / f"folder{kind.ending}"):
        with pytest.raises(OutputRefused, match=f"{place} cannot be written"):
            kind.form.write(example_of(kind), place, kind.layout)


# -- names -------------------------------------------------------------------------------------------------------------


@every_packing
def test_the_extension_tells_a_format_that_holds_it(kind, packing):
    chosen = format_to_write(Path(f"some.where/my.data{kind.ending}{packing}"))
    assert kind.ending in chosen.extensions
    assert format_named(kind.form.name) is kind.form


@every_packing
def test_a_file_is_known_by_its_ending_and_its_columns(folder, kind, packing):
    path = kind.path(folder, "known", packing)
    written(kind, example_of(kind), path)
    layout = Layout(items="items" if kind.form.name == "wide" and not kind.ragged else None, ragged=kind.ragged)
    named = None if kind.form.holds_any_items else kind.form.name  # nothing shows that cells are attributes
    assert reading_of(path, named, layout).form is kind.form


@pytest.mark.parametrize(
    ("name", "layout", "expected"),
    [
        ("x.csv", Layout(), "long"),
        ("x.tsv.zst", Layout(item="product"), "long"),
        ("x.csv", Layout(items="products"), "wide"),
        ("x.csv.gz", Layout(ragged=True), "wide"),
        ("x.parquet", Layout(item="product"), "long"),
        ("x.arrow", Layout(items="products"), "list"),
        ("x.ndjson", Layout(), "list"),
        ("x.DAT", Layout(), "basket"),
    ],
)
def test_columns_that_were_named_tell_the_format(name, layout, expected):
    assert format_of(Path(name), layout).name == expected


def test_formats_are_named_as_in_their_table():
    extensions = {extension for form in FORMATS.values() for extension in form.extensions}
    assert all(extension.startswith(".") and extension not in {".gz", ".zst"} for extension in extensions)
    assert {name: form.name for name, form in FORMATS.items()} == {name: name for name in FORMATS}


@pytest.mark.parametrize(
    "name", ["data", "data.gz", "data.zst", "data.xyz", "data.xyz.gz", "data.dat.zip", ".dat", ".gz"]
)
def test_other_extensions_tell_none(name):
    with pytest.raises(BadData, match=r"unknown file extension \(known: \.dat") as refused:
        format_of(Path(name), Layout())
    assert str(refused.value).startswith(f"{name}: ")


def test_an_unknown_format_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"there is no format 'baskt'.* Did you mean 'basket'\?"):
        format_named("baskt")


def test_every_format_is_offered_and_documented():
    offered = next(one for one in fields(ReadingOptions) if one.name == "format").type
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    for name in FORMATS:
        assert re.search(rf"\b{name}\b", offered), f"{name} is missing in the help of --format"
        assert name in page, f"{name} is missing in docs/data.md"
