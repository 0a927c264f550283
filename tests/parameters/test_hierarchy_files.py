import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import BadData, OutputRefused, SetveilError, UnknownName
from setveil.parameters import hierarchy
from setveil.parameters.categories import read_categories
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.hierarchy_files import read_hierarchy

from oracle import hierarchy as oracle
from support.random_trees import level_rows, mappings

PARENTS = "item,parent\nmilk,dairy\negg,dairy\nham,meat\ndairy,food\nmeat,food\nsoap,care\n"
LEVELS = "item,aisle,section\nmilk,dairy,food\negg,dairy,food\nham,meat,food\nsoap,wash,care\n"
TREE = {"milk": "dairy", "egg": "dairy", "ham": "meat", "dairy": "food", "meat": "food"}
ROOTED = {**TREE, "food": "*", "soap": "care", "care": "*"}
DEEPER = {**TREE, "food": "*", "soap": "wash", "wash": "care", "care": "*"}
TWICE = "item,category,department\nham,meat,deli\nbone,meat,pets\n"


FILE_NAME = "hierarchy.csv"


@pytest.fixture(scope="module")
def read_back(tmp_path_factory):
    """Give a function that reads bytes as the file of a hierarchy."""
    path = tmp_path_factory.mktemp("hierarchy") / "read-back.csv"

    def read(content, **options):
        path.write_bytes(content)
        return read_hierarchy(path, **options)

    return read


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hierarchy.csv", "hierarchy.csv.gz"])
@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (PARENTS, {}, ROOTED),
        ("\ufeff" + PARENTS.replace("\n", "\r\n"), {}, ROOTED),
        (PARENTS.rstrip("\n") + "\n\n\nmilk,dairy\n", {}, ROOTED),
        (" parent , item \nx,a\n", {}, {"a": "x"}),
        ("item,parent\na,x\nx,top\n", {}, {"a": "x", "x": "top"}),
        ('item,parent\n"a, ""b""", x\n', {}, {'a, "b"': "x"}),
        (LEVELS, {}, DEEPER),
        (LEVELS + "\nmilk,dairy,food\n", {}, DEEPER),
        (LEVELS, {"levels": "aisle , section"}, DEEPER),
        (LEVELS, {"levels": ["aisle"]}, {"milk": "dairy", "egg": "dairy", "ham": "meat", "soap": "wash"}),
        ("section,item,aisle\nfood,milk,dairy\n", {"levels": "aisle,section"}, {"milk": "dairy", "dairy": "food"}),
        ("item,parent,other\na,x,y\n", {}, {"a": "x"}),
        ("item,parent,other\na,x,y\n", {"levels": "parent,other"}, {"a": "x", "x": "y"}),
        (
            TWICE,
            {"paths": True},
            {"ham": "deli/meat", "bone": "pets/meat", "deli/meat": "deli", "pets/meat": "pets"},
        ),
        ("item,low,high\neggs,eggs,eggs\n", {"paths": True, "levels": "low"}, {"eggs": "eggs (group)"}),
        ("item,low,high\n1,eggs,eggs\n", {"paths": True}, {"1": "eggs/eggs", "eggs/eggs": "eggs"}),
        ("item,low,high\n1,b/c,a/\n", {"paths": True}, {"1": "a///b//c", "a///b//c": "a//"}),
        ("item,low,high\n1,x,top\n2,,top\n", {}, {"1": "x", "x": "top", "2": "top"}),
    ],
)
def test_files_are_read(written, name, content, options, expected):
    assert read_hierarchy(written(content, name), **options) == Hierarchy(expected)


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        (PARENTS + "egg\n", 8, "has 1 field where the header has 2"),
        (PARENTS + "a,b,c\n", 8, "has 3 fields where the header has 2"),
        (PARENTS + ",dairy\n", 8, "an item or its parent is empty; a node without a parent needs no line of its own"),
        (PARENTS + "food,\n", 8, "an item or its parent is empty; a node without a parent needs no line of its own"),
        (PARENTS + "a,a\n", 8, "'a' is its own parent; expected another node"),
        (
            PARENTS + "\negg,meat\n",
            9,
            "'egg' has two parents, 'meat' here and 'dairy' on an earlier line; keep one of them",
        ),
        (PARENTS + "food,egg\n", 8, "parents form a cycle: 'food' -> 'egg' -> 'dairy' -> 'food'; expected"),
        ("item,parent\na,b\nb,a\nc,d\n", 3, "parents form a cycle: 'b' -> 'a' -> 'b'; expected"),
        (PARENTS + '"a\nb",x\n', 8, "an item or its parent holds a control character"),
        (PARENTS + "a,\x00\n", 8, "an item or its parent holds a control character"),
        (PARENTS.encode() + b"egg,\xe9\n", 8, "holds the byte 0xe9, which is not UTF-8 text"),
        (PARENTS + 'egg,"dairy\n', 8, "is not valid CSV"),
        ("", 1, "expected a header with the column 'item'; the columns are: none"),
        ("item\na\n", 1, "has only the column 'item'"),
        ('"a\nb",c\n', 1, "expected a header with the column 'item'; the columns are: a?b, c"),
        ("x," * 1_000 + "item\n", 1, "has 1000 columns 'x'; expected each column once"),
        (
            ",".join(f"c{i}" for i in range(999)) + "\n",
            1,
            "expected a header with the column 'item'; the columns are: c0, c1",
        ),
        ("item,x,x\na,b,c\n", 1, "has 2 columns 'x'; expected each column once"),
        (LEVELS + "rice,dry\n", 6, "has 2 fields where the header has 3"),
        (LEVELS + ",dairy,food\n", 6, "the item is empty or holds a control character"),
        (LEVELS + "\x7f,dairy,food\n", 6, "the item is empty or holds a control character"),
        (LEVELS + "rice,d\x01,food\n", 6, "the level 'aisle' holds a control character"),
        (
            LEVELS + "rice,dry,\n",
            6,
            "the level 'section' is empty, but the more specific 'aisle' is not; expected a name",
        ),
        (LEVELS + "rice,,\n", 6, "has no name on any level; expected at least one in 'section'"),
        (
            LEVELS + "egg,meat,food\n",
            6,
            "the item 'egg' has two parents, 'meat' here and 'dairy' on an earlier line; keep one",
        ),
        (
            TWICE,
            3,
            "'meat' of the level 'category' has two parents, 'pets' here and 'deli' on an earlier line; distinguish nodes by their paths",
        ),
        (LEVELS + "rice,food,dry\n", 6, "'food' is on two levels, 'aisle' and 'section'; distinguish nodes by"),
        (LEVELS + "rice,dry,dry\n", 6, "'dry' is on two levels, 'aisle' and 'section'; distinguish nodes by"),
    ],
)
def test_bad_files_are_refused_with_file_and_line(written, content, line, sentence):
    path = written(content)
    with pytest.raises(BadData) as refused:
        read_hierarchy(path)
    assert str(refused.value).startswith(f"{path}, line {line}: {sentence}")
    assert (refused.value.file, refused.value.line) == (str(path), line)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (PARENTS, {"levels": "aisle"}, "is an item,parent file, which has no levels; omit `levels=`"),
        (PARENTS, {"paths": True}, "is an item,parent file, which has no levels; omit `paths=True`"),
        (LEVELS, {"levels": "shelf"}, "has no level 'shelf'; the levels are: aisle, section"),
        (LEVELS, {"levels": "item"}, "has no level 'item'"),
        (LEVELS, {"levels": ""}, "has no level ''"),
        (LEVELS, {"levels": []}, "no level was given; name at least one with `levels=`"),
        (LEVELS, {"levels": "aisle,aisle"}, "the level 'aisle' was given 2 times; give each level once"),
        # A path starts to be ambiguous where a slash stands at the end of a name: then it is refused, never guessed.
        (
            "item,low,high\n1,/b,a\n2,b,a/\n",
            {"paths": True},
            "'a///b' of the level 'low' has two parents, 'a//' here and 'a' on an earlier line; rename one of them",
        ),
    ],
)
def test_options_that_do_not_fit_the_file(written, content, options, sentence):
    with pytest.raises(BadData) as refused:
        read_hierarchy(written(content), **options)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("content", ["item,parent\n", "item,aisle\n\n"])
