"""`setveil demo`: all steps on built-in data."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.cli.options import ForceOption, OutputOptions, ReleaseFolderOption
from setveil.cli.profile_command import show_profile
from setveil.cli.show import say, say_headline, say_json, say_verdict
from setveil.data.reading.source import read
from setveil.errors import ExitCode
from setveil.kernels.jit import compiling
from setveil.methods.tendency.part_swap import PartSwap
from setveil.metrics.headline import headline_of
from setveil.parameters.categories import read_categories
from setveil.profiling import profile
from setveil.release.checking import guarantee_of
from setveil.release.dossier import REPORT_NAME, Private, private_beside
from setveil.release.opening import open_release
from setveil.release.publishing import publish
from setveil.release.saving import refuse_targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.base.verdict import Verdict
    from setveil.data.records.transactions import Transactions
    from setveil.release.release import Release

SHORT = 6
SAMPLE = "sample:supermarket"
SMALL_SAMPLE = "sample:supermarket?records=1000"
"""Enough to use the compiled loops that the whole sample uses."""


def demo(*, out: ReleaseFolderOption = "setveil-demo", force: ForceOption = False, output: OutputOptions) -> int:
    """Run all steps on built-in data, and write a report to open.

    Profiles 20,000 supermarket baskets, publishes them with part-swap and checks the release in another process. Shows that the check
    detects a release in which nothing was hidden, and measures the cost. Takes less than a minute.

    Example:
      setveil demo --out setveil-demo
    """
    started = time.monotonic()
    folder = Path(out)
    private = private_beside(folder)
    refuse_targets(folder, private, force=force)
    show = (lambda *_: None) if output.json else say
    data = read(SAMPLE)

    method = PartSwap(categories=read_categories(SAMPLE))

    show(f"1. Profile the data: {SAMPLE}, one record per customer\n   $ setveil profile {SAMPLE}\n")
    with _compiling_in_two_processes(method):
        found = profile(data)
    if not output.json:
        show_profile(found)

    show(
        "2. Hide the department that each customer prefers, and check it on the written file\n"
        f"   $ setveil publish {SAMPLE} --method part-swap --categories {SAMPLE} --out {folder} --measure full\n"
    )
    release = publish(data, method, out=folder, force=force, metrics="full")
    show(f"{release.summary}")
    row = _example_row(release, data)
    show(f"   for example, row {row + 1} was  {', '.join(data.record(int(release.alignment.rows[row])))}")
    show(f"   and is now{' ' * len(str(row + 1))}       {', '.join(release.rows.record(row))}\n")

    show(
        f"3. Check the release again, in another process\n   $ setveil check {folder} --original {SAMPLE} --private {private}\n"
    )
    words = ["check", str(folder), "--original", SAMPLE, "--private", str(private), "--quiet"]
    with _start(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as checked:
        said, _ = checked.communicate()
    show(said)

    show("4. Test the check itself, on a copy of the release with every customer's true record under the pseudonym\n")
    faulty = _check_unchanged_copy(folder, private, data)
    if not output.json:
        say_verdict(faulty)
    show(f"   {faulty.witnesses[0].place}: {faulty.witnesses[0].detail}\n")

    show(
        f"5. Measure the cost, and what can still be inferred\n   $ setveil measure {SAMPLE} {folder} --private {private}\n"
    )
    if output.json:
        say_json({
            "out": str(folder),
            "private": str(private),
            "verdict": release.verdict.to_dict(witnesses=0) if release.verdict else None,
            "check_exit_code": checked.returncode,
            "fault_caught": not faulty,
            "metrics": [m.to_dict() for m in release.measurements],
        })  # fmt: skip
    else:
        say_headline(headline_of(release.measurements))
        say()
    show(f"You may share {folder}/. Keep {private}/. All steps took {time.monotonic() - started:.0f} s.")
    show(f"Open {(private / REPORT_NAME).resolve()}")
    return checked.returncode or (ExitCode.FAILED if faulty else ExitCode.OK)


@contextmanager
def _compiling_in_two_processes(method: PartSwap) -> Iterator[None]:
    """Compile what the next steps need if the block compiles something, as on the first run: the metrics in another process."""
    others: list[subprocess.Popen[bytes]] = []

    def start(name: str | None) -> None:
        if name is not None and not others:
            words = ["measure", SMALL_SAMPLE, SMALL_SAMPLE, "--categories", SAMPLE, "--quiet"]
            others.append(_start(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    try:
        with compiling(start):
            yield
        if others:
            publish(read(SMALL_SAMPLE), method, metrics=[], attacks="none")
            with progress.step("preparing the metrics (first run on this machine only)"):
                others[0].wait()
    finally:
        for other in others:
            other.terminate()
            other.wait()


def _start(words: list[str], **streams: Any) -> subprocess.Popen[Any]:
    """Start the program with these arguments in another process."""
    return subprocess.Popen([sys.executable, "-m", "setveil", *words], **streams)


def _example_row(release: Release, data: Transactions) -> int:
    """Return the first short row that changed and kept some of its items."""
    for row, record in enumerate(release.alignment.rows):
        before, after = set(data.record(int(record))), set(release.rows.record(row))
        if before != after and before & after and len(before) <= SHORT and len(after) <= SHORT:
            return row
    return 0


def _check_unchanged_copy(out: Path, private: Path, data: Transactions) -> Verdict:
    """Check data that look like the release but hold the original records."""
    opened, secrets = open_release(out), Private.load(private)
    assert opened.plain is not None
    unchanged = data.take(secrets.alignment.rows, ids=opened.plain.ids)
    return guarantee_of(opened, secrets).check(unchanged, original=data, alignment=secrets.alignment)
