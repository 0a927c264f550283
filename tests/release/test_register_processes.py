"""An entry of the register and the folders of its release appear together, or neither does; and processes wait for each other."""

import random
import signal
import sqlite3
import threading
from pathlib import Path

import pytest

import setveil as sv
from setveil.base import atomic
from setveil.data.records.alignment import Alignment
from setveil.release import register_file

from support.exhaustive import IS_EXHAUSTIVE
from support.forked import Forked, run
from support.program import assert_complete, call, hidden_in, names_in, signalled_one
from support.registers import ANNA, BERT, OTHER, JointCheck, content, execute, files_of, people, publish

REGISTER = "releases.db"
METHOD = ("--method", "disassociation", "--k", 3, "--m", 2, "--measure", "none")
SMALL = ("publish", "sample:supermarket?records=300", *METHOD, "--register", REGISTER)
LARGE = ("publish", "sample:supermarket?records=20000", *METHOD, "--register", REGISTER)
WHOLE = ["one", "one.private", REGISTER]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Let every test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entries():
    return sv.releases(REGISTER) if Path(REGISTER).exists() else []


# -- failures ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["new", "existing"])
def before(request):
    """Give the names of what is there before: nothing, or a register with a release of other people."""
    if request.param == "existing":
        publish(people(*BERT), out="zero", register=REGISTER)
    return names_in(Path())


@pytest.mark.parametrize("error", [KeyboardInterrupt, sv.OutputRefused("no"), OSError(5, "Input/output error")])
def test_a_release_that_is_not_written_is_not_recorded(before, monkeypatch, error):
    def fail(*_arguments):
        raise error

    monkeypatch.setattr(Alignment, "save", fail)
    with pytest.raises((KeyboardInterrupt, sv.OutputRefused)):
        publish(people(*ANNA), out="one", register=REGISTER)
    assert names_in(Path()) == before
    assert len(entries()) == len(before) // 3


def test_a_release_whose_guarantee_fails_on_the_file_is_not_recorded(before, monkeypatch):
    def fail(*_arguments):
        raise sv.GuaranteeViolated("not on the file")

    monkeypatch.setattr("setveil.release.release.judge", fail)
    with pytest.raises(sv.GuaranteeViolated, match="not on the file"):
        publish(people(*ANNA), out="one", register=REGISTER)
    assert names_in(Path()) == before
    assert len(entries()) == len(before) // 3


@pytest.mark.parametrize("step", [1, 2])
def test_a_release_that_cannot_be_renamed_is_not_recorded(before, monkeypatch, step):
    rename, done = Path.rename, []

    def rename_some(path, target):
        done.append(path)
        if len(done) == step:
            raise PermissionError(13, "Permission denied", str(path), None, str(target))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_some)
    with pytest.raises(sv.OutputRefused, match="Permission denied"):
        publish(people(*ANNA), out="one", register=REGISTER)
    assert set(names_in(Path())) == {*before, REGISTER}
    assert len(entries()) == len(before) // 3
    assert len(content(REGISTER).releases) == len(content(REGISTER).data) == len(before) // 3


def test_without_an_entry_there_are_no_folders():
    publish(people(*BERT), out="zero", register=REGISTER)
    execute(REGISTER, "CREATE TRIGGER refuse BEFORE INSERT ON releases BEGIN SELECT RAISE(ABORT, 'no'); END")
    before = names_in(Path())
    with pytest.raises(sv.InputError, match="no"):
        publish(people(*ANNA), out="one", register=REGISTER)
    assert names_in(Path()) == before
    assert len(entries()) == 1


def test_an_entry_that_is_not_confirmed_counts_if_its_folders_are_complete():
    publish(people(*BERT), out="zero", register=REGISTER)
    execute(REGISTER, "CREATE TRIGGER refuse BEFORE UPDATE ON releases BEGIN SELECT RAISE(ABORT, 'no'); END")
    publish(people(*ANNA), out="one", register=REGISTER)
    execute(REGISTER, "DROP TRIGGER refuse")
    assert [row["pending"] is None for row in content(REGISTER).releases] == [True, False]
    assert [one.number for one in entries()] == [1, 2]
    Path("one").rename("handed-over")
    assert [one.number for one in entries()] == [1, 2]
    sv.withdraw(REGISTER, 1)
    assert [row["pending"] for row in content(REGISTER).releases] == [None, None]


