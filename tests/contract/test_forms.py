"""What every published form must pass; being registered is enough to be tested."""

import html
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import setveil as sv
from setveil.catalog import FORMS
from setveil.data.formats import Layout
from setveil.data.forms.base import DataPlace, Naming
from setveil.methods.base import Baseline, Outcome

from contract.forms import CASES, at_random
from support.random_data import make

EVERY = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
DOCS = Path(__file__).parents[2] / "docs"


def nameless(data):
    """Return that rows carry no names."""
    return Naming("drop", data, lambda number: pytest.fail(f"{number} pseudonyms were asked for"))


def released(form, seed=3):
    """Return data of a form, in the order of a release."""
    data = make(seed)[0]
    published, alignment = at_random(data, form, seed)
    return published.arrange(alignment.rows, nameless(data))[0]


class AtRandom(Baseline):
    """Make a release of a form at random."""

    name: ClassVar[str] = "at-random"
    title: ClassVar[str] = "At random"
    paper: ClassVar[str] = "cao2010"
    truthful: ClassVar[str] = "no"

    def apply(self, data, **_given):
        return Outcome(*at_random(data, self.form, 3))


def test_every_form_has_a_case():
    assert set(CASES) == set(FORMS.values())


@EVERY
def test_it_has_a_public_name_and_stands_on_its_page(form):
    assert getattr(sv, form.__name__) is form
    assert FORMS[form.form_name] is form
    assert f"| `{form.form_name}` | `{form.__name__}` |" in (DOCS / "forms.md").read_text(encoding="utf-8")
    assert form.form_title
    assert form.about_form.endswith(".")


@EVERY
@pytest.mark.parametrize(("seed", "most"), [(3, None), (8, None), (8, 4)])
def test_it_reads_back_in_every_format_and_ending(form, seed, most, tmp_path):
    published = released(form, seed)
    written = 0
    for file_format in form.formats().values():
        lacks_names = file_format.ids == "required"
        if lacks_names or (published.empty_records and not file_format.holds_empty_records):
            continue
        if not getattr(file_format, "holds_any_items", True):
            continue  # items of the form column=value only, as in tests/contract/test_formats.py
        for ending in file_format.extensions:
            folder = tmp_path / f"{file_format.name}{ending}"
            folder.mkdir()
            divided = form.can_be_divided and getattr(file_format, "can_be_divided", False)
            first, *further = published.files("data" + ending, most if divided else None)
            beside = tuple(further)
            place = DataPlace(folder, first, file_format, Layout(), beside)
            published.write_to(place)
            assert {path.name for path in folder.iterdir()} == {place.file, *beside}
            assert form.read_from(place, published.unit) == published
            form.refuse_other_files(beside, place.file, card="card.json")
            with pytest.raises(sv.BadData, match="lists wrong files besides the data file"):
                form.refuse_other_files((*beside, "other.csv"), place.file, card="card.json")
            written += 1
    assert written
    assert form.default_format("drop") in form.formats()


@EVERY
def test_it_is_saved_and_opened_again(form, tmp_path, monkeypatch):
    monkeypatch.setattr(AtRandom, "form", form)
    data = make(3)[0].without_empty().with_unit("person")
    release = sv.publish(data, AtRandom(), ids="drop", no_guarantee=True, metrics=[], out=tmp_path / "out")
    opened = sv.open_release(tmp_path / "out")
    assert type(opened.data) is form
    assert opened.data == release.data
    assert opened.card.form == form.form_name
    assert opened.card.unit == opened.data.unit == release.data.unit
    documents = {one.file for one in opened.card.documents}
    assert {*opened.card.data.checksums, *documents, "card.json"} == {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert release.summary.cost
    report = (tmp_path / "out.private" / "report.html").read_text(encoding="utf-8")
    assert (form.about_form in html.unescape(report)) == (form is not sv.Transactions)


@EVERY
@pytest.mark.parametrize("seed", [3, 8])
def test_its_order_depends_on_content_alone(form, seed):
    data = make(seed)[0]
    published = released(form, seed)
    again, alignment = published.arrange(np.arange(published.records), nameless(data))
    assert again == published
    assert sorted(alignment.rows.tolist()) == list(range(published.records))
    assert (published.supports > 0).all()


@EVERY
def test_it_shows_what_a_recipient_sees_of_each_record(form):
    data = make(3)[0]
    published, alignment = at_random(data, form, 3)
    arranged, aligned = published.arrange(alignment.rows, nameless(data))
    records = range(data.records)
    views = [*arranged.views(data, aligned, records)]
    assert len(views) == data.records
    for own, view in zip(data.to_lists(), views, strict=True):
        shown = {label for part in view.parts for label, _how in part.items}
        kept = {label for part in view.parts for label, how in part.items if how in ("kept", "listed")}
        assert kept <= set(own)
        assert set(view.removed) <= set(own) - shown
        assert 0 <= view.changed <= 1
    if form.rows_are_records:
        assert sum(len(view.parts) for view in views) == arranged.records


@EVERY
def test_its_figures_fit_together(form):
    published = released(form)
    totals = published.totals()
    assert totals.records == published.records > 0
    assert totals.items >= len(published.vocabulary) == len(published.labels) == len(published.supports)
    assert totals.occurrences == published.occurrences >= published.supports.sum()
    assert totals.empty_records == published.empty_records
    assert set(published.vocabulary) <= set(published.labels_shown)
    assert sum(one.records for one in published.sets) == published.records
    assert published.with_unit("person").unit == "person"
    plain = published.plain
    assert plain is None or published.as_records() == plain
    assert not form.rows_are_records or plain.records == published.records
    if plain is None:
        with pytest.raises(sv.BadParameter, match="these are "):
            published.as_records()


@EVERY
def test_rows_without_names_refuse_ids(form):
    form.refuse_ids("drop")
    for ids in ("pseudonym", "keep"):
        if form.why_nameless:
            with pytest.raises(sv.BadParameter, match="have no ids"):
                form.refuse_ids(ids)
        else:
            form.refuse_ids(ids)


@EVERY
def test_it_is_compared_with_the_original(form):
    data = make(5)[0]
    published, alignment = at_random(data, form, 5)
    exactly, less = published.shown_of(data, alignment)
    assert len(exactly) == len(less) == len(data.vocabulary)
    assert (exactly >= 0).all()
    assert bool(less.any()) <= bool(form.less_exactly)
    assert (published.changes(data, alignment) is not None) == form.rows_are_records
