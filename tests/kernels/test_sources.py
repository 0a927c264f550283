import ast
import shutil

import pytest

from setveil.kernels import sources
from setveil.kernels.sources import PACKAGE, find_sources, hash_sources, is_kernel_source

MACHINERY = {"forms.py", "jit.py", "shipped.py", "sources.py", "threads.py", "__init__.py"}
"""Modules in the folder of shared kernels that hold none."""


def kernel_files(package=PACKAGE):
    return sorted(
        path for path in package.rglob("*.py") if is_kernel_source(path, package=package) and path.name not in MACHINERY
    )


def name_of(path, package=PACKAGE):
    return path.relative_to(package).as_posix()


@pytest.fixture
def copy(tmp_path):
    """Give a copy of the package, which the hashes are then taken of."""
    shutil.copytree(PACKAGE, tmp_path / "setveil", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "setveil"


def hashes(package):
    sources._read.cache_clear()
    sources._imports.cache_clear()
    return {name_of(path, package): hash_sources(path, package=package) for path in kernel_files(package)}


def test_the_hashes_depend_on_the_sources_and_not_on_their_place(copy):
    assert hashes(copy) == hashes(PACKAGE)


def test_a_change_reaches_the_kernels_that_import_it_and_no_others(copy):
    before = hashes(copy)
    for changed in kernel_files(copy):
        text = changed.read_bytes()
        changed.write_bytes(text + b"# changed\n")
        reached = {name for name, found in hashes(copy).items() if found != before[name]}
        changed.write_bytes(text)
        assert reached == {
            name_of(path, copy) for path in kernel_files(copy) if changed in find_sources(path, package=copy)
        }
        assert name_of(changed, copy) in reached
        assert len(reached) < len(before)
    assert hashes(copy) == before


def test_a_change_in_one_family_leaves_the_others(copy):
    before = hashes(copy)
    with (copy / "methods" / "itemsets" / "_tracking_kernels.py").open("a") as source:
        source.write("# changed\n")
    assert {name for name, found in hashes(copy).items() if found != before[name]} == {
        "methods/itemsets/_exact_swap_kernels.py",
        "methods/itemsets/_exchange_kernels.py",
        "methods/itemsets/_tracking_kernels.py",
    }


def test_the_stamp_is_part_of_the_hash():
    path = kernel_files()[0]
    assert (
        len({hash_sources(path), hash_sources(path, "1"), hash_sources(path, "2"), hash_sources(path, "1", "2")}) == 4
    )


def literal_constants(path):
    """Return the names that a module binds once, at its top level, to a literal number or text."""
    bound = [
        (target.id, node.value)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    names = [name for name, _value in bound]
    return {name for name, value in bound if names.count(name) == 1 and is_literal(value)}


def is_literal(value):
    try:
        return isinstance(ast.literal_eval(value), int | float | str)
    except ValueError:
        return False


@pytest.mark.parametrize("path", kernel_files(), ids=name_of)
def test_every_import_of_a_kernel_source_is_covered(path):
    covered = find_sources(path)
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import is not found by the hash"
            names, imported = [node.module], names
        for name in names:
            if name.partition(".")[0] != "setveil":
                assert name.partition(".")[0] in {"__future__", "numpy", "typing", "math"}, f"{path}:{node.lineno}"
                continue
            assert isinstance(node, ast.ImportFrom), f"{path}:{node.lineno}: import the names from the module"
            assert node in tree.body, f"{path}:{node.lineno}: only imports at the top of the file are found by the hash"
            if name == "setveil.kernels.jit":
                assert imported == ["kernel"]
                continue
            source = sources._file_of(name.removeprefix("setveil."), PACKAGE)
            assert source in covered, f"{path}:{node.lineno}: {name} is not covered by the hash"
            if not is_kernel_source(source):
                assert set(imported) <= literal_constants(source), f"{path}:{node.lineno}: only literals are covered"
