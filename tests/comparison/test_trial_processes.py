"""Processes that run trials: each task gets one answer, whatever becomes of its process."""

import sys

import pytest

import setveil as sv
from setveil.comparison import trial_processes as module
from setveil.comparison.trial_processes import Task, trial_processes

TASKS = [Task(number, 0, 10) for number in range(6)]
ANSWERS = """
import json, os, sys, time
sys.stdin.readline()
for line in sys.stdin:
    task = json.loads(line)
    what = EXCEPT.get(task["number"], "answers")
    if what == "dies":
        os._exit(9)
    if what == "hangs":
        time.sleep(600)
    print(json.dumps({"answers": {"status": "holds"}, "refuses": {"refused": "no"}, "fails": {"failed": "why"}}[what]), flush=True)
"""


@pytest.fixture
def programs(monkeypatch):
    """Give a function that replaces the program by one that answers all tasks but one."""

    def of(number, answer):
        text = ANSWERS.replace("EXCEPT", repr({number: answer}))
        monkeypatch.setattr(module, "PROGRAM", (sys.executable, "-c", text))

    return of


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_each_task_gets_one_answer(programs, processes):
    programs(-1, "answers")
    with trial_processes({}, processes) as running:
        found = list(running.run(TASKS))
        assert len(running._processes) == min(processes, len(TASKS))
        assert list(running.run([])) == []
    assert sorted(task for task, _answer, _seconds in found) == TASKS
    assert all(answer == {"status": "holds"} and seconds >= 0 for _task, answer, seconds in found)


def test_a_process_that_ends_is_replaced_and_its_task_is_told(programs):
    programs(2, "dies")
    with trial_processes({}, 1) as running:
        found = {task.number: answer for task, answer, _seconds in running.run(TASKS)}
    assert sorted(found) == [0, 1, 2, 3, 4, 5]
    assert "the process of the trial ended (exit code 9)" in found[2]["ended"]
    assert all(found[number] == {"status": "holds"} for number in (0, 1, 3, 4, 5))


def test_a_trial_that_hangs_is_stopped_at_the_end_of_the_budget(programs, monkeypatch):
    programs(1, "hangs")
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    with trial_processes({}, 1) as running:
        found = running.run(TASKS, until=1)
        assert next(found)[0].number == 0
        now = 2.0
        assert list(found) == []
        assert [task.number for task, _answer, _seconds in running.run(TASKS[3:4])] == [3]  # by another process


@pytest.mark.parametrize(("answer", "error", "said"), [("refuses", sv.BadData, "no"), ("fails", RuntimeError, "why")])
def test_errors_of_a_process_are_raised(programs, answer, error, said):
    programs(0, answer)
    with trial_processes({}, 1) as running, pytest.raises(error, match=said):
        list(running.run(TASKS))
