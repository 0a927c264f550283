"""`setveil measure` works on a release of every method, as a table and as JSON, with and without its private folder."""

import pytest

import setveil as sv
from setveil.catalog import METHODS, METRICS

from contract.filling import filled
from contract.forms import made_from
from support.program import call
from support.random_data import make

SEED = 2**100 + 7


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Give a folder with the original and one release of each method; each is published when it is first asked for."""
    folder = tmp_path_factory.mktemp("releases")
    data, _categories = make(4, records=400, items=8)  # enough that 2 % are several records, and that rules hold
    data = data.with_ids([f"person-{r}" for r in range(data.records)]).without_empty()
    sv.write(data, folder / "original.csv")

    def release(kind):
        if not (folder / kind.name).is_dir():
            sv.publish(
                made_from(kind, data),
                filled(kind, data),
                seed=SEED,
                allow_failures=data.records,
                no_guarantee=True,
                metrics=[],
            ).save(folder / kind.name)
        return folder

    return release


@pytest.mark.parametrize("private", [True, False], ids=["with the private folder", "without it"])
@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_a_release_is_measured_as_a_headline_as_tables_and_as_json(kind, private, releases):
    folder = releases(kind)
    given = ["measure", "original.csv", kind.name, *(["--private", f"{kind.name}.private"] if private else [])]
    short, table, as_json = (call(*given, *more, cwd=folder) for more in ((), ("--all",), ("--json",)))
    assert short.code == table.code == as_json.code == 0, short.err + table.err + as_json.err
    measured, headline = as_json.json["metrics"], as_json.json["headline"]
    assert {m["name"] for m in measured} == set(METRICS)
    assert len(headline) <= 10
    assert all(f"  {one['text']} " in short.out and one["shown"] in short.out for one in headline)
    assert "not computed" not in short.out.casefold()
    figures = [m for m in measured if m["value"] is not None]
    assert figures or not private
    shown = "".join(table.out.split())  # cells fold, even within a word
    for m in figures:
        assert m["name"].replace("-", "") in shown.replace("-", "")
        for name in names_in(m["details"]):
            assert name.replace("-", "") in shown.replace("-", "")


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_a_metric_that_is_named_states_why_it_has_no_figure(kind, releases):
    folder = releases(kind)
    named = [f"--metric={name}" for name in METRICS]
    given = ["measure", "original.csv", kind.name, "--private", f"{kind.name}.private", *named]
    table, as_json = call(*given, cwd=folder), call(*given, "--json", cwd=folder)
    assert table.code == as_json.code == 0, table.err + as_json.err
    header, _line, *rows = table.out.strip().splitlines()
    start = header.index("details")
    details = "".join(row[start:].replace(" ", "") for row in rows)
    for m in as_json.json["metrics"]:
        assert m["name"] in table.out
        assert m["reason"].replace(" ", "") in details


def names_in(details):
    """Return the names of all details, also of those inside of others."""
    inner = [name for value in details.values() if isinstance(value, dict) for name in names_in(value)]
    return [*details, *inner]
