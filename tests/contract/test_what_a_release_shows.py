"""What a release folder shows beside its data, for every method in the catalog.

A private list must not be readable *by absence*: from the side files and the card, by what the owner's public taxonomy names and they do
not. So what they name may depend on the data file and on public things alone.
"""

import json
import re

import numpy as np
import pytest

import setveil as sv
from setveil.catalog import FORMS, GUARANTEES, METHODS
from setveil.presence.catalog import METHODS as JOINED_METHODS
from setveil.release.card import Card

from contract.filling import filled, ways
from contract.forms import made_from
from support.random_data import make
from support.random_trees import some_tree

OF_THE_RUN = {"run", "private_sha256", "documents"}
"""What a card says of one run: its name, a checksum with a salt of its own, and the checksums of documents with that name."""
NEEDS_IDS = {"full-swap"}
OF_FORM = {
    "generalized": ("node", "hierarch", "generaliz"),
    "grouped": ("group",),
    "disassociated": ("chunk", "cluster", "disassociat"),
    "reassociated": ("re-associat",),
}
MADE_FROM = {"reassociated": "disassociated"}
"""A form whose card may speak of another, since it is made from that."""


def test_the_words_of_every_form_are_known():
    assert OF_FORM.keys() == FORMS.keys() - {"transactions"}


def some_data(seed=7):
    return make(seed, records=50, items=40, categories=4, hot=0.7)[0].without_empty()


def some_taxonomy(data):
    """Return the owner's public tree: over all items of the data and some that do not occur."""
    return sv.Hierarchy(some_tree([*data.vocabulary, *(f"unsold-{j}" for j in range(6))], np.random.default_rng(5)))


def with_taxonomies(cases):
    """Return every way to run a method, those over a tree also with the owner's."""
    found = []
    for kind, chosen in cases:
        found.append((kind, chosen))
        if "hierarchy" in kind.model_fields:
            found.append((kind, chosen | {"hierarchy": some_taxonomy}))
    return found, [f"{kind.name} {' '.join(chosen)}" for kind, chosen in found]


EVERY_WAY = pytest.mark.parametrize(
    ("kind", "chosen"), with_taxonomies(ways(METHODS)[0])[0], ids=with_taxonomies(ways(METHODS)[0])[1]
)


def saved(data, kind, method, folder):
    """Publish and save; return the release, the text of each file beside the data, the card among them, and the data file's bytes."""
    ids = "pseudonym" if kind.name in NEEDS_IDS else "drop"
    given = {"allow_failures": data.records, "no_guarantee": True, "metrics": [], "ids": ids}
    release = sv.publish(made_from(kind, data), method, seed=2**100, **given)
    card = release.save(folder)
    data_files = {card.data.file} | ({one.file for one in card.data.beside} if kind.form.sets_of else set())
    texts = {path.name: path.read_text("utf-8") for path in folder.iterdir() if path.name not in data_files}
    return release, texts, b"".join((folder / file).read_bytes() for file in sorted(data_files))


