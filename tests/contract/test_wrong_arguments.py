"""A wrong argument of a public function ends in one sentence: what was given, what is expected, what to do.

A new public function needs an entry in `GOOD`: a call that reaches each of its parameters. What it refuses beyond the kind of an argument
stands in `WRONG`.
"""

import inspect
import re
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import setveil as sv
from setveil.base import arguments
from setveil.base.arguments import check_arguments

TAKE_MANY_KINDS = {
    *(
        "advise",
        "attack",
        "check",
        "check_together",
        "compare",
        "compare_releases",
        "convert",
        "measure",
        "open_release",
        "publish",
        "run",
        "write_report",
    ),
}
"""Functions that take paths, data and releases alike, and have tests of their own."""
DATA = sv.from_lists([["a", "b"], ["a", "c"], ["b"]], ids=["1", "2", "3"])
CHUNKS = [[(["milk", "tea"], 2), (["tea"], 2)]]
CLUSTERS = sv.Disassociated.from_clusters([{"size": 4, "record_chunks": CHUNKS, "term_chunk": ["wine"]}])
LONG = {"id": ["1"], "item": ["a"]}
COLUMNS = {
    "id": "id",
    "item": "item",
    "items": None,
    "format": None,
    "missing": "error",
    "unit": "record",
    "person": None,
}


@cache
def like(name):
    """Return something that passes for one of our classes: what is wrong is found before anybody looks into it."""
    return type(name, (), {})()


