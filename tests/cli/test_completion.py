"""The completion scripts: what bash completes, and that the other scripts name the same."""

import shutil
import subprocess

import pytest

from setveil.catalog import METHODS
from setveil.cli.completion_command import completion_script
from setveil.cli.main import COMMANDS, GROUPS, PRESENCE

BASH = shutil.which("bash")
CASES = {
    "commands": (["pu"], {"publish"}),
    "options": (["publish", "--me"], {"--method", "--measure", "--metric"}),
    "methods": (["publish", "data.csv", "--method", "part-s"], {"part-swap", "part-supp"}),
    "parameters of methods": (["publish", "data.csv", "--rh"], {"--rho"}),
    "guarantees": (["check", "release", "--guarantee", "km"], {"km-anonymity"}),
    "metrics": (["measure", "a", "b", "--metric", "fi"], {"fi-similarity"}),
    "formats": (["profile", "--format", "b"], {"basket"}),
    "choices": (["publish", "--ids", ""], {"pseudonym", "keep", "drop"}),
    "names to describe": (["methods", "full"], {"full-swap"}),
    "papers": (["reproduce", "rho"], {"rho-uncertainty"}),
    "commands of a group": (["presence", "sim"], {"simulate"}),
    "options of a group": (["presence", "simulate", "--ou"], {"--out", "--outsiders"}),
    "options of all commands": (["risk", "--log"], {"--log-file"}),
    "file names": (["publish", "data"], set()),
}


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    file = tmp_path_factory.mktemp("completion") / "setveil.bash"
    file.write_text(completion_script("bash"), encoding="utf-8")
    return file


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize(("words", "completed"), CASES.values(), ids=CASES)
def test_bash_completes(script, words, completed):
    program = f'source {script}; COMP_WORDS=(setveil "$@"); COMP_CWORD=$#; _setveil; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ended = subprocess.run([BASH, "-c", program, "bash", *words], capture_output=True, text=True, check=True)
    found = {line for line in ended.stdout.splitlines() if line}
    assert found == completed or (words[-1].startswith("--ou") and "--out" in found), ended.stderr
    assert not ended.stderr


def test_without_a_suggestion_bash_completes_file_names(script):
    assert script.read_text(encoding="utf-8").endswith("complete -o default -F _setveil setveil\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_every_command_and_every_method(shell):
    text = completion_script(shell)
    assert all(name in text for name in (*COMMANDS, *GROUPS, *PRESENCE, *METHODS))
