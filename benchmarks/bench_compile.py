"""CPU seconds to compile every kernel, per family, beside compiling each one as Numba would by itself.

Runs the job that uses every kernel (`kernels-wheel/job.py`) with an empty cache, in a process for each way. Also counts the kernels, their
lines and their arguments. Run: python benchmarks/bench_compile.py [--parts PART ...]
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from runpy import run_path

SOURCES = Path(__file__).parents[1] / "src" / "setveil"
JOB = Path(__file__).parents[1] / "kernels-wheel" / "job.py"
OURS, PLAIN = "setveil", "plain Numba"


def family_of(module):
    """Return the family of a module: a package of methods, or another package; what Numba compiles of its own counts as `numba`."""
    names = module.removeprefix("setveil.").split(".")
    return names[1] if names[0] == "methods" and len(names) > 2 else names[0]


def compiled(way, parts):
    """Run the job in this process and print the CPU seconds of compiling per family, without what is compiled inside, as JSON."""
    import numba  # noqa: PLC0415 - takes its settings from the environment
    from numba.core import event  # noqa: PLC0415

    from setveil.kernels import forms  # noqa: PLC0415

    class Stopwatch(event.Listener):
        def __init__(self):
            self.running, self.seconds, self.forms = [], Counter(), Counter()

        def on_start(self, _happening):
            self.running.append([time.thread_time(), 0.0])

        def on_end(self, happening):
            started, inside = self.running.pop()
            took = time.thread_time() - started
            if self.running:
                self.running[-1][1] += took
            family = family_of(happening.data["dispatcher"].py_func.__module__)
            self.seconds[family] += took - inside
            self.forms[family] += 1

    class Plain:
        """A kernel as `numba.njit` compiles it, for Python and kernels alike."""

        def __init__(self, function):
            self.py_func, self.entry = function, numba.njit(nogil=True)(function)

        def __call__(self, *values):
            return self.entry(*values)

        signatures = property(lambda self: self.entry.signatures)
        _numba_type_ = property(lambda self: numba.types.Dispatcher(self.entry))

    if way == PLAIN:
        forms.Kernel = Plain
    stopwatch = Stopwatch()
    event.register("numba:compile", stopwatch)
    sys.path.insert(0, str(JOB.parent))
    job = run_path(str(JOB))
    for part in parts or job["PARTS"]:
        job["PARTS"][part]()
    print(json.dumps({"seconds": stopwatch.seconds, "forms": stopwatch.forms}))


def run(way, parts):
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"SETVEIL_CACHE_DIR": cache, "SETVEIL_SHIPPED_KERNELS": "0"}
        command = [sys.executable, __file__, "--way", way, "--parts", *parts]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if ended.returncode:
            sys.exit(ended.stderr)
        size = sum(path.stat().st_size for path in Path(cache).rglob("*.nbc"))
    return json.loads(ended.stdout.splitlines()[-1]) | {"bytes": size}


def count_kernels():
    """Return per family the number of kernels, their lines and the most arguments that one takes."""
    counted = {}
    for path in SOURCES.rglob("*.py"):
        functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        for node in functions:
            if any(isinstance(one, ast.Name) and one.id == "kernel" for one in node.decorator_list):
                family = family_of(".".join(path.relative_to(SOURCES).with_suffix("").parts))
                kernels, lines, most = counted.get(family, (0, 0, 0))
                lines += node.end_lineno - node.lineno + 1
                counted[family] = kernels + 1, lines, max(most, len(node.args.args))
    return counted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="*", default=[])
    parser.add_argument("--way", choices=[OURS, PLAIN])
    given = parser.parse_args()
    if given.way:
        compiled(given.way, given.parts)
        return
    counted = count_kernels()
    ours, plain = run(OURS, given.parts), run(PLAIN, given.parts)
    print(f"{'family':<16}{'kernels':>8}{'lines':>8}{'most arguments':>16}{'CPU s':>8}{'plain Numba':>13}{'ratio':>7}")
    for family in sorted(plain["seconds"], key=plain["seconds"].get, reverse=True):
        kernels, lines, most = counted.get(family, (0, 0, 0))
        seconds, beside = ours["seconds"].get(family, 0), plain["seconds"][family]
        print(f"{family:<16}{kernels:>8}{lines:>8,}{most:>16}{seconds:>8.1f}{beside:>13.1f}{seconds / beside:>7.2f}")
    kernels, lines = (sum(counts[place] for counts in counted.values()) for place in (0, 1))
    most = max(counts[2] for counts in counted.values())
    seconds, beside = (sum(found["seconds"].values()) for found in (ours, plain))
    print(f"{'all':<16}{kernels:>8}{lines:>8,}{most:>16}{seconds:>8.1f}{beside:>13.1f}{seconds / beside:>7.2f}")
    print(f"stored: {ours['bytes'] / 1e6:.1f} MB, plain Numba {plain['bytes'] / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
