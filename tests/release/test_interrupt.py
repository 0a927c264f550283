"""Ctrl-C ends the program soon, with one sentence, and nothing is left; whatever it was doing."""

import os
import random
import signal
import sys
import time

import pytest

from program import assert_complete, ended, names_in, run, signalled, start

SOON_SECONDS = 1.5
"""The aim is half a second; a machine that is busy with other tests gets more."""

NOTHING = "stopped; nothing was written"
PUBLISH = ("--method", "part-swap", "--categories", "sample:supermarket", "--out", "out", "--seed", 2**100 + 7)

STUCK = """
import hashlib, sys
from pathlib import Path
from setveil.cli import interrupt
from setveil.release.staging import replacing, staged

def work(place):
    (place / "half").write_text("half")
    print("working", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # takes minutes, and hears nothing until it is done

interrupt.install()
if sys.argv[1] == "folders":
    with staged(Path("out"), Path("out.private")) as (out, private):
        work(private)
else:
    with replacing(Path("out.csv"), force=False) as hidden:
        work(hidden.parent)
"""
LATE = """
import os, signal, sys
from setveil.cli import main, publish_command

def say(text=""):
    os.kill(os.getpid(), signal.SIGINT)

publish_command.say = say
main.main()
"""


def moments(count, seconds, seed):
    """Return random moments, one in each part of the time."""
    rng = random.Random(seed)  # noqa: S311 - moments of a test
    return [(i + rng.random()) / count * seconds for i in range(count)]


def interrupt(folder, arguments, when, *, fresh=False):
    """Interrupt a command at each of these moments; return the seconds it took to end where it had not ended by itself."""
    seconds = []
    for number, after in enumerate(when):
        place, cache = folder / f"run-{number}", folder / f"cache-{number}"
        place.mkdir()
        env = {"SETVEIL_CACHE_DIR": str(cache)} if fresh else None
        done = signalled(*arguments, number=signal.SIGINT, after=after, cwd=place, env=env)
        if done.code == 0:
            continue
        assert done.code == 130, (after, done)
        assert done.sentence() == NOTHING, (after, done.err)
        assert names_in(place) == [], (after, done.err)
        seconds.append(done.seconds)
    assert len(seconds) >= len(when) / 2, "most runs were over before they were interrupted"
    shown = sorted(seconds)
    print(
        f"{arguments[0]}: ends after {shown[0]:.3f} / {shown[len(shown) // 2]:.3f} / {shown[-1]:.3f} s (min, median, max)"
    )
    assert shown[-1] < SOON_SECONDS
    return seconds


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("publish", "sample:supermarket?records=150000", *PUBLISH), 10),
        (("profile", "sample:supermarket?records=150000"), 5),
        (("convert", "sample:supermarket?records=300000", "out.csv.gz"), 5),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_stopped_at_any_moment(tmp_path, arguments, count):
    whole = run(*arguments, cwd=tmp_path)
    assert whole.code == 0, whole.err
    interrupt(tmp_path, arguments, moments(count, 0.9 * whole.seconds, seed=count))


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("publish", "sample:supermarket?records=3000", *PUBLISH), 5),
        (("profile", "sample:supermarket?records=3000"), 3),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_stopped_while_compiling(tmp_path, arguments, count):
    interrupt(tmp_path, arguments, moments(count, 5, seed=count), fresh=True)


@pytest.mark.parametrize("what", ["folders", "file"])
def test_stopped_while_the_main_thread_hears_nothing(tmp_path, what):
    process = start(what, cwd=tmp_path, program=[sys.executable, "-W", "error", "-c", STUCK])
    assert process.stdout.readline() == "working\n"
    since = time.monotonic()
    process.send_signal(signal.SIGINT)
    done = ended(process, since)
    assert done.code == 130
    assert done.sentence() == NOTHING
    assert done.seconds < SOON_SECONDS
    assert names_in(tmp_path) == []


def test_stopped_twice_is_stopped_once(tmp_path):
    process = start("publish", "sample:supermarket?records=150000", *PUBLISH, cwd=tmp_path)
    time.sleep(2)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    done = ended(process)
    assert done.code == 130
    assert done.sentence() == NOTHING
    assert names_in(tmp_path) == []


def test_stopped_after_the_release_was_written_says_so(tmp_path):
    done = run(
        "publish",
        "sample:supermarket?records=300",
        *PUBLISH,
        cwd=tmp_path,
        program=[sys.executable, "-W", "error", "-c", LATE],
    )
    assert done.code == 130
    assert done.sentence() == "stopped; out was written before and is complete"
    assert_complete(tmp_path / "out", tmp_path / "out.private")


def test_a_signal_that_whoever_started_us_ignores_is_ignored(tmp_path):
    shell = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-W", "error", "-m", "setveil"]
    process = start("profile", "sample:supermarket?records=20000", cwd=tmp_path, program=shell)
    time.sleep(0.7)
    os.kill(process.pid, signal.SIGINT)
    done = ended(process)
    assert done.code == 0, done.err
    assert "20,000 records" in done.out
