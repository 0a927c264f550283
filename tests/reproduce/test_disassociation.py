"""The experiments of awad2020 run again: drawn rules, figures that are ours and come out the same, the paper's beside them."""

import csv
import io

import numpy as np
import pytest

import setveil as sv
from setveil.errors import BadData, BadParameter, Missing
from setveil.methods.disassociation.reassociation import spin
from setveil.mining.supports import supports
from setveil.mining.tree_distance import tree_distance
from setveil.reproduce import disassociation
from setveil.reproduce.disassociation import lines_at_hand, read_dataset, reproduce
from setveil.reproduce.disassociation_lines import (
    FREQUENT,
    RANDOM,
    RULE_SETS,
    SETTINGS,
    SPREAD,
    TITLES,
    printed_figures,
)
from setveil.reproduce.disassociation_measuring import LINES, Experiment, draw_rules
from setveil.reproduce.figures import Figures

from reproduce.tiny import shrink_disassociation, write_tiny

NAMES = ["bms-webview-1"]
WHEELS = ("wheel", "wheel-safe")
DRAWN = ("ted", "records", "items-left-out", "rare-pairs", "rare-itemsets", "records-with-rare-itemsets")
ERRORS = (
    "rae-ur-inside",
    "rae-ur-expected",
    "rae-ga-inside",
    "rae-ga-expected",
    "alpha-mean-inside",
    "alpha-mean-expected",
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Give the data folder of a small run and what two runs of it gave, the second with one thread."""
    folder = write_tiny(tmp_path_factory.mktemp("data"), names=NAMES)
    with pytest.MonkeyPatch.context() as patch:
        shrink_disassociation(patch)
        return folder, reproduce(folder), reproduce(folder, threads=1)


# -- which rules are to be kept -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RULE_SETS)
def test_rules_go_from_the_most_frequent_pair_to_one_of_two_records(tmp_path, kind):
    data = read_dataset(write_tiny(tmp_path, names=NAMES)).data
    rules = draw_rules(data, kind, seed=0)
    counts = supports(data, list(rules))
    assert len(set(rules)) == len(rules) == 70
    assert {len(rule) for rule in rules} == {2}
    everything = sv.mine(data, 2, min_length=2, max_length=2).ordered().supports
    assert (counts.max(), counts.min()) == (everything[0], 2)
    assert rules == draw_rules(data, kind, seed=0)
    assert rules != draw_rules(data, kind, seed=1)
    if kind == FREQUENT:
        assert sorted(counts.tolist(), reverse=True)[:69] == everything[:69].tolist()


def test_spread_rules_have_counts_in_equal_steps_of_powers():
    pairs = [(count, copy) for count in range(2, 51) for copy in range(12)]
    data = sv.from_lists([[f"a{count}.{copy}", f"b{count}.{copy}"] for count, copy in pairs for _ in range(count)])
    counts = np.sort(supports(data, list(draw_rules(data, SPREAD, seed=0))))
    assert np.abs(counts - np.geomspace(2, 50, 70)).max() <= 1.5
    frequent = supports(data, list(draw_rules(data, FREQUENT, seed=0)))
    assert counts.sum() < frequent.sum()


def test_where_there_are_fewer_pairs_all_of_them_are_rules():
    data = sv.from_lists([["a", "b", "c"]] * 5)
    assert len(draw_rules(data, RANDOM, seed=0)) == 3
    with pytest.raises(BadData, match="no two items are together in two records"):
        draw_rules(sv.from_lists([["a", "b"], ["c"]]), RANDOM, seed=0)


# -- what is refused, and what is left out ------------------------------------------------------------------------------------


def test_data_that_are_missing_are_named(tmp_path):
    with pytest.raises(
        Missing, match=r"bms-webview-1\.dat\.gz is not in .*; name the folder that holds it with `data=`"
    ):
        read_dataset(tmp_path)


@pytest.mark.parametrize("seeds", [(), (-1,)])
def test_seeds_that_are_none_are_refused(seeds):
    with pytest.raises(BadParameter, match="at least one seed"):
        reproduce("nowhere", seeds=seeds)


def test_without_scikit_learn_k_means_is_left_out_and_told(monkeypatch, notes):
    assert lines_at_hand() == [*LINES]
    monkeypatch.setattr(disassociation, "find_spec", lambda _name: None)
    assert lines_at_hand() == [line for line in LINES if "kmeans" not in line]
    assert "scikit-learn is not installed: k-means is left out" in notes()


# -- a small run --------------------------------------------------------------------------------------------------------------


def test_every_figure_is_there_for_every_line_setting_and_seed(tiny):
    figures = tiny[1].figures
    for seed in (0, 1, 2):
        for line in WHEELS:
            for setting in SETTINGS:
                for metric in DRAWN:
                    assert figures.value("BMS1", line, metric, seed, setting) is not None, (line, metric, setting)
                assert figures.spread("BMS1", line, "ted-deviation", setting).mean is not None
        for kind in RULE_SETS:
            for line in LINES:
                for metric in ERRORS:
                    assert figures.value("BMS1", line, metric, seed, kind) is not None, (line, metric, kind)
    assert {line for line in LINES if "ugac" in line} == {
        row.method for row in figures.rows if row.metric == "rules-reached"
    }


def test_the_same_seeds_give_the_same_figures(tiny):
    assert tiny[1].figures.rows == tiny[2].figures.rows
    assert tiny[1].more == tiny[2].more
    assert len(tiny[1].figures.rows) > 1000


def test_safe_clusters_break_nothing_and_plain_ones_do(tiny):
    figures = tiny[1].figures
    assert all(figures.value("BMS1", "wheel-safe", "violations", 0, setting) == 0 for setting in SETTINGS)
    assert any(figures.value("BMS1", "wheel", "violations", 0, setting) > 0 for setting in SETTINGS)
    for setting in SETTINGS:
        below, violations = (figures.value("BMS1", "wheel", m, 0, setting) for m in ("clusters-below-k", "violations"))
        assert violations >= below


def test_figures_agree_with_what_the_library_gives(tiny):
    folder, run, _again = tiny
    data = read_dataset(folder).data
    method = sv.Disassociation(k=3, m=3, delta=40, safe=False)
    published = method.apply(data, rng=np.random.default_rng(5)).published
    made, _slots = spin(published, np.random.default_rng([1, 3, 40]))
    figures = run.figures
    assert figures.value("BMS1", "wheel", "ted", 1, "k=m=3, δ=40") == tree_distance(data, made)
    assert figures.value("BMS1", "wheel", "records", 1, "k=m=3, δ=40") == made.records
    left_out = figures.value("BMS1", "wheel", "items-left-out", 1, "k=m=3, δ=40")
    assert left_out == data.occurrences - made.occurrences <= tree_distance(data, made)


def test_counts_and_ranks_are_means_over_all_settings(tiny):
    folder, run, _again = tiny
    data = read_dataset(folder).data
    top = run.more["sets"]["pair 1"]
    counts = []
    for k in (2, 3, 4):
        for delta in (20, 40, 60):
            method = sv.Disassociation(k=k, m=k, delta=delta)
            published = method.apply(data, rng=np.random.default_rng(0)).published
            made, _slots = spin(published, np.random.default_rng([2, k, delta]))
            found = int(supports(made, [top])[0])
            counts.append(found if found >= 0.02 * made.records else 0)
    assert run.figures.value("BMS1", "wheel-safe", "count", 2, "pair 1") == pytest.approx(np.mean(counts))
    ranks = [run.figures.value("BMS1", "wheel-safe", "rank", 2, f"pair {place}") for place in range(1, 18)]
    of_all = [run.figures.value("BMS1", "wheel-safe", "count", 2, f"pair {place}") for place in range(1, 18)]
    for one, other in zip(np.argsort(ranks), np.argsort(ranks)[1:], strict=False):
        assert of_all[one] >= of_all[other]


def test_the_centroid_is_one_of_those_made(tiny):
    figures = tiny[1].figures
    for line in WHEELS:
        for k in (2, 3, 4):
            setting = f"k=m={k}, δ=20"
            found = [figures.value("BMS1", line, "ted", seed, setting) for seed in (0, 1, 2)]
            assert figures.value("BMS1", line, "ted-of-centroid", 0, setting) in found
            assert figures.value("BMS1", line, "ted-mean", 0, setting) == pytest.approx(np.mean(found))
            assert figures.value("BMS1", line, "ted-deviation", 0, setting) == pytest.approx(np.std(found, ddof=1))


def test_what_the_paper_prints_stands_under_names_of_its_own(tiny):
    rows = [*csv.DictReader(io.StringIO(tiny[1].figures.to_csv()))]
    assert [*rows[0]] == ["dataset", "method", "seed", "setting", "metric", "value", "note"]
    printed = [row for row in rows if row["method"].startswith("printed-")]
    assert len(printed) == len(printed_figures()) == 2 * 4 + 2 * 9 + 3 * 23 + 3
    assert all(TITLES[row["method"]].endswith("(as printed)") for row in printed)


def test_quick_is_two_seeds_at_four_settings(tiny, monkeypatch):
    shrink_disassociation(monkeypatch)
    run = reproduce(tiny[0], full=False)
    assert (run.about["seeds"], run.about["quick"]) == ([0, 1], True)
    assert {row.support for row in run.figures.rows if row.metric == "clusters"} == {
        f"k=m={k}, δ={delta}" for k in (2, 4) for delta in (20, 60)
    }
    ted = [row for row in run.figures.rows if row.metric == "ted" and row.seed is not None]
    assert ted == [row for row in tiny[1].figures.rows if row.metric == "ted" and row in ted]
    by_claim = {verdict.claim.key: verdict.status for verdict in run.verdicts}
    assert by_claim["centroid-nearer"] == by_claim["smaller-delta-nearer"] == "cannot be decided"


# -- the real data ------------------------------------------------------------------------------------------------------------


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("line", "k", "delta", "distance", "records", "below"),
    [
        ("wheel", 2, 20, 66_800, 55_575, 4_006),
        pytest.param("wheel", 4, 60, 78_402, 53_440, None, marks=pytest.mark.exhaustive),
        pytest.param("wheel-safe", 3, 40, 76_564, 59_550, 0, marks=pytest.mark.exhaustive),
    ],
)
def test_figures_are_those_of_an_earlier_program(real_folder, line, k, delta, distance, records, below):
    """Other re-associations, hence the room; it lacked the last record."""
    dataset = read_dataset(real_folder)
    experiment = Experiment(dataset, Figures())
    experiment.measure_setting(line, k, delta)
    experiment.measure_neighbour(line, k, delta, 0)
    setting = f"k=m={k}, δ={delta}"
    found = {row.metric: row.value for row in experiment.figures.rows if row.method == line and row.support == setting}
    assert found["ted"] == pytest.approx(distance, rel=0.015)
    assert found["records"] == pytest.approx(records, abs=10)
    assert found["violations"] == found["clusters-below-k"]
    if below is not None:
        assert found["clusters-below-k"] == below


@pytest.mark.realdata
def test_horizontal_partitioning_of_frequent_rules_errs_as_in_an_earlier_program(real_folder):
    """The rules are the same but for the one that two records hold."""
    experiment = Experiment(read_dataset(real_folder), Figures())
    experiment.measure_rules(FREQUENT, 0, ["hp"])
    found = {row.metric: row.value for row in experiment.figures.rows if row.method == "hp"}
    assert found["rae-ur-inside"] == pytest.approx(27.0, abs=0.5)
    assert found["rae-ga-inside"] == pytest.approx(88_547, rel=0.01)
    assert found["rae-ga-expected"] == pytest.approx(45_793, rel=0.015)
