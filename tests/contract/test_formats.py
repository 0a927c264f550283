"""What every format must keep; a format that stands in FORMATS is tested here without another line."""

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from setveil.data.formats import FORMATS, Layout, format_named, format_of
from setveil.data.source import read
from setveil.data.transactions import from_lists
from setveil.errors import BadData, BadParameter, OutputRefused, SetveilError, UnknownName

LAYOUT = Layout()
every_format = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
every_ending = pytest.mark.parametrize(
    ("form", "ending"),
    [(form, extension + gz) for form in FORMATS.values() for extension in form.extensions for gz in ("", ".gz")],
    ids=lambda value: value if isinstance(value, str) else value.name,
)

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
def data_sets(draw, form, labels, *, minimum=1):
    """Draw data in what the format holds: ids where it holds them, empty records where it holds those."""
    pool = draw(st.lists(labels, min_size=1, max_size=8, unique=True))
    least = 0 if form.holds_empty_records else 1
    lists = draw(st.lists(st.lists(st.sampled_from(pool), min_size=least, max_size=6), min_size=minimum, max_size=8))
    if not form.holds_ids:
        return from_lists(lists)
    size = len(lists)
    return from_lists(lists, ids=draw(st.lists(labels, min_size=size, max_size=size, unique=True)), unit="person")


def example_of(form, records=40):
    dice = random.Random(3)  # noqa: S311 - test data
    lists = [dice.sample([f"item-{i}" for i in range(15)], dice.randint(1, 6)) for _ in range(records)]
    return from_lists(lists, ids=[f"person-{i}" for i in range(records)] if form.holds_ids else None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formats")


def written(form, data, path, layout=LAYOUT):
    """Write data, whose path must not exist before, and return the bytes."""
    path.unlink(missing_ok=True)
    form.write(data, path, layout)
    return path.read_bytes()


# -- round trips -------------------------------------------------------------------------------------------------------


@every_format
@given(st.data())
def test_plain_labels_come_back_as_they_were(folder, form, draw):
    data = draw.draw(data_sets(form, plain_labels))
    path = folder / f"plain{draw.draw(st.sampled_from(form.extensions))}{draw.draw(st.sampled_from(['', '.gz']))}"
    written(form, data, path)
    assert form.read(path, LAYOUT) == data
    assert read(path) == data


@every_format
@settings(max_examples=300)
@given(st.data())
def test_any_data_comes_back_or_is_refused(folder, form, draw):
    data = draw.draw(data_sets(form, any_labels, minimum=0))
    separator = draw.draw(st.sampled_from([None, ",", ";", "|", "\t", "a", "'"]))
    path, layout = folder / f"any{form.extensions[0]}", Layout(separator=separator)
    path.unlink(missing_ok=True)
    refusal = None
    try:
        form.write(data, path, layout)
    except OutputRefused as error:
        refusal = str(error)
    if refusal is None:
        assert form.read(path, layout) == data
    else:
        assert not path.exists()
        assert "\n" not in refusal


@every_format
def test_ids_come_back_exactly_where_the_format_holds_them(folder, form):
    data = example_of(FORMATS["long"])
    path = folder / f"ids{form.extensions[0]}"
    written(form, data, path)
    assert form.read(path, LAYOUT) == (data if form.holds_ids else data.with_ids(None))


# -- bytes -------------------------------------------------------------------------------------------------------------


@every_ending
def test_the_same_data_gives_the_same_bytes_under_any_name(folder, form, ending):
    data = example_of(form)
    again = from_lists([record[::-1] for record in data.to_lists()], ids=data.ids)
    first, second = (written(form, d, folder / f"{name}{ending}") for d, name in ((data, "one"), (again, "another")))
    assert first == second
    assert form.read(folder / f"another{ending}", LAYOUT) == data
    other = data.take(range(1, data.records))
    assert written(form, other, folder / f"one{ending}") != first


@every_format
def test_gzip_tells_neither_time_nor_name(folder, form):
    path = folder / f"told{form.extensions[0]}.gz"
    content = written(form, example_of(form), path)
    magic, flags, time = content[:2], content[3], content[4:8]
    assert (magic, flags, time) == (b"\x1f\x8b", 0, b"\0\0\0\0")
    assert gzip.decompress(content) == written(form, example_of(form), folder / f"told{form.extensions[0]}")
    assert b"told" not in content


# -- refusals of writing -----------------------------------------------------------------------------------------------


def unheld(form):
    """Name what the format cannot hold, with data that has it."""
    ids = ["x", "y"] if form.holds_ids else None
    cases = {"an empty item": from_lists([["a"], [""]], ids=ids), "a NUL": from_lists([["a"], ["b\0"]], ids=ids)}
    if form.holds_ids:
        cases["no ids"] = from_lists([["a"]])
        cases["an empty id"] = from_lists([["a"], ["b"]], ids=["x", ""])
    if not form.holds_empty_records:
        cases["empty records"] = from_lists([["a"], []], ids=ids)
    return cases


@pytest.mark.parametrize(
    ("form", "what"),
    [(form, what) for form in FORMATS.values() for what in unheld(form)],
    ids=lambda v: getattr(v, "name", v),
)
def test_what_the_format_cannot_hold_is_refused_and_leaves_no_file(tmp_path, form, what):
    path = tmp_path / f"out{form.extensions[0]}"
    with pytest.raises(OutputRefused) as refused:
        form.write(unheld(form)[what], path, LAYOUT)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@every_format
def test_a_place_that_cannot_be_written_is_refused(tmp_path, form):
    for place in (tmp_path / "absent" / "out.x", tmp_path):
        with pytest.raises(OutputRefused, match=f"{place} cannot be written"):
            form.write(example_of(form), place, LAYOUT)


# -- names -------------------------------------------------------------------------------------------------------------


@every_ending
def test_the_extension_tells_the_format(form, ending):
    assert format_of(Path(f"some.where/my.data{ending}")) is form
    assert format_named(form.name) is form


def test_no_two_formats_share_an_extension_or_are_named_apart_from_their_table():
    extensions = [extension for form in FORMATS.values() for extension in form.extensions]
    assert len(extensions) == len(set(extensions))
    assert all(extension.startswith(".") and extension != ".gz" for extension in extensions)
    assert {name: form.name for name, form in FORMATS.items()} == {name: name for name in FORMATS}


@pytest.mark.parametrize("name", ["data", "data.gz", "data.xyz", "data.xyz.gz", "data.dat.zip", ".dat", ".gz"])
def test_other_extensions_tell_none(name):
    with pytest.raises(BadData, match=r"the extension tells no format \(known: \.dat") as refused:
        format_of(Path(name))
    assert str(refused.value).startswith(f"{name}: ")


def test_an_unknown_format_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"there is no format 'baskt'.* Did you mean 'basket'\?"):
        format_named("baskt")


