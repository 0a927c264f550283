"""Policies: what the hash is of, what a file may say, drafts from tables, and the rules as numbers."""

import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import BadData, BadParameter
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.policy import Policy, read_policy
from setveil.presence.tables.attributes import NumericAttribute, OrderedAttribute
from setveil.presence.tables.drafting import draft_attributes, draft_sensitive
from setveil.presence.tables.sample import sample
from setveil.presence.trial import policy_of

from support.exhaustive import examples
from support.presence_worlds import LIMITS, methods, world


@pytest.fixture
def policy():
    return policy_of(DummyUsers(**LIMITS), sample(300).originals)


@settings(max_examples=examples(40), deadline=None)
@given(method=methods(backend="clear"))
def test_a_policy_reads_back_as_it_was_written(method, tmp_path_factory):
    policy = policy_of(method, sample(300).originals)
    file = tmp_path_factory.mktemp("policy") / "policy.toml"
    file.write_text(policy.to_toml(), encoding="utf-8")
    again = read_policy(file)
    assert again == policy
    assert again.sha256 == policy.sha256


def test_the_hash_is_of_what_is_said_and_not_of_the_text(policy, tmp_path):
    text = policy.to_toml()
    other = "# a comment\n" + text.replace('max_a = "9/10"', "max_a = 0.90").replace('min_b = "1/10"', 'min_b = "10%"')
    assert other != text
    file = tmp_path / "policy.toml"
    file.write_text(other, encoding="utf-8")
    assert read_policy(file).sha256 == policy.sha256


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"^k = 2", "k = 3"),
        (r"^max_a = .*", 'max_a = "8/10"'),
        (r"^max_b = .*", 'max_b = "8/10"'),
        (r"^score = .*", 'score = "own"'),
        (r"^backend = .*", 'backend = "mpyc"'),
        (r"^counts_to = .*", 'counts_to = "c"'),
        (r'^population = "..', 'population = "00'),
        (r'high = "90"', 'high = "91"'),
        (r'"drama", "news"', '"news", "drama"'),
        (r'"Alder" = "North"', '"Alder" = "South"'),
    ],
)  # fmt: skip
def test_the_hash_is_of_everything_that_is_said(policy, tmp_path, pattern, replacement):
    text = re.sub(pattern, replacement, policy.to_toml(), flags=re.MULTILINE)
    assert text != policy.to_toml()
    file = tmp_path / "policy.toml"
    file.write_text(text, encoding="utf-8")
    assert read_policy(file).sha256 != policy.sha256


def test_dummies_do_not_depend_on_what_computes_them(policy):
    method = DummyUsers(**(policy.method.model_dump(mode="json") | {"backend": "mpyc", "counts_to": "c"}))
    other = Policy(method, policy.schema, policy.population)
    assert other.sha256 != policy.sha256
    assert other.division_sha256 == policy.division_sha256
    assert Policy(DummyUsers(**LIMITS, k=3), policy.schema, policy.population).division_sha256 != policy.division_sha256


def test_a_taxonomy_in_a_file_counts_as_if_it_stood_in_the_policy(policy, tmp_path):
    text = policy.to_toml()
    parents = re.search(r"^parents = .*$", text, re.MULTILINE)[0]
    (tmp_path / "towns.csv").write_text(
        "item,parent\n" + "".join(f"{node},{parent}\n" for node, parent in policy.schema.a[2].parents if parent != "*")
    )
    file = tmp_path / "policy.toml"
    file.write_text(text.replace(parents, 'file = "towns.csv"'), encoding="utf-8")
    assert read_policy(file).sha256 == policy.sha256


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("k = 2", "k = 0"), "k is 0; allowed is a whole number, at least 1"),
        (("k = 2", "k = 2\ncolour = 1"), "has no parameter 'colour'"),
        (('min_a = "1/10"', 'min_a = "95%"'), "min_a is 95% and max_a is 9/10"),
        (('margin = "0"', 'margin = "1/2"'), "leaves no allowed share between min_a and max_a"),
        (('entropy = "parent"', 'entropy = "child"'), "backend = clear"),
        (('kind = "taxonomy"', 'kind = "tree"'), "allowed is numeric | ordered | taxonomy"),
        (('low = "18"', 'low = "99"'), "has low = 99, high = 90"),
        (('step = "5000"', 'step = "0"'), "step > 0"),
        (("[sensitive]", "[secret]"), r"expected \[sensitive\]|no parameter 'secret'"),
        (('name = "hour"', 'name = "age"'), "two attributes have the name 'age'"),
        (("population = ", "people = "), "population is missing"),
        (("k = 2", "k = "), "is not valid TOML"),
    ],
)
def test_what_is_wrong_with_a_policy_is_said_in_a_sentence(policy, tmp_path, change, says):
    text = policy.to_toml()
    assert change[0] in text
    file = tmp_path / "policy.toml"
    file.write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(BadData, match=says) as error:
        read_policy(file)
    assert str(error.value).startswith(str(file))


def test_limits_that_no_ring_holds_are_refused():
    method = DummyUsers(max_a="999999937/999999938", min_a="1/999999937", max_b="1", min_b="0")
    assert method.rules(2, 1_000_000).ring_bits <= 62
    with pytest.raises(BadParameter, match="62"):
        method.rules(2, 10**10)


