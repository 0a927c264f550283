"""The ledgers of both providers against every case of the two-runs attack: the attacked provider refuses a run that reveals something."""

from dataclasses import replace

import pytest

from setveil.presence.attack.two_runs import CASES, LOST, losing, with_one_more
from setveil.presence.home import Home
from setveil.presence.network_run import planned_run
from setveil.presence.trial import policy_of

from support import presence_attack_runs as runs
from support.parties import with_pins


def made_homes(folder):
    folder.mkdir()
    made = {role: Home.create(folder / role, role) for role in "abc"}
    return {role: with_pins(made[role], made) for role in "ab"}


def with_keys(table):
    """Return a table whose ids are the customer keys."""
    return replace(table, persons=table.ids, person="id")


def refused_by(homes, policy, originals):
    """Return the providers whose ledgers refuse a run; if none does, the run is recorded."""
    plans = {
        role: planned_run(homes[role], policy, with_keys(originals.table(role)), originals.population) for role in "ab"
    }
    plans = {
        role: replace(plan, peer_data=plans["b" if role == "a" else "a"].data, peer_run=None)
        for role, plan in plans.items()
    }
    refused = {role for role, plan in plans.items() if homes[role].ledger.refusal(plan)}
    if not refused:
        for role, plan in plans.items():
            homes[role].ledger.begin(plan, run="0" * 32).finished()
    return refused


@pytest.mark.parametrize("attacker", ["a", "b"])
@pytest.mark.parametrize("case", CASES)
def test_only_the_run_in_which_nothing_changed_takes_place_again(tmp_path, case, attacker):
    originals = runs.originals()
    policy = policy_of(runs.method(), originals)
    homes = made_homes(tmp_path / "first")
    assert refused_by(homes, policy, originals) == set()
    victim = "b" if attacker == "a" else "a"
    if case == "fresh":  # a new home of the attacker, with another key and another certificate
        other = made_homes(tmp_path / "second")[attacker]
        certificates = {role: home for role, home in homes.items() if role != attacker} | {attacker: other}
        homes[victim] = homes[victim].pin(attacker, other.folder / "certificate.pem", force=True)
        homes[attacker] = other.pin(victim, certificates[victim].folder / "certificate.pem", force=True)
    seconds = {
        "fresh": [(policy, originals)],
        "again": [(policy.changed(k=policy.method.k + 1), originals)],
        "refreshed": [(policy_of(policy.method, larger), larger) for larger in [with_one_more(originals)]],
        "same": [(policy, originals)],
    } | {lost: [(policy, one) for one in losing(originals, attacker, percent)] for lost, percent in LOST.items()}
    for changed, tables in seconds[case]:
        refused = refused_by(homes, changed, tables)
        assert (victim in refused) == (case != "same"), (
            "the one that would be attacked says no, whatever the attacker says"
        )
