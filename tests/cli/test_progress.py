"""--progress, --verbose and --log-file: what they show of a running command, and that they hold no values of the data."""

import json
import logging
import re
import signal
import stat
import time

import numpy as np
import pytest

from setveil.base import progress
from setveil.cli import reporters
from setveil.cli.options import OutputOptions
from setveil.cli.reporters import reporting_as

from support.program import call, signalled

METHOD = ("--method", "insert", "--sensitive", "secrets.txt", "--rho", "50%")
VALUE = "secretmilk"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (DEBUG|INFO|ERROR) ")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.dat").write_text(
        "secretmilk tea\nsecretmilk tea\n\nwine secretmilk\nwine tea\n", encoding="utf-8"
    )
    (tmp_path / "secrets.txt").write_text("secretmilk\nsecretcheese\n", encoding="utf-8")
    return tmp_path


def events(text):
    return [json.loads(line) for line in text.splitlines()]


def test_every_line_is_an_event(folder):
    ended = call("publish", "data.dat", *METHOD, "--out", "new", "--progress", "json", cwd=folder)
    assert ended.code == 0
    found = events(ended.err)
    assert {one["event"] for one in found} <= {"start", "advance", "end", "note"}
    started = {one["step"]: one["label"] for one in found if one["event"] == "start"}
    assert "checking rho-uncertainty" in started.values()
    ends = [one for one in found if one["event"] == "end"]
    assert sorted(one["step"] for one in ends) == sorted(started)
    assert all(one["completed"] for one in ends)
    assert any("--empty drop" in one["text"] for one in found if one["event"] == "note")
    assert [one["seconds"] for one in found] == sorted(one["seconds"] for one in found)


def test_an_error_is_an_event_too(folder):
    ended = call("profile", "missing.dat", "--progress", "json", cwd=folder)
    assert ended.code == 2
    assert events(ended.err)[-1] == {
        "event": "error",
        "kind": "bad-data",
        "message": "missing.dat: there is no such file",
        "exit_code": 2,
        "file": "missing.dat",
    }


def test_how_far_a_step_is_comes_at_most_five_times_per_second(capsys):
    with reporting_as(OutputOptions(progress="json")) as reporter, progress.reporting(reporter):
        began = time.monotonic()
        with progress.step("counting", 1_000_000) as advance:
            done = 0
            while time.monotonic() - began < 3 * reporters.BETWEEN_EVENTS_SECONDS:
                done += 1
                advance(done)
        seconds = time.monotonic() - began
    found = events(capsys.readouterr().err)
    advanced = [one for one in found if one["event"] == "advance"]
    assert done > 1_000
    assert 2 <= len(advanced) <= seconds / reporters.BETWEEN_EVENTS_SECONDS
    assert all(0 < one["done"] <= done and one["total"] == 1_000_000 for one in advanced)


def test_the_total_of_a_step_can_be_a_count_of_numpy(capsys):
    with reporting_as(OutputOptions(progress="json")) as reporter, reporter.step("counting", np.int64(3)):
        pass
    assert json.loads(capsys.readouterr().err.splitlines()[0])["total"] == 3


def test_a_step_that_fails_is_not_completed(capsys):
    with (
        reporting_as(OutputOptions(progress="json")) as reporter,
        progress.reporting(reporter),
        pytest.raises(ZeroDivisionError),
        progress.step("dividing"),
    ):
        raise ZeroDivisionError
    assert [one.get("completed") for one in events(capsys.readouterr().err)] == [None, False]


@pytest.mark.parametrize("terminal", [False, True])
def test_without_progress_notes_are_still_shown(terminal, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    monkeypatch.setattr(reporters, "FIRST_LINE_SECONDS", 0)
    with reporting_as(OutputOptions(progress="none")) as reporter, progress.reporting(reporter):
        with progress.step("counting"):
            time.sleep(0.05)
        progress.note("2 empty records kept")
    assert re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().err) == "note: 2 empty records kept\n"