@settings(max_examples=examples(100), deadline=None)
@given(
    methods(backend="clear"),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=2),
    st.integers(0, 30),
)
def test_rules_in_whole_numbers_say_what_the_fractions_say(method, cells, others):
    """Compare both for the numbers of a group: common and other users of B per value, and other users of A."""
    c = [common for common, _ in cells]
    b = [common + more for common, more in cells]
    a = sum(c) + others
    rules = method.rules(2, 200)
    kept = bool((rules.part.values(np.array([[a, *b, *c]])) >= 0).all())
    margin = method.margin.share
    pairs = [(sum(c), a, method.min_a, method.max_a)]
    if method.scope == "qi":
        pairs.append((sum(c), sum(b), method.min_b, method.max_b))
    else:
        pairs += [(both, here, method.min_b, method.max_b) for both, here in zip(c, b, strict=True)]
    wanted = sum(c) >= method.k and all(
        low.share + margin * (low.share > 0) <= Fraction(both, here) <= high.share - margin * (high.share < 1)
        for both, here, low, high in pairs
        if here
    )  # limits of 0 and 1 are none, so no margin tightens them
    assert kept == wanted


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_draft_covers_the_table_and_takes_round_steps(tmp_path, ending):
    table = pa.table({
        "who": ["p", "q", "r"], "age": [23, 61, 40], "income": [-12_345, 98_765, 4], "share": [0.25, 0.5, 0.75],
        "town": ["Ash", "Elm", "Ash"], "genre": ["drama", "news", "drama"], "account": [7, 8, 9],
    })  # fmt: skip
    file = tmp_path / f"b.{ending}"
    if ending == "csv":
        pacsv.write_csv(table, file)
    else:
        pq.write_table(table, file)
    age, income, share, town = draft_attributes(str(file), id_column="who", leaving_out=("genre", "account"))
    assert (age.text(0, 1), age.cells) == ("[23, 24)", 39)
    assert isinstance(income, NumericAttribute)
    assert (income.low, income.high, income.step) == (-14_000, 100_000, 2_000)
    assert share.cells <= 101
    assert isinstance(town, OrderedAttribute)
    assert town.values == ("Ash", "Elm")
    assert draft_sensitive(str(file), "genre").values == ("drama", "news")
    for attribute in (age, income, share, town):
        for value in table.column(attribute.name).to_pylist():
            assert isinstance(attribute.cell(str(value)), int)


def test_a_draft_of_numbers_with_many_digits_tells_nobodys_number(tmp_path):
    numbers = np.random.default_rng(1).random(50) * 100
    pq.write_table(pa.table({"id": [str(n) for n in range(50)], "weight": numbers}), tmp_path / "a.parquet")
    (weight,) = draft_attributes(str(tmp_path / "a.parquet"))
    low, high = str(int(numbers.min())), str(int(numbers.max()) + 1)
    assert weight.to_dict() == {"name": "weight", "kind": "numeric", "low": low, "high": high, "step": "1"}
    tiny = ["0.123456789012345678901", "0.123456789012345678902"]
    (tmp_path / "b.csv").write_text("id,share\n1," + tiny[0] + "\n2," + tiny[1] + "\n")
    (share,) = draft_attributes(str(tmp_path / "b.csv"))
    assert share.to_dict() | {"name": "x"} == {
        "name": "x", "kind": "numeric", "low": "0.123456789012", "high": "0.123456789013", "step": "0.000000000001",
    }  # fmt: skip
    assert [share.cell(text) for text in tiny] == [0, 0]
    long = ["123456789012345.0000000000000000000001", "123456789012345.0000000000000000000002"]
    (tmp_path / "c.csv").write_text("id,share\n1," + long[0] + "\n2," + long[1] + "\n")
    (share,) = draft_attributes(str(tmp_path / "c.csv"))
    assert [share.cell(text) for text in long] == [0, 0]


@pytest.mark.parametrize("texts", [("0.5", "0.50"), ("1", "1.0"), ("7", "7")])
def test_a_draft_of_one_number_however_it_is_written_is_refused(tmp_path, texts):
    (tmp_path / "a.csv").write_text("id,v\n1," + texts[0] + "\n2," + texts[1] + "\n")
    with pytest.raises(BadData, match=r"a\.csv: attribute 'v' has 1 category"):
        draft_attributes(str(tmp_path / "a.csv"))


def test_a_draft_of_columns_that_are_no_categories_is_refused(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,name\n" + "".join(f"{number},n{number}\n" for number in range(2_000)))
    with pytest.raises(
        BadData, match=r"2,000 different texts in .* and 2,000 of them are not numbers .*\. If .* `person='name'`$"
    ):
        draft_attributes(str(file))
    with pytest.raises(BadData, match="too many for categories; remove it from the table"):
        draft_sensitive(str(file), "name")
    file.write_text("id,name\n" + "".join(f"{number},{number / 7}\n" for number in range(2_000)) + "x,NaN\n")
    with pytest.raises(BadData, match="and 1 of them are not numbers"):
        draft_attributes(str(file))


def test_a_draft_takes_no_text_that_differs_in_every_row_for_a_category(tmp_path):
    """A small table has few customers, and their keys must not get into a policy."""
    file = tmp_path / "a.csv"
    lines = [f"{number},C{number},{number % 5}\n" for number in range(30)]
    file.write_text("id,customer,age\n" + "".join(lines))
    with pytest.raises(
        BadData, match=r"'customer' has 30 different texts in 30 rows, too many .* `person='customer'`$"
    ):
        draft_attributes(str(file))
    with pytest.raises(BadData, match="'customer' has 30 different texts in 30 rows"):
        draft_sensitive(str(file), "customer")
    (age,) = draft_attributes(str(file), leaving_out=["customer"])
    assert age.name == "age"
    file.write_text("id,customer,age\n" + "".join([*lines, "30,C0,3\n"]))
    assert [one.name for one in draft_attributes(str(file))] == ["customer", "age"]


def test_a_population_of_another_order_is_another(policy):
    originals = sample(300).originals
    policy.refuse_other(originals.population)
    with pytest.raises(BadData, match="same ids in the same order"):
        policy.refuse_other(world(1, 300).population)
