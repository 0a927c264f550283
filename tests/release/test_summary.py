"""The three lines about a release: how far the guarantee reaches, what it cost, what is not protected."""

import json

import pytest

import setveil as sv

from contract.filling import filled
from oracle.uniqueness import unique_records
from support.random_data import as_sets, make

STRONG = 2**100 + 3


def people(seed=8, records=60):
    data, categories = make(seed, records=records, items=40, categories=8, hot=0.1)
    return data.with_ids([f"person-{r}" for r in range(data.records)]), categories


def published(method, data, **terms):
    return sv.publish(data, method, seed=STRONG, allow_failures=data.records, **terms)


def test_the_first_line_has_the_reach():
    data, categories = people()
    release = published(sv.PartSwap(categories=categories), data)
    reach = release.verdict.reach
    assert reach.total == data.records
    assert 0 < reach.covered < reach.total
    assert f"hidden-tendency holds for {reach.covered} of {reach.total} records" in release.summary.guarantee
    assert str(release.verdict).startswith(f"hidden-tendency: {release.verdict.status}")


def test_the_third_line_has_figures_beside_their_base():
    data, categories = people()
    release = published(sv.PartSwap(categories=categories), data)
    after, before = (len(unique_records(as_sets(one), 2)) / one.records for one in (release.rows, data))
    shares = f"two known items single out {100 * after:.1f} % of the records ({100 * before:.1f} % in the original)"
    assert shares in release.summary.not_protected
    attack = next(m for m in release.measurements if m.name == "tendency-posterior")
    guessed = f"{100 * attack.value:.1f} % ({100 * attack.details['base-rate']:.1f} % without the release)"
    assert f"hidden category guessed right for {guessed}" in release.summary.not_protected
    assert "a second release of the same data" in release.summary.not_protected


def test_a_release_without_a_sensitive_item_says_so():
    data = sv.from_lists([["a", "s"], ["a", "s"], ["b"], ["b", "c"]])
    release = sv.publish(data, sv.GlobalSuppression(sensitive=["s"], rho="10%"), metrics=[])
    assert "trivially: no sensitive item is published" in release.summary.guarantee
    assert "no sensitive item is kept" in release.summary.cost
    kept = sv.publish(data, sv.GlobalSuppression(sensitive=["c"], rho="60%"), metrics=[])
    assert "trivially" not in kept.summary.guarantee


def test_a_limit_that_allows_everything_says_so():
    data = sv.from_lists([["a", "s"], ["b"]])
    release = sv.publish(data, sv.Insert(sensitive=["s"], rho="1"), metrics=[])
    assert "a limit of 100 % allows every inference" in release.summary.guarantee
    assert "a limit of 100 % allows every inference" in str(release.verdict)


def test_a_baseline_is_not_to_be_shared():
    data, categories = people()
    release = sv.publish(data, sv.RandSwap(categories=categories), no_guarantee=True, metrics=[])
    assert release.summary.guarantee.startswith("none: rand-swap is a baseline")
    assert "do not share" in release.summary.not_protected


@pytest.mark.parametrize("kind", [sv.PartSwap, sv.ExactSwap, sv.Insert, sv.Disassociation], ids=lambda kind: kind.name)
def test_the_card_has_the_reach_only_where_its_total_is_public(kind, tmp_path):
    data, _categories = people()
    release = published(filled(kind, data), data, metrics=[])
    card = release.save(tmp_path / "out")
    if kind is sv.ExactSwap:
        assert card.guarantee.reach is None
        assert release.verdict.reach.unit == "named itemsets"
    else:
        assert card.guarantee.reach.model_dump() == {
            "covered": release.verdict.reach.covered,
            "total": data.records,
            "unit": "records",
        }
    written = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert written["card_version"] == 3
    dossier = json.loads((tmp_path / "out.private" / "dossier.json").read_text(encoding="utf-8"))
    assert dossier["summary"] == release.summary.to_dict()
    for line in release.summary.to_dict().values():
        assert line not in (tmp_path / "out" / "card.json").read_text(encoding="utf-8")
