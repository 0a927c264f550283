"""`setveil presence attack`, as people call it."""

import json

import pytest

from support.program import call


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack") / "trial"
    assert call("presence", "sample", "--out", folder, "--people", "2000").code == 0
    return (
        *(folder / name for name in ("a.csv", "b.csv")),
        *("--population", folder / "population.csv", "--policy", folder / "policy.toml"),
    )


def test_all_attacks_print_their_tables(files):
    ended = call("presence", "attack", *files)
    assert ended.code == 0, ended.err
    for title in (
        "Dummy test",
        "Posterior",
        "Certain from the joined table",
        "Margins: number of groups",
        "Two or more runs",
        "What each party learns",
    ):
        assert title in ended.out


@pytest.mark.parametrize(
    ("kind", "key"),
    [("dummies", "dummies"), ("posterior", "posterior"), ("two-runs", "two_runs"), ("together", "together")],
)
def test_one_attack_for_machines(files, kind, key):
    ended = call("presence", "attack", *files, "--kind", kind, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert set(found) == {"groups", "policy_sha256", key}


def test_runs_with_a_changed_table_are_shown_and_fit_a_terminal(files):
    shown = call("presence", "attack", *files, "--kind", "two-runs").out
    rows = [line for line in shown.splitlines() if "1 % fewer users at the attacker" in line]
    assert [line.split()[7:9] for line in rows] == [[attacker, runs] for attacker in "BA" for runs in "236"]
    assert max(map(len, map(str.rstrip, shown.splitlines()))) <= 100
    found = call("presence", "attack", *files, "--kind", "two-runs", "--json").json["two_runs"]
    assert {"case", "attacker", "runs", "everybody", "own"} < found[-1].keys()
    assert [(one["attacker"], one["runs"]) for one in found if one["case"] == "lost_1_percent"] == [
        (attacker, runs) for attacker in "ba" for runs in (2, 3, 6)
    ]


def test_the_home_of_another_party_is_refused(files, tmp_path):
    home = tmp_path / "home"
    assert call("presence", "init", home, "--role", "b").code == 0
    ended = call("presence", "attack", *files, "--home-a", home)
    assert ended.code == 2
    assert "home is the home of provider B; --home-a requires the home of provider A" in ended.err


def test_the_same_homes_give_the_same_numbers(files, tmp_path):
    homes = []
    for role in "ab":
        assert call("presence", "init", tmp_path / role, "--role", role).code == 0
        homes += [f"--home-{role}", tmp_path / role]
    first, second = (call("presence", "attack", *files, *homes, "--kind", "dummies", "--json").out for _ in range(2))
    assert json.loads(first) == json.loads(second)
