"""A run that is killed leaves nothing that looks like a release and is none, and nothing that the next run does not clear away."""

import random
import shutil
import signal

import pytest

from support.exhaustive import IS_EXHAUSTIVE
from support.forked import Forked, run
from support.program import assert_complete, call, hidden_in, names_in, signalled_one

PUBLISH = ("--method", "part-swap", "--categories", "sample:supermarket", "--out", "out", "--seed", 2**100 + 7)
LARGE = ("publish", "sample:supermarket?records=20000", *PUBLISH)
SMALL = ("publish", "sample:supermarket?records=400", *PUBLISH)

_rng = random.Random(20191)  # noqa: S311 - moments of a test
MOMENTS = sorted([(i + _rng.random()) / 14 for i in range(14)] + [_rng.uniform(0.85, 1.02) for _ in range(6)])[
    :: 1 if IS_EXHAUSTIVE else 4
]
"""Shares of a run's time: spread over all of it, and six more near its end, where the folders are renamed."""

DIE = """
import os, shutil, signal, sys, threading, time
from pathlib import Path
from typing import ClassVar
import setveil as sv
from setveil.base import atomic
from setveil.cli import interrupt
from setveil.data.records.alignment import Alignment
from setveil.methods.base import Method, Outcome

how, fatal, force = sys.argv[1], int(sys.argv[2]), "--force" in sys.argv
done = 0


class Nothing(Method):
    "Change nothing: no kernel has to be loaded."

    name: ClassVar = "nothing"
    truthful: ClassVar = "yes"
    guarantee: ClassVar = None

    def apply(self, data, *, rng):
        return Outcome(data, Alignment.identity(data.records))


def die():
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=interrupt.end).start()
    time.sleep(0.2)


def counted(step):
    def stepped(*arguments, **options):
        global done
        if committing:
            done += 1
            if done == fatal:
                die()
        return step(*arguments, **options)

    return stepped


def commit(*arguments, **options):
    global committing
    committing = True
    plain(*arguments, **options)


committing, plain, atomic._rename = False, atomic._rename, commit
Path.rename, Path.unlink, shutil.rmtree = counted(Path.rename), counted(Path.unlink), counted(shutil.rmtree)
data = sv.read("sample:supermarket?records=50")
sv.publish(data, Nothing(), no_guarantee=True, metrics=[]).save("out", force=force)
"""
"""Saves a release, and ends before a given step from the first rename on: at once, or as Ctrl-C does after a moment of grace."""


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """Measure a run, after one in which the kernels are compiled if they were not."""
    times = [run(*LARGE, "--force", cwd=tmp_path_factory.mktemp("whole")) for _ in range(2)]
    assert [ended.code for ended in times] == [0, 0]
    return times[-1].seconds


def died(folder, how, step, *options):
    return run(how, step, *options, cwd=folder, code=DIE)


def assert_whole_or_absent(folder):
    if (folder / "out").exists():
        assert_complete(folder / "out", folder / "out.private")


def assert_next_run_clears_up(folder, *, force):
    ended = call(*SMALL, *(["--force"] if force else []), cwd=folder)
    assert ended.code == 0, ended.err
    assert_complete(folder / "out", folder / "out.private")
    assert names_in(folder) == ["out", "out.private"]
    assert hidden_in(folder / "out.private") == []


@pytest.mark.parametrize("share", MOMENTS, ids=lambda share: f"{share:.3f}")
def test_killed_at_any_moment(tmp_path, whole_run, share):
    ended = signalled_one(Forked(*LARGE, cwd=tmp_path), number=signal.SIGKILL, after=share * whole_run)
    assert ended.code in (-signal.SIGKILL, 0), ended.err
    assert_whole_or_absent(tmp_path)
    assert_next_run_clears_up(tmp_path, force=(tmp_path / "out").exists())


@pytest.mark.parametrize("step", range(1, 6))
def test_killed_before_each_step_of_the_renaming(tmp_path, step):
    """The steps are: private folder, public folder, mark away, both workplaces away."""
    assert died(tmp_path, "kill", step).code == -signal.SIGKILL
    assert_whole_or_absent(tmp_path)
    assert (tmp_path / "out").exists() == (step > 2)
    assert_next_run_clears_up(tmp_path, force=step > 2)


@pytest.mark.parametrize("step", range(1, 8))
def test_killed_before_each_step_of_replacing_a_release(tmp_path, step):
    """The steps are: old public and old private folder aside, the new ones in, mark away, both workplaces away with the old ones."""
    assert call(*SMALL, cwd=tmp_path).code == 0
    assert died(tmp_path, "kill", step, "--force").code == -signal.SIGKILL
    assert_whole_or_absent(tmp_path)
    assert (tmp_path / "out").exists() == (step == 1 or step > 4)
    assert_next_run_clears_up(tmp_path, force=True)


@pytest.mark.parametrize(("step", "options"), [(6, ()), (8, ("--force",))])
def test_no_step_of_the_renaming_is_left_out_above(tmp_path, step, options):
    if options:
        assert call(*SMALL, cwd=tmp_path).code == 0
    assert died(tmp_path, "kill", step, *options).code == 0


@pytest.mark.parametrize(("step", "options"), [(1, ()), (2, ()), (2, ("--force",)), (4, ("--force",))])
def test_ctrl_c_does_not_end_the_process_between_two_renames(tmp_path, step, options):
    if options:
        assert call(*SMALL, cwd=tmp_path).code == 0
    ended = died(tmp_path, "end", step, *options)
    assert ended.code == 130
    assert ended.sentence() == "stopped; out was written before and is complete"
    assert_complete(tmp_path / "out", tmp_path / "out.private")
    assert hidden_in(tmp_path / "out.private") == []


def test_the_private_folder_stays_when_only_its_mark_was_left_and_the_release_was_handed_over(tmp_path):
    assert died(tmp_path, "kill", 3).code == -signal.SIGKILL
    shutil.move(tmp_path / "out", tmp_path / "handed-over")
    ended = call(*SMALL, cwd=tmp_path)
    assert ended.code == 2
    assert "out.private exists" in ended.sentence()
    assert_complete(tmp_path / "handed-over", tmp_path / "out.private")