# -- killed --------------------------------------------------------------------------------------------------------------------


DIE = """
import os, signal, sys
from pathlib import Path
import setveil as sv
from setveil.base import atomic
from setveil.release import register_file

fatal, done, committing, rename_all = int(sys.argv[1]), 0, False, atomic._rename

def counted(step):
    def stepped(*arguments, **options):
        global done
        done += committing
        if committing and done == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(*arguments, **options)
    return stepped

def commit(pairs):
    global committing
    committing = True
    rename_all(pairs)

atomic._rename = counted(commit)
Path.rename, Path.unlink = counted(Path.rename), counted(Path.unlink)
register_file._confirm = counted(register_file._confirm)
data = sv.from_lists([["milk", "tea"], ["milk", "tea"]], ids=["anna", "ben"], unit="person")
sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics="none", out="one", register="releases.db")
"""
"""Publishes, and is killed before a given step from the first rename on: private folder, public folder, mark away, entry confirmed."""


@pytest.mark.parametrize("step", range(1, 5))
@pytest.mark.parametrize("is_read", [True, False])
def test_killed_while_the_folders_are_renamed(place, before, step, is_read):
    assert run(step, cwd=place, code=DIE).code == -signal.SIGKILL
    (last,) = content(REGISTER).releases[len(before) // 3 :]
    assert last["pending"] is not None
    is_out = Path("one").exists()
    assert is_out == (step > 2)
    if is_read:
        assert len(entries()) == len(before) // 3 + is_out
    data = sv.from_lists([["milk", "tea"], ["milk", "tea"]], ids=["anna", "ben"], unit="person")
    publish(data, sv.RandSwap(), no_guarantee=True, out="one", register=REGISTER, force=is_out)  # the same job
    assert_complete(Path("one"), Path("one.private"))
    assert len(entries()) == len(before) // 3 + 1 + is_out
    assert all(row["pending"] is None for row in content(REGISTER).releases)
    assert len(content(REGISTER).data) == len(before) // 3 + 1


def test_no_step_is_missing_above(place):
    assert run(5, cwd=place, code=DIE).code == 0
    assert len(entries()) == 1


CREATE_AND_DIE = """
import os, signal
import setveil as sv
from setveil.release import register_file
register_file.OpenRegister.recording = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
sv.publish([["milk"], ["milk"]], sv.RandSwap(), no_guarantee=True, metrics="none", out="one", register="releases.db")
"""


def test_killed_while_the_register_is_created(place):
    assert run(cwd=place, code=CREATE_AND_DIE).code == -signal.SIGKILL
    assert Path(REGISTER).exists()
    publish(people(*ANNA), out="one", register=REGISTER)
    assert len(entries()) == 1


_rng = random.Random(20191)  # noqa: S311 - moments of a test
MOMENTS = sorted([(i + _rng.random()) / 6 for i in range(6)] + [_rng.uniform(0.85, 1.02) for _ in range(4)])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("share", MOMENTS[:: 1 if IS_EXHAUSTIVE else 4])
def test_stopped_at_any_moment(place, share, number, whole, monkeypatch):
    JointCheck(monkeypatch).status = "holds"
    ended = signalled_one(Forked(*LARGE, "--out", "one", cwd=place), number=number, after=share * whole)
    assert ended.code in (0, 130, -signal.SIGKILL), ended.err
    is_out = Path("one").exists()
    if is_out:
        assert_complete(Path("one"), Path("one.private"))
    if number == signal.SIGINT:
        assert names_in(Path()) == (WHOLE if is_out else [])
    assert call(*SMALL, "--out", "two").code == 0
    found = [one for one in entries() if one.release_folder.endswith("one")]
    assert len(found) == is_out


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Measure a run, after one in which the kernels are compiled if they were not."""
    times = [run(*LARGE, "--out", "one", cwd=tmp_path_factory.mktemp("whole")) for _ in range(2)]
    assert [ended.code for ended in times] == [0, 0]
    return times[-1].seconds


# -- two processes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_new", [True, False])
def test_processes_at_once_record_all_their_releases(place, is_new):
    if not is_new:
        assert call(*SMALL, "--out", "zero").code == 0
    names = ["a", "b", "c", "d"]
    started = [Forked(*SMALL, "--out", name, "--recipient", name, cwd=place) for name in names]
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (out, err)
    found = entries()
    assert [one.number for one in found] == list(range(1, 6 - is_new))
    assert {one.recipient for one in found} - {""} == set(names)
    assert len({str(files_of(Path(name))) for name in names}) == 1
    assert hidden_in(place) == []


def test_a_register_that_is_created_meanwhile_gives_the_seed(monkeypatch):
    """The other process records its release while this one is at work: this one starts again with the key of the other."""
    joint = JointCheck(monkeypatch)
    joint.status = "holds"
    save, done = Alignment.save, []

    def save_after_another(*arguments):
        if not done:
            done.append(True)
            publish(people(*ANNA), out="other", register=REGISTER)
        save(*arguments)

    monkeypatch.setattr(Alignment, "save", save_after_another)
    publish(people(*ANNA), OTHER, out="one", register=REGISTER)
    assert [Path(one.release_folder).name for one in entries()] == ["other", "one"]
    assert joint.folders() == ["other"]
    release = publish(people(*ANNA), OTHER, out="again", register=REGISTER)
    assert release.registered.run == entries()[1].run


def test_a_register_with_another_key_at_the_time_of_saving_is_refused():
    release = publish(people(*ANNA), register=REGISTER)
    publish(people(*ANNA), out="other", register=REGISTER)
    with pytest.raises(sv.OutputRefused, match=r"releases.db was created by another process .*; publish again"):
        release.save("one")
    assert names_in(Path()) == ["other", "other.private", REGISTER]


@pytest.fixture
def locked():
    """Give a function that locks the register as another process does, and one that unlocks it."""
    connections = []

    def lock(kind="IMMEDIATE"):
        connections.append(sqlite3.connect(REGISTER, isolation_level=None, check_same_thread=False))
        connections[0].execute(f"BEGIN {kind}")
        return connections[0].close

    yield lock
    for connection in connections:
        connection.close()


def test_a_publication_waits_for_another_one(locked, monkeypatch):
    publish(people(*BERT), out="zero", register=REGISTER)
    unlock, waited = locked(), []

    def begin(connection, begin=register_file._begin):
        if len(waited) == 3:
            unlock()
        waited.append(begin(connection))
        return waited[-1]

    monkeypatch.setattr(register_file, "_begin", begin)
    publish(people(*ANNA), out="one", register=REGISTER)
    assert waited == [False, False, False, True]
    assert len(entries()) == 2


def test_a_register_that_is_never_free_is_refused(locked, monkeypatch):
    publish(people(*BERT), out="zero", register=REGISTER)
    locked()
    monkeypatch.setattr(register_file, "PATIENCE_SECONDS", 0.1)
    with pytest.raises(
        sv.OutputRefused, match=r"releases.db is in use by another process; try again when it has ended"
    ):
        publish(people(*ANNA), out="one", register=REGISTER)
    assert len(entries()) == 1  # reading is possible meanwhile


def test_the_register_stays_locked_until_the_folders_have_their_names(monkeypatch):
    """Otherwise another process would take the entry for one that a killed process left, and remove it."""
    publish(people(*BERT), out="zero", register=REGISTER)
    rename, heard = atomic._rename, []

    def rename_while_another_reads(pairs):
        connection = sqlite3.connect(REGISTER, timeout=0)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.execute("SELECT * FROM releases").fetchall()
        connection.close()
        heard.append(threading.current_thread())
        rename(pairs)

    monkeypatch.setattr(atomic, "_rename", rename_while_another_reads)
    publish(people(*ANNA), out="one", register=REGISTER)
    assert len(heard) == 1
    assert len(entries()) == 2
