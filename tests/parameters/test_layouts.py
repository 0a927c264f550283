"""The layouts of taxonomies as people have them: rows of nodes, levels, paths, and names that are both item and group."""

import csv
import io
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.data.records.transactions import from_lists
from setveil.errors import BadData, BadParameter
from setveil.parameters.categories import Categories, read_categories
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.parameters.kind import Origin

from support.program import call

FILE_NAME = "taxonomy.csv"
FRUITS = "item,parent,name\n1,10,apple\n2,10,pear\n3,11,leek\n10,20,fruit\n11,20,vegetable\n"
FLAT = "item,parent,name\n1,10,apple\n3,11,leek\n"
PATHS = "id\ttitle\tcategory\n1\tBrie\tFood > Dairy > Cheese\n2\tGouda\tFood > Dairy > Cheese\n3\tBone\tPets > Dairy\n"
GROCERIES = (
    "name,level2,level1\nfrankfurter,sausage,meat\nsausage,sausage,meat\nham,pork,meat\ncream cheese ,cheese,dairy \n"
    "detergent,cleaning,detergent\n"
)
BASKETS = from_lists([["frankfurter", "sausage", "ham"], ["cream cheese", "detergent"], ["rolls"]])
ITEMS = from_lists([["1", "2"], ["3"]])


def told_by(read, *arguments, **options):
    with pytest.raises((BadData, BadParameter)) as refused:
        read(*arguments, **options)
    return str(refused.value)


# -- rows of nodes -----------------------------------------------------------------------------------------------------


def test_further_columns_of_rows_of_nodes_are_not_levels(written, notes):
    path = written(FRUITS)
    assert read_hierarchy(path).ancestors("1") == ("10", "20")
    assert notes() == (
        f"{path}: read as one row per node with its parent (columns 'item' and 'parent'); not used: 'name'"
    )


def test_categories_of_rows_of_nodes(written):
    path = written(FRUITS)
    assert dict(read_categories(path, level=1)) == {"1": "10", "2": "10", "3": "11"}
    assert read_categories(path, level="name")["10"] == "fruit"
    said = told_by(read_categories, written("item,parent,name\n1,10,a\n10,20,b\n20,30,c\n30,*,d\n"), level="nam")
    assert "expected the distance from the root: 1 for the groups directly below it" in said
    assert said.endswith("or one of the columns: name")


def test_a_tree_with_one_level_needs_no_choice(written):
    assert dict(read_categories(written(FLAT))) == {"1": "10", "3": "11"}
    said = told_by(read_categories, written("item,parent\n1,2\n2,3\n3,4\n"))
    assert said.endswith("give with `level=` the distance from the root: 1 for the groups directly below it, 2 for the "
                         "groups below those; its levels are 1 to 2")  # fmt: skip


def test_levels_that_are_named_make_columns_levels(written):
    path = written(FLAT)
    assert read_hierarchy(path, levels="parent").ancestors("1") == ("10", "*")
    assert read_hierarchy(path, levels="name,parent").ancestors("1") == ("apple", "10", "*")


def test_the_column_of_parents_has_any_case(written):
    assert read_hierarchy(written("Item;PARENT\na;x\nx;y\n")).parent_of() == {"a": "x", "x": "y"}


# -- paths -------------------------------------------------------------------------------------------------------------

DAIRY = {"1": "Food/Dairy/Cheese", "2": "Food/Dairy/Cheese", "Food/Dairy/Cheese": "Food/Dairy", "Food/Dairy": "Food"}
SHOP = Hierarchy({**DAIRY, "3": "Pets/Dairy", "Pets/Dairy": "Pets"})


def test_a_column_of_paths_is_a_tree(written, notes):
    path = written(PATHS, "taxonomy.tsv")
    assert read_hierarchy(path, data=ITEMS) == SHOP
    assert notes().endswith("read as paths separated by ' > ' (columns 'id' and 'category')")


