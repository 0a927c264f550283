"""Ctrl-C at random moments: how programs end, what they leave behind, and how long that takes.

Each row interrupts one piece of work, from before its libraries are imported to its end. Allowed are the exit code 130 with nothing left,
or with a complete result where the signal came in the last moment, and 0 with a complete result. Anything else, such as an abort (-6) or
a run that does not end within a minute (hang), makes the script fail. Seconds run from the signal to the end of the process; the first row
is a plain Python program that sleeps, for comparison in the same run. Busy processes beside it make the moments harder, and the seconds
longer. Run: python benchmarks/bench_interrupts.py [--times 20] [--busy 4] [--seed 0] [--only TEXT]
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import NamedTuple

import duckdb

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.program import assert_complete, listening, names_in, start

PYTHON = (sys.executable, "-W", "error", "-c")
STOPPED = 130
HANG_SECONDS, WHOLE_SECONDS = 60, 600  # the second one: a first run compiles
ENDLESS = "WITH RECURSIVE t(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM t) SELECT g FROM t WHERE g < 0"
RECORDS = 60_000
SAMPLE = f"sample:supermarket?records={RECORDS}"
PUBLISH = ("--method", "part-swap", "--categories", "sample:supermarket", "--out", "new")

LIBRARY = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import setveil as sv
from setveil.data.databases import query_batches
from setveil.data.databases.writing import write_table
try:
    data = sv.read("{source}") if "{source}" else None
    print("listening", flush=True)
    {work}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # over: Python itself would now die of the signal
except KeyboardInterrupt:
    sys.exit(130)
"""
QUERY = f"""with query_batches("duckdb:///old.duckdb", "{ENDLESS}") as rows: list(rows)"""
LINE = f"""sys.path.insert(0, "{sys.path[0]}")
    from support.parties import lines
    with lines() as (a, b): a.receive("x", 1)"""
TABLE = 'write_table(data, "duckdb:///old.duckdb", "new", shape="list")'


class Work(NamedTuple):
    """What is interrupted: a command of the program, or a script that says when it listens."""

    name: str
    command: tuple[object, ...]
    program: tuple[str, ...] | None = None
    seconds: float | None = None
    """How long the moments reach where the work never ends; None for the length of a whole run."""
    writes: bool = True


def scripted(name, work, source="", seconds=None):
    return Work(name, (), (*PYTHON, LIBRARY.format(source=source, work=work)), seconds, writes=work == TABLE)


WORKS = (
    scripted("plain Python, sleeping", "import time; time.sleep(100)", seconds=0.5),
    scripted("DuckDB query, library", QUERY, seconds=1.5),
    Work("DuckDB query, program", ("profile", "duckdb:///old.duckdb", "--query", ENDLESS), seconds=2.5),
    scripted("DuckDB table in a file, library", TABLE, SAMPLE),
    Work(
        "DuckDB table in a new file, program",
        ("convert", SAMPLE, "duckdb:///new.duckdb", "--table", "new", "--to", "list"),
    ),
    Work("publish, program", ("publish", SAMPLE, *PUBLISH)),
    Work("profile, program", ("profile", SAMPLE), writes=False),
    scripted("profile, library", "sv.profile(data)", SAMPLE),
    scripted("built-in sample, library", 'sv.read("sample:supermarket?records=10000000")', seconds=1.5),
    scripted("awaiting a message over TLS, library", LINE, seconds=1.5),
    Work("mine, program", ("mine", SAMPLE, "--min-support", 30, "--out", "new.csv")),
)


def begun(work, folder):
    """Start the work in a folder and wait until it listens."""
    process = start(*work.command, cwd=folder, **({"program": work.program} if work.program else {}))
    if work.program:
        process.stdout.readline()
    else:
        listening(process)
    return process


def end_of(process, patience):
    """Return the exit code, or "hang" for a process that does not end, and what was said."""
    try:
        said = process.communicate(timeout=patience)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hang", ""
    return process.returncode, said


