import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.data.records.transactions import from_lists
from setveil.errors import BadData, BadParameter, SetveilError, UnknownName
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.parameters.categories import Categories, read_categories

PLAIN = "item,category\nmilk,dairy\nham,meat\n"
TAXONOMY = "item,name,aisle,section\n1,milk,dairy,food\n2,ham,meat,food\n3,bone,meat,pets\n"


FILE_NAME = "categories.csv"


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["categories.csv", "categories.csv.gz"])
@pytest.mark.parametrize(
    ("content", "level", "expected"),
    [
        (PLAIN, None, {"milk": "dairy", "ham": "meat"}),
        (PLAIN, "category", {"milk": "dairy", "ham": "meat"}),
        ("\ufeff" + PLAIN, None, {"milk": "dairy", "ham": "meat"}),
        (PLAIN.replace("\n", "\r\n"), None, {"milk": "dairy", "ham": "meat"}),
        (PLAIN.rstrip("\n"), None, {"milk": "dairy", "ham": "meat"}),
        (PLAIN + "\n\nmilk,dairy\n", None, {"milk": "dairy", "ham": "meat"}),
        ("item,shelf\nmilk,dairy\n", None, {"milk": "dairy"}),
        (" category , item \ndairy,milk\n", None, {"milk": "dairy"}),
        ('item,category\n"a, ""b""","c\nd"\n', None, {'a, "b"': "c\nd"}),
        ("item,category\n007,x\n7,y\n", None, {"007": "x", "7": "y"}),
        ("item,category,other\nmilk,dairy,\n", None, {"milk": "dairy"}),
        ("item,category\n", None, {}),
        (TAXONOMY, "aisle", {"1": "dairy", "2": "meat", "3": "meat"}),
        (TAXONOMY, "section,aisle", {"1": "food/dairy", "2": "food/meat", "3": "pets/meat"}),
        (TAXONOMY, " section , aisle ", {"1": "food/dairy", "2": "food/meat", "3": "pets/meat"}),
    ],
)
def test_files_are_read(written, name, content, level, expected):
    assert dict(read_categories(written(content, name), level=level)) == expected


@pytest.mark.parametrize(
    ("content", "level", "line", "sentence"),
    [
        ("", None, 1, "expected a header with the column 'item'; the columns are: none"),
        (
            "thing,category\na,b\n",
            None,
            1,
            "expected a header with the column 'item'; the columns are: thing, category",
        ),
        ("item\na\n", None, 1, "has only the column 'item'"),
        ("item,item\na,b\n", None, 1, "has 2 columns 'item'"),
        ("item,category,category\na,b,c\n", None, 1, "has 2 columns 'category'"),
        (TAXONOMY, None, 1, "has several levels (name, aisle, section); name one with `level=`"),
        (TAXONOMY, "shelf", 1, "has no level 'shelf'; the levels are: name, aisle, section"),
        (TAXONOMY, "aisle,shelf", 1, "has no level 'shelf'"),
        (TAXONOMY, "item", 1, "has no level 'item'"),
        (PLAIN + "egg\n", None, 4, "has 1 field where the header has 2"),
        (PLAIN + "egg,dairy,fresh\n", None, 4, "has 3 fields where the header has 2"),
        (PLAIN + "\n\negg\n", None, 6, "has 1 field where the header has 2"),
        ('item,category\na,"b\nc"\negg\n', None, 4, "has 1 field where the header has 2"),
        ('item,"cat\negory"\negg\n', None, 3, "has 1 field where the header has 2"),
        (PLAIN + "milk,meat\n", None, 4, "item 'milk' has two categories, 'meat' here and "),
        (PLAIN + "egg,\n", None, 4, "an item or its category is empty"),
        (PLAIN + ",dairy\n", None, 4, "an item or its category is empty"),
        (TAXONOMY + "4,bean,,food\n", "section,aisle", 5, "an item or its category is empty"),
        (PLAIN.encode() + b"egg,\xe9\n", None, 4, "holds the byte 0xe9, which is not UTF-8 text"),
        (PLAIN + 'egg,"dairy\n', None, 4, "is not valid CSV"),
        (PLAIN + 'egg,"dairy"x\n', None, 4, "is not valid CSV"),
    ],
)
def test_bad_files_are_refused_with_file_and_line(written, content, level, line, sentence):
    path = written(content)
    with pytest.raises(BadData) as refused:
        read_categories(path, level=level)
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_no_readable_file_is_refused(tmp_path):
    whole = gzip.compress(PLAIN.encode() * 50)
    (tmp_path / "cut.csv.gz").write_bytes(whole[:-9])
    (tmp_path / "broken.csv.gz").write_bytes(whole[:12] + b"\xff" * 20 + whole[32:])
    (tmp_path / "plain.csv.gz").write_text(PLAIN)
    (tmp_path / "folder.csv").mkdir()
    for name, sentence in {
        "absent.csv": "there is no such file",
        "folder.csv": "is a folder; expected a file",
        "cut.csv.gz": "is not a complete gzip file",
        "broken.csv.gz": "is not a complete gzip file",
        "plain.csv.gz": "is not a complete gzip file",
    }.items():
        with pytest.raises(BadData) as refused:
            read_categories(tmp_path / name)
        assert str(refused.value).startswith(f"{tmp_path / name}: {sentence}")


