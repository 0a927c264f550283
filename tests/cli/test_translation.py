"""Messages of the library mark Python arguments; the command line shows options."""

import ast
import re
from pathlib import Path

import pytest

import setveil
from setveil.base import progress
from setveil.base.translation import as_options, naming_keys, option_of
from setveil.catalog import METHODS
from setveil.cli.main import COMMANDS, PRESENCE
from setveil.cli.options import OutputOptions
from setveil.cli.reporters import reporting_as
from setveil.errors import BadParameter

from support.program import call

PACKAGE = Path(setveil.__file__).parent


@pytest.mark.parametrize(
    ("python", "option"),
    [
        ("or set `experiment=True` for a release", "or set --experiment for a release"),
        ("pass `distinct_labels=True` if", "pass --distinct-labels if"),
        ("`term_chunk='place'` puts", "--term-chunk place puts"),
        ('say `unit="person"` instead', "say --unit person instead"),
        ("accept them with `allow_failures=12`.", "accept them with --allow-failures 12."),
        ("Name yours with `id=` and `item=`", "Name yours with --id and --item"),
        ("the column of ids with `id_column=`", "the column of ids with --id"),
        ('such as `query="SELECT a, b FROM c"`', 'such as --query "SELECT a, b FROM c"'),
        ("'a' is no level; name one with `level=`", "'a' is no level; name one with --level"),
        (
            "the provider's rows need `ids='drop'`, its peer's too",
            "the provider's rows need --ids drop, its peer's too",
        ),
    ],
)
def test_marked_arguments_become_options(python, option):
    assert as_options(python) == option


def test_a_command_that_reads_a_job_names_keys():
    with naming_keys(without=("out",)):
        assert as_options("use `empty='drop'`, `force=True`, `id=` or `out=`") == (
            "use empty = 'drop', force = true, the key id or --out"
        )
    with pytest.raises(BadParameter, match=r"^remove the key seed$"), naming_keys(without=()):
        raise BadParameter("remove `seed=`")
    assert as_options("remove `seed=`") == "remove --seed"


@pytest.mark.parametrize(
    "value", ["ids='drop'", "`ids='drop'`", "`ids=`", "it's `ids=`", '"`ids=`', "'\"`ids=`", "\\'`ids=`"]
)
def test_values_of_the_data_stay_as_they_are(value):
    said = f"the item {value!r} is not in the data, nor is {value!r}; leave them out with"
    assert as_options(f"{said} `empty='drop'`") == f"{said} --empty drop"


@pytest.mark.parametrize("file", ["unit=person/empty=drop.csv", "force=True.csv", "ids='drop'"])
def test_names_of_files_stay_as_they_are(file):
    assert (
        as_options(f"{file}: has no field 'a'; name yours with `id=`")
        == f"{file}: has no field 'a'; name yours with --id"
    )


def test_an_error_on_the_command_line_names_the_option(tmp_path):
    asked = ("publish", "sample:supermarket?records=60", "--method", "disassociation", "--k", 3, "--m", 2, "--seed", 7)
    ended = call(*asked, "--out", "out", cwd=tmp_path)
    assert ended.code == 2
    assert "or set --experiment for a release" in ended.sentence()


def test_a_note_on_the_command_line_names_the_option(capsys):
    with reporting_as(OutputOptions()) as reporter, progress.reporting(reporter):
        progress.note("2 empty records kept (drop them with `empty='drop'`)")
    assert capsys.readouterr().err == "note: 2 empty records kept (drop them with --empty drop)\n"


def marked():
    """Return the arguments that are marked in the texts of the library, docstrings left out."""
    for source in PACKAGE.rglob("*.py"):
        if PACKAGE / "cli" not in source.parents:
            nodes = list(ast.walk(ast.parse(source.read_text(encoding="utf-8"))))
            docstrings = [node.value for node in nodes if isinstance(node, ast.Expr)]
            for node in nodes:
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
                    yield from re.findall(r"`([a-z]\w*)=", node.value)


def test_every_marked_argument_is_an_option():
    helped = [call(name, "--help") for name in COMMANDS]
    helped += [call("publish", "--method", name, "--help") for name in METHODS]
    helped += [call("presence", name, "--help") for name in PRESENCE]
    options = {option for ended in helped for option in re.findall(r"--[a-z][a-z-]*", ended.out)}
    found = {option_of(name) for name in marked()}
    assert "--empty" in found
    assert found <= options
