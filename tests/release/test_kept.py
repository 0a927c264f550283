"""What a release keeps, against slow counting, and the line that says so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.catalog import METHODS
from setveil.data.forms import comparing
from setveil.data.records.alignment import Alignment
from setveil.release.kept import Part, kept

import oracle.kept as slow
from contract.filling import filled
from contract.forms import disturbed, disturbed_groups, disturbed_nodes, disturbed_reassociation, made_from
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

SEED = 2**100 + 7


def figures(found):
    """Return what was counted as the oracle gives it: occurrences and items, the same of sensitive ones, changed, false."""
    four = (found.occurrences, found.items, found.sensitive_occurrences, found.sensitive_items)
    two = (found.records_changed, found.false_content)
    return *((p.number, p.less_exactly, p.of) for p in four), *(None if p is None else (p.number, p.of) for p in two)


def below(tree):
    inner = set(tree.nodes) - set(tree.leaves)
    return {node: set(tree.leaves_under(node)) for node in inner}


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, in_blocks=st.booleans())
def test_plain_records_are_counted_as_the_oracle_counts_them(seed, in_blocks):
    data, _categories = make(seed)
    sensitive = sv.SensitiveItems.example_for(data)
    released, alignment = disturbed(data, np.random.default_rng(seed))
    expected = slow.of_records(as_sets(data), as_sets(released), alignment.rows.tolist(), set(sensitive))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "BLOCK", 5 if in_blocks else 1 << 22)
        assert figures(kept(data, released, alignment, sensitive)) == expected


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_generalized_data_are_counted_as_the_oracle_counts_them(seed):
    data, _categories = make(seed)
    sensitive = sv.SensitiveItems.example_for(data)
    released, alignment = disturbed_nodes(data, np.random.default_rng(seed))
    expected = slow.of_nodes(
        as_sets(data),
        as_sets(released.rows),
        alignment.rows.tolist(),
        below(released.hierarchy),
        set(sensitive),
    )
    assert figures(kept(data, released, alignment, sensitive)) == expected


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_grouped_data_are_counted_as_the_oracle_counts_them(seed):
    data, _categories = make(seed)
    sensitive = sv.SensitiveItems.example_for(data)
    released, alignment = disturbed_groups(data, np.random.default_rng(seed))
    expected = slow.of_groups(as_sets(data), released.to_groups(), set(sensitive))
    assert figures(kept(data, released, alignment, sensitive)) == expected


@pytest.mark.parametrize("cover", ["keep", "suppress"])
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_disassociated_data_are_counted_as_the_oracle_counts_them(cover, seed):
    data = make(seed)[0].without_empty()
    if data.records < 2:
        return
    sensitive = sv.SensitiveItems.example_for(data)
    method = sv.Disassociation(k=2, m=2, delta=6, cover=cover)
    made = method.apply(data, rng=np.random.default_rng(seed))
    expected = slow.of_clusters(
        as_sets(data), made.published.to_clusters(), made.alignment.rows.tolist(), set(sensitive)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "BLOCK", 5 if seed % 2 else 1 << 22)
        found = kept(data, made.published, made.alignment, sensitive)
    assert figures(found) == expected
    if cover == "keep":  # nothing is left out: each occurrence is in a record chunk or in a term chunk
        assert found.occurrences.gone == 0
        assert found.occurrences.less_exactly == made.account["occurrences-in-term-chunks"]


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_reassociated_data_are_counted_as_the_oracle_counts_them(seed):
    data, _categories = make(seed)
    sensitive = sv.SensitiveItems.example_for(data)
    released, alignment = disturbed_reassociation(data, np.random.default_rng(seed))
    expected = slow.of_sets(as_sets(data), as_sets(released.datasets[0]), set(sensitive))
    assert figures(kept(data, released, alignment, sensitive)) == expected


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_every_method_has_a_line_of_its_cost(kind):
    data, _categories = make(7, records=50, items=40, categories=4, hot=0.7)
    data = data.with_ids([f"person-{r}" for r in range(data.records)])
    release = sv.publish(
        made_from(kind, data),
        filled(kind, data),
        seed=SEED,
        allow_failures=data.records,
        no_guarantee=True,
        metrics=[],
    )
    found = release.kept
    line = found.cost()
    assert "\n" not in line
    assert line.startswith(
        ("every occurrence", f"{found.occurrences.number:,} of {found.occurrences.of:,} occurrences")
    )
    whole = kind.form.rows_are_records
    assert (found.records_changed is not None) == (found.false_content is not None) == whole
    if whole and kind.truthful != "no":
        assert found.false_content.number == 0
    sensitive = any(parameter.name == "sensitive" for parameter in kind.parameters())
    assert (found.sensitive_items is not None) == sensitive


def test_a_release_of_a_release_is_compared_with_the_original_where_it_is_given():
    data, _categories = make(7, records=50, items=40, categories=4, hot=0.7)
    parts = made_from(sv.Reassociation, data)
    alone = sv.publish(parts, sv.Reassociation(term_chunk="drop"), seed=SEED, metrics=[]).kept
    told = sv.publish(parts, sv.Reassociation(term_chunk="drop"), seed=SEED, metrics=[], original=data).kept
    assert alone.occurrences.of == parts.occurrences
    assert " of the disassociated release (" in alone.cost()
    assert told.occurrences.of == data.occurrences
    assert told.occurrences.number == alone.occurrences.number


@pytest.mark.parametrize(
    ("released", "parts"),
    [
        (
            [["a", "b"], ["b", "s"]],
            [
                "every occurrence kept",
                "no record changed",
                "every occurrence is true",
                "every sensitive occurrence kept",
            ],
        ),
        (
            [["a", "b"], ["b"]],
            [
                "3 of 4 occurrences (75.0 %) and 2 of 3 items kept",
                "50.0 % of records changed",
                "every occurrence is true",
                "no sensitive item is kept",
            ],
        ),
        (
            [["b", "s"], ["a", "b"]],
            [
                "every occurrence kept",
                "100.0 % of records changed",
                "50.0 % of occurrences are not the record's own",
                "every sensitive occurrence kept",
            ],
        ),
    ],
)
def test_the_line_of_plain_records(released, parts):
    data = sv.from_lists([["a", "b"], ["b", "s"]])
    found = kept(data, sv.from_lists(released), Alignment.identity(2), sv.SensitiveItems(["s"]))
    assert found.cost() == "; ".join(parts)
    assert found.keeps_no_sensitive_item == ("no sensitive item is kept" in parts)


def test_the_lines_of_other_forms_say_how_items_are_named():
    data = sv.from_lists([["a", "s"], ["a", "t"], ["a"]])
    rows, sensitive = Alignment.identity(3), sv.SensitiveItems(["s", "t"])
    clusters = [{"size": 3, "record_chunks": [[(["a"], 3)]], "term_chunk": ["s", "t"]}]
    found = kept(data, sv.Disassociated.from_clusters(clusters), rows)
    assert (
        found.cost()
        == "3 of 5 occurrences (60.0 %) and 1 of 3 items kept; 2 occurrences and 2 items in term chunks only"
    )
    tree = sv.Hierarchy({"s": "drugs", "t": "drugs", "a": "food"})
    shown = sv.Generalized(sv.from_lists([["a", "drugs"], ["a", "drugs"], ["a"]]), tree)
    assert kept(data, shown, rows).cost() == (
        "3 of 5 occurrences (60.0 %) and 1 of 3 items kept; 2 occurrences and 2 items shown as a group of items only; "
        "66.7 % of records changed; every occurrence is true"
    )
    groups = sv.Grouped.from_groups([([["a"], ["a"], ["a"]], {"s": 1, "t": 1})])
    found = kept(data, groups, rows, sensitive)
    assert found.cost().endswith("; 2 sensitive occurrences and 2 sensitive items counted for a group of records only")
    assert not found.keeps_no_sensitive_item


def test_shares_are_rounded_to_none_and_all_only_where_it_is_so():
    assert Part(0, 10).percent() == "0.0 %"
    assert Part(1, 100_000).percent() == "less than 0.1 %"
    assert Part(99_999, 100_000).percent() == "more than 99.9 %"
    assert Part(10, 10).percent() == "100.0 %"
    assert Part(0, 0).share == 0
