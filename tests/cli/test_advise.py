"""`setveil advise`: questions on a terminal, otherwise options or a file; the command that it prints publishes."""

import json
import os
import pty
import shlex
import subprocess

import pytest

import setveil as sv

from support.program import PATIENCE_SECONDS, PROGRAM, call

DATA = "sample:supermarket?records=800"
ANSWERS = (
    "--record", "person", "--recipients", "contract", "--hide", "identity", "--known", "2", "--rows", "true", "--work", "recommendation",
    "--earlier", "no",
)  # fmt: skip


def command_in(said):
    """Return the first command that publishes, in one line."""
    lines = iter(said.splitlines())
    first = next(line for line in lines if line.startswith("  Command"))
    more = []
    for line in lines:
        if not line.startswith(" "):
            break
        more.append(line.strip())
    return " ".join([first.removeprefix("  Command").strip(), *more])


def test_the_command_that_it_prints_publishes_with_the_answers(tmp_path):
    ended = call("advise", DATA, *ANSWERS, "--save-context", "context.toml", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("1. disassociation k=5, m=2")
    command = shlex.split(command_in(ended.out))
    assert command[:3] == ["setveil", "publish", DATA]
    assert call(*command[1:], cwd=tmp_path).code == 0
    opened = sv.open_release(tmp_path / "release")
    assert opened.card.method.name == "disassociation"
    assert sv.Context.read(tmp_path / "context.toml").recipients == "contract"


def test_answers_come_from_a_file_and_options_replace_them(tmp_path):
    call("advise", DATA, *ANSWERS, "--save-context", "context.toml", cwd=tmp_path)
    ended = call("advise", DATA, "--context", "context.toml", "--recipients", "everyone", "--json", cwd=tmp_path)
    said = ended.json
    assert said["context"]["answers"]["recipients"] == "everyone"
    assert said["set-ups"][0]["method"]["k"] == 10
    assert said["set-ups"][0]["trial"]["status"] == "holds"


def test_command_line_and_python_say_the_same(tmp_path):
    said = call("advise", DATA, *ANSWERS, "--json", cwd=tmp_path).json
    context = dict(zip([name.removeprefix("--") for name in ANSWERS[::2]], ANSWERS[1::2], strict=True))
    here = json.loads(json.dumps(sv.advise(DATA, context).to_dict()))
    for one in (*said["tried"], *here["tried"], *said["set-ups"], *here["set-ups"]):
        one["trial"].pop("seconds")
    assert said == here


def test_missing_answers_name_their_options(tmp_path):
    ended = call("advise", DATA, "--record", "person", cwd=tmp_path)
    assert ended.code == 2
    assert "lacks 6 of 7 answers: --recipients: Who gets the release?" in ended.sentence()


def test_what_is_lacking_is_said_with_the_option_that_helps(tmp_path):
    ended = call("advise", DATA, *ANSWERS, "--hide", "sensitive-items", cwd=tmp_path)
    assert ended.code == 2, "an option that is given twice"
    given = [*ANSWERS]
    given[given.index("identity")] = "sensitive-items"
    ended = call("advise", DATA, *given, cwd=tmp_path)
    assert ended.code == 0
    assert "give --sensitive" in ended.out


@pytest.mark.parametrize("wrong", ["", "9", "identity 2"])
def test_on_a_terminal_the_questions_are_asked(tmp_path, wrong):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "advise", DATA, "--earlier", "no", "--quiet"],
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
    )
    os.close(follower)
    os.write(leader, f"{wrong}\n1\n2\n1,3\n2\n1\n3\n".encode())
    said = process.communicate(timeout=PATIENCE_SECONDS)[0].decode()
    os.close(leader)
    assert process.returncode == 0, said
    assert said.count("Type a number from 1 to 2") == 1
    assert "1. disassociation k=5, m=2" in said
    assert "No set-up for sensitive-items" in said
    assert "Are there other releases" not in said, "this answer was an option"
