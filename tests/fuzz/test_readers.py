"""Readers under the fuzzer: what it starts from, what was found before, and a short run of it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.data.formats import basket
from setveil.data.records.transactions import from_lists

from fuzz import readers
from fuzz.found import FOUND
from support.exhaustive import IS_EXHAUSTIVE

SCRIPT = Path(__file__).with_name("fuzz_readers.py")
SECONDS = 3 if IS_EXHAUSTIVE else 0.5
PATIENCE_SECONDS = 120


@pytest.mark.parametrize("group", readers.GROUPS)
def test_what_the_fuzzer_starts_from_keeps_all_promises(tmp_path, group):
    came_out = [reader.check(seed, tmp_path) for reader in readers.GROUPS[group] for seed in reader.seeds]
    assert any(came_out)
    assert not all(came_out)


@pytest.mark.parametrize(("name", "content"), [pytest.param(r, c, id=f"{r}: {what}") for r, what, c in FOUND])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_what_once_broke_a_promise_keeps_it_now(tmp_path, name, content):
    for reader in readers.readers_named(name):
        reader.check(content, tmp_path)


def _raises(*_arguments, **_options):
    raise KeyError("items")


def _forgets(content, *_arguments, **_options):
    return from_lists([["a"]] * len(b"".join(content)))


@pytest.mark.parametrize(("broken", "noticed"), [(_raises, KeyError), (_forgets, AssertionError)])
def test_a_reader_that_breaks_a_promise_is_noticed(tmp_path, monkeypatch, broken, noticed):
    monkeypatch.setattr(basket, "parse", broken)
    with pytest.raises(noticed):
        readers.readers_named("basket")[0].check(b"a b\n", tmp_path)


def test_a_password_that_is_told_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "shown", lambda url: url)
    with pytest.raises(AssertionError, match="hidden-word"):
        readers.readers_named("addresses")[0].check(b"postgresql://ann:hidden-word@host/shop", tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
@pytest.mark.parametrize(
    "group",
    [
        pytest.param(group, marks=[pytest.mark.exhaustive] if number else [])
        for number, group in enumerate(readers.GROUPS)
    ],
)
def test_the_fuzzer_finds_nothing_in_a_short_run(tmp_path, group):
    findings = tmp_path / "findings"
    command = [sys.executable, SCRIPT, "--seconds", str(SECONDS), "--reader", group, "--findings", findings]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    kept = {path.name: path.read_text(encoding="utf-8") for path in findings.glob("*.txt")}
    assert ended.returncode == 0, kept or ended.stderr[-2000:]
    figures = json.loads(ended.stdout)
    assert figures["findings"] == {}
    assert set(figures["executions"]) == {reader.name for reader in readers.GROUPS[group]}
    assert sum(figures["with data"].values()) > 0
