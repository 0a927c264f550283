"""The part of the report about known items: rare sets of the original, clusters, and what became of frequent pairs."""

import copy
import re

import pytest

import setveil as sv
from setveil.release.opening import open_release
from setveil.report.known_items_charts import MOST_SETS, known_items
from setveil.report.page import render
from setveil.report.release_charts import release_charts

from report.dossiers import HOSTILE, dossier_in
from report.test_page import SECTIONS, embedded, titles_of, without_scripts, words_of

TITLE = "Known items: matching records"
SAMPLE = "sample:supermarket?records=1500"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Give the private folders of a disassociated release, and of one made from it."""
    data = sv.read(SAMPLE)
    folder = tmp_path_factory.mktemp("known")
    apart = sv.publish(data, sv.Disassociation(k=3, m=2, delta=30), seed=2**90, metrics="full")
    apart.save(folder / "apart")
    method = sv.Reassociation(copies=2)
    again = sv.publish(apart.data, method, original=data, seed=2**90, metrics=["frequent-ranks:length=2"])
    again.save(folder / "again")
    return folder


@pytest.fixture
def dossier(made):
    return copy.deepcopy(dossier_in(made / "apart.private"))


def test_a_real_release_tells_who_was_exposed_and_how_records_were_taken_apart(made, dossier):
    page = (made / "apart.private" / "report.html").read_text(encoding="utf-8")
    assert page == render(dossier)
    assert titles_of(page) == [*SECTIONS[:4], TITLE, *SECTIONS[4:6], *SECTIONS[8:]]
    said, before, counts = words_of(page), dossier["before"], dossier["verdict"]["counts"]
    rare = before["violations"]["rare-itemset"]
    assert f"In the original, {rare:,} sets of at most 2 items occur in fewer than 3 records" in said
    assert f"{before['counts']['records-with-a-rare-itemset']:,} records hold such a set" in said
    assert f"{counts['clusters']:,} clusters with {counts['record-chunks']:,} record chunks" in said
    assert "Inference of other items is not bounded" in said
    assert "Set cover to suppress to break such links" in said
    assert f"{rare - MOST_SETS:,} more are not shown" in said
    assert {"clusters", "pairs"} <= embedded(page)["specs"].keys()


def test_the_sets_shown_are_rare_in_the_original(dossier):
    data = sv.read(SAMPLE)
    shown = known_items(dossier)["sets"]
    assert len(shown) == MOST_SETS
    for items, detail in shown:
        (held,) = sv.supports(data, [items])
        assert 0 < held < 3
        assert f"in {held} of the 1,500" in detail


def test_the_charts_tell_clusters_and_pairs(made, dossier):
    sizes = sv.read_disassociated(made / "apart" / "data.jsonl.gz").sizes
    charts = release_charts(dossier)
    assert sum(number for _records, number in charts["clusters"].rows) == len(sizes)
    first = charts["clusters"].rows[0]
    assert first[0].split(" to ")[0] == str(sizes.min())
    data = sv.read(SAMPLE)
    for name, before, _after, *_ranks in charts["pairs"].rows:
        assert sv.supports(data, [name.split(", ")])[0] == before
    assert charts["pairs"].note.startswith("For disassociated data, the number is the expected support")


def test_re_associated_data_have_no_clusters_but_pairs(made):
    dossier = dossier_in(made / "again.private")
    charts = release_charts(dossier)
    assert "clusters" not in charts
    assert charts["pairs"].note == ""
    said = words_of(render(dossier))
    assert TITLE in said
    assert "Clusters and chunks" not in said


def test_without_the_original_no_section_is_empty_and_no_reason_stands_twice(made, tmp_path):
    parts = open_release(made / "apart").data
    sv.publish(parts, sv.Reassociation(copies=2), seed=2**90, metrics="full").save(tmp_path / "alone")
    page = (tmp_path / "alone.private" / "report.html").read_text(encoding="utf-8")
    assert titles_of(page) == [*SECTIONS[:3], SECTIONS[4], *SECTIONS[8:]]
    for section in re.findall(r"<section>(.*?)</section>", without_scripts(page), re.DOTALL):
        assert words_of(re.sub(r"<h2.*?</h2>", "", section))
    said = words_of(page)
    assert "an older version of setveil made this release" not in said
    assert said.count("The original was not given") == 1
    assert said.count("needs the original") == 1
    assert said.count("does not apply to re-associated data") == 1
    lacking = said.partition("needs the original")[2]
    for metric in ("Similarity of frequent itemsets", "Error of counting queries", "Dissimilarity"):
        assert lacking.count(metric) == 1
    assert "disassociated release" in said.partition("counted by the check")[2]


def test_what_could_not_be_counted_to_the_end_is_said_so(dossier):
    dossier["before"]["reason"] = "there are more"
    assert "In the original, at least" in words_of(render(dossier))
    dossier["before"] |= {"violations": {}, "witnesses": [], "status": "holds", "reason": ""}
    said = words_of(render(dossier))
    assert "every set of at most 2 items that occurs is in at least 3 records" in said
    dossier["method"]["parameters"]["cover"] = "suppress"
    assert "cover with the value suppress" not in words_of(render(dossier))


def test_other_releases_have_no_such_part(dossier):
    dossier["guarantee"] = None
    dossier["verdict"] = None
    assert known_items(dossier) is None
    assert TITLE not in render(dossier)
    assert "pairs" not in release_charts(dossier)


def test_labels_cannot_leave_their_place(dossier):
    plain = without_scripts(render(dossier))
    dossier["before"]["witnesses"][0]["items"] = [*HOSTILE]
    page = without_scripts(render(dossier))
    for label in HOSTILE:
        assert page.count(label) == plain.count(label) or "<" not in label
    assert page.count("<bdi>") > plain.count("<bdi>")
