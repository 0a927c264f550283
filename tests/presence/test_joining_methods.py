"""What every method that joins two tables must have: a page, a paper, a place in the listing, and no word about values."""

import re
from pathlib import Path

import pytest

import setveil as sv
from setveil.catalog import METHODS
from setveil.presence.catalog import METHODS as JOINED_METHODS
from setveil.presence.methods.base import JoiningMethod
from setveil.presence.methods.dummy_users import DummyUsers

from support.program import call
from support.two_tables import originals_of

REPOSITORY = Path(__file__).parents[2]
EVERY = pytest.mark.parametrize("kind", JOINED_METHODS.values(), ids=list(JOINED_METHODS))
KEYS = sv.Keys(b"key of provider A", b"key of provider B")
LIMITS = {"max_a": "9/10", "min_a": "1/10", "max_b": "9/10", "min_b": "1/10"}


def made(kind, **limits):
    return kind(**{name: value for name, value in {**LIMITS, **limits}.items() if name in kind.model_fields})


@EVERY
def test_it_is_documented(kind):
    page = (REPOSITORY / "docs" / "methods" / f"{kind.name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {kind.name}\n")
    section = page.partition("## Parameters")[2].partition("\n## ")[0]
    entries = [entry.partition(":") for entry in re.split(r"^- ", section, flags=re.MULTILINE)[1:]]
    named = {name: text for names, _colon, text in entries for name in re.findall(r"`(\w+)`", names)}
    for parameter in kind.parameters():
        assert parameter.name in named, parameter.name
        assert parameter.description.endswith(".")
        if parameter.required:
            assert "required" in named[parameter.name]
        else:
            assert parameter.default_text in named[parameter.name]
    assert kind.paper in page
    references = (REPOSITORY / "src" / "setveil" / "references.bib").read_text(encoding="utf-8")
    assert re.search(rf"^@\w+{{{kind.paper},$", references, re.MULTILINE)


@EVERY
def test_it_is_listed_in_its_own_section_and_described(kind):
    assert kind.name not in METHODS
    assert issubclass(kind, JoiningMethod)
    listed = call("methods").out
    assert listed.index("For joined tables of two providers:") < listed.index(f" {kind.name} ")
    assert kind.summary() in listed
    described = call("methods", kind.name, "--json").json
    assert [one["name"] for one in described["parameters"]] == list(kind.model_fields)


@EVERY
def test_it_can_be_written_down_and_made_again(kind):
    method = made(kind, k=3)
    assert kind(**method.model_dump(mode="json")) == method
    assert {one.name for one in method.guarantees} <= {"k-anonymity", "site-presence"}


@EVERY
def test_too_few_common_users_release_nothing(kind):
    users = [
        {"cells": [0, 0], "a": True, "s": 0},
        {"cells": [1, 1], "a": True, "s": None},
        {"cells": [1, 1], "a": False, "s": 0},
        {"cells": [0, 1], "a": False, "s": None},
    ]
    with pytest.raises(sv.GuaranteeViolated) as refused:
        made(kind, k=2).apply(originals_of([2, 2], 1, 2, users), keys=KEYS)
    if kind is DummyUsers:  # which rule is violated is not described: one bit is opened
        assert "does not satisfy the policy" in str(refused.value)
    else:
        assert re.match(f"^{kind.name} publishes nothing, .* fewer common users than k = 2", str(refused.value))
        assert "choose limits that the whole tables satisfy" in str(refused.value)
    assert "user-" not in str(refused.value)


def test_keys_are_not_shown():
    assert "provider" not in repr(KEYS)
