"""Declarations from texts: a kind of parameter that nothing else knows is read, refused and offered."""

from pathlib import Path

import pytest

import setveil as sv
from setveil.base.declaration import Declaration, parameter
from setveil.cli.options import declared, of_declaration
from setveil.data.formats import Layout
from setveil.data.reading.source import list_separator
from setveil.parameters import Option, ParameterKind, extra_options, from_texts, kind_of

DATA = sv.from_lists([["milk", "bread"], ["tea"]])


class Colour(ParameterKind):
    """A colour, by its name in a file."""

    allowed_text = "a file with a colour"
    options = (Option("line", int, "Which line of the file.", 1), Option("bright", bool, "Whether it shines.", False))
    bad_values = ("", 3)

    def __init__(self, name):
        if not isinstance(name, str) or not name:
            raise sv.BadData(f"the colour is {name!r}; expected a name")
        self.name = name

    @classmethod
    def read(cls, source, *, data=None, separator=None, line=1, bright=False):
        name = Path(source).read_text(encoding="utf-8").split(separator or "\n")[int(line) - 1]
        return cls(f"{'bright ' * bright}{name} for {len(data)}" if data is not None else name)

    def to_json(self):
        return self.name


class Paint(Declaration):
    """Paint."""

    name = "paint"

    wall: Colour = parameter(public=True, description="The wall.")
    door: Colour | None = parameter(None, public=True, description="The door.")
    coats: int = parameter(2, public=True, ge=1, description="How often.")


@pytest.fixture
def colours(tmp_path):
    path = tmp_path / "colours.txt"
    path.write_text("red\ngreen\nblue", encoding="utf-8")
    return str(path)


def test_a_text_is_read_as_its_kind_says(colours):
    assert from_texts(Paint, {"wall": colours, "coats": "3"}).model_dump(mode="json") == {
        "wall": "red",
        "door": None,
        "coats": 3,
    }
    everything = {"wall": colours, "door": Path(colours), "line": 2, "bright": True, "other": "ignored"}
    made = from_texts(Paint, everything, data=DATA)
    assert made.wall.name == made.door.name == "bright green for 2"
    assert from_texts(Paint, {"wall": colours, "line": None}, separator="e").wall.name == "r"


def test_values_that_are_no_texts_are_taken_as_they_are():
    blue = Colour("blue")
    assert from_texts(Paint, {"wall": blue}).wall is blue


def test_a_wrong_or_missing_value_is_refused_in_the_sentence_of_the_declaration():
    with pytest.raises(sv.BadParameter, match=r"^paint needs `wall=`: The wall\. Allowed is "):
        from_texts(Paint, {})
    with pytest.raises(sv.BadParameter, match=r"^paint: wall: the colour is 3; expected a name$"):
        from_texts(Paint, {"wall": 3})
    with pytest.raises(sv.BadParameter, match=r"^paint: coats is 'x'; allowed is a whole number, at least 1$"):
        from_texts(Paint, {"wall": Colour("red"), "coats": "x"})


def test_the_command_line_offers_the_options_of_a_kind_once_a_kind(colours):
    assert [[option.name for option in extra_options(one)] for one in Paint.parameters()] == [
        ["line", "bright"]
    ] * 2 + [[]]
    assert [option.name for option in of_declaration(Paint)] == ["wall", "line", "bright", "door", "coats"]
    assert declared(Paint, {"wall": colours, "line": "3"}, None).wall.name == "blue"


def test_plain_types_have_no_kind():
    assert [kind_of(one) for one in (int, str | None, tuple[int, ...], None)] == [None] * 4
    assert kind_of(Colour) is kind_of(Colour | None) is Colour


# -- what separates items in lists -------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("long.csv").write_text("id;item\n1;a b\n1;c\n2;c\n2;a b\n", encoding="utf-8")
    Path("baskets.dat").write_text("a b;c\nc;a b\n", encoding="utf-8")
    Path("itemsets.txt").write_text("a b;c\n", encoding="utf-8")
    Path("release").mkdir()


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([], ";"),
        (["baskets.dat"], ";"),
        (["long.csv"], None),
        (["long.csv", "baskets.dat"], ";"),
        (["long.csv", "release"], None),
        (["release"], ";"),
        (["sample:supermarket"], None),
        (["baskets.unknown"], ";"),
        (["long.csv", "baskets.unknown"], None),
    ],
)
@pytest.mark.usefixtures("files")
def test_lists_have_the_separator_of_the_data_unless_it_separates_columns(places, expected):
    assert list_separator(";", [(place, None) for place in places], Layout(separator=";")) == expected


@pytest.mark.usefixtures("files")
def test_a_format_that_is_named_decides():
    assert list_separator(";", [("long.csv", "wide")], Layout()) == ";"
    assert list_separator(";", [("baskets.dat", "long")], Layout()) is None
