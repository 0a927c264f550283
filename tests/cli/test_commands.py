"""Every command is a typed function: no dictionary of options, and a help text for each argument and option."""

import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from cyclopts import Parameter

from setveil.cli.main import COMMANDS, GROUPS
from setveil.cli.options import Declared, OutputOptions, about, signature_of

TABLES = {"": COMMANDS, **{f"{group} ": commands for group, (commands, _line, _warning) in GROUPS.items()}}
EVERY = {
    before + name: (name, module, line) for before, table in TABLES.items() for name, (module, line) in table.items()
}
PLACES = {
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
}


def options_of(command):
    """Return the annotation of each argument and option; a group of options stands for its fields."""
    found = {}
    for name, one in signature_of(command, []).parameters.items():
        if is_dataclass(one.annotation):
            found |= get_type_hints(one.annotation, include_extras=True)
        else:
            found[name] = one.annotation
    return found


def faults(command):
    """Return what keeps a command from being a typed function whose options explain themselves."""
    found = []
    for name, one in inspect.signature(command, eval_str=True).parameters.items():
        if one.kind not in PLACES:
            found.append(f"{name} can be given by place and by name")
        if one.kind is inspect.Parameter.VAR_KEYWORD and not any(
            isinstance(mark, Declared) for mark in get_args(one.annotation)
        ):
            found.append(f"**{name} takes what nothing declares")
            return found
    for name, annotation in options_of(command).items():
        if get_origin(annotation) is not Annotated:
            found.append(f"{name} has no help")
            continue
        kind, *marks = get_args(annotation)
        kinds = {kind, *get_args(kind)}
        if kinds & {Any, dict, object} or any(get_origin(one) is dict for one in kinds):
            found.append(f"{name} has no type")
        texts = [mark.help for mark in marks if isinstance(mark, Parameter) and mark.help]
        if not texts or not texts[0].endswith((".", ")")):
            found.append(f"{name} has no help")
    return found


def load(name):
    function, module, _line = EVERY[name]
    return getattr(import_module(f"setveil.cli.{module}_command"), function)


@pytest.mark.parametrize("name", EVERY)
def test_a_command_is_a_typed_function(name):
    assert faults(load(name)) == []


@pytest.mark.parametrize("name", EVERY)
def test_a_command_answers_as_every_other(name):
    hints = get_type_hints(load(name))
    assert hints["output"] is OutputOptions
    assert issubclass(hints["return"], int)


@pytest.mark.parametrize("name", EVERY)
def test_a_command_begins_with_its_line_in_the_overview_and_ends_with_an_example(name):
    text = inspect.getdoc(load(name))
    _function, _module, line = EVERY[name]
    assert text.splitlines()[0] == line
    assert f"\nExample:\n  setveil {name}" in text


def test_what_is_not_a_typed_function_is_found():
    def by_dictionary(given: Annotated[dict[str, Any], about("All options.")], /): ...
    def without_help(*, known: int = 3): ...
    def without_a_sentence(*, known: Annotated[int, about("known items")] = 3): ...
    def by_place_or_name(known: Annotated[int, about("Known items.")]): ...
    def of_anything(**given: Any): ...
    def in_order(*, known: Annotated[int, about("Known items.")] = 3): ...

    assert faults(by_dictionary) == ["given has no type"]
    assert faults(without_help) == ["known has no help"]
    assert faults(without_a_sentence) == ["known has no help"]
    assert faults(by_place_or_name) == ["known can be given by place and by name"]
    assert faults(of_anything) == ["**given takes what nothing declares"]
    assert faults(in_order) == []


def test_a_group_of_options_is_counted_by_its_options():
    names = ["quiet", "json", "progress", "verbose", "log_file"]
    assert [one.name for one in fields(OutputOptions)] == names
    assert set(names) <= options_of(load("profile")).keys()
