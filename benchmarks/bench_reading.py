"""What reading takes: CPU seconds, and peak memory, of which only the anonymous part must fit into memory.

    python benchmarks/bench_reading.py [--records N ...] [--kinds KIND ...] [--folder FOLDER] [--without-pandas]

The data are baskets of `sample:supermarket`: the sample itself, a basket file, a long CSV file in the order of the ids, the same as
Parquet, the same with the records in random order, and with all rows in random order. Each is read by a process of its own, after small
ones that compile. RssAnon is memory of the process alone; VmHWM also counts files that are mapped into memory, whose pages the system can
drop. The bound of RssAnon is 700 MB. `pandas.read_csv`, `read_parquet` and `groupby` read the largest files in the order of the ids in the
same run.

Files are made in the folder, and remain there if it is given. Ten million baskets need 9 GB, and 7 GB more while rows in random order are
made or read; pandas takes 17 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

import setveil as sv

from measuring import peak_mib

SECONDS_BETWEEN_LOOKS = 0.01
ROWS_AT_ONCE = 1 << 21
BOUND_MIB = 700 * 10**6 // 2**20
KINDS = (
    "sample",
    "basket.dat",
    "long.csv",
    "long.parquet",
    "records-in-random-order.csv",
    "rows-in-random-order.csv",
)
OF_PANDAS = ("long.csv", "long.parquet")


def read_ours(place):
    data = sv.read(place)
    return data.occurrences, data.checksum


def read_with_pandas(place):
    import pandas as pd  # noqa: PLC0415 - only this reader pays for it

    table = pd.read_csv(place) if place.endswith(".csv") else pd.read_parquet(place)
    grouped = table.groupby("id", sort=False)["item"].agg(list)
    return int(grouped.map(len).sum()), lambda: "pandas"


READERS = {"ours": read_ours, "pandas": read_with_pandas}


def read_one(reader, place):
    """Read in this process; print the figures, and then a hash of the content."""
    started, wall = time.process_time(), time.perf_counter()
    occurrences, content_hash = READERS[reader](place)
    took = {"cpu": time.process_time() - started, "seconds": time.perf_counter() - wall}
    print(json.dumps(took | {"peak": peak_mib(), "occurrences": occurrences}), flush=True)
    print(content_hash(), flush=True)


def measured(reader, place):
    """Read in another process; return its figures, the peak of its anonymous memory, and the hash of the content."""
    command = [sys.executable, __file__, "--read", reader, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        os.set_blocking(process.stdout.fileno(), False)
        status, anonymous, said = Path(f"/proc/{process.pid}/status"), 0, ""
        while not said:
            found = re.search(r"RssAnon:\s+(\d+) kB", status.read_text())
            anonymous = max(anonymous, int(found[1]) if found else 0)
            time.sleep(SECONDS_BETWEEN_LOOKS)
            said = process.stdout.readline()
            if process.poll() is not None and not said:
                sys.exit(f"reading {place} failed")
        os.set_blocking(process.stdout.fileno(), True)
        return json.loads(said) | {"anonymous": anonymous // 1024, "hash": process.stdout.readline().strip()}


def make(kind, records, path):
    """Write a file of the sample; finished files appear at once."""
    data = sv.read(f"sample:supermarket?records={records}")
    unfinished = path.with_name(f"unfinished-{path.name}")
    if kind == "basket.dat":
        sv.write(data, unfinished)
    elif kind.startswith("long"):
        sv.write(data, unfinished, format="long")
    else:
        rng = np.random.default_rng(0)
        if kind.startswith("records"):
            data = data.take(rng.permutation(data.records))
            order = np.arange(data.occurrences)
        else:
            order = rng.permutation(data.occurrences)
        owner = np.repeat(np.arange(data.records, dtype=np.int32), data.lengths)
        with unfinished.open("wb") as file:
            file.write(b"id,item\n")
            for first in range(0, len(order), ROWS_AT_ONCE):
                rows = order[first : first + ROWS_AT_ONCE]
                columns = [data.ids.take(pa.array(owner[rows])), data.labels.take(pa.array(data.items[rows]))]
                options = pacsv.WriteOptions(include_header=False, quoting_style="none")
                pacsv.write_csv(pa.table(columns, names=["id", "item"]), file, options)
    unfinished.rename(path)


def show(kind, records, row):
    bound = "" if row["hash"] == "pandas" else "kept" if row["anonymous"] <= BOUND_MIB else "BROKEN"
    print(
        f"{kind:<28}{records:>12,}{row['occurrences']:>13,}{row['cpu']:>8.1f}{row['seconds']:>8.1f}{row['anonymous']:>13,}"
        f"{row['peak']:>11,}{bound:>8}  {row['hash'][:12]}",
        flush=True,
    )


def main(given, folder):
    print(
        f"{'source':<28}{'records':>12}{'occurrences':>13}{'CPU s':>8}{'s':>8}{'RssAnon MiB':>13}{'VmHWM MiB':>11}{'bound':>8}  hash"
    )
    for kind in given.kinds:
        for records in given.records:
            place = f"sample:supermarket?records={records}"
            if kind != "sample":
                place = folder / f"{records}-{kind}"
                if not place.is_file():
                    subprocess.run([sys.executable, __file__, "--make", kind, str(records), str(place)], check=True)
            ours = measured("ours", place)
            show(kind, records, ours)
            if kind in OF_PANDAS and records == max(given.records) and not given.without_pandas:
                pandas = measured("pandas", place)
                assert pandas["occurrences"] == ours["occurrences"]
                show("  with pandas", records, pandas)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--without-pandas", action="store_true")
    parser.add_argument("--read", nargs=2)
    parser.add_argument("--make", nargs=3)
    asked = parser.parse_args()
    if asked.read:
        read_one(*asked.read)
    elif asked.make:
        make(asked.make[0], int(asked.make[1]), Path(asked.make[2]))
    elif asked.folder:
        main(asked, asked.folder)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(asked, Path(temporary))
