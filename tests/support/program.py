"""Starting the program: inside the test where that is enough, as a process of its own where a signal or its end is the point."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.main import run as run_here
from setveil.release.dossier import Private
from setveil.release.opening import open_release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAM = (sys.executable, "-W", "error", "-m", "setveil")
PATIENCE_SECONDS = 300
"""A program that hangs is given up then; one that compiles all its loops on a busy machine takes a minute or two."""
AWKWARD_NAMES = ["out", "out[1]", "o*t", "two words", "out.v1", "lock", "new", "old"]
"""Names of files and folders to make: with blanks, with signs of patterns, and like the names inside a workplace of `atomic`."""
HANG_SECONDS = 60
"""The shortest limit that a test may set: only a hang takes longer. How long things take is measured in `benchmarks`."""


@dataclass(frozen=True)
class Ended:
    """How the program ended and what it said."""

    code: int
    out: str
    err: str
    seconds: float = 0.0

    @property
    def json(self) -> Any:
        """The result; fails if anything else is on standard output."""
        return json.loads(self.out)

    def sentence(self) -> str:
        """Return what the program says of an error; fails unless that is one line, and no traceback."""
        said = [line for line in self.err.splitlines() if line.startswith("setveil: ")]
        assert len(said) == 1, self.err
        assert "Traceback" not in self.err, self.err
        return said[0].removeprefix("setveil: ")

    def error(self) -> dict[str, Any]:
        """Return the error that a command with --json prints; fails unless it says what the sentence and the exit code say."""
        (document,) = self.json.items()
        assert document[0] == "error"
        found = document[1]
        assert (found["message"], found["exit_code"]) == (self.sentence(), self.code)
        assert found["kind"]
        return found


def with_json(arguments: Sequence[object]) -> list[object]:
    """Return the arguments with --json after the command."""
    place = 2 if arguments[:1] == ["presence"] else 1
    return [*arguments[:place], "--json", *arguments[place:]]


def call(*arguments: object, cwd: Path | None = None) -> Ended:
    """Run a command inside this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(cwd or "."))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        code = run_here([str(argument) for argument in arguments])
    return Ended(code, out.getvalue(), err.getvalue())


def with_usual_signals() -> None:
    """Hear signals that a shell in the background, or `nohup`, had this process ignore: a child would inherit that."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def start(
    *arguments: object, cwd: Path, env: Mapping[str, str] | None = None, program: Sequence[str] = PROGRAM
) -> subprocess.Popen[str]:
    """Start a command in a process of its own, in which warnings are errors too."""
    with_usual_signals()
    return subprocess.Popen(
        [*program, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONWARNINGS": "error", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], since: float | None = None) -> Ended:
    """Wait for the end of a process; the seconds are counted from `since`."""
    since = time.monotonic() if since is None else since
    try:
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Ended(process.returncode, out, err, time.monotonic() - since)


def run(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None, program: Sequence[str] = PROGRAM) -> Ended:
    """Run a command in a process of its own."""
    since = time.monotonic()
    return ended(start(*arguments, cwd=cwd, env=env, program=program), since)


def listening(process: subprocess.Popen[str]) -> None:
    """Wait until the program listens for signals: from then on it has a second thread."""
    threads = Path(f"/proc/{process.pid}/task")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if len(list(threads.iterdir())) > 1:
                return
        time.sleep(0.005)


def signalled(
    *arguments: object, number: signal.Signals, after: float, cwd: Path, env: Mapping[str, str] | None = None
) -> Ended:
    """Run a command and send it a signal so many seconds after it began to listen; count the seconds from there to its end."""
    return signalled_one(start(*arguments, cwd=cwd, env=env), number=number, after=after)


def signalled_one(process: subprocess.Popen[str], *, number: signal.Signals, after: float) -> Ended:
    """Do the same with a process that was started."""
    listening(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after)
    since = time.monotonic()
    process.send_signal(number)
    return ended(process, since)


def held(script: str, target: Path) -> subprocess.Popen[str]:
    """Start a script that makes a target, and return the process once it says that it is at work and waits."""
    process = start(target.name, cwd=target.parent, program=[sys.executable, "-W", "error", "-c", script])
    assert process.stdout.readline() == "staged\n"
    return process


def killed(process: subprocess.Popen[str]) -> None:
    """Kill a process, and wait for its end."""
    process.kill()
    process.communicate()


def hidden_in(folder: Path) -> list[str]:
    """Return what is hidden in a folder: what was being staged, if a run left it there."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def names_in(folder: Path) -> list[str]:
    """Return the names of everything in a folder."""
    return sorted(path.name for path in folder.iterdir())


def assert_complete(out: Path, private: Path) -> None:
    """Fail unless both folders of a release are whole and belong together."""
    opened, kept = open_release(out), Private.load(private)
    assert kept.card == opened.card
    assert len(kept.alignment.rows) == opened.data.records == kept.card.counts.records
    assert (private / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert set(names_in(private)) - {".uncommitted"} == {
        "alignment.parquet",
        "dossier.json",
        "recount.sql",
        "report.html",
    }


def as_a_recipient_has_it(folder: Path, release: str) -> str:
    """Copy a release to a place without its private folder, and return where it is."""
    place = f"handed-over/{release}"
    shutil.rmtree(folder / place, ignore_errors=True)
    shutil.copytree(folder / release, folder / place)
    return place
