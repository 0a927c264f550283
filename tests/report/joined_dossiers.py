"""Dossiers of joined tables for tests of the report, from trials of the built-in sample."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.release.card import make_joined_card
from setveil.presence.release.dossier import make_joined_dossier
from setveil.presence.release.provider_folder import run_record
from setveil.presence.tables.sample import sample
from setveil.presence.trial import policy_of, simulate
from setveil.release.card import FileBeside

LIMITS = {"max_a": "0.9", "min_a": "0.1", "max_b": "0.9", "min_b": "0.1"}
SECURE = "how it was computed, in words"


@cache
def _trial(people: int, backend: str, given: tuple[tuple[str, Any], ...]) -> tuple[str, str, str]:
    originals = sample(people).originals
    method = DummyUsers(**{**LIMITS, **dict(given)}, backend=backend)
    policy = policy_of(method, originals)
    trial = simulate(policy, originals, Keys(b"a" * 32, b"b" * 32))
    table, groups = trial.outcome.table, trial.outcome.groups
    verdicts = [one.check(table, original=originals, alignment=groups) for one in method.guarantees]
    card = make_joined_card(
        method,
        table,
        policy_sha256=policy.sha256,
        data=FileBeside(file="data.csv", sha256="0" * 64),
        beside=(),
        checked_by=dict.fromkeys(("k-anonymity", "site-presence"), "in a trial, with both tables"),
        secure_computation=SECURE,
    )
    dossier = make_joined_dossier(policy, originals, table, trial, card, verdicts, [])
    sides = (("a", trial.a), ("b", trial.b))
    records = [run_record(role, policy, originals.table(role), originals.population, side) for role, side in sides]
    return json.dumps(dossier), json.dumps(records[0]), json.dumps(records[1])


def of_trial(people: int = 1_500, backend: str = "clear", **given: Any) -> dict[str, Any]:
    """Return the dossier of a trial, as it would be read from its file."""
    return json.loads(_trial(people, backend, tuple(given.items()))[0])


def of_run(role: str, people: int = 1_500, backend: str = "clear", **given: Any) -> dict[str, Any]:
    """Return what a provider keeps, as it would be read from its file."""
    return json.loads(_trial(people, backend, tuple(given.items()))["ab".index(role) + 1])


def query_error(value: float | None, **other: Any) -> dict[str, Any]:
    """Return the entry of measured queries."""
    entry = {
        "name": "range-query-error",
        "value": value,
        "unit": "mean relative error",
        "better": "lower",
        "parameters": {"selectivity": "10%", "attributes": 3},
        "details": {"median": 0.25, "error-of-one-group": 15.5},
        "reason": "",
    }
    return entry | other
