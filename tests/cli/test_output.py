"""What the commands print and where: results on standard output, everything else on standard error, help with examples that work."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from setveil.cli.main import COMMANDS, GROUPS, PRESENCE

from support.forked import run as run_forked
from support.program import PROGRAM, call, names_in, run

EXHAUSTIVE = pytest.mark.exhaustive
SAMPLE = "sample:supermarket?records=300"
SWAP = ("--method", "part-swap", "--categories", "sample:supermarket", "--seed", 7, "--experiment")
PLACES = ("--private", "release.private")
PEOPLE = ("--population", "trial/population.csv")
TABLES = ("trial/a.csv", "trial/b.csv", *PEOPLE)
SIDES = ("--a", "trial/a.csv", "--b", "trial/b.csv")
DRAFT = ("--person", "customer", "--out", "new.toml", "--force")
PRIVATE = ("--private-a", "joined.private/a", "--private-b", "joined.private/b")
AGREED = ("--policy", "trial/policy.toml")
ITEMSETS = ("--guarantee", "hidden-itemsets", "--min-support", "60%", "--itemsets")

RIGHT = {
    "methods": ["methods"],
    "a method": ["methods", "part-swap"],
    "guarantees": ["guarantees"],
    "a guarantee": ["guarantees", "hidden-tendency"],
    "a guarantee of itemsets": ["guarantees", "hidden-itemsets"],
    "metrics": ["metrics"],
    "a metric": ["metrics", "tendency-posterior"],
    "attacks": ["attacks"],
    "an attack": ["attacks", "find-record"],
    "attack": ["attack", "release", "--attack", "find-record", "--targets", 20],
    "profile": ["profile", "empty-lines.dat"],
    "risk": ["risk", "empty-lines.dat"],
    "publish with attacks": [
        *("publish", SAMPLE, *SWAP, "--out", "new", "--force", "--ids", "drop"),
        *("--attack", "find-record", "--attack-limit", "5%"),
    ],
    "publish": ["publish", SAMPLE, *SWAP, "--out", "new", "--force", "--ids", "drop"],
    "run": ["run", "release.private/dossier.json", "--out", "new", "--force"],
    "releases": ["releases", "--register", "releases.db"],
    "withdraw": ["withdraw", "registered", "--register", "releases.db", "--reason", "the project ended"],
    "check": ["check", "release", "--original", SAMPLE, *PLACES],
    "check together": ["check", "--together", "release", "release", "--original", SAMPLE],
    "check a bare file": ["check", "empty-lines.dat", *ITEMSETS, "secrets.txt"],
    "check a bare file for what it lacks": ["check", "empty-lines.dat", *ITEMSETS, "lacking.txt"],
    "measure": ["measure", SAMPLE, "release", *PLACES],
    "measure without the private folder": ["measure", SAMPLE, "release"],
    "report": ["report", "release", "--original", SAMPLE, "--metric", "query-error", "--private", "release.private"],
    "mine": ["mine", "empty-lines.dat", "--min-support", "2"],
    "convert": ["convert", SAMPLE, "new.dat", "--force"],
    "a method that joins": ["methods", "dummy-users"],
    "a guarantee of joined tables": ["guarantees", "site-presence"],
    "a metric of joined tables": ["metrics", "range-query-error"],
    "presence sample": ["presence", "sample", "--out", "new-trial", "--people", 400, "--force"],
    "presence policy": ["presence", "policy", *SIDES, "--sensitive", "genre", *PEOPLE, *DRAFT],
    "presence policy of one provider": ["presence", "policy", *SIDES[:2], *DRAFT],
    "presence policy shown": ["presence", "policy", "--show", "trial/policy.toml"],
    "presence simulate": ["presence", "simulate", *TABLES, *AGREED, "--out", "new-joined", "--force"],
    "presence init": ["presence", "init", "bank"],
    "presence check": ["presence", "check", "joined"],
    "presence check with both": ["presence", "check", "joined", *SIDES, *PRIVATE, *PEOPLE],
    "presence measure": ["presence", "measure", "joined", *TABLES],
    "presence compare": ["presence", "compare", *TABLES, *AGREED, "--methods", "mondrian,dummy-users"],
    "presence attack": [
        "presence",
        "attack",
        *TABLES,
        *AGREED,
        "--kind",
        "together",
        "--home-a",
        "bank",
        "--home-b",
        "video",
    ],
}
"""Uses that say something on standard error, or could: the seed is weak, records are empty, ids are left out."""

NOTED = {
    "run",
    "publish",
    "publish with attacks",
    "profile",
    "risk",
    "mine",
    "convert",
    "check a bare file for what it lacks",
    "presence policy",
    "presence policy of one provider",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder")
    (folder / "empty-lines.dat").write_text("a b c\n\na b\n\n")
    (folder / "secrets.txt").write_text("b c\n")
    (folder / "lacking.txt").write_text("b c\nb d\n")
    made = [
        ["publish", SAMPLE, *SWAP, "--out", "release"],
        ["publish", SAMPLE, *SWAP[:4], "--out", "registered", "--register", "releases.db"],
        ["presence", "sample", "--out", "trial", "--people", 400],
        ["presence", "simulate", *TABLES, *AGREED, "--out", "joined"],
        ["presence", "init", "bank", "--role", "a"],
        ["presence", "init", "video", "--role", "b"],
    ]
    for arguments in made:
        assert call(*arguments, cwd=folder).code == 0
    return folder


@pytest.mark.parametrize("arguments", RIGHT.values(), ids=RIGHT)
def test_json_and_nothing_else_is_on_standard_output(folder, arguments):
    ended = call(*arguments, "--json", cwd=folder)
    assert ended.code == 0, ended.err
    assert ended.json
    assert not [line for line in ended.err.splitlines() if line.startswith("setveil: ")]


def steady(text, name):
    """Return the words of a trial without their numbers, since it draws a key and tells its seconds; else all that was printed."""
    is_trial = name in ("presence simulate", "presence compare")
    return re.sub(r"[\d.,─]+", " ", text).split() if is_trial else text


@pytest.mark.parametrize("name", RIGHT)
def test_quiet_says_nothing_on_standard_error(folder, name):
    quiet, usual = call(*RIGHT[name], "--quiet", cwd=folder), call(*RIGHT[name], cwd=folder)
    assert quiet.code == usual.code == 0
    assert quiet.err == ""
    assert steady(quiet.out, name) == steady(usual.out, name)
    assert ("note: " in usual.err) == (name in NOTED)


def test_json_of_measure_is_as_promised(folder):
    chosen = ["--metric", "record-loss", "--metric", "dissimilarity:form=printed"]
    metrics = call("measure", SAMPLE, "release", *PLACES, *chosen, "--json", cwd=folder).json["metrics"]
    assert [metric["name"] for metric in metrics] == ["record-loss", "dissimilarity"]
    assert all({"value", "unit", "parameters"} <= metric.keys() for metric in metrics)
    assert metrics[1]["parameters"]["form"] == "printed"


def test_sensitive_items_and_rho_are_given_to_measure(folder):
    """Without them the metrics that need them say so."""
    names = ["items-lost", "non-sensitive-rules", "exact-basket-exposure", "saturated-rules"]
    chosen = ["measure", "empty-lines.dat", "fewer.dat", *[part for name in names for part in ("--metric", name)]]
    (folder / "fewer.dat").write_text("a b\n\na b\n\n")
    (folder / "sensitive.txt").write_text("c\nb\n")
    lacking = call(*chosen, "--json", cwd=folder).json["metrics"]
    assert {m["reason"] for m in lacking} == {"not computed, needs sensitive"}
    given = ["--sensitive", "sensitive.txt", "--rho", "1/2"]
    lost, rules, exposed, saturated = call(*chosen, *given, "--json", cwd=folder).json["metrics"]
    assert lost["value"] == 1 / 5
    assert lost["details"]["by-item"] == [["c", 1, 0]]
    assert rules["reason"]
    assert (exposed["value"], exposed["parameters"]) == (1, {"rho": "1/2", "include_empty": True})
    assert saturated["value"] == 1
    shown = call(*chosen, *given, cwd=folder)
    assert shown.code == 0
    assert "by item" in shown.out
    wrong = call(*chosen, "--sensitive", "lacking.txt", "--rho", "1/2", cwd=folder)
    assert (wrong.code, "lacking.txt" in wrong.sentence()) == (2, True)
    wrong = call(*chosen, "--sensitive", "sensitive.txt", "--rho", "often", cwd=folder)
    assert (wrong.code, "'often'" in wrong.sentence()) == (2, True)


def test_json_of_publish_and_check_tell_the_same_counts(folder):
    published = call("publish", SAMPLE, *SWAP, "--out", "other", "--force", "--json", cwd=folder).json
    checked = call("check", "other", "--original", SAMPLE, "--private", "other.private", "--json", cwd=folder).json
    assert checked["accepted"]
    assert checked["counts"] == published["verdict"]["counts"]
    assert published["card"] == json.loads((folder / "other" / "card.json").read_text())


def test_a_guarantee_says_what_its_parameters_take():
    told = call("guarantees", "hidden-itemsets", "--json").json
    allowed = {p["name"]: (p["allowed"], p["default"], p["public"]) for p in told["parameters"]}
    assert allowed == {
        "itemsets": ("a file of itemsets", "required", "no"),
        "min_support": ("a number of records (30) or a share of them (0.1%)", "required", "no"),
        "targets": ("a comma-separated list of a whole number", "none", "no"),
    }
    shown = call("check", "--guarantee", "hidden-itemsets", "--help").out
    assert all(option in shown for option in ("--itemsets", "--min-support", "--targets"))


# -- help ---------------------------------------------------------------------------------------------------------------------


def example_of(*command):
    """Return the example in a command's help as a person would copy it."""
    ended = call(*command, "--help")
    assert ended.code == 0, ended.err
    assert ended.err == ""
    _, _, example = ended.out.partition("Example:")
    words = shlex.split(example.replace("\\\n", " "))  # a line that ends in a backslash goes on
    assert words[0] == "setveil", ended.out
    return words[1:]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_the_overview_names_every_command(arguments):
    ended = call(*arguments)
    assert ended.code == 0
    assert all(name in ended.out for name in (*COMMANDS, *GROUPS))
    assert "setveil demo" in ended.out