@given(st.binary(max_size=60) | st.text('item,category\n"ab\r\t\x00é', max_size=40).map(str.encode))
def test_nothing_but_our_errors_comes_out(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz-categories.csv"
    path.write_bytes(content)
    said = None
    try:
        read_categories(path)
    except SetveilError as error:
        said = str(error)
    assert said is None or said.startswith(str(path))


def test_samples():
    by_category = read_categories("sample:supermarket")
    by_department = read_categories("sample:supermarket", level="department")
    by_path = read_categories("sample:supermarket", level="department,category")
    assert set(by_category) == set(by_department)
    assert all(by_path[item] == f"{by_department[item]}/{by_category[item]}" for item in by_category)
    with pytest.raises(UnknownName, match="sample:supermarket"):
        read_categories("sample:supermarkt")
    with pytest.raises(BadData, match="has no level 'aisle'; the levels are: category, department"):
        read_categories("sample:supermarket", level="aisle")


# -- at random ---------------------------------------------------------------------------------------------------------


def test_random_categories_depend_on_the_seed_alone():
    data = from_lists([[f"i{i}" for i in range(50)]])
    first, again, other = (read_categories(f"random:7?seed={seed}", data=data) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert read_categories("random:7", data=data) == read_categories("random:7?seed=0", data=data)


@given(st.integers(0, 60), st.integers(1, 20), st.integers(0, 2**64))
def test_random_categories_are_of_nearly_equal_size(items, count, seed):
    labels = [str(i) for i in range(items)]
    dealt = Categories.at_random(labels, count, seed=seed)
    assert set(dealt) == set(labels)
    sizes = Counter(dealt.values())
    assert len(sizes) == min(items, count)
    assert all(items // count <= size <= -(-items // count) for size in sizes.values())


def test_random_categories_are_not_dealt_in_order():
    dealt = Categories.at_random([str(i) for i in range(100)], 2)
    assert len({dealt[str(i)] for i in range(0, 100, 2)}) == 2


@pytest.mark.parametrize(
    ("source", "data", "sentence"),
    [
        ("random:5", None, "random:5 is made from the items of a data set, and none was given; give it as `data`"),
        ("random:0", from_lists([["a"]]), "the number of random categories is 0; expected at least 1"),
    ],
)
def test_random_categories_that_cannot_be_dealt(source, data, sentence):
    with pytest.raises(BadParameter, match=sentence):
        read_categories(source, data=data)


# -- using -------------------------------------------------------------------------------------------------------------


def test_bind_gives_codes_in_the_order_of_names():
    data = from_lists([["ham", "milk"], ["bone"]])
    codes, names = Categories({"milk": "dairy", "ham": "meat", "bone": "meat", "soap": "care"}).bind(data)
    assert names == ("dairy", "meat")
    assert dict(zip(data.vocabulary, codes.tolist(), strict=True)) == {"bone": 1, "ham": 1, "milk": 0}


def test_bind_refuses_items_without_category():
    data = from_lists([["egg", "milk", "ham", "bone", "soap"]])
    with pytest.raises(BadData) as refused:
        Categories({"milk": "dairy"}).bind(data)
    assert str(refused.value) == (
        "4 of 5 items have no category, such as 'bone', 'egg', 'ham'; add a line for each, or put all of them into one category with "
        "`missing_category='other'`"
    )


def test_categories_are_a_frozen_mapping():
    given_ = {"milk": "dairy"}
    made = Categories(given_)
    given_["milk"] = "meat"
    assert dict(made) == {"milk": "dairy"}
    assert made == Categories({"milk": "dairy"}) != Categories({"milk": "meat"})
    assert len({made, Categories({"milk": "dairy"}), Categories({"milk": "meat"})}) == 2
    assert repr(made) == "Categories(1 items in 1 categories)"
    with pytest.raises(TypeError):
        made["milk"] = "meat"


def test_categories_are_a_parameter_and_json():
    from_mapping = HiddenTendency(categories={"milk": "dairy"})
    assert from_mapping == HiddenTendency(categories=Categories({"milk": "dairy"}))
    assert from_mapping.model_dump(mode="json")["categories"] == {"milk": "dairy"}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("categories.csv", "expected a mapping from item to category .* not str"),
        ({"milk": 1}, "items and categories must be text"),
        ({1: "dairy"}, "items and categories must be text"),
    ],
)
def test_what_is_no_mapping_of_texts_is_no_parameter(wrong, sentence):
    with pytest.raises(BadParameter, match=sentence):
        HiddenTendency(categories=wrong)


# -- FoodMart ----------------------------------------------------------------------------------------------------------


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("level", "count"),
    [
        ("subcategory", 102),
        ("category", 45),
        ("department", 22),
        ("family", 3),
        ("family,department", 23),  # Dairy stands in two families
        ("family,department,category", 55),
        ("family,department,category,subcategory", 102),
    ],
)
def test_the_taxonomy_of_foodmart(real_folder, real_data, level, count):
    categories = read_categories(real_folder / "foodmart_taxonomy.csv.gz", level=level)
    assert len(categories) == 1_560
    assert len(set(categories.values())) == count
    codes, names = categories.bind(real_data("foodmart"))
    assert (len(codes), len(names)) == (1_559, count)