COPIES = sv.Reassociated((DATA.with_ids(None), DATA.with_ids(None)))
TAXONOMY = {
    "item_column": "item",
    "missing_category": None,
    "path_column": None,
    "path_separator": None,
    "side_encoding": None,
}
GOOD = {
    "association_rules": lambda: {"itemsets": sv.mine(DATA, 1), "min_confidence": 0.5, "min_lift": 1, "threads": 1},
    "check_joined": lambda: {"opened": like("OpenedJoined"), "population": None, "a": None, "b": None},
    "collect": lambda: {
        "home": like("Home"),
        "policy": like("Policy"),
        "listen": "localhost:0",
        "out": "release",
        "private": "release.private",
        "timeout": 1.0,
        "wait": 1.0,
        "force": False,
    },
    "from_arrow": lambda: {"table": pa.table(LONG), **COLUMNS},
    "from_lists": lambda: {"records": [["a"]], "ids": ["1"], "unit": "record"},
    "from_pandas": lambda: {"frame": pd.DataFrame(LONG), **COLUMNS},
    "from_polars": lambda: {"table": pa.table(LONG), **COLUMNS},
    "from_scipy": lambda: {
        "matrix": sparse.csr_array(np.eye(2)),
        "labels": ["a", "b"],
        "ids": ["1", "2"],
        "unit": "record",
    },
    "mine": lambda: {
        "data": DATA,
        "min_support": 1,
        "kind": "all",
        "min_length": 1,
        "max_length": 2,
        "limit": 99,
        "threads": 1,
    },
    "mine_bounds": lambda: {
        "data": CLUSTERS,
        "min_support": 1,
        "support": "expected",
        "min_length": 1,
        "max_length": 2,
        "limit": 99,
        "threads": 1,
    },
    "mine_intervals": lambda: {
        "data": COPIES,
        "min_support": 1,
        "kind": "all",
        "min_length": 1,
        "max_length": 2,
        "limit": 99,
        "threads": 1,
    },
    "open_joined": lambda: {"folder": "release"},
    "profile": lambda: {
        "data": DATA,
        "known": 1,
        "sensitive": ["a"],
        "itemsets": [["a"]],
        "separator": ";",
        "item_column": None,
        "side_encoding": None,
        "names": None,
        "show": 3,
        "threads": 1,
    },
    "releases": lambda: {"file": "releases.db"},
    "risk": lambda: {
        "data": DATA,
        "known": 1,
        "sensitive": ["a"],
        "item_column": None,
        "side_encoding": None,
        "names": None,
        "threads": 1,
    },
    "provide": lambda: {
        "home": like("Home"),
        "policy": like("Policy"),
        "table": like("ProviderTable"),
        "population": like("Population"),
        "places": like("Places"),
        "private": "run",
        "again": False,
        "force": False,
    },
    "publish_trial": lambda: {
        "policy": like("Policy"),
        "originals": like("Originals"),
        "keys": like("Keys"),
        "out": "joined",
        "private": "joined.private",
        "force": False,
    },
    "read": lambda: {
        "source": "sample:supermarket?records=2",
        "format": None,
        "separator": None,
        "id": None,
        "item": None,
        "items": None,
        "ragged": False,
        "no_header": False,
        "encoding": None,
        "query": None,
        "missing": "error",
        "empty": "keep",
        "unit": None,
        "person": None,
    },
    "read_categories": lambda: {"source": "sample:supermarket", "level": "department", "data": None, **TAXONOMY},
    "read_disassociated": lambda: {"source": "release.jsonl"},
    "read_grouped": lambda: {"source": "release.jsonl"},
    "read_hierarchy": lambda: {
        "source": "sample:supermarket",
        "levels": None,
        "paths": False,
        "data": None,
        **TAXONOMY,
    },
    "read_itemsets": lambda: {
        "source": "itemsets.txt",
        "data": None,
        "separator": None,
        "item_column": None,
        "side_encoding": None,
    },
    "read_joined": lambda: {"folder": "release", "file": "data.csv"},
    "read_names": lambda: {"source": "sample:hospital", "data": None, "item_column": None, "side_encoding": None},
    "read_policy": lambda: {"path": "policy.toml"},
    "read_population": lambda: {"source": "people.txt", "id_column": "id", "query": None, "separator": None},
    "read_predicates": lambda: {"source": "queries.jsonl"},
    "read_provider_table": lambda: {
        "source": "users.csv",
        "attributes": [],
        "sensitive": None,
        "id_column": "id",
        "query": None,
        "separator": None,
        "population": None,
        "person": None,
    },
    "read_sensitive": lambda: {
        "source": "sample:supermarket",
        "data": None,
        "item_column": None,
        "side_encoding": None,
    },
    "simulate": lambda: {
        "policy": like("Policy"),
        "originals": like("Originals"),
        "keys": like("Keys"),
        "publish": None,
    },
    "support_bounds": lambda: {"data": CLUSTERS, "itemsets": [["milk"]], "threads": 1},
    "support_intervals": lambda: {"data": COPIES, "itemsets": [["milk"]], "threads": 1},
    "supports": lambda: {"data": DATA, "itemsets": [["a"]], "threads": 1},
    "withdraw": lambda: {"file": "releases.db", "release": 1, "reason": "the project ended"},
    "write": lambda: {
        "data": DATA,
        "target": "out.csv",
        "format": "long",
        "separator": None,
        "id": "id",
        "item": "item",
        "items": None,
        "table": None,
        "force": False,
    },
    "write_hierarchy": lambda: {
        "tree": sv.Hierarchy({"a": "top"}),
        "target": "tree.csv",
        "shape": "levels",
        "force": False,
    },
    "write_mined": lambda: {"found": sv.mine(DATA, 1), "file": "found.txt", "to_separator": None, "force": False},
    "write_joined": lambda: {"table": like("JoinedTable"), "folder": "release", "file": "data.csv"},
}
"""Of each public function a call that is right up to whatever is changed in it."""


class Odd:
    """What nobody expects."""


def public_functions():
    found = {name: getattr(sv, name) for name in sv.__all__}
    return {name: one for name, one in found.items() if inspect.isroutine(one) and name not in TAKE_MANY_KINDS}


