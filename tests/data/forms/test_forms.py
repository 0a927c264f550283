"""Every published form leaves by the same door: staged, read again, checked, described, and checked again from its folder."""

import hashlib
import json
import re
import shutil
from typing import ClassVar

import numpy as np
import pytest

import setveil as sv
from setveil.base.declaration import parameter
from setveil.catalog import FORMS
from setveil.data.forms.grouped import GroupedLines
from setveil.data.records.alignment import Alignment
from setveil.methods.base import Method, Outcome
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_release

from support.program import call, names_in
from support.renewing import edit_json, renew_both

TREE = sv.Hierarchy({f"{group}{n}": group for group in "ab" for n in range(4)} | {"s": "rest", "t": "rest"})
RECORDS = [[f"a{r % 4}", f"b{r % 3}"] + ["s"] * (r % 3 == 0) + ["t"] * (r % 5 == 0) for r in range(60)]


class Upwards(Method):
    """Replace every item that is not sensitive by its group."""

    name: ClassVar[str] = "upwards"
    title: ClassVar[str] = "Upwards"
    paper: ClassVar[str] = "cao2010"
    truthful: ClassVar[str] = "yes"
    form: ClassVar[type] = sv.Generalized
    sensitive: sv.SensitiveItems = parameter(public=False, description="The items that nobody may infer.")

    @property
    def guarantee(self):
        return sv.RhoUncertainty(sensitive=self.sensitive, rho="1/2")

    def apply(self, data, *, rng):
        del rng
        lists = [[i if i in self.sensitive else TREE.parent(i) for i in record] for record in data.to_lists()]
        return Outcome(sv.Generalized(sv.from_lists(lists, unit=data.unit), TREE), Alignment.identity(data.records))


class Nothing(Method):
    """Change nothing."""

    name: ClassVar[str] = "nothing"
    title: ClassVar[str] = "Nothing"
    paper: ClassVar[str] = "cao2010"
    truthful: ClassVar[str] = "yes"
    sensitive: sv.SensitiveItems = parameter(public=False, description="The items that nobody may infer.")
    guarantee: ClassVar[None] = None

    def apply(self, data, *, rng):
        del rng
        return Outcome(data, Alignment.identity(data.records))


SECRETS = sv.SensitiveItems(["s", "t"])
METHODS = {
    "transactions": Nothing(sensitive=SECRETS),
    "generalized": Upwards(sensitive=SECRETS),
    "grouped": sv.Permutation(sensitive=SECRETS, p=2),
    "disassociated": sv.Disassociation(k=3, m=2, delta=12),
    "reassociated": sv.Reassociation(copies=2),
}
FILES = {
    "transactions": ["CARD.md", "card.json", "data.dat", "datapackage.json"],
    "generalized": ["CARD.md", "card.json", "data.dat", "datapackage.json", "hierarchy.csv"],
    "grouped": ["CARD.md", "card.json", "data.jsonl", "datapackage.json"],
    "disassociated": ["CARD.md", "card.json", "data.jsonl.gz", "datapackage.json"],
    "reassociated": ["CARD.md", "card.json", "data-1.dat", "data-2.dat", "datapackage.json"],
}
NO_RECORDS = {"grouped", "disassociated"}
"""Forms whose rows are no whole records."""
every_form = pytest.mark.parametrize("form", METHODS)


def test_every_form_is_tried():
    assert METHODS.keys() == FILES.keys() == FORMS.keys()


def data():
    return sv.from_lists(RECORDS, ids=[f"person-{r:02}" for r in range(60)], unit="person")


def taken(form):
    """Return what the method of a form takes: the data, or what was made of them before."""
    if form != "reassociated":
        return data()
    return sv.publish(data(), METHODS["disassociated"], metrics=[]).data


def saved(form, folder, **options):
    release = sv.publish(taken(form), METHODS[form], ids=options.pop("ids", "drop"), no_guarantee=True, seed=2**100)
    release.save(folder / "out", **options)
    return release


def change(path, edit):
    """Change a file of a release."""
    path.write_text(edit(path.read_text()))


def change_and_renew(path, edit):
    """Change a file of a release, and both cards, so that it is the check of the content that has to notice it."""
    change(path, edit)
    renew_both(path.parent, path.parent.with_name("out.private"))


def checked(folder):
    opened, private = open_release(folder / "out"), Private.load(folder / "out.private")
    return check_release(opened, guarantee_of(opened, private), original=taken(opened.card.form), private=private)


