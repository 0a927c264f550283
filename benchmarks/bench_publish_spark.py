"""The same publication by threads of this machine and by a Spark cluster on it: time, with the same bytes.

The cluster has two workers of one core each (`make spark-server`). Baskets of the built-in supermarket, from a Parquet file. Each run is a
process of its own; on Spark, the cluster first publishes few baskets, so that Java is compiled. CPU seconds are those of the process, and
of the cluster.
Run: python benchmarks/bench_publish_spark.py [--records N] [--method NAME] [--block-records N] [--memory MIB]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_end_to_end import METHODS, SAMPLE
from bench_mining_spark import WARM_UP, cpu_of, spark_servers

from measuring import watched


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--method", choices=("part-swap", "disassociation", "insert"), default="part-swap")
    parser.add_argument("--block-records", type=int, default=1 << 17)
    parser.add_argument("--memory", type=int, default=3072)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, spark_servers.spark(Path(name), given.memory) as server:
        folder = Path(name)

        def publish(records, block_records, out, *engine):
            command = [sys.executable, "-m", "setveil", "publish", f"{records}.parquet", "--method", given.method]
            command += [
                *METHODS[given.method].split(),
                "--block-records",
                str(block_records),
                "--seed",
                "7",
                "--experiment",
            ]
            command += ["--measure", "quick", "--attack", "none", "--progress", "json", "--out", out, *engine]
            with cpu_of(server) as cluster:
                seen = watched(command, folder)
            return seen, cluster[0]

        for records in (WARM_UP, given.records):
            convert = [sys.executable, "-m", "setveil", "convert", f"{SAMPLE}?records={records}", f"{records}.parquet"]
            subprocess.run([*convert, "--quiet"], cwd=folder, check=True)
        on_spark = ("--engine", "spark", "--spark-remote", server.remote)
        publish(WARM_UP, WARM_UP // 4, "warm", *on_spark)
        for out, engine in (("local", ()), ("spark", on_spark)):
            seen, cluster = publish(given.records, given.block_records, out, *engine)
            print(
                f"{out}  {seen.seconds:7.1f} s {seen.cpu_seconds:7.1f} CPU s here {cluster:7.1f} CPU s of the cluster",
                flush=True,
            )
        here, there = (
            {path.name: path.read_bytes() for path in (folder / out).iterdir()} for out in ("local", "spark")
        )
        if here != there:
            sys.exit("the releases differ")
        print(f"the same {len(here)} files, {sum(map(len, here.values())):,} bytes")


if __name__ == "__main__":
    main()
