import inspect
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from setveil.base import progress
from setveil.errors import BadParameter
from setveil.kernels.control import CONTROL_WIDTH, DONE, STOP
from setveil.kernels.jit import numba
from setveil.kernels.threads import number_of_threads, run, share, using_threads, with_threads

PATIENCE_SECONDS = 60

every_number_of_threads = pytest.mark.parametrize("threads", [1, 2, 3, 4])


class Ear:
    """Hear steps, how far they got, and notes."""

    def __init__(self):
        self.steps = []
        self.done = {}
        self.heard = []
        self.open = set()

    @contextmanager
    def step(self, label, total):
        self.steps.append((label, total))
        self.open.add(label)
        yield lambda done: self.done.setdefault(label, []).append(done)
        self.open.discard(label)

    def note(self, text):
        self.heard.append(text)


@pytest.fixture
def ear():
    listening = Ear()
    with progress.reporting(listening):
        yield listening


def wait_for(condition):
    """Wait until it holds; a fault shows as a failure and not as a test that hangs."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


# -- results -----------------------------------------------------------------------------------------------------------


@every_number_of_threads
def test_results_stand_in_the_order_of_the_parts(threads):
    def work(part, _control):
        time.sleep(0.02 if part % 3 == 0 else 0)  # later parts are done earlier
        return np.random.default_rng(part).random(5).tolist()

    expected = [np.random.default_rng(part).random(5).tolist() for part in range(12)]
    with using_threads(threads):
        assert share("work", range(12), work) == expected


@every_number_of_threads
def test_run_returns_what_the_work_returns(threads):
    with using_threads(threads):
        assert run("work", lambda control: ("result", control.tolist())) == ("result", [0] * CONTROL_WIDTH)


def test_no_parts_no_results():
    assert share("work", [], lambda _part, _control: 1) == []


@every_number_of_threads
def test_as_many_parts_run_at_once_as_there_are_threads(threads):
    together = threading.Barrier(threads, timeout=PATIENCE_SECONDS)
    with using_threads(threads):
        names = share(
            "work", range(threads), lambda _part, _control: (together.wait(), threading.current_thread().name)[1]
        )
    assert len(set(names)) == threads
    assert threading.current_thread().name not in names


def test_each_part_has_a_control_of_its_own():
    def work(part, control):
        control[DONE] = part
        return control

    controls = share("work", range(5), work)
    assert [int(control[DONE]) for control in controls] == list(range(5))
    assert not any(np.shares_memory(a, b) for i, a in enumerate(controls) for b in controls[:i])
    assert all(control.dtype == np.int64 and control.flags.c_contiguous for control in controls)


def test_all_cores_that_may_be_used_are_used_unless_said(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 2, 5}, raising=False)
    assert number_of_threads() == 3
    with using_threads(7):
        assert number_of_threads() == 7
    with using_threads(None):
        assert number_of_threads() == 3


@pytest.mark.parametrize("threads", [0, -1])
def test_too_few_threads_are_refused(threads):
    before = number_of_threads()
    with pytest.raises(BadParameter, match=f"^{threads} threads were asked for; there must be at least 1$"):
        using_threads(threads).__enter__()
    assert number_of_threads() == before


@pytest.mark.parametrize("threads", ["2", 2.0, True])
def test_what_is_no_number_of_threads_is_refused(threads):
    with pytest.raises(BadParameter, match=f"^threads is {threads!r}; expected a whole number or None$"):
        using_threads(threads).__enter__()


def test_nested_blocks_restore_the_number_also_after_an_error():
    with using_threads(5):
        with pytest.raises(ZeroDivisionError), using_threads(6):
            assert number_of_threads() // 0 == 6
        assert number_of_threads() == 5
        with using_threads(None):  # a call that does not say
            assert number_of_threads() == 5
        assert number_of_threads() == 5


def test_work_sees_its_share_of_the_threads_and_keeps_its_own_number_to_itself():
    def work(part, _control):
        before = number_of_threads()
        with using_threads(10 + part):
            return before, run("inner", lambda _control: number_of_threads())

    with using_threads(3):
        assert share("work", range(6), work) == [(1, 10 + part) for part in range(6)]
        assert number_of_threads() == 3


def test_two_callers_do_not_see_the_number_of_each_other():
    together = threading.Barrier(2, timeout=PATIENCE_SECONDS)
    found = {}

    def call(number):
        with using_threads(number):
            together.wait()
            found[number] = number_of_threads()
            together.wait()

    callers = [threading.Thread(target=call, args=(number,)) for number in (4, 9)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == {4: 4, 9: 9}


def test_the_keyword_of_a_call_holds_for_what_it_calls():
    @with_threads
    def call(first, *, threads=None):
        """Say what it does."""
        return first, threads, share("inner", range(2), lambda _part, _control: number_of_threads())

    assert call("a", threads=4) == ("a", 4, [2, 2])
    with using_threads(6):
        assert call(first="b") == ("b", None, [3, 3])
        assert number_of_threads() == 6
    assert call.__doc__ == "Say what it does."
    assert list(inspect.signature(call).parameters) == ["first", "threads"]


# -- errors ------------------------------------------------------------------------------------------------------------


@every_number_of_threads
def test_an_error_comes_through(threads):
    def work(part, _control):
        if part == 3:
            raise LookupError("part 3 failed")
        return part

    with pytest.raises(LookupError, match="part 3 failed"), using_threads(threads):
        share("work", range(6), work)


def test_an_error_stops_the_other_parts():
    started, stopped = [], []
    waiting = threading.Event()

    def work(part, control):
        started.append(part)
        if part == 0:
            assert waiting.wait(PATIENCE_SECONDS)
            raise LookupError("part 0 failed")
        waiting.set()
        wait_for(lambda: control[STOP])
        stopped.append(part)

    before = threading.active_count()
    with pytest.raises(LookupError, match="part 0 failed"), using_threads(2):
        share("work", range(20), work)
    assert sorted(stopped) == sorted(part for part in started if part)
    assert len(started) < 5  # the two at work, and at most what slipped in before the rest was called off
    assert threading.active_count() == before


def test_work_that_ends_well_is_not_told_to_stop():
    assert share("work", range(4), lambda _part, control: int(control[STOP])) == [0] * 4


# -- what is heard -----------------------------------------------------------------------------------------------------


def test_progress_reaches_who_listens(ear):
    def work(part, control):
        control[DONE] = 4 + part

    share("counting", range(3), work, total=15)
    assert ear.steps == [("counting", 15)]
    assert ear.done["counting"] == sorted(ear.done["counting"])
    assert ear.done["counting"][-1] == 15
    assert ear.open == set()


def test_progress_is_told_while_one_long_piece_of_work_runs(ear):
    def work(control):
        for done in (1, 2, 3):
            control[DONE] = done
            wait_for(lambda told=done: told in ear.done.get("long", []))

    run("long", work, total=3)
    assert set(ear.done["long"]) >= {1, 2, 3}


def test_notes_and_steps_of_the_work_reach_the_same_listener(ear):
    def work(part, _control):
        with progress.step(f"inner {part}"):
            progress.note(f"note {part}")

    share("outer", range(3), work)
    assert sorted(ear.heard) == ["note 0", "note 1", "note 2"]
    assert sorted(label for label, _total in ear.steps) == ["inner 0", "inner 1", "inner 2", "outer"]


def test_compiling_is_told_as_a_step(ear):
    @numba.njit
    def never_seen_before(x):
        return x + 1

    assert run("adding", lambda _control: (never_seen_before(1), sorted(ear.open))) == (2, ["adding"])
    assert ear.steps == [
        ("adding", None),
        ("preparing never_seen_before (first run on this machine only)", None),
    ]
    assert ear.open == set()
    assert run("again", lambda _control: never_seen_before(2)) == 3
    assert ear.steps[2:] == [("again", None)]


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------

PROGRAM = r"""
    import os, signal, sys, time
    import numba
    import numpy as np
    from setveil.kernels.control import DONE, STOP
    from setveil.kernels.threads import share, using_threads

    signal.signal(signal.SIGINT, signal.default_int_handler)

    def plain(control, out):
        while not control[STOP]:
            control[DONE] += 1
            time.sleep(0.001)

    @numba.njit("void(int64[::1], int64[::1])", nogil=True)
    def compiled(control, out):
        i = 0
        while control[STOP] == 0:
            out[i & 7] += 1
            control[DONE] = i
            i += 1

    loop = {"plain": plain, "compiled": compiled}[sys.argv[1]]

    def work(part, control):
        os.write(1, b"at work\n")  # in one piece, whatever the other thread prints
        loop(control, np.zeros(8, np.int64))

    try:
        with using_threads(2):
            share("work", range(5), work)
    except KeyboardInterrupt:
        print("stopped", flush=True)
        sys.exit(130)
"""


@pytest.mark.parametrize("loop", ["plain", "compiled"])
def test_ctrl_c_stops_work(loop):
    arguments = [sys.executable, "-c", textwrap.dedent(PROGRAM), loop]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        guard = threading.Timer(PATIENCE_SECONDS, process.kill)
        guard.start()
        try:
            assert [process.stdout.readline() for _ in range(2)] == ["at work\n"] * 2
            time.sleep(0.2)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "stopped\n"
            assert process.wait(PATIENCE_SECONDS) == 130
            assert process.stderr.read() == ""
        finally:
            guard.cancel()
            process.kill()
