"""The experiments of gunawan2019 run again: the data have the paper's shape, figures are ours and come out the same every time."""

import csv
import io

import numpy as np
import pytest

from setveil.errors import BadParameter, Missing
from setveil.metrics.itemsets import FiSimilarity, FrequentItemsets
from setveil.parameters.categories import Categories
from setveil.reproduce import tendency_swapping
from setveil.reproduce.browsing import ITEMS, OCCURRENCES, RECORDS, generated_browsing
from setveil.reproduce.figures import Figure, Figures
from setveil.reproduce.sources import data_folder
from setveil.reproduce.tendency_swapping import METHODS, WHOLE_RECORDS, read_datasets, reproduce

from reproduce.tiny import shrink, write_tiny


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Give the data folder of a small run and what two runs of it gave, the second with one thread."""
    folder = write_tiny(tmp_path_factory.mktemp("data"))
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        return folder, reproduce(folder), reproduce(folder, threads=1)


# -- the data ---------------------------------------------------------------------------------------------------------------


def test_the_generated_set_has_the_shape_of_wd():
    data = generated_browsing()
    assert (data.records, data.occurrences, len(data.vocabulary)) == (RECORDS, OCCURRENCES, ITEMS)
    assert (RECORDS, OCCURRENCES, ITEMS) == (797, 174_499, 26_506)
    assert data.supports.min() >= 1
    assert 0.5 < data.supports.max() / RECORDS < 0.8
    assert np.median(data.lengths) < data.lengths.mean() - 40 < data.lengths.max() / 3


def test_the_generated_set_depends_on_its_seed_alone():
    small = {"records": 50, "occurrences": 900, "items": 200}
    assert generated_browsing(**small) == generated_browsing(**small)
    assert generated_browsing(**small) != generated_browsing(**small, seed=1)


@pytest.mark.parametrize(("records", "occurrences", "items"), [(1, 5, 5), (10, 10, 3), (10, 100, 10), (7, 400, 390)])
def test_the_generated_set_meets_any_counts(records, occurrences, items):
    data = generated_browsing(records=records, occurrences=occurrences, items=items)
    assert (data.records, data.occurrences, len(data.vocabulary)) == (records, occurrences, items)
    assert data.supports.min() >= 1


@pytest.mark.parametrize("impossible", [(5, 4, 3), (5, 6, 7), (2, 9, 4)])
def test_counts_that_do_not_go_together_are_refused(impossible):
    with pytest.raises(BadParameter, match="cannot hold"):
        generated_browsing(**dict(zip(("records", "occurrences", "items"), impossible, strict=True)))


def test_data_are_looked_for_where_they_were_named_then_in_the_variable_then_beside(monkeypatch, tmp_path):
    monkeypatch.setenv("SETVEIL_DATA", str(tmp_path / "variable"))
    assert data_folder("given").name == "given"
    assert data_folder() == tmp_path / "variable"
    monkeypatch.delenv("SETVEIL_DATA")
    assert data_folder().parts[-2:] == ("shared", "data")


def test_data_that_are_missing_are_named(tmp_path):
    write_tiny(tmp_path, names=["bms-webview-1"])
    with pytest.raises(
        Missing, match=r"bms-webview-2\.dat\.gz is not in .*; name the folder that holds it with `data=`"
    ):
        read_datasets(tmp_path, full=False)


def test_what_more_there_is_in_full_is_left_out_where_it_is_missing(tmp_path, notes):
    write_tiny(tmp_path, names=["bms-webview-1", "bms-webview-2", "retail"])
    names = [dataset.name for dataset in read_datasets(tmp_path, full=True)]
    assert names == ["BMS1", "BMS2", "WD-like", "BMS1 full", "BMS2 full", "retail"]
    assert "bms-pos-100k.dat.gz is not in" in notes()


# -- a small run ------------------------------------------------------------------------------------------------------------


def test_every_figure_is_there_for_every_method_and_seed(tiny):
    figures = tiny[1].figures
    for dataset in tiny[1].datasets:
        name = dataset["name"]
        assert len(figures.supports(name)) == (4 if name == "WD-like" else 2)
        for method in (*METHODS, WHOLE_RECORDS):
            for seed in (0, 1, 2):
                for support in figures.supports(name):
                    assert figures.value(name, method, "frequent-itemsets", seed, support) is not None
                assert figures.value(name, method, "seconds", seed) > 0
                assert figures.value(name, method, "record-loss", seed) is not None
                on_top = figures.value(name, method, "still-on-top", seed)
                assert (on_top is None) == (method == "split-person")


def test_the_same_seeds_give_the_same_figures_but_for_the_seconds(tiny):
    first, again = ([row for row in run.figures.rows if row.metric != "seconds"] for run in tiny[1:])
    assert first == again
    assert len(first) > 500


def test_figures_agree_with_the_metrics_of_the_catalog(tiny):
    folder, run, _again = tiny
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        data = read_datasets(folder, full=False)[0].data
    method = METHODS["part-supp"](Categories.at_random(data.vocabulary, 50, seed=1))
    published = method.apply(data, rng=np.random.default_rng(1)).published
    for metric in (FiSimilarity, FrequentItemsets):
        measured = metric(min_support="2%")(data, published)
        assert run.figures.value("BMS1", "part-supp", metric.name, 1, "2%") == measured.value


def test_whole_records_permuted_look_perfect_to_the_papers_figures(tiny):
    figures = tiny[1].figures
    assert figures.spread("BMS1", WHOLE_RECORDS, "fi-similarity", "2%").low == 1
    assert figures.spread("BMS1", WHOLE_RECORDS, "dissimilarity-per-item").high == 0
    assert figures.spread("BMS1", WHOLE_RECORDS, "record-loss").low > 0.5


def test_too_many_itemsets_are_a_note_and_no_crash(tiny, monkeypatch):
    folder = tiny[0]
    shrink(monkeypatch)
    monkeypatch.setattr(tendency_swapping, "mine", lambda data, support, **more: few(data, support, limit=10, **more))
    run = reproduce(folder, full=False, seeds=(0,))
    cell = next(row for row in run.figures.rows if row.metric == "frequent-itemsets" and row.value and row.value > 10)
    assert cell.note == f"too many to list ({cell.value:,.0f})"
    similar = run.figures.spread(cell.dataset, "part-swap", "fi-similarity", cell.support)
    assert (similar.mean, similar.note) == (None, "too many itemsets to compare")


few = tendency_swapping.mine


def test_the_long_table_is_csv_with_one_value_a_row(tiny):
    rows = [*csv.DictReader(io.StringIO(tiny[1].figures.to_csv()))]
    assert [*rows[0]] == ["dataset", "method", "category_seed", "support", "metric", "value", "note"]
    assert len(rows) == len(tiny[1].figures.rows)
    assert {row["category_seed"] for row in rows if row["method"] == "original"} == {""}


def test_a_spread_is_open_where_a_value_is_missing():
    figures = Figures([Figure("d", "m", 0, "", "x", 1.0), Figure("d", "m", 1, "", "x", None, "why")])
    assert figures.spread("d", "m", "x").mean is None
    assert figures.spread("d", "m", "x").note == "why"
    assert figures.spread("d", "m", "other").mean is None


# -- the real data ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bms1(real_folder):
    """Give the figures of PartSwap and RandSwap on the paper's first data set."""
    dataset = read_datasets(real_folder, full=False)[0]
    figures = Figures()
    experiment = tendency_swapping._Experiment(dataset, figures)
    experiment.measure_original()
    for seed in tendency_swapping.SEEDS:
        categories = Categories.at_random(dataset.data.vocabulary, 50, seed=seed)
        for name in METHODS:
            experiment.measure(name, categories, seed)
    return dataset, figures


