"""Build the wheel of compiled kernels: `make kernels`.

Compiles in two processes for a processor level instead of this machine, by running the job that uses every kernel, then writes the manifest
and packs the wheel with hatchling.

Usage: python build.py --cache FOLDER --out FOLDER

What the cache holds from an earlier build is not compiled again; of kernels whose sources changed since, nothing is packed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from llvmlite import binding

from setveil import __version__
from setveil.kernels import jit, sources
from setveil.kernels.shipped import FORMAT, MANIFEST, PACKAGE

from job import COMMANDS, PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
PROCESSOR = "x86-64-v3"
FEATURES = "avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave"
"""The features of this level, as LLVM names them: every processor that uses the kernels must have them."""
TARGET = (binding.get_process_triple(), PROCESSOR, ",".join(f"+{name}" for name in FEATURES.split()))


def compile_kernels(cache: Path, parts: Sequence[str]) -> None:
    """Run parts of the job, two at a time, with an empty cache and without any compiled kernel of this machine."""
    environment = os.environ | {
        "NUMBA_CPU_NAME": PROCESSOR,
        "NUMBA_CPU_FEATURES": TARGET[2],
        "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that other machines may not have
        "SETVEIL_CACHE_DIR": str(cache),
        "SETVEIL_SHIPPED_KERNELS": "0",
    }
    waiting: SimpleQueue[str] = SimpleQueue()
    for part in parts:
        waiting.put(part)

    def work() -> None:
        while True:
            try:
                part = waiting.get_nowait()
            except Empty:
                return
            sys.stderr.write(f"compiling: {part}\n")
            ended = subprocess.run(
                [sys.executable, str(HERE / "job.py"), part], env=environment, check=True, capture_output=True
            )
            told = json.loads(ended.stdout)["told"]
            sys.stderr.write(f"compiled:  {part}, {sum(name is not None for name in told)} kernels\n")

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work) for _ in range(2)]:
            done.result()


def hash_modules() -> dict[str, str]:
    """Return the hash of the sources of each file of kernels, by its name inside the package."""
    files = (path for path in sources.PACKAGE.rglob("*.py") if sources.is_kernel_source(path))
    return {".".join(path.relative_to(sources.PACKAGE).with_suffix("").parts): jit.source_hash(path) for path in files}


def collect(cache: Path, folder: Path, current: dict[str, str], target: tuple[str, str, str] = TARGET) -> None:
    """Write the compiled kernels of the current sources and their manifest."""
    modules, files = {}, {}
    for stored in sorted(cache.glob("kernels-*/*.nbc")):
        name = f"{stored.parent.name}/{stored.name}"
        _kernels, module, source_hash = stored.parent.name.split("-")
        if source_hash != current.get(module):
            continue
        content = jit.read_checked(stored)
        if content is None:
            sys.exit(f"{stored} is damaged")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        files[name] = hashlib.sha256(content).hexdigest()
        modules[module] = source_hash
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    manifest = {
        "format": FORMAT,
        "setveil": __version__,
        "versions": jit.VERSIONS,
        "target": target,
        "tag": f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}",
        "modules": modules,
        "files": files,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    size = sum(path.stat().st_size for path in folder.rglob("*.nbc"))
    sys.stderr.write(f"{len(files)} compiled forms of kernels in {len(modules)} modules, {size / 1e6:.1f} MB\n")


def main() -> None:
    """Build the wheel into a folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    compile_kernels(asked.cache.resolve(), list(PARTS))
    compile_kernels(asked.cache.resolve(), [COMMANDS])  # after the others, whose kernels they use
    with TemporaryDirectory() as place:
        project = Path(place) / "project"
        shutil.copytree(HERE, project)
        collect(asked.cache, project / "src" / PACKAGE, hash_modules())
        pack = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            str(asked.out),
            str(project),
        ]
        subprocess.run(pack, check=True)
    sys.stdout.write("".join(f"{wheel}\n" for wheel in sorted(asked.out.glob(f"{PACKAGE}-*.whl"))))


if __name__ == "__main__":
    main()
