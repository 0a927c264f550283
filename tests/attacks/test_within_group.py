"""The attack within groups: rows are scored in parts, because one group can have nearly all of them."""

import pytest

import setveil as sv
from setveil.attacks import within_group


@pytest.mark.parametrize("at_once", [1, 7, 50])
def test_the_finding_does_not_depend_on_the_parts(monkeypatch, at_once):
    data = sv.read("sample:supermarket?records=300")
    rare = [label for label, support in zip(data.vocabulary, data.supports, strict=True) if 0 < support <= 10][:30]
    release = sv.publish(data, sv.Permutation(sensitive=rare, p=3), metrics="none", attacks="none")
    (whole,) = sv.attack(release, attacks="within-group")
    assert whole.main.tried > 20
    monkeypatch.setattr(within_group, "ROWS_AT_ONCE", at_once)
    assert sv.attack(release, attacks="within-group") == [whole]
