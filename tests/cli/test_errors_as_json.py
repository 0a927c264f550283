"""With --json, an error is one JSON object with what is known about it. Every wrong use in test_exit_codes has one."""

import json
import signal

import pytest

import setveil as sv
from setveil.cli.main import run
from setveil.errors import SetveilError

from support.program import call, signalled

SAMPLE = "sample:supermarket?records=60"
SWAP = ("publish", "crowd.csv", "--method", "full-swap", "--categories", "categories.csv", "--out", "new")


@pytest.fixture
def folder(tmp_path):
    """Give data in which nearly everybody leans to one category, so that no swap can hide it."""
    people = "".join(f"p{n},x{n}\np{n},x{n + 1}\n" for n in range(9)) + "p9,y1\np9,y2\np10,z1\np10,z2\n"
    (tmp_path / "crowd.csv").write_text(f"id,item\n{people}", encoding="utf-8")
    items = "".join(f"x{n},x\n" for n in range(10)) + "y1,y\ny2,y\nz1,z\nz2,z\n"
    (tmp_path / "categories.csv").write_text(f"item,category\n{items}", encoding="utf-8")
    (tmp_path / "short.csv").write_text("id,item\np1,a\np2\n", encoding="utf-8")
    (tmp_path / "data.dat").write_text("a b\nc\n", encoding="utf-8")
    return tmp_path


CASES = {
    "a file that is missing": (["profile", "missing.dat"], "bad-data", {"file": "missing.dat"}),
    "a line of a file": (["profile", "short.csv"], "bad-data", {"file": "short.csv", "line": 3}),
    "a name": (
        ["metrics", "fisim"],
        "unknown-name",
        {"parameter": "metric", "given": "fisim", "suggestion": "fi-similarity"},
    ),
    "a format": (
        ["profile", "data.dat", "--format", "baskets"],
        "unknown-name",
        {"given": "baskets", "suggestion": "basket"},
    ),
    "a sample": (["profile", "sample:supermarkt"], "unknown-name", {"suggestion": "sample:supermarket"}),
    "a parameter outside its limits": (
        ["publish", SAMPLE, "--method", "disassociation", "--k", "0", "--m", "2", "--out", "new"],
        "bad-parameter",
        {"parameter": "k", "given": "0", "allowed": "a whole number, at least 1"},
    ),
    "a choice of a method": (
        ["publish", SAMPLE, "--method", "disassociation", "--k", "2", "--m", "2", "--cover", "kep", "--out", "new"],
        "bad-parameter",
        {"parameter": "cover", "given": "kep", "suggestion": "keep"},
    ),
    "a choice of a command": (
        ["profile", SAMPLE, "--empty", "drp"],
        "usage-error",
        {"parameter": "empty", "given": "drp", "allowed": ["keep", "drop"], "suggestion": "drop"},
    ),
    "an option": (
        ["profile", SAMPLE, "--verbos"],
        "usage-error",
        {"given": "--verbos", "suggestion": "--verbose"},
    ),
    "an option that is missing": (["publish", SAMPLE, "--method", "insert"], "usage-error", {"parameter": "out"}),
    "a command": (["publsh", SAMPLE], "usage-error", {"given": "publsh", "suggestion": "publish"}),
    "a command of joined tables": (["presence", "simulte"], "usage-error", {"suggestion": "simulate"}),
    "the system": (["profile", "a" * 300 + ".dat"], None, {}),
}


@pytest.mark.parametrize(("arguments", "kind", "facts"), CASES.values(), ids=CASES)
def test_an_error_states_its_facts(folder, arguments, kind, facts):
    found = call(*arguments, "--json", "--quiet", cwd=folder).error()
    assert kind in (None, found["kind"])
    assert {name: found.get(name) for name in facts} == facts


