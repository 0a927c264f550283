"""No compile on the second run of anything: a job that uses every kernel, in two processes.

They share the cache of the other tests, which need the same kernels; that a new cache is filled is shown by `test_jit`.
"""

import json
import subprocess
import sys

JOB = """
import importlib
import json
import pkgutil
import numpy as np
import pyarrow as pa
import setveil as sv
from setveil.kernels import jit

told = []
with jit.compiling(told.append):
    data = sv.read("sample:supermarket?records=2000")
    categories = sv.read_categories("sample:supermarket", level="department")
    sets = sv.mine(data, "1%")
    ladder = "helper,cycle,adopt,suppress"
    for choice in ({}, {"same": "any"}, {"reading": "paper"}, {"full_min": 1, "leftovers": ladder}):
        for ids in ("pseudonym", "drop"):
            sv.publish(data, sv.PartSwap(categories=categories, **choice), ids=ids, allow_failures=data.records, metrics=[])
    crowd = [["a0", "a1", f"b{r}"] for r in range(60)] + [["c0", "c1", f"b{r}"] for r in range(40)]
    hot = sv.from_lists([*crowd, *[["b7", "c7"]] * 9])
    method = sv.PartSwap(categories={i: i[0] for i in hot.vocabulary}, leftovers="cycle,helper,adopt")
    sv.publish(hot, method, ids="pseudonym", allow_failures=hot.records, metrics="full")
    release = sv.publish(data, sv.FullSwap(categories=categories), metrics="full")
    sv.measure(data, release, ["fi-similarity:min_support=1%"])
    for method in (sv.RandSwap, sv.PartSupp, sv.SplitPerson):
        sv.publish(data, method(categories=categories), no_guarantee=True, metrics="full")
    sv.publish(data, sv.RandSwap(mode="matched", categories=categories), no_guarantee=True, metrics="full")
    named = {"itemsets": sets.take(sets.lengths == 2).to_lists()[:3], "min_support": "1%"}
    for method in (sv.ExactSwap(**named), sv.ExactSwap(**named, repair="suppress")):
        sv.publish(data, method, metrics="full")
    for kind in (sv.SwapItemsets, sv.HEU, sv.Naive):
        sv.publish(data, kind(**named), no_guarantee=True, metrics="full")
    asked = {"sensitive": sv.read_sensitive("sample:supermarket", data), "rho": 0.5}
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
    sv.publish(data, sv.AprioriGeneralization(k=5, m=3), metrics=[])
    sv.publish(data, sv.Permutation(sensitive=asked["sensitive"], p=2), metrics="full")
    sv.KmAnonymity(k=3, m=3).check(data)
    ants = {"partition": "ants", "rules": named["itemsets"]}
    for choice in ({}, {"mode": "flat", "cover": "suppress"}, {**ants, "stable": False}, ants):
        apart = sv.publish(data, sv.Disassociation(k=3, m=3, delta=20, **choice), metrics="full").data
    sv.publish(apart, sv.Reassociation(copies=3, choose="centroid"), original=data, metrics="full")
    sv.profile(data)
    sv.association_rules(sets, 0.5)
    sv.supports(data, sets)
    sv.supports(hot, [["b7", "c7"], ["b7", "c7", "a0"]])
    cluster, chunk = np.arange(data.records) // 20, (data.items % 4 - 1).astype(np.int64)
    apart, _rows = sv.Disassociated.of_records(data, cluster, chunk)
    sv.support_bounds(apart, sv.mine_bounds(apart, "5%", max_length=3).to_lists())
    rows = pa.table({"id": list(range(6000)) * 2, "item": list(range(12000))})
    sv.from_arrow(rows.to_reader(max_chunksize=4000))  # in batches, not grouped, more texts than the table begins with
# Kernels that the job does not reach are found too: every module of kernels is imported.
for module in pkgutil.walk_packages(sv.__path__, "setveil."):
    if module.name.endswith("_kernels") and ".reproduce." not in module.name:
        importlib.import_module(module.name)
# What comes from the cache brings with it what it calls, so that this has no signature of its own.
used = [kernel for kernel in jit.KERNELS if kernel.signatures]
for kernel in used:
    called = [kernel.py_func.__globals__.get(name) for name in kernel.py_func.__code__.co_names]
    used += [other for other in jit.KERNELS if any(other is one for one in called) and all(other is not one for one in used)]
unused = [kernel.py_func.__name__ for kernel in jit.KERNELS if all(kernel is not one for one in used)]
print(json.dumps({"told": told, "unused": unused}))
"""


def run_job():
    ended = subprocess.run([sys.executable, "-c", JOB], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def test_a_second_run_compiles_nothing():
    first, second = run_job(), run_job()
    assert first["unused"] == []
    assert second["told"] == []