@pytest.mark.parametrize(
    ("separator", "options"),
    [
        ("/", {"path_separator": "/"}),
        (" / ", {"path_separator": "/", "path_column": "category"}),
        (">", {"path_separator": ">"}),
        (" > ", {"path_column": "Category"}),
        (" | ", {"path_separator": " | "}),
    ],
)
def test_other_separators_are_named(written, separator, options):
    path = written(PATHS.replace(" > ", separator), "taxonomy.tsv")
    assert read_hierarchy(path, item_column="id", **options) == SHOP


def test_paths_may_begin_and_end_with_the_separator(written):
    path = written("item,path\n1,/Food/Dairy/\n2,/Food\n")
    assert read_hierarchy(path, path_separator="/") == Hierarchy({"1": "Food/Dairy", "Food/Dairy": "Food", "2": "Food"})


def test_levels_of_paths_are_distances(written, notes):
    path = written(PATHS, "taxonomy.tsv")
    assert dict(read_categories(path, level=1, item_column="id")) == {"1": "Food", "2": "Food", "3": "Pets"}
    two = read_categories(path, level="2", item_column="id")
    assert dict(two) == {"1": "Food/Dairy", "2": "Food/Dairy", "3": "Pets/Dairy"}
    assert two.origin.found.endswith("the groups at the distance 2 from the root, from paths separated by ' > ' "
                                     "(columns 'id' and 'category')")  # fmt: skip
    assert read_categories(path, item_column="id")["1"] == "Food > Dairy > Cheese"
    assert notes().endswith("a category is a whole path, and `level=1` takes the first name of each")
    assert "1 of 3 items are too close to the root" in told_by(read_categories, path, level=3, item_column="id")


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("item,path\n1,a >  > b\n", {}, "line 2: a name in the path 'a >  > b' is empty; expected a name"),
        ("item,path\n1,a > b\n2,\n", {}, "line 3: has no name on any level"),
        ("item,path\n1,a\n", {"path_separator": "/"}, "no column of path holds '/'; name one with `path_column=`"),
        ("item,a,b\n1,x/y,u/v\n", {"path_separator": "/"}, "several columns (a, b) of a, b holds '/'; name one with"),
        ("item,path\n1,a\n", {"path_separator": " "}, "`path_separator=` is ' '; expected a text that is not blank"),
        ("item,path\n1,a\n", {"path_column": "pth"}, "has no level 'pth'; the levels are: path; did you mean 'path'?"),
        ("item,path\n1,a > b\n", {"path_column": "path", "levels": "path"}, "has no levels; omit `levels=`"),
        (
            "item,path\n1,a > b\n1,a > c\n",
            {},
            "line 3: the item '1' has two parents, 'a/c' here and 'a/b' on an earlier",
        ),
    ],
)
def test_paths_that_cannot_be_read(written, content, options, sentence):
    assert sentence in told_by(read_hierarchy, written(content), **options)


def test_names_that_look_like_paths_read_back(written):
    tree = Hierarchy({"a": "x > y", "b": "x > z"})
    for content in (tree.to_parents_csv(), tree.to_levels_csv()):
        assert read_hierarchy(written(content)) == tree
    assert Categories.read(written(Categories({"a": "x > y"}).to_file())) == Categories({"a": "x > y"})


NAMES = st.text("ab/>", min_size=1, max_size=3)


@given(st.dictionaries(st.integers(0, 99).map(str), st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=8))
def test_paths_are_the_same_tree_as_levels(tmp_path_factory, path_of):
    folder = tmp_path_factory.getbasetemp()
    deepest = max(map(len, path_of.values()))
    levels = [[item, *[""] * (deepest - len(names)), *reversed(names)] for item, names in path_of.items()]
    paths = [[item, " > ".join(names)] for item, names in path_of.items()]
    for name, header, rows in (("l", ["item", *map(str, range(deepest))], levels), ("p", ["item", "path"], paths)):
        text = io.StringIO()
        csv.writer(text).writerows([header, *rows])
        (folder / f"{name}.csv").write_text(text.getvalue(), encoding="utf-8")
    of_levels, of_paths = folder / "l.csv", folder / "p.csv"
    try:
        expected = read_hierarchy(of_levels, levels=[str(level) for level in range(deepest)], paths=True)
    except BadData:
        with pytest.raises(BadData):
            read_hierarchy(of_paths, path_column="path")
    else:
        assert read_hierarchy(of_paths, path_column="path") == expected


