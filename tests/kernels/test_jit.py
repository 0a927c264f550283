import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections import namedtuple
from pathlib import Path

import pytest

from setveil.kernels import jit

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


@pytest.fixture
def root(monkeypatch, tmp_path):
    """Give a cache directory of its own to the kernels that the test declares."""
    monkeypatch.setattr(jit, "_CACHE", tmp_path / "cache")
    monkeypatch.setattr(jit, "KERNELS", [])
    jit._folder_of.cache_clear()
    jit._remove_unused.cache_clear()
    yield tmp_path / "cache"
    jit._folder_of.cache_clear()


def add(x, y):
    return x + y


def test_every_file_of_kernels_has_a_folder(root):
    folder = Path(jit.kernel(add).entry.stats.cache_path)
    assert folder == root / f"kernels-{add.__module__}-{jit.source_hash(Path(__file__))}"
    assert not root.exists()  # until something is compiled


def test_folders_that_were_not_used_are_removed_when_a_kernel_is_saved(root):
    compiled = jit.kernel(add)
    own = Path(compiled.entry.stats.cache_path).name
    for name, age in (("kernels-old", MONTHS), ("kernels-young", 3600), ("another", MONTHS), (own, MONTHS)):
        (root / name).mkdir(parents=True)
        (root / name / "content").touch()
        os.utime(root / name, (time.time() - age,) * 2)
    jit._folder_of.cache_clear()
    compiled = jit.kernel(add)  # marks its folder as used
    assert time.time() - (root / own).stat().st_mtime < 3600
    assert compiled(1, 2) == 3
    assert sorted(path.name for path in root.iterdir()) == sorted(["another", own, "kernels-young"])
    assert (root / own / "content").exists()


@pytest.mark.parametrize("damage", ["cut", "one bit", "another kernel", "no pickle", "not readable"])
def test_a_damaged_file_is_compiled_again(root, damage):
    assert jit.kernel(add)(1, 2) == 3
    (stored,) = root.rglob("add-*.nbc")
    content = stored.read_bytes()
    if damage == "cut":
        stored.write_bytes(content[:-1])
    elif damage == "one bit":
        stored.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    elif damage == "another kernel":
        jit.kernel(add)(1.5, 2.5)
        (other,) = (path for path in root.rglob("add-*.nbc") if path != stored)
        shutil.copy(other, stored)
    elif damage == "no pickle":
        stored.write_bytes(hashlib.sha256(b"text").digest() + b"text")
    else:
        stored.unlink()
        stored.mkdir()
    told, again = [], jit.kernel(add)
    with jit.compiling(told.append):
        assert again(1, 2) == 3
    assert told == ["add", None]
    if damage != "not readable":
        assert len(stored.read_bytes()) > 5000
        with jit.compiling(told.append):
            assert jit.kernel(add)(1, 2) == 3
        assert len(told) == 2


def test_fields_of_named_tuples_are_part_of_the_key(root):
    def first(pair):
        return pair.x

    for fields in ("x y", "y x"):
        made = namedtuple("Pair", fields)  # noqa: PYI024 - the same name with other fields
        assert jit.kernel(first)(made(x=1, y=2)) == 1
    assert len(list(root.rglob("first-*.nbc"))) == 2


def test_a_function_that_closes_over_values_is_not_cached(root):
    def maker(number):
        return lambda x: x + number

    assert [jit.kernel(maker(number))(1) for number in (1, 2)] == [2, 3]
    assert not root.exists()


@pytest.mark.parametrize("name", jit.VERSIONS)
def test_the_hash_changes_with_the_versions(monkeypatch, name):
    before = jit.source_hash(Path(__file__))
    monkeypatch.setitem(jit.VERSIONS, name, "0.0")
    assert jit.source_hash(Path(__file__)) != before
    monkeypatch.undo()
    assert jit.source_hash(Path(__file__)) == before


def test_the_hash_changes_with_the_way_kernels_are_compiled(monkeypatch, tmp_path):
    before = jit.source_hash(Path(__file__))
    changed = tmp_path / "forms.py"
    changed.write_text(Path(jit.forms.__file__).read_text().replace('"nogil": True', '"nogil": False'))
    monkeypatch.setattr(jit.forms, "__file__", str(changed))
    jit._hash_compiler.cache_clear()
    try:
        assert jit.source_hash(Path(__file__)) != before
    finally:
        jit._hash_compiler.cache_clear()


