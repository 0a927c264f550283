"""`setveil advise`: questions on a terminal, otherwise options or a file; the command that it prints publishes."""

import json
import os
import pty
import shlex
import signal
import stat
import subprocess
from contextlib import contextmanager

import pytest

import setveil as sv

from support.program import PATIENCE_SECONDS, PROGRAM, call, with_usual_signals

DATA = "sample:supermarket?records=800"
ANSWERS = (
    "--record", "person", "--recipients", "contract", "--hide", "identity", "--known", "2", "--rows", "true", "--work", "recommendation",
    "--earlier", "no",
)  # fmt: skip
CONTEXT = dict(zip([name.removeprefix("--") for name in ANSWERS[::2]], ANSWERS[1::2], strict=True))


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


def test_the_command_names_the_files_that_were_given_also_with_a_separator(tmp_path):
    data = sv.read(DATA)
    (tmp_path / "data.txt").write_text("".join(f"{';'.join(record)}\n" for record in data.to_lists()))
    first, second = sv.mine(data, 10, min_length=2, max_length=2).to_lists()[:2]
    (tmp_path / "itemsets.txt").write_text(f"{';'.join(first)}\n{';'.join(second)}\n")
    given = [*ANSWERS]
    given[given.index("identity")], given[given.index("true")] = "itemsets", "counts"
    files = ("--format", "basket", "--separator", ";", "--itemsets", "itemsets.txt", "--min-support", 5)
    ended = call("advise", "data.txt", *files, *given, cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert ended.out.startswith("1. exact-swap")
    assert call(*shlex.split(command_in(ended.out))[1:], cwd=tmp_path).code == 0


def test_a_file_that_is_not_known_has_the_name_of_its_option():
    files = sv.SideFiles(sensitive=["milk"])
    found = sv.advise(sv.read(DATA), CONTEXT | {"hide": "sensitive-items"}, files)
    assert dict(found.command(found.tried[0]).options)["sensitive"] == "SENSITIVE"
    assert found.tried[0].title == "insert rho=33%"


def test_answers_come_from_a_file_and_options_replace_them(tmp_path):
    call("advise", DATA, *ANSWERS, "--save-context", "context.toml", cwd=tmp_path)
    ended = call("advise", DATA, "--context", "context.toml", "--recipients", "everyone", "--json", cwd=tmp_path)
    said = ended.json
    assert said["context"]["answers"]["recipients"] == "everyone"
    assert said["set-ups"][0]["method"]["k"] == 10
    assert said["set-ups"][0]["trial"]["status"] == "holds"


def test_command_line_and_python_say_the_same(tmp_path):
    said = call("advise", DATA, *ANSWERS, "--json", cwd=tmp_path).json
    here = json.loads(json.dumps(sv.advise(DATA, CONTEXT).to_dict()))
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


@contextmanager
def on_a_terminal(*options, cwd):
    """Start advise with a terminal as its input; give the process, and a function that types."""
    leader, follower = pty.openpty()
    with_usual_signals()
    process = subprocess.Popen(
        [*PROGRAM, "advise", DATA, *options],
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        text=True,
    )
    os.close(follower)
    try:
        yield process, lambda text: os.write(leader, text.encode())
    finally:
        process.kill()
        process.communicate()
        os.close(leader)


@pytest.mark.parametrize("wrong", ["", "9", "identity 2", "1,2"])
def test_on_a_terminal_the_questions_are_asked(tmp_path, wrong):
    with on_a_terminal("--earlier", "no", "--quiet", cwd=tmp_path) as (process, type_in):
        type_in(f"{wrong}\n1\n2\n1,1\n1,3\n2\n1\n3\n")
        out, asked = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, asked
    assert asked.count("Type a number from 1 to 2.\n") == 1
    assert asked.count("Type a number from 1 to 5, or several with commas, the most important first.\n") == 1
    assert "Are there other releases" not in asked, "this answer was an option"
    assert out.startswith("1. disassociation k=5, m=2"), "standard output is for the result"
    assert "No set-up for sensitive-items" in out


def test_without_an_answer_it_ends_with_the_option_that_gives_one(tmp_path):
    with on_a_terminal("--earlier", "no", cwd=tmp_path) as (process, type_in):
        type_in("1\n\x04")
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out) == (2, "")
    assert "the input ended before this was answered: Who gets the release? Answer it, or give --recipients" in err
    assert "Traceback" not in err


def test_ctrl_c_at_a_question_ends_it(tmp_path):
    with on_a_terminal(cwd=tmp_path) as (process, _type_in):
        shown = ""
        while not shown.endswith("\n> "):
            shown += process.stderr.read(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out) == (130, "")
    assert "setveil: stopped; nothing was written" in err
    assert "Traceback" not in err


def test_the_file_for_the_answers_is_refused_before_the_work(tmp_path):
    sv.publish(DATA, sv.Disassociation(k=2, m=2), out=tmp_path / "release", metrics=[], attacks="none")
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    nothing = tmp_path / "missing.csv"
    for name, options, text in (
        ("mine.txt", (), "mine.txt exists"),
        ("mine.txt", ("--force",), "mine.txt is not a file with answers and is not replaced"),
        ("release/context.toml", (), "inside a release folder"),
    ):
        ended = call("advise", nothing, *ANSWERS, "--save-context", name, *options, cwd=tmp_path)
        assert ended.code == 2
        assert text in ended.sentence()
    for recipients in ("contract", "inside"):
        context = sv.Context(**CONTEXT | {"recipients": recipients})
        context.save(tmp_path / "context.toml", force=True)
        assert sv.Context.read(tmp_path / "context.toml") == context
    assert stat.S_IMODE((tmp_path / "context.toml").stat().st_mode) == 0o600


def test_a_method_that_refuses_the_data_is_named_with_its_reason(tmp_path):
    (tmp_path / "sensitive.txt").write_text("no-such-item\n", encoding="utf-8")
    given = [*ANSWERS]
    given[given.index("identity")] = "sensitive-items"
    ended = call("advise", DATA, *given, "--sensitive", "sensitive.txt", cwd=tmp_path)
    assert "refused on the sample" in ended.out + ended.err