def parameters(*, where=lambda _annotation: True):
    """Return every parameter of every public function."""
    return [
        (name, one.name)
        for name, function in public_functions().items()
        for one in inspect.signature(function).parameters.values()
        if where(one.annotation)
    ]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Keep what a call that is not refused writes out of the repository."""
    monkeypatch.chdir(tmp_path)


def refusal(name, **changed):
    with pytest.raises(sv.SetveilError) as refused:
        getattr(sv, name)(**(GOOD[name]() | changed))
    said = str(refused.value)
    assert "--" not in said, "Python has arguments, not options"
    return said


def test_every_public_function_has_a_call_to_start_from():
    assert public_functions().keys() == GOOD.keys()
    for name, function in public_functions().items():
        assert {one for owner, one in parameters() if owner == name} == GOOD[name]().keys(), function


@pytest.mark.parametrize("value", [Odd(), {"a": 1}], ids=["object", "mapping"])
@pytest.mark.parametrize(("name", "parameter"), parameters())
def test_what_nobody_expects_is_refused_everywhere(name, parameter, value):
    said = refusal(name, **{parameter: value})
    assert f"of the type {type(value).__name__}" in said
    assert "expected" in said


@pytest.mark.parametrize(("name", "parameter"), parameters(where=lambda one: not one.startswith("Callable")))
def test_a_class_is_refused_where_an_instance_is_expected(name, parameter):
    said = refusal(name, **{parameter: Odd})
    assert "the class Odd" in said
    assert "expected" in said


@pytest.mark.parametrize(("name", "parameter"), parameters(where=lambda one: one != "Any"))
def test_a_data_frame_is_taken_by_those_that_make_data_of_it_alone(name, parameter):
    assert "of the type DataFrame; expected" in refusal(name, **{parameter: pd.DataFrame({"a": [1, 2]})})


@pytest.mark.parametrize(("name", "parameter"), parameters(where=lambda one: "None" not in one.split(" | ")))
def test_none_is_refused_where_it_means_nothing(name, parameter):
    assert " is None; expected" in refusal(name, **{parameter: None})


WRONG = [
    ("read", {"source": 3}, "source is 3; expected a text or a path"),
    ("read", {"source": b"baskets.csv"}, "source is of the type bytes"),
    ("read", {"source": DATA}, "source is of the type Transactions; expected a text or a path"),
    ("read", {"source": "no such.csv"}, "there is no such file"),
    ("read", {"source": "id,item\n1,milk\n" * 99}, "source is a text of 198 lines; expected a path; write the text to a file"),
    ("read", {"query": "SELECT 1"}, "`query=` goes with a database (postgresql://, sqlite:///, duckdb:///), not with a file"),
    ("read", {"source": "sqlite:///shop.db"}, "name the rows with `query=`"),
    ("read", {"source": __file__}, "name the format with `format=`"),
    ("read", {"separator": 1}, "separator is 1; expected a text or None"),
    ("read", {"empty": True}, "empty is True; expected keep | drop"),
    ("read", {"empty": "no"}, "empty is 'no'; allowed is keep | drop"),
    ("read", {"ragged": "no"}, "ragged is 'no'; expected True or False"),
    ("mine", {"data": None}, "data is None; expected Transactions: read a file with setveil.read"),
    ("mine", {"data": "baskets.csv"}, "data is 'baskets.csv'; expected Transactions"),
    ("mine", {"data": CLUSTERS}, "data is of the type Disassociated; expected Transactions"),
    ("mine", {"min_support": "abc"}, "the support 'abc' is neither a number of records"),
    ("mine", {"min_support": True}, "the support is True; expected a number of records (30) or a share of them (0.1%)"),
    ("mine", {"kind": "some"}, "the kind of itemsets is 'some'; allowed is all | closed | maximal"),
    ("mine", {"max_length": "3"}, "max_length is '3'; expected a whole number or None"),
    ("mine", {"limit": 1e6}, "limit is 1000000.0; expected a whole number"),
    ("mine", {"threads": True}, "threads is True; expected a whole number or None"),
    ("mine_bounds", {"data": DATA}, "data is of the type Transactions; expected disassociated data: read them with"),
    ("mine_bounds", {"support": 1}, "support is 1; expected expected | certain | possible | inside"),
    ("mine_intervals", {"data": DATA}, "data is of the type Transactions; expected re-associated data: open their release"),
    ("association_rules", {"itemsets": DATA}, "itemsets is of the type Transactions; expected Itemsets: find them with"),
    ("association_rules", {"min_confidence": "high"}, "the confidence 'high' is not a share up to 100%"),
    ("association_rules", {"min_lift": "high"}, "the lift 'high' is not a number of at least 0"),
    ("supports", {"itemsets": "milk"}, "itemsets is 'milk'; expected Itemsets: find them with setveil.mine or a list"),
    ("supports", {"itemsets": ["milk"]}, "an itemset is the text 'milk'; expected a list of items"),
    ("supports", {"itemsets": [3]}, "an itemset is 3; expected a list of items"),
    ("supports", {"itemsets": [["milk", 3]]}, "an item of an itemset is 3; expected a text"),
    ("support_bounds", {"itemsets": [[["milk"]]]}, "an item of an itemset is of the type list; expected a text"),
    ("profile", {"known": "2"}, "known is '2'; expected a whole number"),
    ("profile", {"known": 9}, "known is 9; it must be a whole number of items from 1 to 3"),
    ("profile", {"sensitive": "beer"}, "beer: there is no such file"),
    ("profile", {"itemsets": ["beer"]}, "expected a list of items"),
    ("from_lists", {"records": 3}, "records is 3; expected a list"),
    ("from_lists", {"records": "milk"}, "records is 'milk'; expected a list"),
    ("from_lists", {"records": [3]}, "a record is a int; expected a list of items"),
    ("from_lists", {"ids": [1]}, "ids must be texts, one per record"),
    ("from_pandas", {"frame": list}, "frame is the class list; expected a pandas DataFrame or Series"),
    ("from_pandas", {"frame": [["a"]]}, "frame is of the type list; expected a pandas DataFrame or Series; use from_lists"),
    ("from_arrow", {"table": [["a"]]}, "table is of the type list; expected Arrow data"),
    ("from_arrow", {"id": "no"}, "has no column 'no'; the columns are: id, item. Name yours with `items=`, or with `id=` and `item=`"),
    ("from_arrow", {"id": "item"}, "choose different columns with `id=`, `item=`, `items=`"),
    ("from_arrow", {"unit": "people"}, "unit is 'people'; allowed is person | record"),
    ("from_scipy", {"matrix": [[1]]}, "matrix is of the type list; expected a sparse matrix of SciPy"),
    ("from_scipy", {"labels": iter("abc")}, "3 labels for 2 columns; give one label per column"),
    ("read_categories", {"source": {"a": "x"}}, "source is of the type dict; expected a text or a path"),
    ("read_categories", {"data": [["a"]]}, "data is of the type list; expected Transactions"),
    ("read_hierarchy", {"levels": [3]}, "levels holds a level that is 3; expected names of columns"),
    ("read_hierarchy", {"paths": 1}, "paths is 1; expected True or False"),
    ("read_policy", {"path": "x" * 999}, "cannot be read: File name too long; expected a policy file"),
    ("open_joined", {"folder": "x" * 999}, "cannot be read: File name too long"),
    ("open_joined", {"folder": "nowhere"}, "nowhere: there is no such folder"),
    ("read_provider_table", {"attributes": "age"}, "attributes is 'age'; expected a list"),
    ("read_provider_table", {"attributes": ["age"]}, "one of the attributes is 'age'; expected attributes, such as policy.schema.a"),
    ("write", {"target": 3}, "target is 3; expected a text or a path"),
    ("write", {"data": [["a"]]}, "data is of the type list; expected Transactions"),
    ("write", {"target": "out.xyz", "format": None}, "name the format with `format=`"),
    ("write", {"target": "sqlite:///shop.db"}, "name the new table with `table=`"),
    ("write", {"table": "baskets"}, "`table=` goes with a database"),
    ("write", {"data": sv.from_lists([["a"], []], ids=["1", "2"])}, "drop them with `empty='drop'`"),
    ("write", {"force": "no"}, "force is 'no'; expected True or False"),
    ("write", {"id": "\ud800"}, "a lone surrogate"),
    ("releases", {"file": None}, "file is None; expected a text or a path"),
    ("releases", {}, "releases.db: there is no such register; publish with `register=` creates it"),
    ("withdraw", {"release": 1.5}, "release is 1.5; expected a whole number or a text or a path"),
    ("write_hierarchy", {"shape": "tree"}, "shape is 'tree'; allowed is levels | parents"),
    ("collect", {"policy": "policy.toml"}, "policy is 'policy.toml'; expected a Policy: read it with setveil.read_policy"),
    ("provide", {"home": "home"}, "home is 'home'; expected a Home: open it with setveil.Home.open"),
    ("simulate", {"publish": "release"}, "publish is 'release'; expected a function or None"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changed", "sentence"), WRONG)
def test_the_sentence_says_what_was_given_and_what_is_expected(name, changed, sentence):
    assert sentence in refusal(name, **changed)


HIDDEN = sv.HiddenItemsets(itemsets=[["a", "b"]], min_support=2)
ABOUT_RELEASES = [
    (lambda: sv.publish(DATA, sv.RandSwap()), "set `no_guarantee=True` to publish it anyway"),
    (lambda: sv.publish(DATA, sv.RandSwap(), no_guarantee=True, seed=7), "or set `experiment=True`"),
    (lambda: sv.publish(DATA, sv.RandSwap(), allow_failures=-1), "`allow_failures=` is -1; allowed is"),
    (lambda: sv.publish(DATA, sv.RandSwap(), no_guarantee=True, out="release", format="basket"), "or `ids='drop'`"),
    (lambda: sv.check("baskets.dat"), "name the guarantee to check with `guarantee=`"),
    (lambda: sv.check("baskets.xyz", guarantee=HIDDEN), "name the format with `release_format=`"),
    (lambda: sv.convert(DATA, "out.xyz"), "name the format with `to=`"),
    (lambda: sv.convert(DATA, "out.parquet", to="basket"), "choose another extension or `to=`"),
    (lambda: sv.convert(DATA, "baskets.dat"), "or replace it with `force=True`"),
    (lambda: sv.convert(DATA, "sqlite:///shop.db", table="t", force=True), "omit `force=True` and name a new table"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "sentence"), ABOUT_RELEASES)
def test_a_sentence_about_a_release_names_the_argument_to_give(tmp_path, asked, sentence):
    for name in ("baskets.dat", "baskets.xyz"):
        (tmp_path / name).write_text("a b\na c\n", encoding="utf-8")
    with pytest.raises(sv.SetveilError) as refused:
        asked()
    assert sentence in str(refused.value)
    assert "--" not in str(refused.value)


def test_a_bare_file_is_checked_in_the_format_that_is_named(tmp_path):
    (tmp_path / "baskets.xyz").write_text("a b\na b\na c\n", encoding="utf-8")
    assert sv.check("baskets.xyz", guarantee=HIDDEN, release_format="basket").status == "violated"


def test_a_password_never_stands_in_the_sentence():
    said = refusal("mine", data="postgresql://ann:secret@db.example/shop")
    assert said.startswith("data is an address; expected Transactions")
    assert "secret" not in refusal("mine_bounds", data="postgresql://ann:secret@db.example/shop")


def test_too_many_and_unknown_arguments_stay_errors_of_python():
    with pytest.raises(TypeError, match="minsupport"):
        sv.mine(DATA, minsupport=3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'source'"):
        sv.read()


def test_numbers_and_flags_of_numpy_and_other_paths_are_taken(tmp_path):
    assert len(sv.mine(DATA, 1, max_length=np.int64(1))) == 3
    assert sv.read("sample:supermarket?records=2", ragged=np.False_).records == 2

    class OtherPath:
        def __fspath__(self):
            return str(tmp_path / "out.csv")

    sv.write(DATA, OtherPath())
    assert sv.read(tmp_path / "out.csv") == DATA


# -- the decorator -----------------------------------------------------------------------------------------------------


def test_annotations_that_are_not_known_are_left_to_the_function():
    @check_arguments
    def take(one: "Unheard", other: "Unheard | int" = 0, bare=None):  # noqa: F821 - a name that is not known
        return one, other, bare

    assert take("x", "y", "z") == ("x", "y", "z")


def test_alternatives_inside_of_brackets_are_no_alternatives():
    @check_arguments
    def take(given: "Iterable[str | int] | None"):  # noqa: F821 - read as a text
        return given

    assert take([1]) == [1]
    assert take(None) is None
    with pytest.raises(sv.BadParameter, match="given is 3; expected a list or None"):
        take(3)


def test_a_decorated_function_keeps_its_name_its_page_and_its_signature():
    assert sv.mine.__name__ == "mine"
    assert sv.mine.__doc__.startswith("Return the frequent itemsets")
    assert list(inspect.signature(sv.mine).parameters)[:2] == ["data", "min_support"]


def test_the_ways_to_get_one_of_our_classes_are_public():
    for name, words in arguments._OUR_CLASSES.items():
        assert name in sv.__all__
        for function in re.findall(r"setveil\.(\w+)", words):
            assert function in sv.__all__