def test_a_file_without_items_is_refused(written, content):
    with pytest.raises(BadData, match="holds no items; expected one line per item"):
        read_hierarchy(written(content))


def test_what_was_taken_on_trust_is_told(written, notes):
    read_hierarchy(written(PARENTS + "egg,dairy\negg,dairy\n", "a.csv"))
    assert notes().endswith("a.csv: 2 repeated lines counted once")
    read_hierarchy(written("item,low,high\n1,x,top\n2,,top\n", "b.csv"))
    assert notes().endswith(" | 1 item without a 'low' placed directly below a more general level")


@given(level_rows())
def test_paths_are_what_the_definition_says(read_back, rows):
    text = io.StringIO()
    csv.writer(text).writerows([["item", *(f"level {i}" for i in range(len(rows[0]) - 1))], *rows])
    assert read_back(text.getvalue().encode(), paths=True).parent_of() == oracle.tree_by_path(rows)


@given(st.binary(max_size=60) | st.text('item,parent\n"ab\r\t\x00é/', max_size=60).map(str.encode), st.booleans())
def test_nothing_but_our_errors_comes_out(read_back, content, paths):
    for header in (b"", b"item,parent\n", b"item,a,b\n"):
        try:
            made = read_back(header + content, paths=paths and b"parent" not in header)
        except SetveilError as error:
            assert "read-back.csv" in str(error)  # noqa: PT017 - most bytes are no hierarchy, some are
        else:
            assert made.leaves


