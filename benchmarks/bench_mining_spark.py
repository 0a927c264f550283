"""Mining on a Spark cluster beside FP-growth of Spark MLlib on the same cluster: time, with equal itemsets and supports.

The cluster has two workers of one core each on this machine (`make spark-server`). Baskets of the built-in supermarket. FP-growth reads
them from a Parquet file of the cluster, in a session with the default settings; our time includes sending them to the cluster in blocks.
Both return all itemsets to this process as Arrow. Both first mine few baskets, so that Java and our kernels are compiled. The last line is
the same search by threads of this machine.
Run: python benchmarks/bench_mining_spark.py [--records N] [--min-support SHARE] [--block-records N] [--memory MIB]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.ml.fpm import FPGrowth
from pyspark.sql import SparkSession

import setveil as sv
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.engines.spark import SparkEngine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support import spark_servers

WARM_UP = 20_000


def read(records):
    return sv.read(f"sample:supermarket?records={records}")


def by_mllib(session, data, folder, min_support):
    """Return the itemsets that FP-growth finds, and how long it takes."""
    place = str(folder / f"baskets-{data.records}.parquet")
    lists = pa.LargeListArray.from_arrays(pa.array(data.offsets), pa.array(data.items))
    pq.write_table(pa.table({"items": lists}), place, row_group_size=100_000)
    started = time.perf_counter()
    frame = session.read.parquet(place)
    # At least as many partitions as for blocks: the default is that of the file, which may be one.
    model = FPGrowth(itemsCol="items", minSupport=min_support, numPartitions=8).fit(frame)
    found = model.freqItemsets.toArrow()
    seconds = time.perf_counter() - started
    sets = zip(found.column("items").to_pylist(), found.column("freq").to_pylist(), strict=True)
    return {frozenset(items): support for items, support in sets}, seconds


def by_setveil(engine, data, min_support):
    """Return the itemsets that setveil finds on an engine, and how long it takes."""
    started = time.perf_counter()
    with using_engine(engine):
        found = sv.mine(data, min_support)
    seconds = time.perf_counter() - started
    places = zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), found.supports.tolist(), strict=True)
    items = found.items.tolist()
    return {frozenset(items[first:last]): support for first, last, support in places}, seconds


@contextmanager
def cpu_of(server):
    """Yield a list that gets the CPU seconds of the processes of Spark."""
    found, before = [], _cpu(server)
    yield found
    found.append(_cpu(server) - before)


def _cpu(server):
    """Return the CPU seconds of the processes that the server started, and of those that they waited for."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == server.pid:  # its group
            total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sys.stdout.reconfigure(line_buffering=True)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--min-support", type=float, default=0.001)
    parser.add_argument("--block-records", type=int, default=1 << 17)
    parser.add_argument("--memory", type=int, default=3072)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with tempfile.TemporaryDirectory() as name, spark_servers.spark(Path(name), given.memory) as server:
        few, data = read(WARM_UP), read(given.records)
        share = f"{100 * given.min_support:g}%"
        print(f"{data.records:,} baskets, {data.occurrences:,} occurrences, minimum support {share}")
        session = SparkSession.builder.remote(server.remote).getOrCreate()
        by_mllib(session, few, Path(name), given.min_support)
        with cpu_of(server) as theirs_cpu:
            theirs, their_seconds = by_mllib(session, data, Path(name), given.min_support)
        print(f"FP-growth of MLlib  {their_seconds:7.1f} s {theirs_cpu[0]:7.1f} CPU s of the cluster")
        session.stop()  # that of the engine sends one row at a time
        with SparkEngine(server.remote, WARM_UP // 4) as engine:
            by_setveil(engine, few, share)
            engine.block_records = given.block_records
            with cpu_of(server) as ours_cpu:
                ours, our_seconds = by_setveil(engine, data, share)
            print(f"setveil on Spark    {our_seconds:7.1f} s {ours_cpu[0]:7.1f} CPU s of the cluster")
        here, seconds_here = by_setveil(LocalEngine(given.block_records), data, share)
        print(f"setveil here        {seconds_here:7.1f} s")
    if not ours == theirs == here:
        sys.exit(f"different itemsets: {len(theirs):,} by MLlib, {len(ours):,} on Spark, {len(here):,} here")
    print(f"{len(ours):,} itemsets, the same with the same supports")


if __name__ == "__main__":
    main()
