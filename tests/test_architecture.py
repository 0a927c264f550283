"""The rules of the house that can be checked: arrows between rooms, what may be imported, what must be documented."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter import cli as import_linter

REPOSITORY = Path(__file__).parents[1]
SOURCES = sorted((REPOSITORY / "src").rglob("*.py"))


def test_arrows_point_down_only(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    assert import_linter.lint_imports() == 0


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, setveil; print([m for m in ('numpy','numba','pyarrow','pydantic','cyclopts','rich') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_public_name_can_be_reached():
    import setveil  # noqa: PLC0415 - the package under test

    for name in setveil.__all__:
        assert getattr(setveil, name) is not None
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        _ = setveil.nothing


def test_the_oracles_import_nothing_from_the_package():
    for oracle in (REPOSITORY / "tests" / "oracle").glob("*.py"):
        assert not re.search(r"^\s*(from|import) setveil", oracle.read_text(encoding="utf-8"), re.MULTILINE), oracle


def test_files_are_not_too_long():
    for source in [*SOURCES, *(REPOSITORY / "tests").rglob("*.py")]:
        lines = len(source.read_text(encoding="utf-8").splitlines())
        assert lines <= 400, f"{source} has {lines} lines: split it by idea"


def test_no_module_is_named_after_nothing():
    for source in SOURCES:
        assert source.stem not in {"utils", "util", "misc", "common", "helpers", "helper"}


def test_decisions_named_in_the_code_exist():
    decisions = {path.name[:4] for path in (REPOSITORY / "docs" / "decisions").glob("*.md")}
    for source in SOURCES:
        for number in re.findall(r"docs/decisions/(\d{4})", source.read_text(encoding="utf-8")):
            assert number in decisions, f"{source} cites decision {number}"


def test_links_between_pages_lead_somewhere():
    for page in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"