# -- writing -----------------------------------------------------------------------------------------------------------


@given(mappings())
def test_both_shapes_read_back_equal(read_back, parent_of):
    made = Hierarchy(parent_of)
    for content in (made.to_parents_csv(), made.to_levels_csv()):
        again = read_back(content)
        assert again == made
        assert (again.to_parents_csv(), again.to_levels_csv()) == (made.to_parents_csv(), made.to_levels_csv())


def test_the_shapes_as_written():
    made = Hierarchy({"9": "x", "10": "x", "x": "top", "a, b": "top"})
    assert made.to_parents_csv() == b'item,parent\n"a, b",top\nx,top\n10,x\n9,x\n'
    assert made.to_levels_csv() == b'item,level-1,level-0\n"a, b",,top\n10,x,top\n9,x,top\n'


def test_a_table_that_would_fill_the_disk_is_refused(monkeypatch):
    monkeypatch.setattr(hierarchy, "_MOST_CELLS", 3)
    with pytest.raises(OutputRefused, match=r"2 items with 2 levels each; write the shape 'parents' instead"):
        Hierarchy({"a": "x", "b": "x", "x": "y"}).to_levels_csv()


# -- categories of a tree ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "expected"),
    [("1", {"milk": "food", "egg": "food", "ham": "food", "soap": "care"}), (2, None)],
)
def test_categories_are_taken_from_an_item_parent_file(written, level, expected):
    path = written(PARENTS)
    if expected:
        assert dict(read_categories(path, level=level)) == expected
    else:
        with pytest.raises(BadData) as refused:
            read_categories(path, level=level)
        sentence = (
            "1 of 4 items are too close to the root to have a group on level 2, such as 'soap'; choose a smaller level"
        )
        assert str(refused.value) == f"{path}: {sentence}"


