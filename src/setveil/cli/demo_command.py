"""`setveil demo`: the whole story on built-in data."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.cli.options import ForceOption, OutputOptions, ReleaseFolderOption
from setveil.cli.profile_command import show_profile
from setveil.cli.show import say, say_json, say_table
from setveil.data.reading.source import read
from setveil.errors import ExitCode
from setveil.methods.tendency.part_swap import PartSwap
from setveil.parameters.categories import read_categories
from setveil.profiling import profile
from setveil.release.checking import guarantee_of
from setveil.release.dossier import REPORT_NAME, Private, private_beside
from setveil.release.opening import open_release
from setveil.release.publishing import publish
from setveil.release.saving import refuse_targets

if TYPE_CHECKING:
    from setveil.base.verdict import Verdict
    from setveil.data.records.transactions import Transactions
    from setveil.release.release import Release

SHORT = 6
SAMPLE = "sample:supermarket"


def demo(*, out: ReleaseFolderOption = "setveil-demo", force: ForceOption = False, output: OutputOptions) -> int:
    """Show the whole story on built-in data, and end with a report to open.

    Profiles 20,000 supermarket baskets, publishes them with part-swap, checks the written release in another process, shows that a release
    in which nothing was hidden is caught, and measures what it cost. Takes under a minute.

    Example:
      setveil demo --out setveil-demo
    """
    started = time.monotonic()
    folder = Path(out)
    private = private_beside(folder)
    refuse_targets(folder, private, force=force)
    tell = (lambda *_: None) if output.json else say
    data = read(SAMPLE)

    tell(f"1. The data: {SAMPLE}, one record a customer\n   $ setveil profile {SAMPLE}\n")
    found = profile(data)
    if not output.json:
        show_profile(found)

    tell(
        "2. Hide what each customer leans to, and check it on the written file\n"
        f"   $ setveil publish {SAMPLE} --method part-swap --categories {SAMPLE} --out {folder}\n"
    )
    method = PartSwap(categories=read_categories(SAMPLE))
    release = publish(data, method, out=folder, force=force)
    tell(f"{release.summary}")
    row = _telling_row(release, data)
    tell(f"   for example row {row + 1} was  {', '.join(data.record(int(release.alignment.rows[row])))}")
    tell(f"   and is now{' ' * len(str(row + 1))}      {', '.join(release.rows.record(row))}\n")

    tell(
        f"3. Check it again, in another process\n   $ setveil check {folder} --original {SAMPLE} --private {private}\n"
    )
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "setveil",
            "check",
            str(folder),
            "--original",
            SAMPLE,
            "--private",
            str(private),
            "--quiet",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    tell(checked.stdout + checked.stderr)

    tell("4. Would a fault be seen? The same release with every customer's true record under the pseudonym:\n")
    caught = _unchanged_copy(folder, private, data)
    tell(f"{caught}\n   {caught.witnesses[0].place}: {caught.witnesses[0].detail}\n")

    tell(f"5. What it cost, and what it still tells\n   $ setveil measure {SAMPLE} {folder} --private {private}\n")
    if output.json:
        say_json({
            "out": str(folder),
            "private": str(private),
            "verdict": release.verdict.to_dict(witnesses=0) if release.verdict else None,
            "check_exit_code": checked.returncode,
            "fault_caught": not caught,
            "metrics": [m.to_dict() for m in release.measurements],
        })  # fmt: skip
    else:
        say_table(["metric", "value", "unit"], [[m.title, m.value, m.unit] for m in release.measurements])
    tell(f"{folder}/ may be shared; {private}/ is yours to keep. {time.monotonic() - started:.0f} s in all.")
    tell(f"Open {(private / REPORT_NAME).resolve()}")
    return checked.returncode or (ExitCode.FAILED if caught else ExitCode.OK)


def _telling_row(release: Release, data: Transactions) -> int:
    """Return the first row of a few items that changed and kept some."""
    for row, record in enumerate(release.alignment.rows):
        before, after = set(data.record(int(record))), set(release.rows.record(row))
        if before != after and before & after and len(before) <= SHORT and len(after) <= SHORT:
            return row
    return 0


def _unchanged_copy(out: Path, private: Path, data: Transactions) -> Verdict:
    """Check data that look like the release but hold the original records."""
    opened, secrets = open_release(out), Private.load(private)
    assert opened.plain is not None
    unchanged = data.take(secrets.alignment.rows, ids=opened.plain.ids)
    return guarantee_of(opened, secrets).check(unchanged, original=data, alignment=secrets.alignment)