def rows_in(file):
    """Return how many rows the new table of a DuckDB file has; None without such a table."""
    with duckdb.connect(str(file)) as connection:
        tables = [name for (name,) in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()]
        return connection.execute("SELECT count(*) FROM new").fetchone()[0] if "new" in tables else None


def left_in(folder):
    """Return what is in a folder beside the old file: nothing, a complete result, or names of what is half-written."""
    names = [name for name in names_in(folder) if not name.startswith("old.duckdb")]
    rows = rows_in(folder / (names[0] if names == ["new.duckdb"] else "old.duckdb"))
    if rows is not None:
        return "complete" if rows == RECORDS else f"{rows} rows"
    if names == ["new", "new.private"]:
        assert_complete(folder / "new", folder / "new.private")
        return "complete"
    if names == ["new.csv"]:
        return "complete"  # renamed to its name when it was whole
    return ", ".join(names)


def whole(work):
    """Return the seconds of a run that is not interrupted, after one that compiles what is not compiled yet."""
    if work.seconds is not None:
        return work.seconds
    for _ in range(2):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            duckdb.connect(str(folder / "old.duckdb")).close()
            process = begun(work, folder)
            since = time.monotonic()
            code, said = end_of(process, WHOLE_SECONDS)
            took = time.monotonic() - since
            if code != 0:
                sys.exit(f"{work.name} ended with {code}: {said}")
    return took


def is_right(work, code, left):
    """Tell whether work may end with this code and leave this behind."""
    if code == 0:
        return work.seconds is None and left == ("complete" if work.writes else "")
    return code == STOPPED and left in ("", "complete")


def interrupted(work, after):
    """Return the exit code, what is left and the seconds from Ctrl-C to the end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        duckdb.connect(str(folder / "old.duckdb")).close()
        process = begun(work, folder)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        since = time.monotonic()
        process.send_signal(signal.SIGINT)
        code, said = end_of(process, HANG_SECONDS)
        took = time.monotonic() - since
        left = left_in(folder)
    if not is_right(work, code, left):
        print(f"{work.name}, {after:.3f} s: {code}, left: {left or 'nothing'}\n{said}", file=sys.stderr)
    return code, left, took


def measure(work, times, moments):
    """Interrupt a piece of work and print its row; return how many ends were not as they should be."""
    longest = whole(work)
    ends = [interrupted(work, moments.uniform(0, longest)) for _ in range(times)]
    codes = Counter(code for code, _, _ in ends)
    shown = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items(), key=lambda one: -one[1]))
    lefts = [left for _, left, _ in ends]
    halves = sum(left not in ("", "complete") for left in lefts)
    stops = sorted(took for code, _, took in ends if code == STOPPED) or [float("nan")]
    figures = f"{median(stops):>8.2f}{stops[-1]:>8.2f}"
    print(f"{work.name:<38}{shown:<22}{lefts.count('complete'):>9}{halves:>13}{figures}", flush=True)
    return sum(not is_right(work, code, left) for code, left, _ in ends)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20, help="interrupts of each row")
    parser.add_argument("--busy", type=int, default=4, help="processes that keep the cores busy meanwhile")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    given = parser.parse_args()
    moments = random.Random(given.seed)  # noqa: S311 - moments to interrupt at
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(given.busy)]
    print(f"{given.busy} busy processes beside; seconds from Ctrl-C to the end: median and most")
    print(f"{'work':<38}{'exit code: times':<22}{'complete':>9}{'half-written':>13}{'median':>8}{'most':>8}")
    try:
        works = [WORKS[0], *(work for work in WORKS[1:] if given.only in work.name)]
        bad = sum(measure(work, given.times, moments) for work in works)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    sys.exit(f"{bad} ends were not as they should be" if bad else None)


if __name__ == "__main__":
    main()
