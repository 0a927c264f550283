"""Kernels that were installed compiled are used if they fit, and are otherwise as if they were not there.

The kernels here are two small ones, compiled for this machine; `make kernels-check` installs the whole wheel.
"""

import json
import pickle
import sys
import sysconfig
from pathlib import Path
from runpy import run_path

import pytest

from setveil.kernels import jit, shipped

WHEEL = Path(__file__).parents[2] / "kernels-wheel"
sys.path.insert(0, str(WHEEL))
BUILD = run_path(str(WHEEL / "build.py"))
sys.path.remove(str(WHEEL))


def double(x):
    return 2 * x


def add(x, y):
    return x + y


def subtract(x, y):
    return x - y


def run_kernels():
    """Declare both kernels as a new process would, run them, and return the names of those that were compiled."""
    told = []
    with jit.compiling(told.append):
        assert jit.kernel(double)(4) == 8
        assert jit.kernel(add)(1, 2) == 3
    return [name for name in told if name]


def forget():
    jit._folder_of.cache_clear()
    jit._shipped.cache_clear()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Give a cache with both kernels, and what they were compiled for."""
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("compiled")
        patch.setattr(jit, "_CACHE", cache)
        patch.setattr(jit, "KERNELS", [])
        patch.setenv("SETVEIL_SHIPPED_KERNELS", "0")
        forget()
        assert run_kernels() == ["double", "add"]
        assert jit.kernel(subtract)(1, 2) == -1
        target = jit.kernel(add).entry.targetctx.codegen().magic_tuple()
    forget()
    enabled = ",".join(name for name in target[2].split(",") if name.startswith("+"))
    return cache, (target[0], target[1], enabled), target


@pytest.fixture
def folder(compiled, monkeypatch, tmp_path):
    """Give an installed folder with both kernels, and an empty cache."""
    cache, target, named = compiled
    made = tmp_path / "site" / shipped.PACKAGE
    made.mkdir(parents=True)
    (made / "__init__.py").touch()
    BUILD["collect"](cache, made, {__name__: jit.source_hash(Path(__file__))}, target)
    monkeypatch.syspath_prepend(made.parent)
    monkeypatch.setattr(jit, "_CACHE", tmp_path / "cache")
    monkeypatch.setattr(jit, "KERNELS", [])
    monkeypatch.delenv("SETVEIL_SHIPPED_KERNELS", raising=False)
    # The files were named for this machine, with all that its processor lacks; a level names only what it has.
    real = jit._KernelCache._name_file
    monkeypatch.setattr(
        jit._KernelCache, "_name_file", lambda self, sig, asked: real(self, sig, named if asked == target else asked)
    )
    forget()
    yield made
    forget()


def edit(folder, **changes):
    manifest = json.loads((folder / shipped.MANIFEST).read_text())
    (folder / shipped.MANIFEST).write_text(json.dumps(manifest | changes))


def state_of(folder):
    return {path.name: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}


def test_shipped_kernels_are_used_and_nothing_is_written(folder, tmp_path):
    before = state_of(folder)
    assert run_kernels() == []
    assert not (tmp_path / "cache").exists()
    assert state_of(folder) == before


def test_the_manifest_describes_what_is_shipped(folder):
    manifest = json.loads((folder / shipped.MANIFEST).read_text())
    assert manifest["versions"] == jit.VERSIONS
    assert manifest["setveil"]
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert manifest["tag"] == f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    assert manifest["modules"] == {__name__: jit.source_hash(Path(__file__))}
    assert sorted(manifest["files"]) == sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.nbc"))


def compiles_into_the_cache(folder, tmp_path, names=("double", "add")):
    """Show that the given kernels are compiled, saved in the user's cache alone, and found there by the next process."""
    before = state_of(folder)
    assert run_kernels() == list(names)
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == len(names)
    assert state_of(folder) == before
    forget()
    assert run_kernels() == []


@pytest.mark.parametrize("name", jit.VERSIONS)
def test_kernels_of_other_versions_are_not_used(folder, tmp_path, name):
    edit(folder, versions=jit.VERSIONS | {name: "0.0"})
    compiles_into_the_cache(folder, tmp_path)