@every_form
def test_it_is_saved_opened_and_checked_again(form, tmp_path):
    release = saved(form, tmp_path)
    opened = open_release(tmp_path / "out")
    assert type(opened.data) is FORMS[form] is METHODS[form].form
    assert opened.data == release.data
    assert opened.card.form == form
    assert opened.card.unit == "person" == opened.data.unit
    assert names_in(tmp_path / "out") == FILES[form]
    assert opened.card.counts.records == (60 if form != "reassociated" else release.data.records)
    if form != "transactions":
        assert checked(tmp_path)
    dossier = json.loads((tmp_path / "out.private" / "dossier.json").read_text())
    assert dossier["form"]["in_words"] == FORMS[form].form_title


@every_form
def test_every_file_stands_on_the_card_with_its_checksum(form, tmp_path):
    saved(form, tmp_path)
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    on_card = {part["file"]: part["sha256"] for part in (card["data"], *card["data"]["beside"], *card["documents"])}
    there = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (tmp_path / "out").iterdir()}
    del there["card.json"]
    assert on_card == there


@every_form
def test_the_order_tells_nothing_and_the_alignment_leads_back(form, tmp_path):
    release = saved(form, tmp_path)
    if form in {"disassociated", "reassociated"}:
        order = [FORMS[form] is sv.Disassociated and release.data.arranged()[0] == release.data]
        order += [one.to_lists() == sorted(one.to_lists()) for one in getattr(release.data, "datasets", ())]
        assert any(order)
        shuffled = data().take(np.random.default_rng(3).permutation(60))
        assert sv.publish(shuffled, METHODS["disassociated"]).data == taken("reassociated")
        return  # which parts a record gave is for the tests of the method
    rows = release.data.rows if form == "grouped" else release.rows
    lists = rows.to_lists()
    assert lists == sorted(lists) or form == "grouped"
    records = data().to_lists()
    for row, record in zip(lists, release.alignment.rows, strict=True):
        kept = set(records[record])
        expected = {
            "transactions": kept,
            "grouped": kept - set(SECRETS),
            "generalized": {i if i in SECRETS else TREE.parent(i) for i in kept},
        }[form]
        assert set(row) == expected
    shuffled = np.random.default_rng(3).permutation(60)
    other = sv.publish(data().take(shuffled), METHODS[form], ids="drop", no_guarantee=True)
    if form != "grouped":  # of equally good partners the first in the data is taken
        assert other.data == release.data


@every_form
def test_its_report_reads_well(form, tmp_path):
    saved(form, tmp_path)
    page = re.sub(r"<script\b.*?</script>", "", (tmp_path / "out.private" / "report.html").read_text(), flags=re.DOTALL)
    said = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert ("The release is" in said) == (form != "transactions")
    assert ("Record lengths, before and after" in said) == (form not in {*NO_RECORDS, "reassociated"})
    assert ("Lengths of records" in page) == (form not in {*NO_RECORDS, "reassociated"})
    assert ('id="items"' in page) == (form != "reassociated")  # the original is not at hand there
    assert ('id="clusters"' in page) == (form == "disassociated")
    assert ('id="status"' in page) is False
    if form == "grouped":
        assert "all have the same support as before" in said
        assert said.count("does not apply to grouped data") == 1
        assert "Frequent itemsets kept, lost and new" not in said
        assert "rows in the smallest group" in said
    assert "?:" not in said
    assert "None" not in said


@pytest.mark.parametrize("ids", ["pseudonym", "keep"])
def test_rows_of_generalized_data_can_carry_names(ids, tmp_path):
    release = saved("generalized", tmp_path, ids=ids)
    assert names_in(tmp_path / "out") == ["CARD.md", "card.json", "data.csv", "datapackage.json", "hierarchy.csv"]
    names = release.rows.ids.to_pylist()
    assert names == sorted(names)
    assert checked(tmp_path)
    swapped = {names[0]: names[1], names[1]: names[0]}
    pattern = re.compile("|".join(swapped))
    change_and_renew(tmp_path / "out" / "data.csv", lambda text: pattern.sub(lambda found: swapped[found[0]], text))
    verdict = checked(tmp_path)
    assert not verdict or release.rows.record(0) == release.rows.record(1)


@pytest.mark.parametrize("ids", ["pseudonym", "keep"])
def test_rows_of_grouped_data_carry_none(ids):
    with pytest.raises(sv.BadParameter, match="rows of grouped data have no ids"):
        sv.publish(data(), METHODS["grouped"], ids=ids)
    assert sv.publish(data(), METHODS["grouped"]).terms.ids == "drop"


def on_card(path):
    """Write the checksum of a hierarchy on the card."""

    def edit(card):
        card["data"]["beside"][0]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()

    edit_json(path.with_name("card.json"), edit)