# -- names that are both item and group --------------------------------------------------------------------------------


def test_a_group_with_the_name_of_an_item_gets_another(written, notes):
    path = written(GROCERIES)
    tree = read_hierarchy(path, item_column="name")
    assert tree.ancestors("sausage") == tree.ancestors("frankfurter") == ("sausage (group)", "meat", "*")
    assert tree.ancestors("detergent") == ("cleaning", "detergent (group)", "*")
    assert f"{path}: 2 names are both an item and a group; such a group is called NAME (group)" in notes()
    tree.bind(from_lists([["frankfurter", "sausage", "ham"], ["cream cheese", "detergent"]]))


def test_such_names_do_not_collide(written):
    tree = read_hierarchy(written("item,low\na,a\na (group),a (group 2)\nb,b\n"))
    assert tree == Hierarchy({"a": "a (group 3)", "a (group)": "a (group 2)", "b": "b (group)"})


def test_items_of_the_data_that_are_groups_in_rows_of_nodes(written):
    path = written("item,parent\nfrankfurter,sausage\nsausage,meat\nham,meat\n")
    assert read_hierarchy(path).is_leaf("sausage") is False
    data = from_lists([["sausage", "frankfurter"], ["ham"]])
    assert "1 of them are groups in it: read it with the argument `data`" in told_by(read_hierarchy(path).bind, data)
    tree = read_hierarchy(path, data=data)
    assert tree.ancestors("sausage") == tree.ancestors("frankfurter") == ("sausage (group)", "meat")
    tree.bind(data)


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", "a (group)"])] * 2), min_size=1), st.integers(0, 99))
def test_the_names_do_not_depend_on_the_order_and_read_back(tmp_path_factory, pairs, seed):
    path = tmp_path_factory.getbasetemp() / "both.csv"
    rows = list(dict(pairs).items())

    def read_rows(content):
        path.write_text(content, encoding="utf-8")
        return read_hierarchy(path)

    tree = read_rows("item,low\n" + "".join(f"{item},{low}\n" for item, low in rows))
    random.Random(seed).shuffle(rows)  # noqa: S311 - test data
    assert read_rows("item,low\n" + "".join(f"{item},{low}\n" for item, low in rows)) == tree
    assert set(tree.leaves) == dict(pairs).keys()
    for item, low in rows:
        assert tree.parent(item).partition(" (group")[0] == low.partition(" (group")[0]
        assert {other for other, group in rows if group == low} == set(tree.leaves_under(tree.parent(item)))
    assert read_rows(tree.to_parents_csv().decode()) == read_rows(tree.to_levels_csv().decode()) == tree


# -- items without a category ------------------------------------------------------------------------------------------


def test_missing_items_go_into_one_category(written, notes):
    path = written(GROCERIES)
    options = {"level": "level1", "item_column": "name"}
    refusal = told_by(read_categories(path, **options).bind, BASKETS)
    assert refusal == (
        f"{path}: 1 of 6 items have no category, such as 'rolls'; add a line for each, or put all of them into one category with "
        "`missing_category='other'`"
    )
    categories = read_categories(path, missing_category="other", data=BASKETS, **options)
    codes, names = categories.bind(BASKETS)
    assert (names[codes[BASKETS.code_of["rolls"]]], categories["rolls"], categories.get("soap")) == (
        "other",
        "other",
        "other",
    )
    assert notes().endswith(f"{path}: 1 item of the data without a category put into one category")
    assert "rolls" not in categories
    assert read_categories(path, missing_category="other", **options) == categories
    assert categories != read_categories(path, missing_category="rest", **options)


def test_the_category_of_missing_items_is_stored():
    categories = Categories({"milk": "dairy"}, "other")
    stored = json.loads(json.dumps(categories.to_json()))
    assert Categories.validated(stored) == categories != Categories({"milk": "dairy"})
    method = sv.FullSwap(categories=categories)
    assert sv.FullSwap(categories=method.model_dump(mode="json")["categories"]) == method
    assert len({categories, Categories({"milk": "dairy"}, "other"), Categories({"milk": "dairy"})}) == 2