def test_verbose_shows_steps_with_their_time_files_and_loops(folder):
    plain = call("publish", "data.dat", *METHOD, "--out", "new", cwd=folder).err
    said = call("publish", "data.dat", *METHOD, "--out", "other", "--verbose", cwd=folder).err
    assert re.search(r"^checking rho-uncertainty took \d+\.\d\d s$", said, re.MULTILINE)
    assert re.search(r"^reading data\.dat$", said, re.MULTILINE)
    assert "took" not in plain
    assert said.count("note: ") == plain.count("note: ")
    assert not logging.getLogger("setveil").handlers


def test_the_log_says_what_happened_without_values_of_the_data(folder):
    log = folder / "log.txt"
    given = ("--log-file", "log.txt", "--quiet")
    assert call("publish", "data.dat", *METHOD, "--out", "new", "--seed", 2**70 + 12345, *given, cwd=folder).code == 0
    assert call("publish", "data.dat", *METHOD, "--out", "new", *given, cwd=folder).code == 2
    asked = ("publish", "data.dat", *METHOD, "--missing-names", "error", "--out", "newer", *given)
    assert call(*asked, cwd=folder).code == 2
    text = log.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert all(LINE.match(line) for line in lines), text
    assert len([line for line in lines if "ended with exit code" in line]) == 3, "each command is appended"
    assert any(line.endswith("publish --method --sensitive --rho --out --seed --log-file --quiet") for line in lines)
    assert any("checking rho-uncertainty took" in line for line in lines)
    assert any("note: " in line for line in lines)
    assert any("ERROR output-refused: " in line for line in lines)
    assert any("ERROR bad-data: " in line for line in lines)
    assert "secret" not in text.replace("secrets.txt", "")
    assert str(2**70 + 12345) not in text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_the_log_holds_no_names_from_notes(folder):
    assert call("publish", "data.dat", *METHOD, "--out", "new", cwd=folder).code == 0
    asked = ("check", "new", "--guarantee", "rho-uncertainty", "--sensitive", "secrets.txt", "--rho", "50%")
    ended = call(*asked, "--log-file", "log.txt", cwd=folder)
    assert "not there: 'secretcheese'" in ended.err
    text = (folder / "log.txt").read_text(encoding="utf-8")
    assert re.search(r"note: sensitive: . of 2 named items occurs? in the release; not there: '…'", text)
    assert "secret" not in text.replace("secrets.txt", "")


def test_the_log_does_not_hold_the_first_line_of_data_without_a_header(folder):
    (folder / "data.csv").write_text("mary,secretmilk\njohn,wine\n", encoding="utf-8")
    ended = call("profile", "data.csv", "--log-file", "log.txt", cwd=folder)
    assert ended.code == 2
    assert "mary, secretmilk" in ended.err
    text = (folder / "log.txt").read_text(encoding="utf-8")
    assert "ERROR bad-data: data.csv, line 1: has no column '…'" in text
    assert "mary" not in text
    assert "secretmilk" not in text


def test_the_log_holds_the_place_of_a_bug_and_not_its_message(folder, monkeypatch):
    def broken(*_given, **_also):
        raise RuntimeError(VALUE)

    monkeypatch.setattr("setveil.profile", broken)
    assert call("profile", "data.dat", "--log-file", "log.txt", cwd=folder).code == 1
    text = (folder / "log.txt").read_text(encoding="utf-8")
    assert "unexpected RuntimeError, raised in:" in text
    assert "profile_command.py" in text
    assert "secretmilk" not in text
    assert "ended with exit code 1" in text


def test_the_log_says_that_a_command_was_stopped(tmp_path):
    asked = ("publish", "sample:supermarket", "--method", "part-swap", "--categories", "sample:supermarket")
    ended = signalled(*asked, "--out", "new", "--log-file", "log.txt", number=signal.SIGINT, after=0.6, cwd=tmp_path)
    assert ended.code == 130
    assert "ERROR stopped; nothing was written" in (tmp_path / "log.txt").read_text(encoding="utf-8")


def test_a_full_disk_stops_the_log_and_not_the_work(folder):
    ended = call("profile", "data.dat", "--log-file", "/dev/full", cwd=folder)
    assert ended.code == 0
    assert ended.out.startswith("5 records")
    assert ended.err.count("the log file is incomplete: No space left on device") == 1
    assert "Traceback" not in ended.err