HIERARCHY_CHANGES = {
    "changed": (lambda path: change(path, lambda text: text + "c,a\n"), "its sha256 differs"),
    "gone": (lambda path: path.unlink(), "lacks the file 'hierarchy.csv' that its card names"),
    "changed with the card": (
        lambda path: (change(path, lambda text: text + "c,a\n"), on_card(path)),
        "hierarchy.csv: is not the file that was published: its sha256 differs from the one in",
    ),
    "broken with the card": (
        lambda path: (change(path, lambda text: text + "a,a\n"), on_card(path)),
        "is its own parent",
    ),
}


@pytest.mark.parametrize(("spoil", "says"), HIERARCHY_CHANGES.values(), ids=HIERARCHY_CHANGES)
def test_another_hierarchy_is_refused(spoil, says, tmp_path):
    saved("generalized", tmp_path)
    spoil(tmp_path / "out" / "hierarchy.csv")
    with pytest.raises(sv.BadData, match=says):
        checked(tmp_path)


CARDS = {
    "a form nobody knows": ("grouped", {"form": "woven"}, "names the form 'woven'; known are: transactions, gen"),
    "another form": ("grouped", {"form": "transactions"}, "there is no format 'grouped'"),
    "a hierarchy that is not told": ("generalized", {"data": {"beside": []}}, "wrong files besides the data file"),
    "plain records, said of others": ("generalized", {"form": "transactions"}, "wrong files besides the data file"),
    "a file elsewhere": (
        "generalized",
        {"data": {"beside": [{"file": "../hierarchy.csv", "sha256": "0"}]}},
        "wrong files besides the data file",
    ),
}


@pytest.mark.parametrize(("form", "changes", "says"), CARDS.values(), ids=CARDS)
def test_a_card_that_tells_another_form_is_refused(form, changes, says, tmp_path):
    saved(form, tmp_path)
    place = tmp_path / "out" / "card.json"
    card = json.loads(place.read_text())
    place.write_text(json.dumps(card | changes | {"data": card["data"] | changes.get("data", {})}))
    with pytest.raises(sv.InputError, match=says):
        open_release(tmp_path / "out")


def test_generalized_data_that_betray_somebody_are_found(tmp_path):
    saved("generalized", tmp_path)
    change_and_renew(tmp_path / "out" / "data.dat", lambda text: "".join(f"{line} s\n" for line in text.splitlines()))
    verdict = checked(tmp_path)
    assert verdict.status == "violated"
    assert any(witness.items == ("s",) for witness in verdict.witnesses)


def test_a_format_that_loses_something_is_noticed_before_anything_appears(tmp_path, monkeypatch):
    whole = GroupedLines.write

    def careless(self, grouped, path, layout):
        groups = grouped.to_groups()
        whole(self, sv.Grouped.from_groups(groups[1:]), path, layout)

    monkeypatch.setattr(GroupedLines, "write", careless)
    with pytest.raises(
        sv.OutputRefused, match=r"does not read back as the same data\. This is a bug in the format 'grouped'"
    ):
        saved("grouped", tmp_path)
    assert names_in(tmp_path) == []


def test_metrics_that_do_not_apply_say_so(tmp_path):
    for form in ("grouped", "generalized"):
        release = saved(form, tmp_path / form) if (tmp_path / form).mkdir() is None else None
        found = {m.name: m for m in sv.measure(data(), release, ["record-loss", "fi-similarity:min_support=5%"])}
        words = FORMS[form].form_title
        assert {m.reason for m in found.values()} == {f"not computed, does not apply to {words}"}
        everything = [m for m in sv.measure(data(), release) if m.name == "tendency-posterior"]
        assert [m.reason for m in everything] == [f"not computed, does not apply to {words}"], "and not what it lacks"


def test_rows_of_grouped_data_are_no_records():
    release = sv.publish(data(), METHODS["grouped"])
    with pytest.raises(sv.BadParameter, match="this release is grouped data"):
        _ = release.rows


def test_a_release_is_converted_where_its_rows_are_records(tmp_path):
    for form in FORMS:
        (tmp_path / form).mkdir()
        saved(form, tmp_path / form)
        ended = call("convert", tmp_path / form / "out", tmp_path / f"{form}.jsonl")
        assert ended.code == (2 if form in {*NO_RECORDS, "reassociated"} else 0)
        if form == "reassociated":
            assert "holds 2 sets of records; name the file of one" in ended.sentence()
        elif ended.code:
            assert f"holds {form} data, which cannot be read as plain records" in ended.sentence()
    shutil.rmtree(tmp_path / "grouped")