def test_the_python_version_is_the_minor_one():
    assert jit.VERSIONS["python"] == f"cpython-{sys.version_info.major}{sys.version_info.minor}"


# -- compiling ---------------------------------------------------------------------------------------------------------


def test_declaring_a_kernel_leaves_the_settings_of_others_alone(monkeypatch, tmp_path, root):
    settings, theirs = jit.numba.config, str(tmp_path / "theirs")
    monkeypatch.setattr(settings, "CACHE_DIR", theirs)
    compiled = jit.kernel(add)
    assert compiled(1, 2) == 3
    assert theirs == settings.CACHE_DIR
    assert not Path(theirs).exists()
    assert list(root.rglob("*.nbc"))
    assert [compiled] == jit.KERNELS
    with pytest.raises(TypeError):
        jit.kernel("no function")


@pytest.mark.usefixtures("root")
def test_kernels_run_without_the_interpreters_lock_and_exactly():
    options = jit.kernel(add).entry.targetoptions
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
    print(json.dumps({"told": told, "result": result, "cache": outer.entry.stats.cache_path}))
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
    (stored,) = Path(first["cache"]).glob("*.nbc")  # the inner form of `inner` is a part of it
    assert stored.name.startswith("outer-")


FORMS = """
    import json
    import numpy as np
    from setveil.kernels import jit

    @jit.kernel
    def share(part, whole):
        if part > whole:
            raise ValueError("more than the whole")
        return part // whole

    @jit.kernel
    def total(parts, whole):
        found = 0
        for part in parts:
            found += share(part, whole)
        return found

    def message(*values):
        try:
            return int(total(*values))
        except Exception as error:
            return repr(error)

    told = []
    with jit.compiling(told.append):
        found = [message(np.array([4, 2]), 4), message(np.array([5]), 4), message(np.array([0]), 0), int(share(6, 6))]
    print(json.dumps({"found": found, "told": told}))
"""


def test_a_kernel_that_kernels_call_raises_errors_and_can_be_called_from_python(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(FORMS))
    first, second = (run_python(RUN_FILE, program, SETVEIL_CACHE_DIR=tmp_path / "cache") for _ in range(2))
    errors = ["ValueError('more than the whole')", "ZeroDivisionError('integer division by zero')"]
    assert first == {"found": [1, *errors, 1], "told": ["total", None, "share", None]}
    assert second == {"found": [1, *errors, 1], "told": []}


FUNCTIONS_OF_NUMBA = """
    import json
    from collections import Counter
    import numba
    import numpy as np
    from numba.core import event
    from setveil.kernels import jit

    @jit.kernel
    def inner(n):
        return np.zeros(n, np.int64)

    @jit.kernel
    def outer(n):
        return len(inner(n)) + len(np.zeros(n, np.int64))

    def fast(values):
        return np.sum(values)

    def before(values):
        return np.sum(values)

    def after(values):
        return np.sum(values)

    class Counting(event.Listener):
        def on_start(self, happening):
            compiled[happening.data["dispatcher"].py_func.__qualname__.split(".")[0]] += 1

        def on_end(self, happening):
            pass

    compiled = Counter()
    event.register("numba:compile", Counting())
    results = [outer(3), inner(3).tolist()]
    sums = []
    for function in (jit.kernel(before).entry, numba.njit(fastmath=True)(fast), jit.kernel(after).entry):
        function(np.ones(3))
        (text,) = function.inspect_llvm().values()
        sums.append("fadd fast" in text)
    print(json.dumps({"results": results, "compiled": compiled, "fast": sums}))
"""


def test_functions_of_numba_are_compiled_once_for_both_forms_and_never_with_the_options_of_other_code():
    found = run_python(FUNCTIONS_OF_NUMBA)
    assert found["results"] == [6, [0, 0, 0]]
    assert found["compiled"].items() >= {"outer": 1, "inner": 2, "ol_np_zeros": 1, "ol_np_empty": 1}.items()
    assert found["fast"] == [False, True, False]


def test_kernels_work_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").touch()
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(SMALL_KERNEL))
    found = run_python(RUN_FILE, program, SETVEIL_CACHE_DIR=tmp_path / "file")
    assert (found["told"], found["result"]) == (["outer", None], 20)
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