@pytest.mark.parametrize("text", ["random:", "random:abc", "random:5?seed=x", "random:-3", "random:5?speed=3"])
def test_random_categories_in_another_form_are_refused(text):
    with pytest.raises(BadParameter, match="random:COUNT"):
        read_categories(text, data=from_lists([["a"]]))


def test_paths_of_levels_never_read_the_same(tmp_path):
    file = tmp_path / "taxonomy.csv"
    file.write_text("item,high,low\nx,a/b,c\ny,a,b/c\n", encoding="utf-8")
    categories = read_categories(file, level="high,low")
    assert categories["x"] != categories["y"]
    assert read_categories(file, level="high")["x"] == "a/b"


def test_a_file_that_names_no_item_of_the_data_is_refused_with_what_it_names(tmp_path):
    path = tmp_path / "products.csv"
    path.write_text("item,name,category\n1,milk,dairy\n2,rye bread,bakery\n")
    data = from_lists([["milk"], ["rye bread", "milk"]])
    categories = read_categories(path, item_column="category", level="name")
    with pytest.raises(BadData) as refusal:
        categories.bind(data)
    assert str(refusal.value) == (
        f"{path}: 2 of 2 items have no category, such as 'milk', 'rye bread'; it names 'dairy', 'bakery'. Name the column of the items "
        "with `item_column=`, or use the file of these data"
    )
