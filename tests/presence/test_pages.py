"""What pages, help texts and policies of this part say: the same plain warning everywhere, and a run that works as printed."""

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from setveil.cli.main import PRESENCE
from setveil.presence import PROTECTS

from support.pages import NOT_RUN, blocks_of, run_command
from support.presence_programs import free_ports
from support.program import call, ended, start

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / "docs/presence").glob("*.md"),
    ROOT / "docs/methods/dummy-users.md",
    ROOT / "README.md",
    ROOT / "SECURITY.md",
]


def plain(text):
    """Return a text without the breaks of its lines."""
    return " ".join(text.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_says_whom_the_protocol_protects_against(page):
    assert PROTECTS in plain(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", [(), *((name,) for name in PRESENCE)], ids=str)
def test_a_help_text_says_whom_the_protocol_protects_against(command):
    assert PROTECTS in plain(call("presence", *command, "--help").out)


def test_a_policy_says_whom_the_protocol_protects_against(tmp_path):
    assert call("presence", "sample", "--out", tmp_path / "trial", "--people", 300).code == 0
    assert f"# {PROTECTS}\n" in (tmp_path / "trial/policy.toml").read_text()


def test_the_walk_through_works_as_printed(tmp_path):
    ports = free_ports(2)
    networked = []
    for block in blocks_of("presence/walk-through.md"):
        text = block.text.replace("7621", str(ports[0])).replace("7622", str(ports[1]))
        if block.file:
            (tmp_path / block.file).write_text(text, encoding="utf-8")
        elif block.kind == "python":
            # Once more, with the bank in Python: the same run, which is allowed.
            others = [start(*words, "--force", cwd=tmp_path) for words in networked[:2]]
            script = text.replace('"run-a"', '"run-python"')
            subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=300)
            assert [ended(one).code for one in others] == [0, 0]
        elif "presence collector" in text:
            networked = [shlex.split(line)[1:] for line in replace(block, text=text).lines]
            assert [words[1] for words in networked] == ["collector", "provider", "provider"]
            found = [ended(one) for one in [start(*words, cwd=tmp_path) for words in networked]]
            assert [one.code for one in found] == [0, 0, 0], found
        else:
            for line in block.lines:
                if not NOT_RUN.match(line):
                    run_command(line, tmp_path, *(("--people", 400) if "presence sample" in line else ()))
    same = [(tmp_path / folder / "openings.jsonl").read_bytes() for folder in ("run-a", "run-python")]
    assert same[0] == same[1]
    assert (tmp_path / "same/data.csv").read_bytes() == (tmp_path / "published/data.csv").read_bytes()
    assert "finished" in call("presence", "ledger", "bank", cwd=tmp_path).out