# -- reading what is bad -----------------------------------------------------------------------------------------------


def complaint(form, path, layout=LAYOUT):
    """Read and return the sentence of the error, or None; any other exception is a failure."""
    try:
        form.read(path, layout)
    except SetveilError as error:
        return str(error)
    return None


def damaged(form, name):
    whole = form.encode(example_of(form), LAYOUT)
    packed = gzip.compress(whole)
    return {
        "empty": (whole[:0], "", "is empty"),
        "packed nothing": (gzip.compress(b""), ".gz", "is empty"),
        "packed, cut": (packed[: len(packed) // 2], ".gz", "is not a whole gzip file"),
        "packed, end cut": (packed[:-3], ".gz", "is not a whole gzip file"),
        "packed, damaged": (packed[:20] + b"\xff" * 20 + packed[40:], ".gz", "is not a whole gzip file"),
        "packed, rest": (packed + b"rest", ".gz", "is not a whole gzip file"),
        "not packed": (whole, ".gz", "is not a whole gzip file"),
        "NUL": (whole[:-2] + b"\0" + whole[-2:], "", "control"),
        "not UTF-8": (whole[:-3] + b"\xff" + whole[-3:], "", "not UTF-8"),
        "latin 1": (whole.replace(b"item-1", b"\xe9"), "", "not UTF-8"),
        "half a character": (whole[:-3] + b"\xc3" + whole[-3:], "", "not UTF-8"),
    }[name]


@every_format
@pytest.mark.parametrize(
    "name",
    [
        "empty",
        "packed nothing",
        "packed, cut",
        "packed, end cut",
        "packed, damaged",
        "packed, rest",
        "not packed",
        "NUL",
        "not UTF-8",
        "latin 1",
        "half a character",
    ],
)
def test_damaged_files_are_refused_in_one_sentence(folder, form, name):
    content, ending, expected = damaged(form, name)
    path = folder / f"damaged{form.extensions[0]}{ending}"
    path.write_bytes(content)
    said = complaint(form, path)
    assert said is not None
    assert said.startswith(str(path))
    assert expected in said
    assert "\n" not in said


@every_format
def test_a_byte_order_mark_is_not_part_of_the_data(folder, form):
    path = folder / f"marked{form.extensions[0]}"
    path.write_bytes(b"\xef\xbb\xbf" + form.encode(example_of(form), LAYOUT))
    assert form.read(path, LAYOUT) == example_of(form)


@every_format
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("absent", "there is no such file"),
        ("folder", "is a folder; expected a file"),
        ("absent/below", "there is no such file"),
        ("file/below", "cannot be read: Not a directory"),
        ("n" * 300, "cannot be read: File name too long"),
        ("nul\0", "is not a name that a file can have"),
    ],
)
@pytest.mark.parametrize("gz", ["", ".gz"])
def test_what_is_no_file_is_refused(tmp_path, form, name, expected, gz):
    (tmp_path / f"folder{form.extensions[0]}{gz}").mkdir()
    (tmp_path / "file").touch()
    said = complaint(form, tmp_path / f"{name}{form.extensions[0]}{gz}")
    assert said is not None
    assert said.endswith(expected)


