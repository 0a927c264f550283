"""A comparison ends with the same table however often it is stopped, and says what it could not do."""

import csv
import json
import os
import shutil
import signal
import stat
import sys
import time
from pathlib import Path

import pytest
from filelock import lock_descriptor

import setveil as sv
from setveil.comparison import trial_processes
from setveil.comparison.folder import NAMES, TrialKey, results_of
from setveil.comparison.grid import Grid
from setveil.comparison.worker import Worker
from setveil.release.tried import tried_in

from comparison.made import GRID
from support.program import PATIENCE_SECONDS, call, ended, names_in, start


def table(folder):
    """Return the table without the times."""
    rows = csv.DictReader((folder / "table.csv").read_text(encoding="utf-8").splitlines())
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def results(folder):
    """Return the results by trial, without the times."""
    found = {}
    for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        key = one["set_up"], one["seed"], one["records"]
        assert key not in found
        found[key] = one | {"seconds": None}
    return found


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(GRID, encoding="utf-8")
    return path


def test_all_set_ups_are_run_on_a_sample_and_with_all_seeds_on_all_records(whole):
    found = results(whole)
    assert sorted((seed, records) for _set_up, seed, records in found) == sorted([(0, 400), (0, 1200), (1, 1200)] * 4)
    rows = table(whole)
    assert [row["method"] for row in rows] == ["disassociation", "disassociation", "rand-swap", "exact-swap"]
    assert [row["status"] for row in rows] == ["holds", "holds", "no guarantee", "refused"]
    assert [row["trials"] for row in rows] == ["2"] * 4
    assert "milk" in rows[3]["reason"]
    assert rows[3]["task"] == rows[3]["excess"] == ""
    assert all(row["task"] and row["excess"] for row in rows[:3])
    assert any(row["best"] == "True" for row in rows)
    assert names_in(whole) == sorted(NAMES)
    assert stat.S_IMODE(whole.stat().st_mode) == 0o700


def test_python_gives_the_same_results_as_the_command_line(whole, grid, tmp_path):
    found = sv.compare(grid, out=tmp_path / "python", threads=1)
    assert table(tmp_path / "python") == table(whole)
    assert results(tmp_path / "python") == results(whole)
    assert [one.title for one in found.set_ups] == [
        "disassociation k=3",
        "disassociation k=10",
        "rand-swap",
        "exact-swap",
    ]
    assert "disassociation k=3" in repr(found)
    assert found.to_table().num_rows == 4