def names_in(text, labels):
    return {label for label in labels if re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", text)}


def shown_by_data(published, tree):
    """Return the items that the data name, or that stand below a node that they name."""
    names = set().union(*(one.vocabulary for one in published.sets))
    below = (tree.leaves_under(name) for name in names if tree is not None and name in tree.nodes)
    return names.union(*below)


def told_apart(text, shown, labels):
    """Return items that a text tells apart from others of which the data show just as much: empty, unless it says more than the data."""
    named = names_in(text, labels)
    return [part & named for part in (shown & labels, labels - shown) if part & named not in (set(), part)]


@EVERY_WAY
@pytest.mark.parametrize("seed", [3, 7, 11])
def test_nothing_private_is_told_by_what_is_absent_from_side_files_and_card(kind, chosen, seed, tmp_path):
    data = some_data(seed)
    method = filled(kind, data, **chosen)
    release, texts, _bytes = saved(data, kind, method, tmp_path / "out")
    owners = some_taxonomy(data)
    tree = getattr(release.data, "tree", None)
    if getattr(method, "hierarchy", None) is not None:
        tree = owners
    shown = shown_by_data(release.data, tree)
    for name, text in texts.items():
        assert told_apart(text, shown, set(owners.leaves)) == [], name


def test_the_search_finds_a_hierarchy_without_the_sensitive_items():
    tree = sv.Hierarchy({"ale": "drinks", "rum": "drinks", "tea": "drinks", "milk": "dairy", "whey": "dairy"})
    labels = set(tree.leaves)
    cut = "item,parent\nale,drinks\ntea,drinks\nmilk,dairy\n"  # rum is sensitive, whey does not occur
    assert told_apart(cut, {"ale", "rum", "tea", "milk"}, labels) == [{"ale", "tea", "milk"}]
    assert told_apart(cut, shown_by_data(sv.Generalized(sv.from_lists([["drinks", "milk"]]), tree), tree), labels)
    assert not told_apart(cut + "rum,drinks\nwhey,dairy\n", {"ale", "rum", "tea", "milk"}, labels)


def harmless(data):
    """Return pairs of private lists, by parameter, that make no method change data of single items."""
    one, two, three, four, *_others = data.vocabulary
    return {
        "sensitive": ([one, two], [three, four]),
        "itemsets": ([[one, two]], [[three, four]]),
        "categories": tuple(sv.Categories.at_random(data.vocabulary, 4, seed=seed) for seed in (1, 2)),
    }


UNCHANGED = {"rho": "1", "min_support": "50%"}
SINGLES = sv.from_lists([[f"item-{j % 12}"] for j in range(60)])
PRIVATE = [
    (kind, chosen, name)
    for kind, chosen in with_taxonomies([(kind, {}) for kind in METHODS.values()])[0]
    for name in harmless(SINGLES)
    if name in kind.model_fields
]


@pytest.mark.parametrize(
    ("kind", "chosen", "name"),
    PRIVATE,
    ids=[f"{kind.name} {' '.join(chosen)} {name}" for kind, chosen, name in PRIVATE],
)
def test_other_private_lists_with_the_same_data_file_give_the_same_side_files_and_card(kind, chosen, name, tmp_path):
    given = chosen | {key: value for key, value in UNCHANGED.items() if key in kind.model_fields}
    made = []
    for number, private in enumerate(harmless(SINGLES)[name]):
        method = filled(kind, SINGLES, **given, **{name: private})
        _release, texts, content = saved(SINGLES, kind, method, tmp_path / f"out{number}")
        card = json.loads(texts.pop("card.json"))
        texts = {name: text.replace(card["run"], "RUN") for name, text in texts.items()}
        if kind.name in NEEDS_IDS:  # pseudonyms may differ
            texts = {name: text.replace(card["data"]["sha256"], "SHA256") for name, text in texts.items()}
            content = card["data"]["sha256"] = None
        assert {*texts} >= {"CARD.md", "datapackage.json"}
        made.append((content, texts, {key: value for key, value in card.items() if key not in OF_THE_RUN}))
    if kind.form is sv.Grouped:  # the data themselves name the sensitive items apart from the others
        assert made[0][0] != made[1][0]
        assert name in kind.inferable_parameters()
    else:
        assert made[0] == made[1]


def test_tables_that_two_providers_join_have_no_private_parameters():
    assert not [p.name for kind in JOINED_METHODS.values() for p in kind.parameters() if not p.public]


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_the_card_names_what_the_release_shows_of_private_parameters(kind, tmp_path):
    data = some_data()
    release, _texts, _bytes = saved(data, kind, filled(kind, data), tmp_path / "out")
    card = Card.load(tmp_path / "out")
    expected = {name for name in ("sensitive", "hierarchy") if name in kind.model_fields}
    assert set(kind.inferable_parameters()) == expected
    if release.method.guarantee is not None:
        assert set(card.guarantee.inferable) == expected
        assert ("sensitive" in expected) == any("which items are sensitive" in x for x in card.guarantee.not_covered)
    for p in kind.parameters():
        assert not (p.public and p.inferable)


def text_of(coverage):
    parts = (coverage.attacker, coverage.singling_out, coverage.linking, coverage.inference, *coverage.not_covered)
    return " ".join(parts).lower()


def words_of_other_forms(text, form):
    own = {form, MADE_FROM.get(form, form)}
    return [word for other, words in OF_FORM.items() if other not in own for word in words if word in text]


@EVERY_WAY
def test_the_card_speaks_of_the_form_that_was_published(kind, chosen, tmp_path):
    data = some_data()
    saved(data, kind, filled(kind, data, **chosen), tmp_path / "out")
    card = Card.load(tmp_path / "out")
    page = (tmp_path / "out" / "CARD.md").read_text("utf-8").lower().partition("## how to read the files")[0]
    text = f"{card.guarantee.statement.lower()} {text_of(card.guarantee)} {card.unit_in_words} {page}"
    assert words_of_other_forms(text, card.form) == []
    report = (tmp_path / "out.private" / "report.html").read_text("utf-8")
    assert card.guarantee.not_covered[-1].replace("'", "&#39;") in report


@pytest.mark.parametrize("kind", GUARANTEES.values(), ids=GUARANTEES.keys())
def test_every_guarantee_speaks_of_each_form_that_it_takes_and_of_no_other(kind):
    data, _categories = make(3)
    guarantee = filled(kind, data)
    for form in kind.takes:
        name = next(name for name, one in FORMS.items() if one is form)
        coverage = guarantee.coverage_for(form)
        text = guarantee.statement_for(form).lower() + text_of(coverage)
        assert words_of_other_forms(text, name) == []
        if name in OF_FORM and name not in MADE_FROM:
            assert any(word in text for word in OF_FORM[name])


@pytest.mark.parametrize("name", ["hidden-tendency", "hidden-itemsets"])
def test_a_second_release_of_the_same_data_is_not_covered(name):
    assert any("second release of the same data" in line for line in GUARANTEES[name].coverage.not_covered)
