"""What every kind of parameter must pass; being the annotation of a parameter of anything in the catalog is enough to be tested."""

import json

import pytest

import setveil as sv
from setveil import catalog
from setveil.cli.options import of_declaration
from setveil.parameters import kind_of
from setveil.presence import catalog as joined

from contract.filling import edge_cases
from support.random_data import make

TABLES = (catalog.METHODS, catalog.GUARANTEES, catalog.METRICS, catalog.ATTACKS)
JOINED = (joined.METHODS, joined.GUARANTEES, joined.METRICS)


def kinds_in(*tables):
    """Return the kinds of all parameters of what is in tables, by name."""
    declared = [kind for table in tables for kind in table.values()]
    found = (kind_of(parameter.annotation) for kind in declared for parameter in kind.parameters())
    return {kind.__name__: kind for kind in found if kind is not None}


KINDS = kinds_in(*TABLES)
EVERY = pytest.mark.parametrize("kind", (every := kinds_in(*TABLES, *JOINED)).values(), ids=every.keys())
OF_DATA = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def test_kinds_are_found_by_their_annotation():
    assert {"Categories", "Hierarchy", "NamedItemsets", "SensitiveItems", "MinSupport", "Targets"} <= KINDS.keys()


@EVERY
def test_a_kind_says_what_it_takes(kind):
    assert kind.allowed_text
    for option in kind.options:
        assert option.help.endswith(".")
        assert "--" not in option.help


@EVERY
def test_bad_values_are_refused_in_a_sentence(kind):
    assert kind.bad_values
    for value in (object(), *kind.bad_values):
        with pytest.raises(ValueError, match=r"\w"):
            kind.validated(value)


@OF_DATA
@pytest.mark.parametrize("seed", range(3))
def test_an_example_fits_the_data_and_can_be_stored(kind, seed):
    data, _categories = make(seed, records=30, items=9)
    value = kind.example_for(data)
    assert type(value) is kind
    assert value == kind.example_for(data)
    assert kind.validated(json.loads(json.dumps(value.to_json()))) == value
    assert kind.validated(value) is value
    if kind.names_items:
        other, _categories = make(seed + 1000, records=30, items=5)
        assert kind.example_for(sv.from_lists([["x", "y", "z", *record] for record in other])) != value


@OF_DATA
def test_what_is_given_as_a_file_can_be_written_and_read_again(kind, tmp_path):
    awkward = sv.from_lists(
        [["milk", 'a "quote"', "a, comma", "two words"], ["milk", "ä", "10"], ["9", "/", "ä", "milk"]]
    )
    value = kind.example_for(awkward)
    if kind.ending:
        path = tmp_path / f"value{kind.ending}"
        path.write_text(value.to_file(), encoding="utf-8")
        assert kind.read(path, data=awkward) == value
    else:
        assert kind.validated(kind.read(str(value), data=awkward)) == value


@OF_DATA
def test_an_example_is_found_for_small_data(kind):
    for data in edge_cases().values():
        if data.vocabulary:
            assert type(kind.example_for(data)) is kind


@OF_DATA
def test_an_example_is_code_that_runs(kind):
    if hasattr(kind, "example"):
        assert type(kind.validated(eval(kind.example, {"sv": sv}))) is kind  # noqa: S307 - code of the package


@pytest.mark.parametrize("declared", [kind for table in TABLES for kind in table.values()], ids=lambda kind: kind.name)
def test_options_of_a_kind_stand_beside_its_parameter_and_hide_no_other(declared):
    names = [option.name for option in of_declaration(declared)]
    assert len(set(names)) == len(names)
    shown = set()  # an option that several parameters share is beside the first of them
    for parameter in declared.parameters():
        kind = kind_of(parameter.annotation)
        beside = [option.name for option in kind.options if option.name not in shown] if kind else []
        shown.update(beside)
        start = names.index(parameter.name) + 1
        assert names[start : start + len(beside)] == beside
