"""Measurements can be added later: the private folder is the same as after a publish that measured everything at once."""

import json

import numpy as np
import pytest

import setveil as sv
from setveil.catalog import METHODS, METRICS
from setveil.release.dossier import Private, report_text
from setveil.release.measuring import LEVELS
from setveil.release.summary import GUESSES

from contract.filling import filled

SEED = 2**90 + 19
KINDS = {name: kind for name, kind in METHODS.items() if sv.Transactions in kind.accepts}
TIMES = ("made", "seconds")


@pytest.fixture(scope="module")
def data():
    """Give data in which every method finds something to do."""
    rng = np.random.default_rng(5)
    drawn = [sorted(set(rng.geometric(0.2, rng.integers(2, 7)).tolist())) for _ in range(120)]
    lists = [[f"item {item}" for item in items] for items in drawn]
    return sv.from_lists(lists, ids=[f"person {number}" for number in range(120)])


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def facts_of(folder):
    """Return the dossier without what a clock decides."""
    return {key: value for key, value in Private.load(folder).dossier.items() if key not in TIMES}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_measuring_later_gives_what_measuring_at_once_gives(kind, data, tmp_path):
    """The page depends on the dossier only, which JSON does not change, and the release folder stays as it is."""
    method, told = filled(kind, data), {"seed": SEED, "no_guarantee": True, "allow_failures": data.records}
    for level in LEVELS:
        sv.publish(data, method, metrics=level, out=tmp_path / level, **told)
    later, released = tmp_path / "none.private", files_of(tmp_path / "full")
    for level in ("quick", "full"):
        at_once = facts_of(tmp_path / f"{level}.private")
        assert facts_of(later) != at_once
        measured = sv.write_report(tmp_path / "none", level, original=data)
        assert facts_of(later) == at_once
        assert [one.to_dict() for one in measured] == at_once["metrics"]
    assert files_of(tmp_path / "none") == released
    private = files_of(tmp_path / "full.private")
    (tmp_path / "full.private" / "report.html").unlink()
    sv.write_report(tmp_path / "full")
    assert files_of(tmp_path / "full.private") == private


def test_a_release_that_was_made_from_a_release_is_compared_later(data, tmp_path):
    apart = sv.publish(data, sv.Disassociation(k=3, m=2), seed=SEED, metrics="none").data
    for name, original in (("later", None), ("at once", data)):
        sv.publish(apart, sv.Reassociation(copies=2), seed=SEED, original=original, metrics="full", out=tmp_path / name)
    assert facts_of(tmp_path / "later.private")["compared"] is None
    sv.write_report(tmp_path / "later", original=data)
    assert facts_of(tmp_path / "later.private") == facts_of(tmp_path / "at once.private")
    others = [*data.to_lists(), ["one more"]]
    with pytest.raises(sv.BadData, match="is not the data that this release was compared with"):
        sv.write_report(tmp_path / "later", original=others)
    with pytest.raises(sv.BadData, match="lacks items of the release"):
        sv.write_report(tmp_path / "later", original=[["milk"]])


def test_quick_measures_what_the_summary_shows():
    assert all(METRICS[name].quick for name in GUESSES)


def test_quick_states_what_only_full_measures(data):
    release = sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics="quick")
    computed = {one.name for one in release.measurements if one.value is not None}
    assert computed == {"dissimilarity", "kl", "symmetric-kl", "info-loss", "record-loss", "false-content"}
    assert release.measurements["query-error"].reason == "not computed, only the level full measures it"
    assert release.measurements["items-lost"].reason == "not computed, needs sensitive"
    assert release.before is None


def test_a_level_and_metrics_are_given_together(data):
    metrics = ["query-error:queries=10", sv.RecordLoss(), "none", "quick"]
    release = sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=metrics)
    computed = [one.name for one in release.measurements if one.value is not None]
    assert computed.count("record-loss") == computed.count("query-error") == 1
    assert "kl" in computed
    assert len([one for one in release.measurements if one.name == "query-error"]) == 1
    only = sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics="record-loss").measurements
    assert [one.name for one in only] == ["record-loss"]


@pytest.mark.parametrize("wrong", ["quik", ["record-los"]])
def test_an_unknown_metric_is_refused_before_the_method_starts(wrong, data, monkeypatch):
    monkeypatch.setattr(sv.RandSwap, "apply", lambda *_arguments, **_options: pytest.fail("it was started"))
    with pytest.raises(sv.UnknownName):
        sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=wrong)


@pytest.mark.parametrize("wrong", [3, None, [sv.RecordLoss]])
def test_what_is_no_metric_is_refused(wrong, data):
    with pytest.raises(sv.BadParameter, match=r"metrics: .* is neither a metric, .* nor a level: none | quick | full"):
        sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=wrong)


# -- write_report --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def release(data, tmp_path):
    """Give the folder of a release that was measured quickly."""
    sv.publish(data, sv.RandSwap(), no_guarantee=True, seed=SEED, out=tmp_path / "release")
    return tmp_path / "release"