@pytest.mark.parametrize("arguments", [["presence"], ["presence", "--help"], ["presence", "-h"]])
def test_the_overview_of_a_group_names_every_command(arguments):
    ended = call(*arguments)
    assert (ended.code, ended.err) == (0, "")
    assert all(f" {name} " in ended.out for name in PRESENCE)
    assert "Traceback" not in ended.out


def test_the_version_is_told():
    ended = call("--version")
    assert ended.code == 0
    assert ended.out.strip().startswith("0.")


def test_the_help_of_a_method_shows_its_options():
    assert "--leftovers" in call("publish", "--method", "part-swap", "--help").out
    assert "--leftovers" not in call("publish", "--method", "full-swap", "--help").out
    assert example_of("publish", "--method", "part-swap") == example_of("publish")


def test_every_example_in_the_help_works_as_printed(tmp_path):
    """In the order of the overview, in one folder: `check` and `measure` take what `publish` made.

    That of `demo` is run in test_demo, and that of `studio`, which serves until it is stopped, in studio/test_restart.
    """
    for command in COMMANDS:
        words = example_of(command)
        assert words[0] == command
        if command not in ("demo", "studio"):
            ended = run_forked(*words, cwd=tmp_path)
            assert ended.code == 0, (words, ended.err)
            assert ended.out
    folders = {"release", "release.private", "release-again", "release-again.private", "comparison"}
    assert set(names_in(tmp_path)) == {"baskets.parquet", "releases.db"} | folders


