"""Mining data in blocks, beside the same search of all records at once: time and memory, with equal sets.

Baskets of the built-in supermarket, mapped from disk. Each run is a process of its own, warm: it first mines few records both ways.
Printed: seconds and CPU seconds of mining, the peak of memory that the process holds for itself (anonymous) and with mapped files
(resident), and the growth since the size before: log(CPU seconds ratio) / log(records ratio).
Run: python benchmarks/bench_mining_large.py [--records N ...] [--min-support SHARE] [--kinds KIND ...] [--folder FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine

from measuring import watched

SAMPLE = "sample:supermarket"
WAYS = ("blocks", "one piece")
RESULT = "result.json"


def stored(folder, records):
    """Return the beginning of the names of files with the arrays of the data; make them if they are missing."""
    names = folder / f"baskets-{records}"
    if not names.with_suffix(".items.npy").exists():
        data = sv.read(f"{SAMPLE}?records={records}")
        np.save(names.with_suffix(".offsets.npy"), data.offsets)
        names.with_suffix(".labels.json").write_text(json.dumps(data.vocabulary))
        np.save(names.with_suffix(".items.npy"), data.items)
    return names


def mapped(names):
    """Return the data of such files, mapped into memory."""
    offsets, items = (
        np.load(names.with_suffix(f".{one}.npy"), mmap_mode="r").view(np.ndarray) for one in ("offsets", "items")
    )
    labels = tuple(json.loads(names.with_suffix(".labels.json").read_text()))
    return sv.Transactions.of_parts(offsets, items, labels, ids=None, unit="record")


def one(names, min_support, kind, way):
    """Mine in this process, and write what was found."""
    few = sv.read(f"{SAMPLE}?records=2000")
    for engine in (LocalEngine(500), LocalEngine()):
        with using_engine(engine):
            sv.mine(few, "1%", kind=kind)
    data = mapped(Path(names))
    engine = LocalEngine() if way == "blocks" else LocalEngine(data.records)
    started, cpu_before = time.perf_counter(), time.process_time()
    with using_engine(engine):
        found = sv.mine(data, min_support, kind=kind)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_before
    digest = hashlib.sha256(b"".join(array.tobytes() for array in (found.offsets, found.items, found.supports)))
    figures = {"seconds": seconds, "cpu": cpu_seconds, "sets": len(found), "digest": digest.hexdigest()}
    Path(RESULT).write_text(json.dumps(figures))


def compare(folder, given):
    """Print one line for each size, kind and way; end if two ways find different sets."""
    print(
        f"{'records':>11} {'kind':<8}{'way':<10}{'sets':>9}{'s':>8}{'CPU s':>8}{'anon MiB':>10}{'MiB':>8}{'growth':>8}"
    )
    before = {}
    for records in sorted(given.records):
        names = stored(folder, records)
        for kind in given.kinds:
            digests = set()
            for way in WAYS:
                command = [
                    sys.executable,
                    str(Path(__file__).resolve()),
                    "--one",
                    str(names),
                    given.min_support,
                    kind,
                    way,
                ]
                seen = watched(command, folder)
                figures = json.loads((folder / RESULT).read_text())
                digests.add(figures["digest"])
                grew = ""
                if (kind, way) in before:
                    size, seconds = before[kind, way]
                    grew = f"{math.log(figures['cpu'] / seconds) / math.log(records / size):.2f}"
                before[kind, way] = records, figures["cpu"]
                times = f"{figures['seconds']:>8.1f}{figures['cpu']:>8.1f}"
                memory = f"{seen.anonymous_mib:>10,}{seen.resident_mib:>8,}"
                print(f"{records:>11,} {kind:<8}{way:<10}{figures['sets']:>9,}{times}{memory}{grew:>8}", flush=True)
            if len(digests) > 1:
                sys.exit(f"{records:,} records, {kind}: the ways do not agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--min-support", default="0.1%")
    parser.add_argument("--kinds", nargs="+", default=["all"], choices=["all", "closed", "maximal"])
    parser.add_argument("--folder", type=Path, help="where the data are kept for the next run")
    parser.add_argument("--one", nargs=4, metavar=("FILES", "SUPPORT", "KIND", "WAY"))
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        compare(folder, given)


if __name__ == "__main__":
    main()
