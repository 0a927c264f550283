"""A job that uses every kernel, with the types that the commands give them.

It names no kernel and no type: it runs the program. `build.py` runs it to compile what is shipped. A test runs it twice and verifies that
the second run compiles nothing and that no kernel is left out.

Usage: python job.py [PART ...]    prints as JSON what was compiled and which kernels were not used; by default all but the commands.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import setveil as sv
from setveil.cli.main import run
from setveil.engines import growing
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.kernels import jit
from setveil.reproduce.overlaps import best_overlaps

from commands import list_commands

SAMPLE = "sample:supermarket"


def _data() -> sv.Transactions:
    return sv.read(f"{SAMPLE}?records=2000")


def run_mining() -> None:
    """Mine, count supports, profile, read."""
    data = _data()
    sets = sv.mine(data, "1%")
    for kind in ("closed", "maximal"):
        sv.mine(data, "1%", kind=kind)
    sv.mine(data, "0.5%", kind="closed")  # with more items than a table of pairs is for
    with using_engine(LocalEngine(500)):
        sv.mine(data, "1%")
    sv.profile(data)
    sv.association_rules(sets, 0.5)
    sv.supports(data, sets)
    crowd = sv.from_lists([["b7", "c7", f"a{r}"] for r in range(9)])
    sv.supports(crowd, [["b7", "c7"], ["b7", "c7", "a0"]])
    cluster, chunk = np.arange(data.records) // 20, (data.items % 4 - 1).astype(np.int64)
    apart, _rows = sv.Disassociated.of_records(data, cluster, chunk)
    sv.support_bounds(apart, sv.mine_bounds(apart, "5%", max_length=3).to_lists())
    rows = pa.table({"id": np.tile(np.arange(70_000), 2), "item": np.arange(140_000) % 12_000})
    sv.from_arrow(rows.to_reader(max_chunksize=4000))  # in batches, not grouped, more texts than the table begins with
    with patch.object(growing, "LARGE", 100_000):  # as if they were larger than memory
        sv.from_arrow(rows.to_reader(max_chunksize=4000))
    best_overlaps(data, 3)


def run_tendency() -> None:
    """Publish with the methods that hide a tendency."""
    data = _data()
    categories = sv.read_categories(SAMPLE, level="department")
    ladder = "helper,cycle,adopt,suppress"
    for choice in ({}, {"same": "any"}, {"reading": "paper"}, {"full_min": 1, "leftovers": ladder}):
        for ids in ("pseudonym", "drop"):
            sv.publish(
                data,
                sv.PartSwap(categories=categories, **choice),
                ids=ids,
                allow_failures=data.records,
                metrics=[],
            )
    crowd = [["a0", "a1", f"b{r}"] for r in range(60)] + [["c0", "c1", f"b{r}"] for r in range(40)]
    hot = sv.from_lists([*crowd, *[["b7", "c7"]] * 9])
    method = sv.PartSwap(categories={i: i[0] for i in hot.vocabulary}, leftovers="cycle,helper,adopt")
    sv.publish(hot, method, ids="pseudonym", allow_failures=hot.records, metrics="full")
    release = sv.publish(data, sv.FullSwap(categories=categories), metrics="full")
    sv.measure(data, release, ["fi-similarity:min_support=1%"])
    for kind in (sv.RandSwap, sv.PartSupp, sv.SplitPerson):
        sv.publish(data, kind(categories=categories), no_guarantee=True, metrics="full")
    sv.publish(data, sv.RandSwap(mode="matched", categories=categories), no_guarantee=True, metrics="full")


def run_itemsets() -> None:
    """Publish with the methods that hide itemsets."""
    data = _data()
    sets = sv.mine(data, "1%")
    named = {"itemsets": sets.take(sets.lengths == 2).to_lists()[:3], "min_support": "1%"}
    for method in (sv.ExactSwap(**named), sv.ExactSwap(**named, repair="suppress")):
        sv.publish(data, method, metrics="full")
    for kind in (sv.SwapItemsets, sv.HEU, sv.Naive):
        sv.publish(data, kind(**named), no_guarantee=True, metrics="full")


def run_uncertainty() -> None:
    """Publish with the methods that make sensitive items uncertain."""
    data = _data()
    asked = {"sensitive": sv.read_sensitive(SAMPLE, data), "rho": 0.5}
    sv.RhoUncertainty(**asked).check(data)
    for choice in ({}, {"knows": "whole", "rounds": 1}):
        sv.publish(data, sv.Insert(**asked, **choice), metrics=[])
    for choice in ({"parts": 2}, {"objective": "dist", "knows": "whole"}):
        sv.publish(data, sv.PartialSuppression(**asked, **choice), metrics=[])
    hard = sv.from_lists([["a", "e", f"x{r}"] for r in range(3)] + [["a", "x0", "x1", "x2"]])  # left to the search
    sv.publish(hard, sv.PartialSuppression(sensitive=["e"], rho=0.5, include_empty=False), metrics=[])
    for choice in ({}, {"payoff": "cao", "knows": "whole"}):
        sv.publish(data, sv.GlobalSuppression(**asked, **choice), metrics=[])
    sv.publish(data, sv.TDControl(**asked), metrics=[])
    sv.publish(data, sv.Permutation(sensitive=asked["sensitive"], p=2), metrics="full")


def run_disassociation() -> None:
    """Publish with the methods of k^m-anonymity."""
    data = _data()
    sets = sv.mine(data, "1%")
    sv.publish(data, sv.AprioriGeneralization(k=5, m=3), metrics=[])
    sv.KmAnonymity(k=3, m=3).check(data)
    ants = {"partition": "ants", "rules": sets.take(sets.lengths == 2).to_lists()[:3]}
    for choice in ({}, {"mode": "flat", "cover": "suppress"}, {**ants, "stable": False}, ants):
        apart = sv.publish(data, sv.Disassociation(k=3, m=3, delta=20, **choice), metrics="full").data
    sv.publish(data, sv.Disassociation(k=3, m=3, delta=20), block_records=500, metrics=[])
    sv.publish(apart, sv.Reassociation(copies=3, choose="centroid"), original=data, metrics="full")


def run_commands() -> None:
    """Run the commands of the program."""
    with TemporaryDirectory() as folder, chdir(folder):
        for words in list_commands():
            errors = StringIO()
            with redirect_stdout(StringIO()), redirect_stderr(errors):
                code = run(words)
            if code:
                sys.exit(f"setveil {' '.join(words)} ended with {code}: {errors.getvalue()}")


PARTS = {
    "mining": run_mining,
    "uncertainty": run_uncertainty,
    "itemsets": run_itemsets,
    "disassociation": run_disassociation,
    "tendency": run_tendency,
}
"""The parts of the job, the longest to compile first."""
COMMANDS = "commands"
"""The part that runs the commands: with what the others compiled, it only adds types that they do not use."""


def find_unused() -> list[str]:
    """Return the kernels that were not used, also of modules that were not imported."""
    for module in pkgutil.walk_packages(sv.__path__, "setveil."):
        if module.name.endswith("_kernels"):
            importlib.import_module(module.name)
    # What comes from the cache brings with it what it calls, so that this has no signature of its own.
    used = [kernel for kernel in jit.KERNELS if kernel.signatures]
    for kernel in used:
        called = [kernel.py_func.__globals__.get(name) for name in kernel.py_func.__code__.co_names]
        used += [
            other
            for other in jit.KERNELS
            if any(other is one for one in called) and all(other is not one for one in used)
        ]
    return [kernel.py_func.__name__ for kernel in jit.KERNELS if all(kernel is not one for one in used)]


if __name__ == "__main__":
    told: list[str | None] = []
    with jit.compiling(told.append):
        for part in sys.argv[1:] or PARTS:
            (PARTS | {COMMANDS: run_commands})[part]()
    sys.stdout.write(json.dumps({"told": told, "unused": find_unused()}) + "\n")
