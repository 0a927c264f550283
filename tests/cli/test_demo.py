"""The whole story on built-in data."""

import re
from contextlib import nullcontext

import pytest

import setveil as sv
from setveil.cli import demo_command
from setveil.kernels import jit

from support.program import assert_complete, call, names_in, run

EXAMPLE = ("demo", "--out", "setveil-demo")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Tell the story once for people and once for machines."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, run(*EXAMPLE, cwd=folder), run("demo", "--json", "--quiet", "--out", "again", cwd=folder)


def test_it_ends_well_and_leaves_a_release_a_private_folder_and_nothing_else(told):
    folder, people, machines = told
    assert (people.code, machines.code) == (0, 0), people.err + machines.err
    assert names_in(folder) == ["again", "again.private", "setveil-demo", "setveil-demo.private"]
    for name in ("setveil-demo", "again"):
        assert_complete(folder / name, folder / f"{name}.private")


def test_it_was_called_as_its_help_says():
    assert call("demo", "--help").out.rstrip().endswith(f"Example:\n  setveil {' '.join(EXAMPLE)}")


def test_it_tells_every_chapter(told):
    folder, people, _machines = told
    for words in ("1. Profile", "2. Hide", "3. Check the release again", "4. Test the check", "5. Measure the cost"):
        assert words in people.out
    assert people.out.count("hidden-tendency holds for ") == 1
    assert people.out.count("hidden-tendency: holds for ") == 1
    assert "hidden-tendency: violated (13,967 not hidden)" in people.out
    assert str((folder / "setveil-demo.private" / "report.html").resolve()) in people.out


def test_machines_get_json_and_nothing_else(told):
    assert told[2].err == ""
    machines = told[2].json
    assert machines["verdict"]["status"] == "holds"
    assert machines["check_exit_code"] == 0
    assert machines["fault_caught"] is True
    assert {metric["name"] for metric in machines["metrics"]} >= {"record-loss", "still-on-top", "tendency-posterior"}


def test_the_report_opens_offline(told):
    page = (told[0] / "setveil-demo.private" / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    page = re.sub(
        r"<script>.*?</script>", "", page, flags=re.DOTALL
    )  # the libraries that draw hold names that look like addresses
    assert not re.findall(r"https?://|//[a-z]", page)
    assert not re.findall(r"<(?:link|iframe|img|object|embed)\b|@import|url\(|src=", page)
    for words in (
        "hidden-tendency holds",
        "Private: this page contains facts about the original data",
        "tendency-posterior",
    ):
        assert words in page


def test_the_commands_it_shows_work(told):
    """They are what a person would type next; the release is there already, so that it is to be replaced."""
    folder, people, _machines = told
    shown = [line.removeprefix("   $ setveil ") for line in people.out.splitlines() if line.startswith("   $ setveil ")]
    assert [line.split()[0] for line in shown] == ["profile", "publish", "check", "measure"]
    for line in shown:
        force = ["--force"] if line.startswith("publish") else []
        ended = call(*line.split(), *force, cwd=folder)
        assert ended.code == 0, ended.err


def test_it_does_not_overwrite(told):
    ended = call("demo", cwd=told[0])
    assert ended.code == 2
    assert "setveil-demo exists" in ended.sentence()


class Started:
    """Stands for another process, and records what happens to it."""

    def __init__(self, words):
        self.words = words
        self.seen = []

    def wait(self):
        self.seen.append("wait")

    def terminate(self):
        self.seen.append("terminate")


@pytest.mark.parametrize(("compiled", "fails"), [(0, False), (1, False), (2, False), (1, True)])
def test_the_first_run_compiles_the_metrics_in_another_process(monkeypatch, compiled, fails):
    others, published = [], []
    monkeypatch.setattr(demo_command, "_start", lambda words, **_: others.append(Started(words)) or others[-1])
    monkeypatch.setattr(demo_command, "publish", lambda *_, **named: published.append(named))
    method = sv.PartSwap(categories=sv.read_categories(demo_command.SAMPLE))
    with (
        pytest.raises(KeyboardInterrupt) if fails else nullcontext(),
        demo_command._compiling_in_two_processes(method),
    ):
        for _ in range(compiled):
            assert jit.numba.njit(lambda x: x + 1)(1) == 2
        if fails:
            raise KeyboardInterrupt
    assert [other.words[0] for other in others] == ["measure"] * min(compiled, 1)
    assert [other.seen for other in others] == [(["wait"] if not fails else []) + ["terminate", "wait"]] * len(others)
    assert published == [{"metrics": [], "attacks": "none"}] * (compiled > 0 and not fails)
