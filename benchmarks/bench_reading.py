"""How fast, and in how little memory, a long table becomes transactions, beside `pandas.read_csv` and `groupby` in the same run.

    python benchmarks/bench_reading.py [BASKETS] [--without-pandas]

The baskets (default: ten million, eighty million rows) are those of `sample:supermarket`: a long CSV with the rows of each basket together,
the same rows in random order, and the same as Parquet. Each reader runs in a process of its own, so that its peak memory is its own:
interpreter, libraries and compiled loops included. The bound is three times the size of the result's arrays plus 300 MB. The files need
7 GB in the folder for temporary files, and pandas some 17 GB of memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import setveil as sv

from measuring import peak_mib

ROWS_AT_ONCE = 1 << 21
SPARE_MB = 300


def read_ours(path):
    started = time.perf_counter()
    data = sv.read(path)
    seconds = time.perf_counter() - started
    arrays = data.offsets.nbytes + data.items.nbytes
    print(json.dumps({"seconds": seconds, "peak": peak_mib(), "arrays": arrays / 2**20, "check": data.occurrences}))


def read_with_pandas(path):
    import pandas as pd  # noqa: PLC0415 - only this reader pays for it

    started = time.perf_counter()
    table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    read = time.perf_counter() - started
    grouped = table.groupby("id", sort=False)["item"].agg(list)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "peak": peak_mib(), "read": read, "check": int(grouped.map(len).sum())}))


READERS = {"ours": read_ours, "pandas": read_with_pandas}


def make_files(folder, baskets):
    data = sv.read(f"sample:supermarket?records={baskets}")
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(data.records, dtype=np.int32), data.lengths)
    orders = {"grouped": None, "shuffled": rng.permutation(data.occurrences).astype(np.int32)}
    options = pacsv.WriteOptions(include_header=False, quoting_style="none")
    parquet = pq.ParquetWriter(folder / "grouped.parquet", pa.schema([("id", pa.string()), ("item", pa.string())]))
    for name, order in orders.items():
        with (folder / f"{name}.csv").open("wb") as file, parquet if order is None else file:
            file.write(b"id,item\n")
            for first in range(0, data.occurrences, ROWS_AT_ONCE):
                rows = slice(first, first + ROWS_AT_ONCE) if order is None else order[first : first + ROWS_AT_ONCE]
                columns = {
                    "id": data.ids.take(pa.array(owner[rows])),
                    "item": data.labels.take(pa.array(data.items[rows])),
                }
                pacsv.write_csv(pa.table(columns), file, options)
                if order is None:
                    parquet.write_table(pa.table(columns).cast(pa.schema([("id", pa.string()), ("item", pa.string())])))


def measured(reader, path):
    command = [sys.executable, __file__, "--read", reader, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main(baskets, *, with_pandas):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_files(folder, baskets)
        measured("ours", folder / "grouped.csv")  # compiles, and brings the file into the system's cache
        for name in ("grouped.csv", "shuffled.csv", "grouped.parquet"):
            path = folder / name
            ours = measured("ours", path)
            bound = 3 * ours["arrays"] + SPARE_MB * 1e6 / 2**20
            print(
                f"{baskets:,} baskets, {ours['check']:,} rows, {name} ({path.stat().st_size / 1e9:.2f} GB): {ours['seconds']:.1f} s, "
                f"peak {ours['peak']:,} MiB, bound {bound:,.0f} MiB ({'kept' if ours['peak'] <= bound else 'BROKEN'})",
                flush=True,
            )
            if with_pandas and name != "shuffled.csv":
                pandas = measured("pandas", path)
                assert pandas["check"] == ours["check"]
                print(
                    f"  pandas: {pandas['seconds']:.1f} s ({pandas['read']:.1f} s of it reading), peak {pandas['peak']:,} MiB; ours is "
                    f"{pandas['seconds'] / ours['seconds']:.1f} times faster with {ours['peak'] / pandas['peak']:.0%} of the memory",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        READERS[sys.argv[2]](Path(sys.argv[3]))
    else:
        numbers = [int(float(word)) for word in sys.argv[1:] if not word.startswith("--")]
        main(numbers[0] if numbers else 10_000_000, with_pandas="--without-pandas" not in sys.argv)
