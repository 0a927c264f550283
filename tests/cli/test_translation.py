"""Messages of the library name Python arguments; the command line shows options."""

import pytest

from setveil.cli.translation import as_options

from support.program import call


@pytest.mark.parametrize(
    ("python", "option"),
    [
        ("or set experiment=True for a release", "or set --experiment for a release"),
        ("say distinct_labels=True if", "say --distinct-labels if"),
        ("with missing_names=error all must", "with --missing-names error all must"),
        ('term_chunk="place" puts', "--term-chunk place puts"),
        ("say unit='person' instead", "say --unit person instead"),
        ("the item 'colour=True' is not in the data", "the item 'colour=True' is not in the data"),
    ],
)
def test_arguments_become_options(python, option):
    assert as_options(python) == option


def test_an_error_on_the_command_line_names_the_option(tmp_path):
    asked = ("publish", "sample:supermarket?records=60", "--method", "disassociation", "--k", 3, "--m", 2, "--seed", 7)
    ended = call(*asked, "--out", "out", cwd=tmp_path)
    assert ended.code == 2
    assert "--experiment" in ended.sentence()
    assert "experiment=True" not in ended.sentence()
