"""Ctrl-C ends the program, with one sentence, and nothing is left; whatever it was doing."""

import random
import shutil
import signal
import sys
import time

import pytest

from support.exhaustive import IS_EXHAUSTIVE
from support.forked import run as run_forked
from support.program import HANG_SECONDS, assert_complete, ended, hidden_in, names_in, run, signalled, start

NOTHING = "stopped; nothing was written"
PUBLISH = ("--method", "part-swap", "--categories", "sample:supermarket", "--out", "out", "--seed", 2**100 + 7)

PYTHON = (sys.executable, "-W", "error", "-c")
FORCE = {"publish": ("--force",), "convert": ("--force",)}

STUCK = """
import hashlib, os, signal, sys
from pathlib import Path
from setveil.base.atomic import make_file, make_two_folders
from setveil.cli import interrupt

def work(place):
    (place / "half").write_text("half")
    print("working", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # takes minutes, and hears nothing until it is done

class Callback:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

interrupt.install()
if sys.argv[1] == "lost in a callback":
    Callback()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
elif sys.argv[1] == "folders":
    with make_two_folders(Path("out"), Path("out.private")) as (out, private):
        work(private)
else:
    with make_file(Path("out.csv")) as hidden:
        work(hidden.parent)
"""
AGAIN = """
import os, shutil, signal
from setveil.base import atomic
from setveil.cli import main

def press(*_arguments, **_options):
    os.kill(os.getpid(), signal.SIGINT)

def press_and_remove(*arguments, **options):
    press()
    remove(*arguments, **options)

remove, shutil.rmtree, atomic._sync_tree = shutil.rmtree, press_and_remove, press
main.main()
"""
LATE = """
import os, signal, sys
from setveil.cli import main, publish_command

def say(text=""):
    os.kill(os.getpid(), signal.SIGINT)

publish_command.say = say
main.main()
"""
JOINT = """
import os, signal
from setveil.cli import main
from setveil.guarantees.together import worlds

def press(*_arguments):
    os.kill(os.getpid(), signal.SIGINT)

worlds.JointWorlds.candidates = press
main.main()
"""


def shares(count):
    """Return random shares of a run's time, one in each part of it."""
    rng = random.Random(count)  # noqa: S311 - moments of a test
    return [0.95 * (i + rng.random()) / count for i in range(count)]


def stopped(folder, arguments, after, *, fresh):
    """Interrupt a command so many seconds after it began to listen."""
    place = folder / "place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    env = {"SETVEIL_CACHE_DIR": str(folder / "cache")} if fresh else None
    shutil.rmtree(folder / "cache", ignore_errors=True)
    return place, signalled(*arguments, number=signal.SIGINT, after=after, cwd=place, env=env)


def assert_stops(folder, arguments, count, whole, *, fresh=False):
    """Interrupt a command that takes `whole` seconds at random moments."""
    for share in shares(count):
        place, done = stopped(folder, arguments, share * whole, fresh=fresh)
        while done.code == 0:  # over by itself: the machine is less busy now than when the whole was measured
            whole = share * whole
            place, done = stopped(folder, arguments, share * whole, fresh=fresh)
        assert done.code == 130, (share * whole, done)
        assert (done.sentence() == NOTHING) == (names_in(place) == []), (share * whole, done.err)
        if names_in(place):  # in the last moment, after the renaming
            assert done.sentence() == f"stopped; {names_in(place)[0]} was written before and is complete"
            assert hidden_in(place) == []
        assert done.seconds < HANG_SECONDS


@pytest.mark.parametrize(
    ("command", "records", "options", "count"),
    [("publish", 40_000, PUBLISH, 10), ("profile", 40_000, (), 4), ("convert", 100_000, ("out.csv.gz",), 4)],
)
def test_stopped_at_any_moment(tmp_path, command, records, options, count):
    if not IS_EXHAUSTIVE:
        records, count = records // 4, count // 2
    for size in (100, records):  # the first one compiles, if that was not done before
        whole = run(command, f"sample:supermarket?records={size}", *options, *FORCE.get(command, ()), cwd=tmp_path)
        assert whole.code == 0, whole.err
    arguments = (command, f"sample:supermarket?records={records}", *options)
    assert_stops(tmp_path, arguments, count, whole.seconds)


