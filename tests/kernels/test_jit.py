import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from setveil.kernels import jit

PACKAGE = Path(jit.__file__).parents[1]
MONTHS = 61 * 24 * 3600


def run_python(code, *arguments, **environment):
    """Run a program in a process of its own and return what it printed as JSON."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)],
        env=os.environ | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


# -- where compiled kernels are kept -----------------------------------------------------------------------------------


def test_a_cache_is_made_for_these_sources(monkeypatch, tmp_path):
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path / "deep" / "er"))
    folder = jit._prepare_cache()
    assert folder == str(tmp_path / "deep" / "er" / f"kernels-{jit.source_hash()}")
    assert Path(folder).is_dir()


def test_old_caches_are_swept_and_others_left(monkeypatch, tmp_path):
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path))
    own = f"kernels-{jit.source_hash()}"
    for name, age in (("kernels-old", MONTHS), ("kernels-young", 3600), ("another", MONTHS), (own, MONTHS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "content").touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    jit._prepare_cache()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["another", own, "kernels-young"])
    assert time.time() - (tmp_path / own).stat().st_mtime < 3600  # in use, so that the next sweep leaves it
    assert (tmp_path / own / "content").exists()


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_where_nothing_can_be_written_there_is_no_cache(monkeypatch, tmp_path, place):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path / place))
    assert jit._prepare_cache() is None


# -- what the cache is keyed by ----------------------------------------------------------------------------------------


@pytest.fixture
def copy(monkeypatch, tmp_path):
    """Give a copy of the package, which the hash is then taken of."""
    shutil.copytree(PACKAGE, tmp_path / "setveil", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "setveil" / "kernels" / "jit.py"))
    return tmp_path / "setveil"


def test_the_hash_depends_on_the_sources_and_not_on_their_place(copy):
    here = jit.source_hash()
    assert copy.is_dir()
    jit.__file__ = str(PACKAGE / "kernels" / "jit.py")
    assert jit.source_hash() == here


@pytest.mark.parametrize(
    "name",
    sorted(path.relative_to(PACKAGE).as_posix() for path in [*PACKAGE.rglob("_*_kernels.py"), Path(jit.__file__)]),
)
def test_the_hash_changes_with_every_kernel_source(copy, name):
    before = jit.source_hash()
    with (copy / name).open("a") as source:
        source.write("# changed\n")
    assert jit.source_hash() != before


def test_the_hash_changes_with_new_renamed_and_removed_kernels_alone(copy):
    seen = [jit.source_hash()]
    (copy / "catalog.py").write_text("# no kernel\n")
    assert jit.source_hash() == seen[0]
    kernels = copy / "data" / "_new_kernels.py"
    kernels.write_text("# a kernel\n")
    seen.append(jit.source_hash())
    kernels = kernels.rename(copy / "data" / "_newer_kernels.py")
    seen.append(jit.source_hash())
    assert len(set(seen)) == 3
    kernels.unlink()
    assert jit.source_hash() == seen[0]


@pytest.mark.parametrize("package", ["numba", "llvmlite"])
def test_the_hash_changes_with_the_versions(monkeypatch, package):
    before, version = jit.source_hash(), jit.version
    monkeypatch.setattr(jit, "version", lambda name: "0.0" if name == package else version(name))
    assert jit.source_hash() != before


# -- compiling ---------------------------------------------------------------------------------------------------------


def add(x, y):
    return x + y


def test_declaring_a_kernel_leaves_the_settings_of_others_alone(monkeypatch, tmp_path):
    settings, theirs, declared = jit.numba.config, str(tmp_path / "theirs"), []
    monkeypatch.setattr(jit, "KERNELS", declared)
    monkeypatch.setattr(jit, "_CACHE", str(tmp_path / "ours"))
    monkeypatch.setattr(settings, "CACHE_DIR", theirs)
    compiled = jit.kernel(add)
    assert theirs == settings.CACHE_DIR
    assert Path(compiled.stats.cache_path).is_relative_to(tmp_path / "ours")
    assert declared == [compiled]
    with pytest.raises(TypeError):
        jit.kernel("no function")
    assert theirs == settings.CACHE_DIR


def test_kernels_run_without_the_interpreters_lock_and_exactly(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "KERNELS", [])
    monkeypatch.setattr(jit, "_CACHE", str(tmp_path))
    options = jit.kernel(add).targetoptions
    assert options["nogil"] is True
    assert options["fastmath"] is False


SMALL_KERNEL = """
    import json
    import numpy as np
    from setveil.kernels import jit

    @jit.kernel
    def inner(values):
        return values[0] + values[1]

    @jit.kernel
    def outer(values):
        return 2 * inner(values)

    told = []
    values = np.array([3, 7])
    with jit.compiling(told.append):
        result = int(outer(values))
        outer(values)
    print(json.dumps({"told": told, "result": result, "cache": jit._CACHE}))
"""
RUN_FILE = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"


def test_the_first_process_compiles_and_the_next_does_not(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(SMALL_KERNEL))
    first, second = (run_python(RUN_FILE, program, SETVEIL_CACHE_DIR=tmp_path / "cache") for _ in range(2))
    assert first["result"] == second["result"] == 20
    assert first["told"] == ["outer", None]
    assert second["told"] == []
    assert Path(first["cache"]).parent == tmp_path / "cache"
    assert list(Path(first["cache"]).rglob("*.nbi"))


def test_kernels_work_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").touch()
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(SMALL_KERNEL))
    found = run_python(RUN_FILE, program, SETVEIL_CACHE_DIR=tmp_path / "file")
    assert found == {"told": ["outer", None], "result": 20, "cache": None}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "program.py"]


# -- what is not imported ----------------------------------------------------------------------------------------------

WATCHED_IMPORTS = """
    import contextlib, importlib.abc, io, json, sys

    class Watch(importlib.abc.MetaPathFinder):
        '''Note every attempt, also for packages that are not installed here.'''

        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in ("numba", "llvmlite", "scipy", "pandas"):
                tried.append(name)

    tried = []
    sys.meta_path.insert(0, Watch())
    with contextlib.redirect_stdout(io.StringIO()):
        exec(sys.argv[1])
    print(json.dumps(tried))
"""


@pytest.mark.parametrize(
    "work",
    [
        "import setveil",
        "from setveil import catalog; assert all(all(table.values()) for table in (catalog.METHODS, catalog.METRICS))",
        "import setveil; [getattr(setveil, name) for name in setveil.__all__]",
        "from setveil.cli.main import run; assert run(['--help']) == 0",
        "from setveil.cli.main import run; assert run(['methods']) == 0",
        "from setveil.cli.main import run; assert run(['publish', '--method', 'part-swap', '--help']) == 0",
    ],
)
def test_numba_scipy_and_pandas_are_not_imported_before_they_are_needed(work):
    assert run_python(WATCHED_IMPORTS, work) == []


def test_the_watch_sees_imports():
    assert "numba" in run_python(WATCHED_IMPORTS, "import setveil.kernels.jit")
    assert run_python(WATCHED_IMPORTS, "\nwith contextlib.suppress(ImportError): import pandas.core")[0] == "pandas"
