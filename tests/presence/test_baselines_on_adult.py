"""The baselines on Adult, divided as in the paper: their guarantees hold, and their results compare as expected."""

import pytest

from setveil.presence.methods.base import Keys
from setveil.presence.methods.extended_mondrian import ExtendedMondrian
from setveil.presence.methods.mondrian import Mondrian
from setveil.presence.methods.mpalm import Mpalm

from support.adult_tables import adult

pytestmark = pytest.mark.realdata

KEYS = Keys(b"key of provider A", b"key of provider B")
BOUNDS = {"max_a": "9/10", "min_a": "1/10", "max_b": "9/10", "min_b": "1/10"}
METHODS = {
    "mondrian": Mondrian(),
    "extended": ExtendedMondrian(**BOUNDS),
    "extended by groups": ExtendedMondrian(scope="qi", **BOUNDS),
    "extended with retries": ExtendedMondrian(retry="attributes", **BOUNDS),
    "extended without the absent": ExtendedMondrian(absent="dropped", **BOUNDS),
    "mpalm": Mpalm(**BOUNDS),
    "mpalm for A": Mpalm(max_a="9/10", min_a="1/10"),
}


@pytest.fixture(scope="module")
def outcomes(real_folder):
    originals = adult(real_folder).originals
    return {label: method.apply(originals, keys=KEYS) for label, method in METHODS.items()}


@pytest.mark.parametrize("label", METHODS)
def test_guarantees_hold(outcomes, real_folder, label):
    outcome = outcomes[label]
    assert outcome.table.records == 6_000
    for guarantee in METHODS[label].guarantees:
        verdict = guarantee.check(outcome.table, original=adult(real_folder).originals, alignment=outcome.groups)
        assert verdict, str(verdict)


def test_mondrian_does_not_hide_presence(outcomes, real_folder):
    verdict = (
        METHODS["mpalm"]
        .guarantees[1]
        .check(
            outcomes["mondrian"].table,
            original=adult(real_folder).originals,
            alignment=outcomes["mondrian"].groups,
        )
    )
    assert not verdict


def test_more_tries_and_fewer_limits_give_more_groups(outcomes):
    groups = {label: outcome.table.groups for label, outcome in outcomes.items()}
    assert groups["extended without the absent"] == 1
    assert 50 < groups["extended"] < groups["extended with retries"] < groups["mpalm"] < groups["mpalm for A"]
    assert groups["extended"] < groups["extended by groups"] < groups["mondrian"] <= 3_000


def test_true_cells_of_everybody_can_be_handed_over(real_folder, outcomes):
    tables = adult(real_folder)
    outcome = METHODS["mpalm"].apply(tables.originals, keys=KEYS, complete=tables.complete)
    for guarantee in METHODS["mpalm"].guarantees:
        assert guarantee.check(outcome.table, original=tables.originals, alignment=outcome.groups)
    # Rows that are drawn do not go with the other provider's attributes, so the true ones can be divided further.
    assert outcome.table.groups > outcomes["mpalm"].table.groups
