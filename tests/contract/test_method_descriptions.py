"""`setveil methods NAME` describes every method, with an example that works; being registered is enough to be tested."""

import doctest
import shlex
from pathlib import Path

import pytest

from setveil import method_description
from setveil.base.translation import as_command_line
from setveil.catalog import METHODS
from setveil.method_description import NO_GUARANTEE, describe_method
from setveil.methods.base import Baseline
from setveil.presence.catalog import METHODS as JOINED_METHODS

from support.program import call

REPOSITORY = Path(__file__).parents[2]
KINDS = [*METHODS.values(), *JOINED_METHODS.values()]
every_method = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def flowing(text):
    return " ".join(text.split())


@every_method
def test_the_console_shows_all_facts(kind):
    found = describe_method(kind)
    shown = flowing(call("methods", kind.name).out)
    assert shown.startswith(f"{kind.name}: {kind.summary()}")
    facts = (found.title, found.guarantee_text, found.form_title, found.files_text, found.truthful_text, found.page)
    for text in (*facts, f"{kind.paper}: {found.citation}", *map(as_command_line, found.example), *found.python):
        assert flowing(text) in shown
    assert (REPOSITORY / found.page).is_file()
    assert found.citation


@every_method
def test_json_has_the_same_facts(kind):
    found = call("methods", kind.name, "--json").json
    described = describe_method(kind)
    assert found["summary"] == kind.summary()
    assert found["paper"] == kind.paper
    assert [one["name"] for one in found["guarantees"]] == [one.name for one in described.guarantees]
    assert found["example"] == [as_command_line(one) for one in described.example]
    assert found["truthful_text"] == described.truthful_text
    assert [one["name"] for one in found["parameters"]] == [*kind.model_fields]


@every_method
def test_only_baselines_have_no_guarantee(kind):
    assert (describe_method(kind).guarantee_text == NO_GUARANTEE) == issubclass(kind, Baseline)


@every_method
def test_required_files_are_named(kind):
    named = {one.parameter for one in describe_method(kind).files if one.required}
    needed = {"categories", "itemsets", "sensitive"} & {one.name for one in kind.parameters() if one.required}
    assert needed <= named
    if kind.name in JOINED_METHODS:
        assert named == {"a", "b", "population", "policy"}


@every_method
def test_the_example_works_as_printed(kind, tmp_path):
    for line in map(as_command_line, describe_method(kind).example):
        program, *arguments = shlex.split(line)
        assert program == "setveil"
        ended = call(*arguments, cwd=tmp_path)
        assert ended.code == 0, f"{line}: {ended.err}"


def test_examples_in_docstrings():
    assert doctest.testmod(method_description).failed == 0