@pytest.mark.parametrize("name", ["", "a\nb", "\ud800"])
def test_the_category_of_missing_items_has_a_name(written, name):
    for read, data in ((read_categories, None), (read_hierarchy, BASKETS)):
        said = told_by(read, written(GROCERIES), missing_category=name, item_column="name", level="level1", data=data) if (
            read is read_categories
        ) else told_by(read, written(GROCERIES), missing_category=name, item_column="name", data=data)  # fmt: skip
        assert said.startswith("`missing_category=`: the name ")


def test_rows_without_a_category_are_items_without_one(written):
    path = written("item,category\nmilk,dairy\nrolls,\n")
    assert "expected both, or `missing_category='other'` for such items" in told_by(read_categories, path)
    assert read_categories(path, missing_category="other")["rolls"] == "other"


def test_missing_items_go_into_one_group(written, notes):
    path = written(GROCERIES)
    refusal = told_by(read_hierarchy(path, item_column="name").bind, BASKETS)
    assert refusal.endswith("add a line for each, or put all of them into one group with `missing_category='other'`")
    tree = read_hierarchy(path, item_column="name", missing_category="other", data=BASKETS)
    assert tree.ancestors("rolls") == ("other", "*")
    assert notes().endswith("2 names are both an item and a group; such a group is called NAME (group)")
    assert f"{path}: 1 item of the data without a line put into one group" in notes()
    again = read_hierarchy(path, item_column="name", missing_category="meat", data=BASKETS)
    assert again.ancestors("rolls") == ("meat", "*")
    said = told_by(read_hierarchy, path, item_column="name", missing_category="other")
    assert said.startswith("`missing_category=` is made from the items of a data set, and none was given")


def test_a_group_of_missing_items_is_below_a_single_root(written):
    tree = read_hierarchy(written("item,parent\na,x\nx,all\n"), missing_category="x2", data=from_lists([["a", "b"]]))
    assert tree == Hierarchy({"a": "x", "x": "all", "b": "x2", "x2": "all"})


def test_the_group_of_missing_items_may_have_the_name_of_an_item(written):
    data = from_lists([["a", "b", "other"]])
    for content in ("item,parent\na,x\nother,x\n", "item,low\na,x\nother,x\n"):
        tree = read_hierarchy(written(content), missing_category="other", data=data)
        assert set(tree.leaves) == {"a", "b", "other"}
        assert (tree.parent("b"), tree.parent("other")) == ("other (group)", "x")
    tree = read_hierarchy(written("item,parent\na,x\n"), missing_category="other", data=data)
    assert tree.children("other (group)") == ("b", "other")


# -- texts in place of files -------------------------------------------------------------------------------------------


def test_balanced_trees_are_made_from_the_data():
    assert read_hierarchy("balanced:3", data=BASKETS) == Hierarchy.balanced(BASKETS.vocabulary, 3)
    assert "balanced:3 is made from the items of a data set" in told_by(read_hierarchy, "balanced:3")
    assert "'balanced:x' is not of the form balanced:FANOUT" in told_by(read_hierarchy, "balanced:x", data=BASKETS)
    assert "the fan-out is 1; it must be at least 2" in told_by(read_hierarchy, "balanced:1", data=BASKETS)


# -- where values are from ---------------------------------------------------------------------------------------------


def test_origins_name_the_source_the_options_and_what_was_found(written):
    path = written(GROCERIES)
    options = {"level": "level1", "item_column": "name", "missing_category": "other"}
    assert read_categories(path, **options).origin == Origin(
        str(path), options, f"{path}: 5 items in 3 categories, from the column 'level1'"
    )
    assert read_hierarchy(path, levels=["level1"], item_column="name").origin == Origin(
        str(path),
        {"levels": ["level1"], "item_column": "name"},
        f"{path}: 5 items under 4 groups, from one column per level: 'level1'",
    )
    assert read_categories("random:2?seed=1", data=ITEMS).origin.found.startswith("random:2?seed=1: 3 items in 2 cat")
    assert read_categories(written(FRUITS), level=1).origin.options == {"level": "1"}
    lines = written("a b\nc\n", "sets.txt")
    assert sv.read_itemsets(lines).origin == Origin(str(lines), {}, f"{lines}: 2 itemsets")
    assert sv.read_itemsets(lines, separator=",").take([0]).origin.options == {"separator": ","}
    assert sv.read_sensitive(lines).origin == Origin(str(lines), {}, f"{lines}: 2 items, from a list")


