"""What pages, help texts and policies of this part say: the same plain warning everywhere, and a run that works as printed."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.cli.main import PRESENCE
from setveil.presence import PROTECTS

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


def test_the_run_on_the_page_works_as_printed(tmp_path):
    page = (ROOT / "docs/presence/walk-through.md").read_text(encoding="utf-8")
    ports = free_ports(2)
    text = page.replace("7621", str(ports[0])).replace("7622", str(ports[1]))
    assert call("presence", "sample", "--out", tmp_path / "trial", "--people", 400).code == 0
    homes = text.partition("## 5. ")[2].partition("## 6. ")[0]
    for words in commands(homes):
        assert call(*words, cwd=tmp_path).code == 0, words
    section = text.partition("## 6. ")[2].partition("## 7. ")[0]
    programs = commands(section)
    assert [words[1] for words in programs] == ["collector", "provider", "provider"]
    found = [ended(one) for one in [start(*words, cwd=tmp_path) for words in programs]]
    assert [one.code for one in found] == [0, 0, 0], found
    # Once more, with the bank in Python: the same run, which is allowed.
    (script,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    script = script.replace('"run-a"', '"run-python"')
    others = [start(*words, "--force", cwd=tmp_path) for words in programs[:2]]
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=300)
    assert [ended(one).code for one in others] == [0, 0]
    same = [(tmp_path / folder / "openings.jsonl").read_bytes() for folder in ("run-a", "run-python")]
    assert same[0] == same[1]
    assert "finished" in call("presence", "ledger", "bank", cwd=tmp_path).out


def commands(section):
    """Return the arguments of the commands of `setveil` in a section."""
    blocks = "".join(re.findall(r"```\n(.*?)```", section, re.DOTALL)).replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in blocks.splitlines() if line.startswith("setveil ")]