def processes_with(mark):
    """Return the processes whose environment has a mark."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [place] if mark.encode() in place.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_goes_on_with_the_same_table(whole, grid, tmp_path, number):
    folder, mark = tmp_path / "out", f"setveil-test-{os.getpid()}-{number}"
    process = start("compare", grid, "--out", folder, cwd=tmp_path, env={"MARK": mark})
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if (folder / "results.jsonl").is_file() and (folder / "results.jsonl").read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.01)
    process.send_signal(number)
    said = ended(process)
    assert said.code == (130 if number == signal.SIGINT else -signal.SIGKILL), said.err
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_with(mark) == []
    before = results(folder)
    assert 3 <= len(before) < 12
    with (folder / "results.jsonl").open("ab") as file:
        file.write(b'{"set_up": "torn", "se')  # as if the last line had not reached the disk
    again = call("compare", grid, "--out", folder, "--quiet")
    assert again.code == 0, again.err
    assert table(folder) == table(whole)
    assert results(folder) == results(whole)
    assert before.items() <= results(folder).items()
    assert names_in(tmp_path) == ["grid.toml", "out"]


def test_trials_that_are_there_are_not_run_again_and_seeds_can_be_added(whole, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(whole, folder)
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "results.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    more = tmp_path / "more.toml"
    more.write_text(GRID.replace("seeds = 2", "seeds = [1, 5]").replace("k = [3, 10]", "k = 3"), encoding="utf-8")
    found = sv.compare(more, out=folder)
    there = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert there[: len(lines)] == lines
    added = [json.loads(line) for line in there[len(lines) :]]
    assert sorted((one["seed"], one["records"]) for one in added) == [(1, 400)] * 3 + [(5, 1200)] * 3
    assert [one.settings.get("k") for one in found.set_ups] == ["3", None, None]


def test_equal_set_ups_run_once(tmp_path):
    one = {"name": "exact-swap", "itemsets": [[["milk"]]], "min_support": "50%"}
    methods = [one, one | {"afi": "cost"}]  # the default
    found = sv.compare({"data": "sample:supermarket?records=100", "methods": methods, "seeds": 1}, out=tmp_path / "out")
    assert [one.status for one in found.set_ups] == ["refused", "refused"]
    assert len(results(tmp_path / "out")) == 1


def test_a_budget_ends_the_run_and_the_rest_is_listed(grid, tmp_path):
    said = call("compare", grid, "--out", tmp_path / "out", "--budget", "0.001s", "--json")
    assert said.code == 0, said.err
    assert "the budget is used up: 4 trials of 4 not run" in said.err
    assert [one["stage"] for one in said.json["set_ups"]] == ["not tried"] * 4
    assert [one["status"] for one in said.json["set_ups"]] == ["not tried"] * 4
    page = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert "<dt>not tried</dt><dd>disassociation k=3; disassociation k=10; rand-swap; exact-swap</dd>" in page


@pytest.mark.parametrize("budget", ["5", "0s", "-1min", "soon", 0, -3])
def test_a_wrong_budget_is_refused(grid, budget):
    with pytest.raises(sv.BadParameter, match="such as 90s"):
        sv.compare(grid, budget=budget)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("records=1200", "records=1100", "other data"),
        ("targets = 100", "targets = 200", "other measurements"),
        ("item-knn:items=60", "ease", "other measurements"),
    ],
)
def test_results_of_another_comparison_are_never_mixed(whole, tmp_path, old, new, said):
    other = tmp_path / "other.toml"
    other.write_text(GRID.replace(old, new), encoding="utf-8")
    before = (whole / "results.jsonl").read_bytes()
    with pytest.raises(sv.OutputRefused, match=said):
        sv.compare(other, out=whole)
    assert (whole / "results.jsonl").read_bytes() == before


def test_a_folder_that_holds_something_else_is_refused(grid, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(sv.OutputRefused, match="is not the folder of a comparison"):
        sv.compare(grid, out=tmp_path / "out")
    assert names_in(tmp_path / "out") == []


def test_two_runs_do_not_write_to_the_same_folder(whole, grid):
    with (whole / "results.jsonl").open("r+b") as file:
        assert lock_descriptor(file.fileno(), blocking=False)
        with pytest.raises(sv.OutputRefused, match="another run is writing"):
            sv.compare(grid, out=whole)


def test_a_damaged_line_is_refused(whole, grid, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(whole, folder)
    text = (folder / "results.jsonl").read_text(encoding="utf-8")
    (folder / "results.jsonl").write_text("{" + text, encoding="utf-8")
    with pytest.raises(sv.BadData, match="line 1 is not a result"):
        sv.compare(grid, out=folder)


def test_a_task_needs_a_direction(grid):
    content = {"data": "sample:supermarket?records=300", "methods": ["rand-swap"], "task": "frequent-itemsets"}
    with pytest.raises(sv.BadParameter, match="neither more nor less is better"):
        sv.compare(content)
    assert grid.exists()


DIES = """
import os
from setveil.comparison import worker
run = worker.Worker.run
def run_or_die(self, number, seed, records):
    return os._exit(9) if (number, records) == (1, 1200) else run(self, number, seed, records)
