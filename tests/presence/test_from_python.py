"""A trial from Python: drafted, published, checked and compared as the commands of `setveil presence` do."""

import json

import pytest

import setveil as sv
from setveil.cli import main
from setveil.presence.catalog import METHODS as JOINED_METHODS
from setveil.presence.comparing import compare_methods
from setveil.presence.metrics.range_queries import RangeQueryError
from setveil.presence.policy_draft import Drafting
from setveil.presence.sample_files import write_sample
from setveil.presence.trial import trial_keys


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """Give a folder with the tables, a joined table made from them, and what it was made from."""
    folder = tmp_path_factory.mktemp("trial")
    write_sample(folder / "trial", 400, 1, made_by="a test")
    sources = {name: sv.TableSource(place=str(folder / "trial" / f"{name}.csv")) for name in ("a", "b", "population")}
    policy = sv.read_policy(folder / "trial" / "policy.toml").changed(backend="clear")
    people = sources["population"].population()
    tables = [sources[role].table(role, policy.schema, people) for role in ("a", "b")]
    originals = sv.Originals(policy.schema, people, *tables)
    dossier = sv.publish_trial(policy, originals, trial_keys(), folder / "joined")
    return folder, sources, policy, originals, dossier


def sides_of(folder, sources):
    return {role: sv.ProviderSide(sources[role], folder / "joined.private" / role) for role in ("a", "b")}


def test_python_and_the_command_line_find_the_same(trial, capsys):
    folder, sources, _policy, _originals, _dossier = trial
    verdicts = sv.check_joined(
        sv.open_joined(folder / "joined"), population=sources["population"], **sides_of(folder, sources)
    )
    assert all(verdicts)
    options = ["--population", sources["population"].place, "--json", "--quiet"]
    for role in ("a", "b"):
        options += [f"--{role}", sources[role].place, f"--private-{role}", str(folder / "joined.private" / role)]
    assert main.run(["presence", "check", str(folder / "joined"), *options]) == 0
    said = json.loads(capsys.readouterr().out)["verdicts"]
    assert said == json.loads(json.dumps([one.to_dict(witnesses=0) for one in verdicts]))


def test_without_tables_a_part_is_checked(trial):
    folder, *_rest = trial
    assert [one.guarantee for one in sv.check_joined(sv.open_joined(folder / "joined"))] == ["k-anonymity"]


def test_what_a_provider_kept_needs_the_population(trial):
    folder, sources, *_rest = trial
    with pytest.raises(sv.Missing, match="`population=` is missing"):
        sv.check_joined(sv.open_joined(folder / "joined"), **sides_of(folder, sources))


def test_a_folder_that_exists_is_not_replaced(trial):
    folder, _sources, policy, originals, dossier = trial
    assert (folder / "joined" / "card.json").is_file()
    assert json.loads((folder / "joined.private" / "dossier.json").read_text())["users"] == dossier["users"]
    with pytest.raises(sv.OutputRefused):
        sv.publish_trial(policy, originals, trial_keys(), folder / "joined")


def test_a_draft_is_a_policy_or_the_part_of_a_provider(trial):
    _folder, sources, policy, originals, _dossier = trial
    whole = Drafting(**sources, sensitive="genre", person="customer").draft(policy.method)
    assert whole.policy.population == originals.population.sha256
    part = Drafting(a=sources["a"], person="customer").draft(policy.method)
    assert (part.policy, part.part) == (None, "a")
    for given, says in (
        ({}, "`a=` and `b=` are missing"),
        ({"b": sources["b"]}, "`sensitive=` is missing"),
        ({"a": sources["a"], "sensitive": "genre"}, "`sensitive=` requires `b=`"),
        ({"b": sources["b"], "sensitive": "id"}, "the column of ids"),
        ({"b": sources["b"], "sensitive": "x", "person": "x"}, "`sensitive=` and `person=` are both 'x'"),
    ):
        with pytest.raises(sv.InputError) as refused:
            Drafting(**given)
        assert says in str(refused.value)


def test_methods_are_compared(trial):
    _folder, _sources, policy, originals, _dossier = trial
    kinds = [JOINED_METHODS[name] for name in ("mondrian", "dummy-users")]
    found = compare_methods(kinds, policy, originals, trial_keys(), [RangeQueryError(selectivity="10%")])
    assert [one.name for one in found] == ["mondrian", "dummy-users"]
    assert all(one.groups and len(one.errors) == 1 for one in found)


def test_a_query_goes_with_a_database():
    with pytest.raises(sv.BadParameter, match="`query_a=` requires a database"):
        sv.TableSource(place="a.csv", query="SELECT 1", called="query_a")
    with pytest.raises(sv.Missing, match=r"`query=` is missing: .* is a database"):
        sv.TableSource(place="sqlite:///people.db")