@every_format
@given(content=st.binary(max_size=80), gz=st.booleans())
@example(content=b"id,item\r1,a\r2,\r", gz=False)
@example(content=b'item,"id\nfoo"\n1,a\n', gz=False)
@example(content=b'id,item\n1,"' + b"a" * 200_000 + b"\n2", gz=False)
@example(content=b"id,item," + b"x" * 200_000 + b"\n1,a,b", gz=False)
def test_random_bytes_end_in_data_or_in_our_errors(folder, form, content, gz):
    path = folder / f"random{form.extensions[0]}{'.gz' if gz else ''}"
    path.write_bytes(content)
    said = complaint(form, path)
    assert said is None or (said.startswith(str(path)) and len(said) < len(str(path)) + 500)


@every_format
@settings(max_examples=200)
@given(st.data())
def test_changed_files_end_in_data_or_in_our_errors(folder, form, draw):
    layout = Layout(separator=draw.draw(st.sampled_from([None, ",", "\t"])))
    content = bytearray(form.encode(example_of(form, records=4), layout))
    odd = st.sampled_from([b"", b"\n", b"\r", b'"', b"\0", b"\xc3", b",", b"\t", b" ", b"\xef\xbb\xbf", b'""', b"a"])
    for _ in range(draw.draw(st.integers(1, 4))):
        place = draw.draw(st.integers(0, len(content)))
        content[place : place + draw.draw(st.integers(0, 3))] = draw.draw(odd)
    assume(content)
    path = folder / f"changed{form.extensions[0]}"
    path.write_bytes(content)
    said = complaint(form, path, layout)
    assert said is None or (said.startswith(str(path)) and "\n" not in said)


@every_format
@pytest.mark.parametrize("separator", ["", "ab", "é", "\n", "\r", "\0", "\x7f"])
def test_a_separator_that_cannot_be_one_is_refused(tmp_path, form, separator):
    path, layout = tmp_path / f"data{form.extensions[0]}", Layout(separator=separator)
    written(form, example_of(form), path)
    expected = f"the separator is {separator!r}; allowed is one printable ASCII character or a tab, such as ','"
    assert complaint(form, path, layout) == expected
    with pytest.raises(BadParameter, match="the separator is"):
        form.write(example_of(form), tmp_path / "other", layout)
    assert not (tmp_path / "other").exists()
