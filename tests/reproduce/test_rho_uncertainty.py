"""The experiments of jia2014 run again: drawn sensitive items, a generated Syn, figures that come out the same, and the real data."""

import csv
import io
from fractions import Fraction

import numpy as np
import pytest

import setveil as sv
from setveil.errors import BadParameter, Missing
from setveil.reproduce import uncertainty_lines as lines
from setveil.reproduce.figures import Figures
from setveil.reproduce.rho_uncertainty import (
    COMPARED,
    IN_FIGURE_2,
    IN_FIGURE_5,
    IN_FIGURE_9,
    UNSPLIT,
    read_datasets,
    reproduce,
    work_of,
)
from setveil.reproduce.uncertainty_lines import POS, RETAIL, SYN, WV, at_degree, at_rho, at_t_max
from setveil.reproduce.uncertainty_measuring import (
    Experiment,
    SensitiveSet,
    cut_to,
    drawn,
    method_of,
    nearest_seeds,
    without_sensitive,
)
from setveil.reproduce.uncertainty_printed import SENSITIVE_SHARE, printed_figures
from setveil.reproduce.uniform import generated_uniform

from oracle.uncertainty import unsafe_items
from reproduce.tiny import shrink_uncertainty, write_tiny

LOW, HIGH = at_rho("0.3"), at_rho("0.7")
TIMES = ("seconds", "table-3-seconds", "scale-seconds", "t-max-seconds", "permutation-seconds", "seconds-in-parts")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Give the data folder of a small run and what two runs of it gave, the second with one thread."""
    folder = write_tiny(tmp_path_factory.mktemp("data"))
    with pytest.MonkeyPatch.context() as patch:
        shrink_uncertainty(patch)
        return folder, reproduce(folder, threads=2), reproduce(folder, threads=1)


# -- the data, and which items are sensitive --------------------------------------------------------------------------------


def test_the_generated_data_set_has_the_shape_that_is_asked_for():
    data = generated_uniform(records=20_000, items=500, occurrences=84_000, longest=12)
    assert data.records == 20_000
    assert len(data.vocabulary) == 500
    assert data.lengths.min() == 1
    assert data.lengths.max() == 12
    assert data.occurrences == pytest.approx(84_000, rel=0.08)  # the longest are cut
    lengths = np.bincount(data.lengths)[1:11]
    assert (np.diff(lengths) < 0).all()
    ratios = lengths[1:7] / lengths[:6]
    assert ratios == pytest.approx(
        [1 - 20_000 / 84_000] * 6, abs=0.06
    )  # geometric: each a fixed share of the one before
    expected = data.occurrences / 500
    assert np.abs(data.supports - expected).max() < 6 * np.sqrt(expected)  # uniform
    assert data == generated_uniform(records=20_000, items=500, occurrences=84_000, longest=12)
    assert data != generated_uniform(records=20_000, items=500, occurrences=84_000, longest=12, seed=1)


@pytest.mark.parametrize("wrong", [{"occurrences": 10}, {"occurrences": 900, "longest": 8}, {"longest": 41}])
def test_a_shape_that_cannot_be_is_refused(wrong):
    with pytest.raises(BadParameter, match="cannot hold"):
        generated_uniform(**{"records": 100, "items": 40, "occurrences": 400, "longest": 10, **wrong})


def test_seeds_are_those_with_the_nearest_share():
    data = generated_uniform(records=300, items=50, occurrences=1200, longest=20)
    shares = [data.supports[drawn(50, seed)].sum() / data.occurrences for seed in range(40)]
    chosen = nearest_seeds(data, 0.41, among=40, how_many=3)
    apart = [abs(share - 0.41) for share in shares]
    assert [apart[seed] for seed in chosen] == sorted(apart)[:3]
    assert drawn(50, 3).sum() == 20
    order = np.random.default_rng(3).permutation(50)
    assert drawn(50, 3)[order].tolist() == [True] * 20 + [False] * 30


def test_records_are_cut_and_sensitive_items_deleted():
    data = sv.from_lists([list("abcdefg"), list("ab"), ["g"], []])
    assert cut_to(data, 5).to_lists() == [list("abcde"), list("ab"), ["g"], []]
    is_sensitive = np.array([label in "ag" for label in data.vocabulary])
    assert without_sensitive(data, is_sensitive).to_lists() == [list("bcdef"), ["b"], [], []]


def test_data_that_are_missing_are_named_and_others_left_out(tmp_path, notes, monkeypatch):
    shrink_uncertainty(monkeypatch)
    with pytest.raises(
        Missing, match=r"bms-webview-2\.dat\.gz is not in .*; name the folder that holds it with `data=`"
    ):
        read_datasets(tmp_path, full=False)
    write_tiny(tmp_path, names=["bms-webview-2"])
    assert [dataset.name for dataset in read_datasets(tmp_path, full=True)] == [WV, SYN]
    assert "retail.dat.gz is not in" in notes()
    assert [dataset.name for dataset in read_datasets(tmp_path, full=False)] == [WV]


@pytest.mark.parametrize("seeds", [(), (-1,)])
def test_seeds_that_are_none_are_refused(seeds):
    with pytest.raises(BadParameter, match="at least one seed"):
        reproduce("nowhere", seeds=seeds)


# -- a small run ------------------------------------------------------------------------------------------------------------


def test_every_figure_is_there(tiny):
    run = tiny[1]
    assert [dataset["name"] for dataset in run.datasets] == [WV, RETAIL, POS, SYN]
    for dataset in run.datasets:
        name = dataset["name"]
        assert len(dataset["sensitive_seeds"]) == 2
        for at in (LOW, HIGH):
            for line in (*COMPARED, lines.TRIVIAL, lines.BOUND):
                assert run.figures.value(name, line, "info-loss", 0, at) is not None, (name, line)
        for line in (lines.MINE, lines.DIST, lines.GLOBAL, lines.TD):
            assert run.figures.value(name, line, "table-3-seconds", 0) is not None, (name, line)
    for rho in lines.RHOS:
        for line in (*IN_FIGURE_2, lines.TRIVIAL, lines.BOUND):
            assert run.figures.spread(WV, line, "info-loss", at_rho(rho)).mean is not None
    for line in (lines.MINE, lines.DIST, *UNSPLIT):
        assert run.figures.value(RETAIL, line, "scale-seconds", 0, "1/5") is not None
    for t_max in lines.T_MAXES:
        assert run.figures.spread(RETAIL, lines.DIST, "t-max-loss", at_t_max(t_max)).mean is not None
    for line in IN_FIGURE_9:
        cell = run.figures.spread(WV, line, "reconstruction-kl", at_degree(4))
        assert cell.mean is not None or cell.note, line
    rules = {row.method for row in run.figures.rows if row.dataset == WV and row.metric == "cut-rule-similarity"}
    assert rules == {*IN_FIGURE_5}


def test_the_same_seeds_give_the_same_figures_but_for_the_times(tiny):
    first, again = ([row for row in run.figures.rows if row.metric not in (*TIMES, "threads")] for run in tiny[1:])
    assert first == again
    assert len(first) > 500


def test_losses_stand_between_the_bound_and_everything(tiny):
    figures = tiny[1].figures
    for dataset in tiny[1].datasets:
        name = dataset["name"]
        for draw in (0, 1):
            for at in (LOW, HIGH):
                bound = figures.value(name, lines.BOUND, "info-loss", draw, at)
                trivial = figures.value(name, lines.TRIVIAL, "info-loss", draw, at)
                assert 0 <= bound <= trivial
                for line in (lines.INSERT, lines.GLOBAL_OURS):
                    assert bound <= figures.value(name, line, "info-loss", draw, at) <= trivial
                for line in (lines.MINE, lines.DIST):
                    assert bound <= figures.value(name, line, "info-loss", draw, at) < 1
            found = [row.value for row in figures.rows if row.metric == "unsafe-items" and row.dataset == name]
            assert found
            assert not any(found)


def test_a_measured_release_is_safe_by_the_definition():
    data = generated_uniform(records=60, items=12, occurrences=180, longest=6)
    dataset = SensitiveSet("tiny", "paper", "", (), data, None, (5,))
    on = Experiment(dataset, Figures())
    on.measure_original(("0.7",))
    sensitive = set(dataset.sensitive(0))
    for line in (lines.MINE, lines.DIST, lines.GLOBAL, lines.INSERT):
        made, _seconds = on.made(data, method_of(line, dataset.sensitive(0), "0.7", data), 0)
        records = [set(record) for record in made.published.to_lists()]
        assert not unsafe_items(records, sensitive, Fraction(7, 10), include_empty=False)


def test_runs_in_the_same_parts_are_not_made_again(tiny):
    figures = tiny[1].figures
    made = [row for row in figures.rows if (row.dataset, row.metric) == (RETAIL, "seconds-in-parts")]
    assert len(made) == len({(row.method, row.seed, row.support) for row in made})
    unsplit = figures.value(RETAIL, lines.MINE, "t-max-loss", 0, at_t_max(8000))
    assert unsplit == figures.value(RETAIL, lines.MINE_WHOLE, "info-loss", 0, HIGH)


def test_what_the_paper_prints_stands_under_names_of_its_own(tiny):
    rows = [*csv.DictReader(io.StringIO(tiny[1].figures.to_csv()))]
    assert [*rows[0]] == ["dataset", "method", "draw", "setting", "metric", "value", "note"]
    printed = [row for row in rows if row["method"].startswith("printed-")]
    assert len(printed) == len(printed_figures([WV, RETAIL, POS, SYN])) == 15 + 3
    assert all(lines.TITLES[row["method"]].endswith("(as printed)") for row in printed)


def test_quick_is_one_draw_on_wv(tiny, monkeypatch):
    shrink_uncertainty(monkeypatch)
    run = reproduce(tiny[0], full=False)
    assert (run.about["seeds"], [dataset["name"] for dataset in run.datasets]) == ([0], [WV])
    assert {verdict.claim.key: verdict.status for verdict in run.verdicts}["superlinear"] == "cannot be decided"
    for line in (lines.MINE, lines.INSERT, lines.TRIVIAL, lines.BOUND):
        mine = run.figures.value(WV, line, "info-loss", 0, HIGH)
        assert mine == tiny[1].figures.value(WV, line, "info-loss", 0, HIGH)


# -- the real data ----------------------------------------------------------------------------------------------------------


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("file", "name", "seed"), [("bms-webview-2", WV, 23), ("retail", RETAIL, 231), ("bms-pos-100k", POS, 200)]
)
def test_the_nearest_seeds_are_those_of_the_specification(real_data, file, name, seed):
    assert nearest_seeds(real_data(file), SENSITIVE_SHARE[name], among=300, how_many=3)[0] == seed


@pytest.mark.exhaustive
@pytest.mark.realdata
def test_on_wv_the_figures_are_those_of_an_earlier_program(real_folder):
    dataset = read_datasets(real_folder, full=False)[0]
    figures = Figures()
    on = Experiment(dataset, figures)
    assert len(work_of(on, full=False)) > 30
    on.measure_original(("0.7",))
    on.measure_limits(0, "0.7")
    for line in (lines.MINE, lines.DIST, lines.INSERT):
        on.measure(line, 0, "0.7")

    def loss(line):
        return figures.value(WV, line, "info-loss", 0, HIGH)

    assert loss(lines.TRIVIAL) == pytest.approx(0.384, abs=0.0005)
    assert loss(lines.BOUND) == pytest.approx(0.165, abs=0.0005)
    assert loss(lines.MINE) == pytest.approx(0.270, abs=0.005)
    assert loss(lines.DIST) == pytest.approx(0.520, abs=0.01)
    assert loss(lines.INSERT) == pytest.approx(0.261, abs=0.003)
    assert figures.value(WV, lines.DIST, "symmetric-kl", 0, HIGH) == pytest.approx(0.0027, abs=0.0006)