@pytest.mark.parametrize(
    ("level", "sentence"),
    [
        (None, ", line 1: is an item,parent file; give with `level=` the distance from the root: 1 for"),
        ("parent", ", line 1: is an item,parent file, and `level=` is 'parent'; expected the distance from the root"),
        ("1,2", ", line 1: is an item,parent file, and `level=` is '1,2'; expected"),
        ("-1", ", line 1: is an item,parent file, and `level=` is '-1'; expected"),
        ("0", ": has no level 0; its levels are: 1 to 2"),
        ("3", ": has no level 3; its levels are: 1 to 2"),
    ],
)
def test_levels_that_an_item_parent_file_has_not(written, level, sentence):
    path = written(PARENTS)
    with pytest.raises(BadData) as refused:
        read_categories(path, level=level)
    assert str(refused.value).startswith(f"{path}{sentence}")


def test_paths_of_categories_that_read_the_same_are_refused(written):
    path = written("item,high,low\nx,a/,b\ny,a,/b\n")
    with pytest.raises(BadData) as refused:
        read_categories(path, level="high,low")
    sentence = "the paths ['a/', 'b'] and ['a', '/b'] have the same name 'a///b'; rename one"
    assert str(refused.value) == f"{path}, line 3: {sentence}"


# -- taxonomies there are ----------------------------------------------------------------------------------------------


def test_the_sample():
    made = read_hierarchy("sample:supermarket")
    assert made.root == "*"
    assert made.level(1) == read_categories("sample:supermarket", level="department")
    assert made.level(2) == read_categories("sample:supermarket", level="category")
    with pytest.raises(UnknownName, match="sample:supermarket"):
        read_hierarchy("sample:supermarkt")


FOODMART = "subcategory,category,department,family"


@pytest.mark.realdata
def test_foodmart_by_path(real_folder, real_data):
    made = read_hierarchy(real_folder / "foodmart_taxonomy.csv.gz", levels=FOODMART, paths=True)
    assert (made.root, made.height, len(made.leaves)) == ("*", 5, 1_560)
    assert [int((made.depths == depth).sum()) for depth in range(6)] == [1, 3, 23, 55, 102, 1_560]
    assert made.children("*") == ("Drink", "Food", "Non-Consumable")
    assert made.ancestors("1") == (
        "Drink/Beverages/Pure Juice Beverages/Juice",
        "Drink/Beverages/Pure Juice Beverages",
        "Drink/Beverages",
        "Drink",
        "*",
    )
    by_family = read_categories(real_folder / "foodmart_taxonomy.csv.gz", level="family")
    assert made.level(1) == by_family
    data = real_data("foodmart")
    places = made.bind(data)
    first, end = made.interval("Food")
    inside = {label for label, p in zip(data.vocabulary, places, strict=True) if first <= p < end}
    assert inside == {label for label in data.vocabulary if by_family[label] == "Food"}
    with gzip.open(real_folder / "foodmart_taxonomy.csv.gz", "rt", encoding="utf-8") as file:
        rows = [[row["item"], *(row[level] for level in FOODMART.split(","))] for row in csv.DictReader(file)]
    assert made.parent_of() == oracle.tree_by_path(rows)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        (FOODMART, "line 13: 'Breakfast Foods' is on two levels, 'category' and 'department'; "),
        (
            "category,family",
            "line 57: 'Dairy' of the level 'category' has two parents, 'Drink' here and 'Food' on an earlier line; ",
        ),
        ("department,family", "line 57: 'Dairy' of the level 'department' has two parents, 'Drink' here and"),
        ("subcategory,category", "line 78: 'Eggs' is on two levels, 'subcategory' and 'category'; "),
        ("subcategory,family", None),
        (None, "'Washington' of the level 'brand' has two parents,"),
    ],
)
def test_foodmart_by_name(real_folder, levels, sentence):
    path = real_folder / "foodmart_taxonomy.csv.gz"
    if sentence is None:
        assert len(read_hierarchy(path, levels=levels).leaves) == 1_560
    else:
        with pytest.raises(BadData) as refused:
            read_hierarchy(path, levels=levels)
        assert sentence in str(refused.value)
        assert "with `paths=True`" in str(refused.value)
