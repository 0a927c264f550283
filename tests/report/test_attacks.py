"""The section about attacks: every figure beside chance, the control and what the guarantee suggests, and no false comfort."""

import copy

import pytest

import setveil as sv
from setveil.attacks.trials import Trial
from setveil.base.display import share
from setveil.release.dossier import attack_notes
from setveil.report.attack_charts import attack_charts
from setveil.report.page import render

from report.dossiers import older
from report.test_page import section_of, words_of

FOUND = sv.Finding(
    "find-record", {"known": 2}, Trial(30, 100), Trial.known(0.01), details={"in-the-original": {"right": 0.75}}
)
MEMBER = sv.Finding("membership", {}, Trial(20, 1000), Trial.known(0.01), Trial(10, 1000), shadow=True)
WITHIN = sv.Finding("within-group", {}, Trial(62, 100), Trial.known(0.3), bound=0.25)
LACKING = sv.Finding("holes", {"model": "rival"}, reason="needs the data of other people", was_run=False)


def with_findings(dossier, *found, limit=None):
    """Return a dossier with these findings only."""
    changed = copy.deepcopy(dossier)
    findings = sv.Findings(found, limit=limit)
    return changed | {"attacks": findings.to_dict(), "attack_notes": attack_notes(findings)}


def section(dossier):
    return words_of(section_of(render(dossier), "What can still be found out"))


def test_each_figure_is_beside_the_others(dossier):
    (chart,) = attack_charts(with_findings(dossier, FOUND))
    low, high = FOUND.main.interval
    assert chart.rows == [
        ("known: 2", "original", "75.0 %", ""),
        ("known: 2", "release", "30.0 %", f"{share(low)} to {share(high)}"),
        ("known: 2", "by chance", "1.0 %", ""),
    ]
    said = section(with_findings(dossier, FOUND, MEMBER, WITHIN))
    for found in (FOUND, MEMBER, WITHIN):
        assert found.sentence in said
    for kind in (sv.FindRecord, sv.Membership, sv.WithinGroup):
        assert f"The attack cannot see {kind.blind_to}." in said
        assert f"The attacker knows {kind.knows}." in said
    assert "the same recipe on a part of the records" in said


def test_the_promise_is_beside_the_finding(dossier):
    (chart,) = attack_charts(with_findings(dossier, WITHIN))
    assert chart.note == "Dashed line: the guarantee suggests at most 25.0 %."
    assert next(layer for layer in chart.spec["layer"] if layer.get("data"))["data"]["values"] == [{"right": 0.25}]
    assert "so a finding can be above it" in section(with_findings(dossier, WITHIN))
    assert "so a finding can be above it" not in section(with_findings(dossier, FOUND))


def test_a_weak_attack_is_not_called_safe(dossier):
    weak = sv.Finding("find-record", {"known": 2}, Trial(10, 1000), Trial.known(0.01))
    said = section(with_findings(dossier, weak))
    assert "too weak to tell" in said
    assert "does not show that the release is safe" in said
    assert said.count("safe") == 1


@pytest.mark.parametrize(
    ("limit", "said"), [(0.05, "Above the limit of 5.0 %: find-record (known=2)."), (0.9, "No attack is above")]
)
def test_the_limit_is_judged(dossier, limit, said):
    assert said in section(with_findings(dossier, FOUND, limit=limit))
    assert "limit of" not in section(with_findings(dossier, FOUND))


def test_a_page_without_attacks_says_how_to_run_them(dossier):
    for without in (with_findings(dossier), older(dossier | {"attacks": None}) | {"attacks": sv.Findings().to_dict()}):
        said = section(without)
        assert "No attack was run" in said
        assert "setveil attack RELEASE" in said
    old = {key: value for key, value in dossier.items() if key not in ("attacks", "attack_notes")}
    assert "No attack was run" in section(old)


def test_attacks_without_a_result_state_why(dossier):
    said = section(with_findings(dossier, LACKING))
    assert "holes (model=rival) needs the data of other people" in said
    assert "No attack was run" not in said


def test_the_axis_has_room_for_the_labels(dossier):
    for found in (FOUND, WITHIN, sv.Finding("find-record", {"known": 2}, Trial(0, 10), Trial.known(0.0))):
        (chart,) = attack_charts(with_findings(dossier, found))
        _low, high = chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert high > max(found.main.interval[1], found.bound or 0)