@pytest.mark.parametrize("kind", [Categories, Hierarchy, sv.SensitiveItems, sv.NamedItemsets])
def test_an_origin_is_enough_to_read_the_value_again(written, kind):
    content = {sv.NamedItemsets: "id;item\n1;ham\n1;milk\n2;ham\n", sv.SensitiveItems: "Code;X\nham;1\nmilk;2\n"}
    options = {Categories: {"level": "level1"}, Hierarchy: {"paths": True}, sv.SensitiveItems: {"item_column": "CODE"}}
    path = written(content.get(kind, GROCERIES))
    given_ = options.get(kind, {}) | ({"item_column": "name"} if kind in (Categories, Hierarchy) else {})
    value = kind.read(path, data=BASKETS, **given_)
    assert value.origin.options == given_
    again = kind.read(value.origin.source, data=BASKETS, **value.origin.options)
    assert (again, again.origin) == (value, value.origin)


def test_a_multi_level_file_is_reported_and_recorded(tmp_path, written, notes):
    path = written("item,category,department\n" + "".join(f"i{i},c{i % 4},d{i % 3}\n" for i in range(12)))
    data = from_lists([[f"i{i}", f"i{(i * 5) % 12}", f"i{(i * 7) % 12}"] for i in range(12)])
    method = sv.PartSwap(categories=read_categories(path))
    found = f"{path}: 12 items in 4 categories, from the column 'category'"
    assert notes().partition(" | ")[2] == f"{found}; choose another of its columns with `level=`: 'department'"
    sv.publish(data, method, out=tmp_path / "out", metrics="none", attacks="none", allow_failures=12)
    recorded = json.loads((tmp_path / "out.private" / "dossier.json").read_text())["side_files"]
    assert recorded == [{"parameter": "categories", "source": str(path), "options": {}, "found": found}]
    assert found.replace("'", "&#39;") in (tmp_path / "out.private" / "report.html").read_text()
    assert path.name not in (tmp_path / "out" / "card.json").read_text()


def test_the_command_line_records_the_same(tmp_path, written):
    path = written("Item;Category;Department\n" + "".join(f"i{i};c{i % 4};d{i % 3}\n" for i in range(12)))
    rows = "".join(" ".join(f"i{j}" for j in sorted({i, i * 5 % 12, i * 7 % 12})) + "\n" for i in range(12))
    (tmp_path / "baskets.dat").write_text(rows)
    asked = ["--method", "part-swap", "--categories", path.name, "--level", "department", "--measure", "none"]
    done = call(
        "publish", "baskets.dat", *asked, "--out", "out", "--attack", "none", "--allow-failures", "12", cwd=tmp_path
    )
    assert f"note: {path.name}: 12 items in 3 categories, from the column 'Department'" in done.err
    (recorded,) = json.loads((tmp_path / "out.private" / "dossier.json").read_text())["side_files"]
    assert recorded["options"] == {"level": "department"}
    done = call("publish", "baskets.dat", *asked[:5], "departement", "--out", "new", cwd=tmp_path)
    assert (done.code, "did you mean 'Department'?" in done.err) == (2, True)


@pytest.mark.realdata
def test_the_taxonomy_of_foodmart_as_paths(real_folder, real_data, written):
    source = real_folder / "foodmart_taxonomy.csv.gz"
    levels = ["subcategory", "category", "department", "family"]
    tree = read_hierarchy(source, levels=levels, paths=True)
    by_level = {name: read_categories(source, level=name) for name in levels}
    lines = ["sku\tproduct_type"]
    lines += [f"{item}\t" + " > ".join(by_level[name][item] for name in reversed(levels)) for item in tree.leaves]
    path = written("\n".join(lines) + "\n", "feed.tsv")
    assert read_hierarchy(path, data=real_data("foodmart")) == tree
    assert read_categories(path, data=real_data("foodmart"), level=2) == tree.level(2)
