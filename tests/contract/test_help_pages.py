"""`help` shows a page for every method, guarantee, metric and attack; being registered is enough to be tested."""

import doctest
import inspect
import pydoc
import re
import subprocess
import sys
from functools import cache
from typing import ClassVar

import pytest

import setveil as sv
from setveil.attacks.findings import Findings
from setveil.base.help_pages import WIDTH
from setveil.base.verdict import Verdict
from setveil.catalog import ATTACKS, GUARANTEES, METHODS, METRICS
from setveil.methods.base import Method
from setveil.metrics.base import Measurement
from setveil.presence.catalog import GUARANTEES as JOINED_GUARANTEES
from setveil.presence.catalog import METHODS as JOINED_METHODS
from setveil.presence.catalog import METRICS as JOINED_METRICS
from setveil.presence.methods.base import JoinedOutcome
from setveil.release.release import Release

TABLES = (METHODS, JOINED_METHODS, GUARANTEES, JOINED_GUARANTEES, METRICS, JOINED_METRICS, ATTACKS)
KINDS = [kind for table in TABLES for kind in table.values()]
EVERY = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
RESULTS = {"release": Release, "outcome": JoinedOutcome, "verdict": Verdict, "measured": Measurement, "found": Findings}
"""The type of what an example ends with."""


def sections(kind):
    """Return the page as headings with texts; what stands before the first heading has none."""
    first, *others = re.split(r"^(\w+)\n-+$", inspect.getdoc(kind), flags=re.MULTILINE)
    return {"": first} | dict(zip(others[::2], others[1::2], strict=True))


def flowing(text):
    return " ".join(text.split())


@EVERY
def test_every_way_to_ask_for_help_shows_the_page(kind):
    page = inspect.getdoc(kind)
    assert page == kind.__doc__
    shown = pydoc.plain(pydoc.render_doc(kind))
    assert all(line in shown for line in page.splitlines())
    assert "pydantic" not in shown.partition("Methods defined here")[2], "what pydantic brings makes the page long"
    assert flowing(page).startswith(kind.summary())


@EVERY
def test_every_parameter_is_on_the_page(kind):
    _before, *found = re.split(r"^(\w+) : ", sections(kind)["Parameters"], flags=re.MULTILINE)
    entries = dict(zip(found[::2], map(flowing, found[1::2]), strict=True))
    assert list(entries) == [parameter.name for parameter in kind.parameters()]
    for parameter in kind.parameters():
        allowed, _, below = entries[parameter.name].partition(f" {parameter.description} ")
        assert all(limit in allowed for limit in parameter.limits)
        assert allowed.endswith(", required") == parameter.required
        assert (", default: " in allowed) == (not parameter.required)
        assert below.startswith("Public." if parameter.public else "Private: not on the card.")
        assert ("The released data reveal the value of this parameter" in below) == parameter.inferable


@EVERY
def test_the_page_names_the_paper_and_what_this_kind_is_about(kind):
    found = sections(kind)
    if hasattr(kind, "paper"):
        assert f".. [{kind.paper}] " in found["References"]
    for heading, texts in kind.help_sections().items():
        assert texts
        assert flowing(found[heading]) == flowing(" ".join(texts))
    assert "references.bib" not in inspect.getdoc(kind)


@EVERY
def test_the_page_fits_a_terminal(kind):
    lines = [line for line in inspect.getdoc(kind).splitlines() if not line.startswith(">>>")]
    assert max(map(len, lines)) <= WIDTH


@cache
def result(kind):
    """Run the example of a page; return the name and the value of what its last line makes."""
    example = doctest.DocTestParser().get_doctest(sections(kind)["Examples"], {}, kind.name, None, None)
    said = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(example, out=said.append, clear_globs=False)
    assert not failed, "".join(said)
    assert tried >= 4
    name = re.match(r"\W*(\w+)", example.examples[-1].source)[1]
    return name, example.globs[name]


@EVERY
def test_the_example_runs(kind):
    assert f"sv.{kind.__name__}(" in sections(kind)["Examples"]
    name, value = result(kind)
    assert isinstance(value, RESULTS[name])
    assert name != "measured" or value.value is not None


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_a_method_names_its_guarantee(kind):
    guarantee = result(kind)[1].method.guarantee
    expected = "None: this is a baseline." if guarantee is None else f"{guarantee.name} (`{type(guarantee).__name__}`)"
    assert sections(kind)["Guarantee"].strip().startswith(expected)


def test_a_method_of_ones_own_has_a_page():
    class Mine(sv.RandSwap):
        """Exchange what I like.

        In my own way.
        """

        name: ClassVar[str] = "mine"
        paper: ClassVar[str] = "nobody2030"
        __module__ = "not imported"

    found = sections(Mine)
    assert found[""].split("\n\n") == ["Exchange what I like.", "In my own way.", ""]
    assert "mode : {'plain', 'matched'}, default: 'plain'" in found["Parameters"]
    assert not found.keys() & {"Notes", "References"}
    assert inspect.getdoc(type(Mine)) != inspect.getdoc(Mine) != inspect.getdoc(sv.RandSwap)
    assert inspect.getdoc(Method) == "A method with its parameters: turns an original into a release."


def test_a_page_costs_nothing_until_somebody_asks_for_it():
    code = "import sys; from setveil.catalog import METHODS; assert all(METHODS.values()); print('setveil.base.help_pages' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
