"""What is measured in pieces, because data may be larger than memory, equals what is measured in one piece."""

import pytest

import setveil as sv
from setveil.metrics.tendency import StillOnTop
from setveil.release.example_records import example_records
from setveil.release.report_data import pictures

SIZES = {
    "setveil.attacks.find_record.AT_ONCE": 50,
    "setveil.attacks.which_sensitive.AT_ONCE": 9,
    "setveil.data.forms.disassociated.BLOCK": 7,
    "setveil.data.records.ragged.AT_ONCE": 30,
    "setveil.data.records.transactions.AT_ONCE": 40,
    "setveil.engines.growing.LARGE": 0,
    "setveil.engines.growing.WITHOUT_FILE": 0,
    "setveil.exposure.OCCURRENCES_AT_ONCE": 90,
    "setveil.exposure.PAIRS_AT_ONCE": 1,
    "setveil.metrics.records.BLOCK": 20,
    "setveil.metrics.tendency.AT_ONCE": 30,
    "setveil.metrics.tendency.ROWS_AT_ONCE": 1,
    "setveil.mining.chunk_links.AT_ONCE": 60,
    "setveil.mining.uniqueness.AT_ONCE": 33,
    "setveil.mining.uniqueness.COMPARED_AT_ONCE": 100,
    "setveil.mining.uniqueness.LISTED_AT_ONCE": 200,
    "setveil.profiling.BLOCK": 25,
}
"""Sizes of pieces that divide even small data."""
CATEGORIES, SENSITIVE = (
    sv.read_categories("sample:supermarket", level="department"),
    sv.read_sensitive("sample:supermarket"),
)
PAIRS = [["bananas-loose", "semi-skimmed-milk-2l"], ["bananas-loose", "cucumber-each"]]
METHODS = [
    sv.PartSwap(categories=CATEGORIES),
    sv.SplitPerson(categories=CATEGORIES),
    sv.ExactSwap(itemsets=PAIRS, min_support=10),
    sv.Insert(sensitive=SENSITIVE, rho="50%"),
    sv.Disassociation(k=3, m=2),
    sv.Permutation(sensitive=SENSITIVE, p=3),
]


def everything(method):
    """Return all that is found out about a release, its original and both together."""
    data = sv.read("sample:supermarket?records=500&seed=5")
    release = sv.publish(data, method, metrics="quick", attacks="quick", seed=2**70, no_guarantee=True)
    found = [
        list(release.measurements),
        release.findings.to_dict(),
        release.singled_out,
        pictures(data, release.data),
        example_records(data, release.data, release.alignment),
        sv.risk(release.data, known=2),
    ]
    if isinstance(method, sv.PartSwap):
        found.append(StillOnTop(categories=CATEGORIES)(data, release.data, release.alignment))
    return found


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_release_is_measured_and_attacked_in_pieces(method, monkeypatch):
    whole = everything(method)
    for name, size in SIZES.items():
        monkeypatch.setattr(name, size)
    assert everything(method) == whole


def test_data_are_profiled_in_pieces(monkeypatch):
    def profiled():
        data = sv.read("sample:supermarket?records=500&seed=5")
        return sv.profile(data, sensitive=list(SENSITIVE), itemsets=[*PAIRS, ["broccoli-350g"], ["not there"]]), data

    whole, data = profiled()
    for name, size in SIZES.items():
        monkeypatch.setattr(name, size)
    found, again = profiled()
    assert found == whole
    for one, other in zip(again.holders, data.holders, strict=True):
        assert one.tolist() == other.tolist()
