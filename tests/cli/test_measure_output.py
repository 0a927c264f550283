"""What `measure` shows: a headline, all figures, or those named; nothing is said of others unless it is asked for."""

import pytest

import setveil as sv

from support.program import call

SAMPLE = "sample:supermarket?records=1000"
SWAP = ("--method", "part-swap", "--categories", "sample:supermarket", "--level", "department")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measure")
    asked = ("publish", SAMPLE, *SWAP, "--seed", 2**64, "--measure", "none", "--attack", "none", "--out", "release")
    assert call(*asked, "--experiment", cwd=folder).code == 0
    return folder


def measured(folder, *more):
    ended = call("measure", SAMPLE, "release", "--quiet", *more, cwd=folder)
    assert ended.code == 0, ended.err
    return ended


def test_the_headline_is_short_and_names_what_figures_are_compared_with(folder):
    said = measured(folder).out
    headline = sv.measure(SAMPLE, folder / "release").headline
    assert len(headline) <= 10
    for one in headline:
        (line,) = [line for line in said.splitlines() if line.startswith(f"  {one.text} ")]
        assert one.shown in line
        assert line.endswith(f"({one.base})" if one.base else one.shown)
    assert "without the release)" in said
    assert "not computed" not in said.casefold()


def test_all_figures_are_grouped_each_once(folder):
    said = measured(folder, "--all").out
    assert (
        said.index("Utility: ") < said.index("records-touched") < said.index("Privacy: ") < said.index("still-on-top")
    )
    assert said.count("dissimilarity ") == 1, "its settings show the same figure"
    (last,) = [line for line in said.splitlines() if "ot computed" in line]
    assert said.rstrip().endswith(last)
    assert last.startswith("Not computed: ")
    assert "5 (needs itemsets, min_support)" in last


def test_a_named_metric_states_why_it_has_no_figure(folder):
    said = measured(folder, "--metric", "tlost", "--metric", "record-loss").out
    assert "not computed, needs k" in said
    assert "still-on-top" not in said


def test_json_has_the_headline_and_every_metric(folder):
    found = measured(folder, "--json").json
    python = sv.measure(SAMPLE, folder / "release")
    assert [one["text"] for one in found["headline"]] == [one.text for one in python.headline]
    assert [one["name"] for one in found["metrics"]] == [one.name for one in python]


def test_all_and_a_metric_contradict_each_other(folder):
    ended = call("measure", SAMPLE, "release", "--all", "--metric", "tlost", cwd=folder)
    assert ended.code == 2
    assert ended.sentence() == "--all and --metric contradict each other: use one of them"


def test_a_release_without_privacy_metrics_says_so(folder):
    asked = (
        "publish",
        SAMPLE,
        "--method",
        "disassociation",
        "--k",
        3,
        "--m",
        2,
        "--attack",
        "none",
        "--measure",
        "none",
    )
    assert call(*asked, "--out", "chunks", cwd=folder).code == 0
    said = call("measure", SAMPLE, "chunks", cwd=folder).out
    assert "Privacy: what can still be inferred\n  no figure was measured\n" in said
    assert "in at least 3 records that no record chunk shows" in said
