"""Verdicts are coloured on a terminal, and nowhere else."""

import os
import pty
import subprocess

import pytest

from support.program import PROGRAM, call

GREEN, RED = "\x1b[32m", "\x1b[31m"
DATA = "a b\na b\nc\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.dat").write_text(DATA, encoding="utf-8")
    return tmp_path


def run_on_terminal(*arguments, cwd, **variables):
    """Run a command whose output goes to a pseudo-terminal; return what the terminal received."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    env |= {"TERM": "xterm-256color", **variables}
    with subprocess.Popen([*PROGRAM, *map(str, arguments)], cwd=cwd, env=env, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        received = b""
        while True:
            try:
                block = os.read(ours, 4096)
            except OSError:  # the program ended
                break
            if not block:
                break
            received += block
    os.close(ours)
    assert process.returncode in {0, 3}, received
    return received.decode()


CHECKS = {
    "holds": (["--k", 1, "--m", 1], f"km-anonymity: {GREEN}holds\x1b[0m"),
    "violated": (["--k", 2, "--m", 1], f"km-anonymity: {RED}violated\x1b[0m"),
}


@pytest.mark.parametrize(("options", "shown"), CHECKS.values(), ids=CHECKS)
def test_a_verdict_has_its_colour_on_a_terminal(options, shown, folder):
    check = ("check", "data.dat", "--guarantee", "km-anonymity", *options)
    assert shown in run_on_terminal(*check, cwd=folder)


def test_a_verdict_has_no_colour_where_none_is_wanted_or_nobody_looks(folder):
    check = ("check", "data.dat", "--guarantee", "km-anonymity", "--k", 2, "--m", 1)
    plain = run_on_terminal(*check, cwd=folder, NO_COLOR="1")
    assert "\x1b[3" not in plain, "a colour, in spite of NO_COLOR"
    assert "km-anonymity: " in plain
    assert "\x1b" not in run_on_terminal(*check, "--json", "--quiet", cwd=folder)
    assert "\x1b" not in call(*check, cwd=folder).out


def test_publish_colours_the_status_of_its_summary(folder):
    publish = ("publish", "data.dat", "--method", "disassociation", "--k", 1, "--m", 1, "--out", "release", "--force")
    assert f"km-anonymity {GREEN}holds\x1b[0m for" in run_on_terminal(*publish, cwd=folder)
    assert "\x1b" not in call(*publish, cwd=folder).out


def test_a_refused_release_has_its_status_in_colour(folder):
    crowd = "".join(f"{person},a\n{person},b\n" for person in range(10))
    (folder / "people.csv").write_text(f"id,item\n{crowd}11,c\n12,d\n", encoding="utf-8")
    (folder / "categories.csv").write_text("item,category\na,x\nb,x\nc,y\nd,z\n", encoding="utf-8")
    publish = ("publish", "people.csv", "--person", "id", "--method", "part-swap", "--categories", "categories.csv")
    shown = run_on_terminal(*publish, "--out", "release", cwd=folder)
    assert f"hidden-tendency is {RED}violated\x1b[0m; nothing was written" in shown