@pytest.mark.realdata
def test_the_real_data_are_those_of_table_3(real_folder):
    one, two, generated = (dataset.to_dict() for dataset in read_datasets(real_folder, full=False))
    for found in (one, generated):
        assert {key: found[key] for key in found["printed"]} == found["printed"]
    assert abs(two["items"] / 23_530 - 1) < 0.01
    assert abs(two["distinct"] / 2_717 - 1) < 0.01


@pytest.mark.realdata
def test_the_original_has_as_many_frequent_itemsets_as_were_found_before(bms1):
    _dataset, figures = bms1
    found = [figures.spread("BMS1", "original", "frequent-itemsets", s).mean for s in figures.supports("BMS1")]
    assert found == [1985, 753, 411, 291]


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("part-swap-paper", (0.64, 0.74, 0.84, 0.87)),
        ("part-swap", (0.64, 0.74, 0.84, 0.88)),
        ("rand-swap", (0.60, 0.65, 0.74, 0.77)),
        ("part-supp", (0.61, 0.69, 0.79, 0.82)),
        ("split-person", (0.07, 0.15, 0.21, 0.22)),
    ],
)
def test_similarities_are_those_of_an_earlier_program(bms1, method, expected):
    _dataset, figures = bms1
    found = [figures.spread("BMS1", method, "fi-similarity", s).mean for s in figures.supports("BMS1")]
    assert found == pytest.approx(expected, abs=0.04)


@pytest.mark.realdata
def test_part_swap_hides_and_rand_swap_does_not(bms1):
    _dataset, figures = bms1
    assert figures.spread("BMS1", "part-swap", "not-hidden").high == 0
    assert figures.spread("BMS1", "part-swap-paper", "not-hidden").high < 0.02
    assert figures.spread("BMS1", "rand-swap", "still-on-top").low > 0.8
    assert figures.spread("BMS1", "part-supp", "dissimilarity-printed").mean == pytest.approx(0.054, abs=0.005)