@pytest.mark.parametrize("place", [0, 2])
def test_kernels_for_another_platform_or_processor_are_not_used(folder, tmp_path, compiled, place):
    target = list(compiled[1])
    target[place] = ["arm64-apple-darwin", None, target[2] + ",+avx9000"][place]
    edit(folder, target=target)
    compiles_into_the_cache(folder, tmp_path)


@pytest.mark.parametrize(
    "changes",
    [{"format": 2}, {"files": {}}, {"files": [1]}, {"files": 3}, {"target": "x"}, {"target": None}, {"versions": []}],
    ids=str,
)
def test_a_manifest_that_makes_no_sense_is_ignored(folder, tmp_path, changes):
    edit(folder, **changes)
    compiles_into_the_cache(folder, tmp_path)


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b"\xff", b'{"format": 1}'])
def test_a_damaged_or_missing_manifest_is_ignored(folder, tmp_path, content):
    manifest = folder / shipped.MANIFEST
    manifest.unlink()
    if content is not None:
        manifest.write_bytes(content)
    compiles_into_the_cache(folder, tmp_path)


def test_kernels_of_other_sources_are_not_used(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "hash_sources", lambda *_: "0" * 64)
    compiles_into_the_cache(folder, tmp_path)


@pytest.mark.parametrize("damage", ["cut", "one bit", "missing", "a folder", "another kernel"])
def test_a_damaged_kernel_is_compiled_and_the_others_are_used(folder, tmp_path, damage):
    (stored,) = folder.rglob("add-*.nbc")
    content = stored.read_bytes()
    stored.unlink()
    if damage == "cut":
        stored.write_bytes(content[:-1])
    elif damage == "one bit":
        stored.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    elif damage == "a folder":
        stored.mkdir()
    elif damage == "another kernel":
        stored.write_bytes(next(folder.rglob("double-*.nbc")).read_bytes())
    compiles_into_the_cache(folder, tmp_path, ["add"])


class Hostile:
    """Its pickle creates a file."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return Path.touch, (self.place,)


def test_nothing_is_unpickled_that_the_manifest_does_not_name(folder, tmp_path):
    (stored,) = folder.rglob("add-*.nbc")
    stored.write_bytes(pickle.dumps(Hostile(tmp_path / "harm")))
    compiles_into_the_cache(folder, tmp_path, ["add"])
    assert not (tmp_path / "harm").exists()
    pickle.loads(stored.read_bytes())  # noqa: S301 - our own
    assert (tmp_path / "harm").exists()  # so it would have been noticed


@pytest.mark.parametrize("other_name", ["double", "subtract"])
def test_another_kernel_or_one_for_other_types_is_never_used(folder, tmp_path, other_name):
    """The file of another kernel is put in its place, together with its hash."""
    manifest = json.loads((folder / shipped.MANIFEST).read_text())
    (stored,) = folder.rglob("add-*.nbc")
    (other,) = folder.rglob(f"{other_name}-*.nbc")
    stored.write_bytes(other.read_bytes())
    names = [path.relative_to(folder).as_posix() for path in (stored, other)]
    edit(folder, files=manifest["files"] | {names[0]: manifest["files"][names[1]]})
    compiles_into_the_cache(folder, tmp_path, ["add"])


def test_the_folder_can_be_ignored(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SETVEIL_SHIPPED_KERNELS", "0")
    compiles_into_the_cache(folder, tmp_path)


def test_a_folder_that_cannot_be_written_is_used(folder):
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert run_kernels() == []
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755)


def test_a_folder_without_the_package_file_is_not_taken_for_it(folder, tmp_path):
    (folder / "__init__.py").unlink()  # as a folder of this name beside a user's program
    compiles_into_the_cache(folder, tmp_path)


def test_the_level_is_one_that_the_check_of_features_covers():
    platform, processor, features = BUILD["TARGET"]
    host = dict.fromkeys(BUILD["FEATURES"].split(), True)
    assert platform == jit.binding.get_process_triple()
    assert processor == "x86-64-v3"
    for missing in ("avx2", "bmi2", "fma", "movbe", "lzcnt"):
        assert f"+{missing}" in features.split(",")
        assert missing in host