def test_a_guarantee_that_cannot_be_reached_states_its_bound_and_the_remedies(folder):
    ended = call(*SWAP, "--json", "--quiet", cwd=folder)
    assert ended.code == 3
    found = ended.error()
    assert found["kind"] == "guarantee-violated"
    assert found["verdict"]["status"] == "violated"
    assert found["verdict"]["counts"]
    assert found["verdict"]["witnesses"] == [], "witnesses are values of the data"
    assert found["bounds"]["at-least-unhidden-by-exchange"] == 7, "9 of 11 lean to x"
    not_hidden = found["bounds"]["not-hidden"]
    accept = f"accept these records with --allow-failures {not_hidden}"
    assert found["remedies"] == ["use finer categories (--level)", accept]
    assert found["message"].endswith(f"Use finer categories (--level), or {accept}.")


def test_python_has_the_same_facts(folder):
    with pytest.raises(sv.GuaranteeViolated) as caught:
        sv.publish(sv.read(folder / "crowd.csv"), sv.FullSwap(categories=sv.read_categories(folder / "categories.csv")))
    facts = caught.value.to_dict()
    printed = call(*SWAP, "--json", "--quiet", cwd=folder).error()
    assert facts["bounds"] == printed["bounds"] == caught.value.bounds
    assert len(facts["remedies"]) == len(printed["remedies"]) == len(caught.value.remedies)
    json.dumps(facts)


def test_a_misspelt_parameter_is_named_before_a_missing_one():
    with pytest.raises(sv.BadParameter, match=r"disassociation has no parameter 'mm'; .*Did you mean 'm'\?") as caught:
        sv.Disassociation(k=5, mm=2)
    assert (caught.value.parameter, caught.value.suggestion) == ("mm", "m")


def test_an_option_of_other_methods_names_them(folder):
    asked = ("publish", "data.dat", "--method", "disassociation", "--rho", "50%", "--out", "new")
    said = call(*asked, cwd=folder).sentence()
    assert said.startswith("--rho is an option of insert, partial-suppression, ")
    assert "; not of disassociation." in said


def test_a_bug_is_an_error_too(folder, monkeypatch, capsys):
    monkeypatch.setattr("setveil.profile", lambda *_a, **_k: 1 / 0)
    monkeypatch.chdir(folder)
    assert run(["profile", "data.dat", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["error"]
    assert (found["kind"], found["type"], found["exit_code"]) == ("unexpected", "ZeroDivisionError", 1)


def test_ctrl_c_is_an_error_too(tmp_path):
    asked = ("publish", "sample:supermarket", "--method", "part-swap", "--categories", "sample:supermarket")
    ended = signalled(*asked, "--out", "new", "--json", number=signal.SIGINT, after=0.3, cwd=tmp_path)
    assert ended.code == 130
    assert ended.error() == {"kind": "stopped", "message": "stopped; nothing was written", "exit_code": 130}


def test_each_kind_of_error_has_a_name_and_plain_facts():
    def all_kinds(kind):
        return [kind, *(one for below in kind.__subclasses__() for one in all_kinds(below))]

    kinds = {one.kind.fget(one.__new__(one)) for one in all_kinds(SetveilError)}
    assert {"bad-data", "bad-parameter", "unknown-name", "missing", "output-refused", "guarantee-violated"} <= kinds
    assert {"peer-failed", "too-many-itemsets"} <= kinds


def test_releases_that_do_not_hold_together_state_their_parts_and_the_remedies(tmp_path):
    asked = ("publish", SAMPLE, "--register", "releases.db", "--attack", "none", "--measure", "none", "--quiet")
    chunks = ("--method", "disassociation", "--k", "2", "--m", "1")
    assert call(*asked, *chunks, "--out", "first", cwd=tmp_path).code == 0
    swap = ("--method", "part-swap", "--categories", "sample:supermarket")
    ended = call(*asked, *swap, "--allow-failures", 60, "--out", "second", "--json", cwd=tmp_path)
    assert ended.code == 3
    found = ended.error()
    assert found["verdict"]["status"] == "undecided"
    assert [part["title"] for part in found["verdict"]["parts"]] == ["no definition"]
    assert found["remedies"][-1] == "state why you accept these releases together with --accept-together"
