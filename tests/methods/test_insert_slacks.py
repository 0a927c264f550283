"""Insert keeps the slack of a content between passes, and tests few records for being too rare: faults in either are found."""

import numpy as np
import pytest

import setveil as sv
from setveil.methods.uncertainty import _restoring
from setveil.methods.uncertainty._restoring import Restoring
from setveil.methods.uncertainty.insert import Insert

from support.random_data import as_sets, crowd

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # hashing, with the compiler off
    pytest.mark.plain_python,
]


def results(patch, **chosen):
    """Return what is published for some tables, after rounds in which many items are suppressed again."""
    found = []
    for seed in (20, 31, 33, 59, 72, 110):
        records, sensitive, rho = crowd(seed, records=20 + seed % 60, items=6 + seed % 3, contents=8 + seed % 20)
        patch.setattr(_restoring, "REMOVED_ONE_IN", (1 + seed % 3, 3))
        method = Insert(
            sensitive=sorted(sensitive), rho=f"{rho.numerator}/{rho.denominator}", include_empty=False, **chosen
        )
        data = sv.from_lists([sorted(record) for record in records])
        outcome = method.apply(data, rng=np.random.default_rng(seed))
        asked = method.guarantee.model_copy(update={"sensitive": method.sensitive.known_to_have_occurred()})
        found.append((as_sets(outcome.published), bool(asked.check(outcome.published))))
    return found


def test_slacks_that_are_not_forgotten_after_items_were_suppressed_are_found(monkeypatch):
    honest = results(monkeypatch, rounds=5)
    assert all(holds for _published, holds in honest)
    monkeypatch.setattr(Restoring, "_forget_slacks", lambda _self: None)
    faulty = results(monkeypatch, rounds=5)
    assert all(one != other for one, other in zip(honest, faulty, strict=True))
    assert not all(holds for _published, holds in faulty)