def test_a_level_measures_what_is_not_there_yet_and_a_name_always(release, data, monkeypatch):
    asked = []

    def measured(self, *_arguments):
        asked.append(self.name)
        return 0.5, {}

    for kind in METRICS.values():
        monkeypatch.setattr(kind, "measure", measured)
    sv.write_report(release, "quick", original=data)
    assert asked == []
    sv.write_report(release, ["quick", "kl", "query-error:queries=7"], original=data)
    assert asked == ["kl", "query-error"]
    found = sv.write_report(release)
    assert found["kl"].value == 0.5
    assert [one.parameters["queries"] for one in found if one.name == "query-error"] == [7]


def test_named_settings_are_listed_after_the_usual_ones(release, data):
    sv.write_report(release, ["fi-similarity:min_support=3%", "fi-similarity:min_support=1%"], original=data)
    found = sv.write_report(release, original=data)
    supports = [one.parameters["min_support"] for one in found if one.name == "fi-similarity"]
    assert supports == ["5%", "2%", "1%", "0.5%", "0.2%", "3%"]


def test_the_page_states_what_was_not_measured(tmp_path, data):
    method = sv.Insert(sensitive=["item 1"], rho="50%")
    sv.publish(data, method, seed=SEED, out=tmp_path / "release")
    page = tmp_path / "release.private" / "report.html"
    said = (
        "only the level full does so",
        "only the level full measures it",
        "setveil report",
    )
    assert all(text in page.read_text() for text in said)
    sv.write_report(tmp_path / "release", original=data)
    assert not any(text in page.read_text() for text in said[:2])


def test_parameters_of_metrics_are_given_later(release, data):
    assert "needs" in sv.write_report(release)["items-lost"].reason
    found = sv.write_report(release, "quick", original=data, sensitive=["item 1"])
    assert found["items-lost"].value is not None
    assert found["tendency-posterior"].reason == "no categories were given"
    categories = sv.Categories.at_random(data.vocabulary, 4, seed=1)
    found = sv.write_report(release, "quick", original=data, categories=categories)
    assert found["tendency-posterior"].value is not None


@pytest.mark.parametrize("stopped", ["measuring", "rendering"])
def test_whatever_stops_it_leaves_the_old_files(release, data, stopped, monkeypatch):
    def stop(*_arguments):
        raise KeyboardInterrupt

    place = "measure_all" if stopped == "measuring" else "report_text"
    monkeypatch.setattr(f"setveil.release.reporting.{place}", stop)
    before = files_of(release.with_name("release.private"))
    with pytest.raises(KeyboardInterrupt):
        sv.write_report(release, original=data)
    assert files_of(release.with_name("release.private")) == before


def test_what_does_not_belong_together_is_refused(release, data, tmp_path):
    before = files_of(tmp_path / "release.private")
    sv.publish(data, sv.RandSwap(), no_guarantee=True, seed=SEED + 1, metrics="none", out=tmp_path / "other")
    sv.write(data, tmp_path / "file.jsonl")
    refused = [
        (sv.BadData, "the original is not the data that this release was made from", {"original": [["milk"]]}),
        (sv.Missing, "compare the release with its original: name it with `original=`", {"metrics": "full"}),
        (sv.Missing, "name it with `original=`", {"sensitive": ["item 1"]}),
        (sv.BadData, "belongs to another run", {"private": tmp_path / "other.private"}),
        (sv.BadParameter, "expected a release folder", {"release": data}),
        (sv.BadParameter, "is a data file without a card; give the release folder", {"release": tmp_path / "file.jsonl"}),
    ]  # fmt: skip
    for error, said, given in refused:
        with pytest.raises(error, match=said):
            sv.write_report(**({"release": release} | given))
    assert files_of(tmp_path / "release.private") == before
    (tmp_path / "release.private").rename(tmp_path / "elsewhere")
    with pytest.raises(sv.Missing, match=r"has no private folder beside it, .* name it with `private=`"):
        sv.write_report(release)
    assert sv.write_report(release, private=tmp_path / "elsewhere")


def test_the_source_of_the_original_is_in_the_message(tmp_path, data):
    sv.write(data, tmp_path / "baskets.jsonl")
    sv.publish(tmp_path / "baskets.jsonl", sv.RandSwap(), no_guarantee=True, out=tmp_path / "release")
    with pytest.raises(sv.Missing, match=r"which was read from '.*baskets\.jsonl': name it with"):
        sv.write_report(tmp_path / "release", "full")
    assert sv.write_report(tmp_path / "release", "full", original=tmp_path / "baskets.jsonl")


def test_a_dossier_without_what_later_versions_store_gets_its_summary(tmp_path, data):
    method = sv.PartSwap(categories=sv.Categories.at_random(data.vocabulary, 4, seed=1))
    told = {"seed": SEED, "allow_failures": data.records}
    sv.publish(data, method, metrics="quick", out=tmp_path / "new", **told)
    sv.publish(data, method, metrics="none", out=tmp_path / "old", **told)
    file = tmp_path / "old.private" / "dossier.json"
    dossier = json.loads(file.read_text())
    for key in ("singled_out", "compared"):
        del dossier[key]
    file.write_text(json.dumps(dossier))
    sv.write_report(tmp_path / "old", "quick", original=data)
    assert facts_of(tmp_path / "old.private") == facts_of(tmp_path / "new.private")
    assert (tmp_path / "old.private" / "report.html").read_text() == report_text(json.loads(file.read_text()))