worker.Worker.run = run_or_die
worker.main()
"""


def test_a_set_up_whose_process_ends_is_shown_with_the_reason_and_tried_again(whole, grid, tmp_path, monkeypatch):
    monkeypatch.setattr(trial_processes, "PROGRAM", (sys.executable, "-c", DIES))
    found = sv.compare(grid, out=tmp_path / "out")
    dead = found.set_ups[1]
    assert (dead.title, dead.status, dead.stage, dead.task) == ("disassociation k=10", "ended", "all records", None)
    assert "probably because the memory was used up" in dead.reason
    assert not dead.is_best
    assert "probably because the memory" in (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    monkeypatch.undo()
    sv.compare(grid, out=tmp_path / "out")
    assert table(tmp_path / "out") == table(whole)


def test_results_of_a_changed_side_file_are_never_mixed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = sv.read("sample:supermarket?records=300").vocabulary
    content = {
        "data": "sample:supermarket?records=300",
        "methods": [{"name": "rand-swap"}, {"name": "insert", "sensitive": "sensitive.txt", "rho": "50%"}],
        "metrics": [{"name": "hiding-failure", "itemsets": "itemsets.txt", "min_support": 2}],
        "task": "item-knn:items=50",
        "attacks": "membership",
        "seeds": 1,
    }
    for file in ("sensitive.txt", "itemsets.txt"):
        Path(file).write_text(f"{names[0]}\n", encoding="utf-8")
    sv.compare(content, out="out")
    before = results(Path("out"))
    Path("sensitive.txt").write_text(f"{names[1]}\n", encoding="utf-8")
    sv.compare(content, out="out")
    assert len(results(Path("out"))) == len(before) + 1 == 3
    Path("itemsets.txt").write_text(f"{names[1]}\n", encoding="utf-8")
    with pytest.raises(sv.OutputRefused, match="other measurements"):
        sv.compare(content, out="out")
    described = {"grid": Grid(content).described(), "checksum": sv.read(content["data"]).checksum()}
    found = Worker(described | {"keys": ["another", "another"]}).run(1, 0, 300)
    assert found == {"refused": "a file that insert reads changed while it was compared; run the comparison again"}


def test_a_text_with_a_line_separator_is_one_line(tmp_path):
    facts = {"comparison_version": 1, "versions": {}, "data": {"checksum": "abc"}, "measured": {}}
    key, result = TrialKey("set-up", 0, 10), {"status": "refused", "reason": "a\u2028b\u0085c\nd"}
    with results_of(tmp_path / "out", facts, "") as found:
        found.add(key, result)
    with (tmp_path / "out" / "results.jsonl").open("ab") as file:
        file.write(b'{"set_up": "torn \xe2\x80')
    assert tried_in(tmp_path / "out", "abc")["trials"] == 1
    with results_of(tmp_path / "out", facts, "") as found:
        assert found.found == {key: {**key._asdict(), **result}}


def test_a_folder_without_results_and_one_in_a_release_are_refused(grid, tmp_path):
    facts = {"comparison_version": 1, "versions": {}, "data": {"checksum": "abc"}, "measured": {}}
    with results_of(tmp_path / "out", facts, ""):
        pass
    (tmp_path / "out" / "results.jsonl").write_text("5\n", encoding="utf-8")
    with pytest.raises(sv.BadData, match="line 1 is not a result"):
        tried_in(tmp_path / "out", "abc")
    (tmp_path / "out" / "results.jsonl").unlink()
    with pytest.raises(sv.BadData, match=r"results\.jsonl: cannot be read"):
        tried_in(tmp_path / "out", "abc")
    sv.publish("sample:supermarket?records=50", sv.Disassociation(k=2, m=1), out=tmp_path / "release")
    for out in (tmp_path / "release" / "out", tmp_path / "release" / "more" / "out"):
        with pytest.raises(sv.OutputRefused, match="inside a release folder"):
            sv.compare(grid, out=out)
        with pytest.raises(sv.OutputRefused, match="inside a release folder"):
            sv.compare_releases("sample:supermarket?records=50", [tmp_path / "release"], out=out)


def test_a_sample_that_cannot_be_divided_is_not_used():
    content = {"data": "sample:supermarket?records=200", "methods": ["rand-swap"], "seeds": 1, "attacks": "membership"}
    found = sv.compare(content | {"sample": 20, "task": "item-knn:items=50"})
    assert [(one.stage, len(one.trials)) for one in found.set_ups] == [("all records", 1)]


def test_data_in_which_nothing_can_be_learned_or_attacked_have_a_page(tmp_path):
    (tmp_path / "data.dat").write_text("a\n" * 60, encoding="utf-8")
    methods = [{"name": "disassociation", "k": [2, 3], "m": 2}]
    content = {"data": str(tmp_path / "data.dat"), "methods": methods, "seeds": 1, "attacks": "find-record:known=2"}
    found = sv.compare(content, out=tmp_path / "out")
    assert [(one.status, one.task, one.excess) for one in found.set_ups] == [("holds", None, None)] * 2
    assert "No set-up has a guarantee that holds and a result" in (tmp_path / "out" / "compare.html").read_text("utf-8")