def test_a_job_is_stopped_at_any_moment(tmp_path):
    job = tmp_path / "job.toml"
    data = f"sample:supermarket?records={40_000 if IS_EXHAUSTIVE else 10_000}"
    job.write_text(f'data = "{data}"\nmethod = {{ name = "part-swap", categories = "sample:supermarket" }}\n')
    assert run("run", job, "--out", "first", cwd=tmp_path).code == 0  # compiles, if that was not done before
    whole = run("run", job, "--out", "second", cwd=tmp_path)
    assert whole.code == 0, whole.err
    assert_stops(tmp_path, ("run", job, "--out", "out"), 6 if IS_EXHAUSTIVE else 3, whole.seconds)


@pytest.mark.parametrize(("command", "options", "count"), [("publish", PUBLISH, 5), ("profile", (), 3)])
def test_stopped_while_compiling(tmp_path, command, options, count):
    count = count if IS_EXHAUSTIVE else 2
    assert_stops(tmp_path, (command, "sample:supermarket?records=3000", *options), count, 4, fresh=True)


def test_stopped_while_candidates_are_counted(tmp_path):
    sample = "sample:supermarket?records=1000"
    for name, options in (("one", ("--k", 3)), ("other", ("--k", 5, "--delta", 30))):
        made = ("publish", sample, "--method", "disassociation", *options, "--m", 2, "--out", name)
        assert run_forked(*made, cwd=tmp_path).code == 0
    before = names_in(tmp_path)
    check = ("check", "--together", "one", "other", "--original", sample)
    assert run_forked(*check, cwd=tmp_path).code == 3
    done = run(*check, cwd=tmp_path, program=[*PYTHON, JOINT])
    assert (done.code, done.sentence(), done.out) == (130, NOTHING, "")
    assert names_in(tmp_path) == before


@pytest.mark.parametrize("what", ["folders", "file"])
def test_stopped_while_the_main_thread_hears_nothing(tmp_path, what):
    process = start(what, cwd=tmp_path, program=[*PYTHON, STUCK])
    assert process.stdout.readline() == "working\n"
    done = ended_by(process, signal.SIGINT)
    assert done.code == 130
    assert done.sentence() == NOTHING
    assert done.seconds < HANG_SECONDS
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_asked_to_end_by_the_system(tmp_path, number):
    """As `kill` and a service manager ask, and a terminal that is closed."""
    process = start("folders", cwd=tmp_path, program=[*PYTHON, STUCK])
    assert process.stdout.readline() == "working\n"
    arguments = ("profile", "sample:supermarket?records=2000000")
    found = [ended_by(process, number), signalled(*arguments, number=number, after=0.5, cwd=tmp_path)]
    for done in found:
        assert done.code == 128 + number
        assert done.sentence() == NOTHING
        assert done.seconds < HANG_SECONDS
    assert names_in(tmp_path) == []


def ended_by(process, number):
    time.sleep(0.2)  # until it does what it says
    since = time.monotonic()
    process.send_signal(number)
    return ended(process, since)


def test_stopped_in_a_callback_that_cannot_tell(tmp_path):
    done = run("lost in a callback", cwd=tmp_path, program=[*PYTHON, STUCK])
    assert done.code == 130
    assert done.err == f"setveil: {NOTHING}\n"


def test_stopped_again_while_cleaning_up_is_stopped_once(tmp_path):
    done = run_forked("publish", "sample:supermarket?records=300", *PUBLISH, cwd=tmp_path, code=AGAIN)
    assert done.code == 130
    assert done.sentence() == NOTHING
    assert names_in(tmp_path) == []


def test_stopped_after_the_release_was_written_says_so(tmp_path):
    done = run_forked("publish", "sample:supermarket?records=300", *PUBLISH, cwd=tmp_path, code=LATE)
    assert done.code == 130
    assert done.sentence() == "stopped; out was written before and is complete"
    assert_complete(tmp_path / "out", tmp_path / "out.private")


def test_a_signal_that_whoever_started_us_ignores_is_ignored(tmp_path):
    shell = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-W", "error", "-m", "setveil"]
    process = start("convert", "sample:supermarket?records=60000", "out.dat", cwd=tmp_path, program=shell)
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert done.code == 0, done.err
    assert names_in(tmp_path) == ["out.dat"]