def test_every_example_of_presence_works_as_printed(tmp_path):
    """In the order of the overview, in one folder. Those of provider and collector meet each other in test_presence."""
    for command in PRESENCE:
        words = example_of("presence", command)
        assert words[:2] == ["presence", command]
        if command not in ("provider", "collector"):
            fewer = ["--people", 400] if command == "sample" else []
            ended = run_forked(*words, *fewer, cwd=tmp_path)
            assert ended.code == 0, (words, ended.err)
            assert ended.out
    assert set(names_in(tmp_path)) == {"bank", "joined", "joined.private", "policy.toml", "trial"}


# -- a reader that goes away --------------------------------------------------------------------------------------------------


def shell(line, folder, *arguments):
    """Run a line of shell in which "$@" is the program with these arguments."""
    words = ["sh", "-c", line, "sh", *PROGRAM, *map(str, arguments)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        pytest.param(["publish", "--help"], marks=EXHAUSTIVE),
        pytest.param(["metrics", "--json"], marks=EXHAUSTIVE),
        ["metrics"],
        [*RIGHT["check"], "--quiet"],  # progress is told after two seconds, which a busy machine may take
        [*RIGHT["measure"], "--json", "--quiet"],
        pytest.param(["presence", "--help"], marks=EXHAUSTIVE),
        pytest.param([*RIGHT["presence attack"], "--quiet"], marks=EXHAUSTIVE),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_head_ends_it_without_a_word(folder, arguments):
    ended = shell('"$@" | head -1', folder, *arguments)
    assert ended.returncode == 0
    assert ended.stderr == ""
    assert len(ended.stdout.splitlines()) == 1


def unheard(folder, *arguments):
    """Run the program with a standard output that nobody reads from the start."""
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [*PROGRAM, *map(str, arguments)], cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    return process


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["metrics"], 0),
        pytest.param(["metrics", "--json"], 0, marks=EXHAUSTIVE),
        (RIGHT["check"], 0),
        pytest.param(RIGHT["presence check"], 0, marks=EXHAUSTIVE),
        pytest.param(
            [*RIGHT["check"], "--guarantee", "hidden-tendency", "--categories", "random:9"], 3, marks=EXHAUSTIVE
        ),
        (
            [
                *RIGHT["check"],
                "--guarantee",
                "hidden-tendency",
                "--categories",
                "random:9",
                "--witnesses",
                99,
                "--json",
            ],
            3,
        ),
    ],
    ids=lambda value: " ".join(map(str, value[-2:])) if isinstance(value, list) else None,
)
def test_the_exit_code_tells_the_result_even_if_nobody_reads_it(folder, arguments, code):
    ended = unheard(folder, *arguments)
    assert ended.stderr == ""
    assert ended.returncode == code
    closed = shell('exec "$@" >&-', folder, *arguments)
    assert closed.stderr == ""
    assert closed.returncode == code


def test_standard_output_that_cannot_be_written_is_no_bug(folder):
    ended = shell('exec "$@" > /dev/full', folder, "metrics")
    assert ended.returncode == 2
    assert ended.stderr == "setveil: standard output cannot be written: No space left on device\n"


def test_the_installed_command_is_the_same_program(folder):
    installed = os.path.join(os.path.dirname(sys.executable), "setveil")  # noqa: PTH118, PTH120 - resolving leaves the venv
    ended = run("methods", "--json", cwd=folder, program=[installed])
    assert ended.code == 0
    assert ended.json == call("methods", "--json").json
