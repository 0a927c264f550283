"""The experiments of takenouchi2012 run again: figures that come out the same, and limits with which nothing can be published."""

import csv
import io
from dataclasses import replace

import pytest

import setveil as sv
from setveil.errors import BadParameter, Missing
from setveil.presence.methods.extended_mondrian import ExtendedMondrian
from setveil.reproduce import presence_lines
from setveil.reproduce.adult import adult_originals
from setveil.reproduce.presence_lines import KINDS, READINGS, TITLES, VARIANTS, Plan, at, error_of, within
from setveil.reproduce.presence_measuring import LINES_OF_FIGURE_2, LINES_OF_FIGURE_3, NOTHING, keys_of
from setveil.reproduce.site_presence import reproduce

from reproduce.tiny import shrink_presence, write_tiny_adult

THETAS = Plan((), ()).thetas


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Give the data folder of a small run and what two runs of it gave, the second with one thread."""
    folder = write_tiny_adult(tmp_path_factory.mktemp("data"))
    with pytest.MonkeyPatch.context() as patch:
        shrink_presence(patch)
        return folder, reproduce(folder), reproduce(folder, threads=1)


def test_every_figure_is_there_for_every_line_selectivity_and_pair_of_keys(tiny):
    figures = tiny[1].figures
    for seed in (0, 1):
        for dataset, lines in (("Adult", LINES_OF_FIGURE_2), ("Adult, B inside A", LINES_OF_FIGURE_3)):
            for line in (*lines, "one-group"):
                assert figures.value(dataset, line, "groups", seed) >= 1
                for kind in KINDS:
                    for theta in THETAS:
                        assert figures.value(dataset, line, error_of(kind), seed, at(theta)) >= 0
        for line in ("default", "default-qi"):
            assert all(figures.value("Adult", line, "groups", seed, name) is not None for name in VARIANTS)
    assert figures.value("Adult, B inside A", "mpalm", "groups", 0) >= 1
    assert {row.method for row in figures.rows} == set(TITLES)


def test_the_same_keys_give_the_same_figures_with_any_number_of_threads(tiny):
    assert tiny[1].figures.rows == tiny[2].figures.rows
    assert len(tiny[1].figures.rows) > 500


def test_limits_that_everybody_as_one_group_breaks_have_no_error_but_a_reason(tiny):
    figures = tiny[1].figures
    for line in ("protocol", "protocol-qi"):
        for least, most in Plan((), ()).pairs:
            found = figures.spread("Adult", line, error_of(KINDS[0]), within("a", least, most))
            possible = float(least) <= 1 / 3 <= float(most)
            assert (found.mean is not None) == possible, (line, least, most)
            assert found.note == ("" if possible else NOTHING)
    half = figures.spread("Adult", "protocol-qi", "groups", within("b", "0.5", "0.5"))
    assert half.mean == 1  # exactly half of B's users are common, and no part of them can be divided off
    assert figures.spread("Adult", "protocol", "groups", within("b", "0.5", "0.5")).note == NOTHING


def test_dropping_absent_users_leaves_one_group(tiny):
    figures = tiny[1].figures
    assert figures.value("Adult", "dropped", "groups", 0) == 1
    for kind in KINDS:
        both = [figures.value("Adult", line, error_of(kind), 0, at("10%")) for line in ("dropped", "one-group")]
        assert both[0] == both[1]


def test_figures_agree_with_what_the_library_gives(tiny):
    folder, run, _again = tiny
    originals = adult_originals(folder, common=90, only_a=180, only_b=90)
    method = ExtendedMondrian(max_a="0.9", min_a="0.1", max_b="0.9", min_b="0.1", scope="qi")
    made = method.apply(originals, keys=keys_of(1))
    error = sv.RangeQueryError(selectivity="20%", queries=200)(originals, made.table).value
    assert run.figures.value("Adult", "extended-qi", "error-domain", 1, "θ=20%") == pytest.approx(error)
    assert run.figures.value("Adult", "extended-qi", "groups", 1) == made.account["groups"]


def test_the_usual_settings_are_those_of_figure_2(tiny):
    figures = tiny[1].figures
    for seed in (0, 1):
        usual = figures.value("Adult", "default", "error-even", seed, "α=0.5")
        assert usual == figures.value("Adult", "default", "error-even", seed, at("10%"))


def test_the_table_tells_keys_and_settings(tiny):
    rows = [*csv.DictReader(io.StringIO(tiny[1].figures.to_csv()))]
    assert [*rows[0]] == ["dataset", "method", "keys", "setting", "metric", "value", "note"]
    assert {row["note"] for row in rows} == {"", NOTHING}


def test_people_are_counted(tiny):
    described = {entry["name"]: entry for entry in tiny[1].datasets}
    assert {key: described["Adult"][key] for key in ("records", "users_a", "users_b", "common", "neither")} == {
        "records": 472, "users_a": 270, "users_b": 180, "common": 90, "neither": 112,
    }  # fmt: skip
    assert described["Adult, B inside A"]["users_b"] == described["Adult, B inside A"]["common"] == 90


def test_quick_is_one_pair_of_keys_at_few_limits(tiny, monkeypatch):
    shrink_presence(monkeypatch)
    run = reproduce(tiny[0], full=False)
    assert (run.about["seeds"], run.about["quick"]) == ([0], True)
    asked = {row.support for row in run.figures.rows if row.support.startswith("A: ")}
    assert asked == {within("a", *pair) for pair in presence_lines.QUICK.pairs}
    assert len(asked) < len(Plan((), ()).pairs)
    assert all(row in tiny[1].figures.rows for row in run.figures.rows)


def test_each_reading_has_its_own_lines():
    assert set(READINGS["qi"]) <= set(TITLES)
    assert set(READINGS["qi"].values()) <= set(TITLES)


def test_data_that_are_missing_are_named(tmp_path):
    with pytest.raises(Missing, match=r"adult\.csv\.gz is not in .*; name the folder that holds it with `data=`"):
        reproduce(tmp_path)


@pytest.mark.parametrize("seeds", [(), (-1,)])
def test_seeds_that_are_none_are_refused(seeds):
    with pytest.raises(BadParameter, match="at least one seed"):
        reproduce("nowhere", seeds=seeds)


@pytest.mark.exhaustive
@pytest.mark.realdata
def test_a_small_part_of_the_quick_run_on_adult(real_folder):
    plan = replace(
        presence_lines.QUICK, thetas=("10%",), largest=("0.9", "0.3"), least=("0.1",), variants=("α=1",), queries=1_000
    )
    run = reproduce(real_folder, full=False, plan=plan)
    figures = run.figures
    assert [entry["users_a"] for entry in run.datasets] == [18_000, 18_000]
    assert [entry["users_b"] for entry in run.datasets] == [12_000, 6_000]
    assert figures.value("Adult, B inside A", "mpalm", "groups", 0) == 2522
    assert 60 <= figures.value("Adult", "protocol", "groups", 0) <= 140
    assert 400 <= figures.value("Adult", "protocol-qi", "groups", 0) <= 700
    by_claim = {verdict.claim.key: verdict for verdict in run.verdicts}
    assert by_claim["mpalm-divides-more"].status == by_claim["qi-divides-more"].status == "holds"
    assert by_claim["dropped-divides-nothing"].status == "holds"
    assert by_claim["every-pair"].findings[0].tally == "2 of 4"
    floor = {kind: figures.value("Adult", "one-group", error_of(kind), 0, at("10%")) for kind in KINDS}
    assert floor["even"] < 0.2
    assert floor["domain"] > 10
