"""`help` is complete for every public name: parameters, returns, raises, and an example that runs."""

import doctest
import inspect
from itertools import pairwise

import pytest

import setveil as sv
from setveil.base.declaration import Declaration

NOT_RUN = {"collect", "provide", "write"}
"""Examples with a line that needs other parties (the walk-through runs them) or a database server."""
PUBLIC = [name for name in sv.__all__ if callable(getattr(sv, name))]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(sv, name))]
CLASSES = [name for name in PUBLIC if inspect.isclass(getattr(sv, name))]
DECLARED = {name for name in CLASSES if issubclass(getattr(sv, name), Declaration)}
"""Their pages are generated; `contract/test_help_pages.py` runs the examples."""


def sections_of(thing):
    """Return the headings of a docstring in NumPy style."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return {line for line, below in pairwise(lines) if below and set(below) == {"-"}}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_all_sections(name):
    function = getattr(sv, name)
    signature = inspect.signature(function)
    wanted = {"Raises", "Examples"}
    wanted |= {"Parameters"} if signature.parameters else set()
    wanted |= {"Returns"} if signature.return_annotation not in (None, "None") else set()
    assert wanted - sections_of(function) == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_describes_each_parameter(name):
    function = getattr(sv, name)
    text = inspect.getdoc(function).partition("Parameters\n")[2].partition("\n\nReturns\n")[0]
    heads = [line for line in text.splitlines() if line and not line.startswith((" ", "-"))]
    described = {word.strip(" *`") for head in heads for word in head.partition(" : ")[0].split(",")}
    assert {name.strip("*") for name in inspect.signature(function).parameters} - described == set()


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_its_values_and_an_example(name):
    kind = getattr(sv, name)
    found = sections_of(kind)
    assert "Examples" in found
    has_values = not issubclass(kind, Exception) or inspect.get_annotations(kind)
    assert not has_values or {"Parameters", "Attributes"} & found


@pytest.mark.parametrize("name", CLASSES)
def test_public_methods_are_described(name):
    owned = vars(getattr(sv, name)).items()
    members = [(member, getattr(value, "__func__", getattr(value, "fget", value))) for member, value in owned]
    assert [
        member
        for member, value in members
        if inspect.isfunction(value) and not member.startswith("_") and not inspect.getdoc(value)
    ] == []


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - DECLARED))
def test_the_examples_run(name, tmp_path, monkeypatch):
    finder = doctest.DocTestFinder(exclude_empty=True)
    own, *of_methods = sorted(
        finder.find(getattr(sv, name), name, module=False, globs={"sv": sv}), key=lambda one: one.name
    )
    assert own.name == name
    skipped = [example for example in own.examples if doctest.SKIP in example.options]
    assert not skipped or name in NOT_RUN
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report = []
    for number, one in enumerate([own, *of_methods]):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert runner.run(one, out=report.append).failed == 0, "".join(report)
