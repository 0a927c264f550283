"""One folder or two folders that appear whole or not at all."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.base import atomic
from setveil.errors import OutputRefused
from setveil.release.dossier import private_beside

from support.program import AWKWARD_NAMES, held, hidden_in, killed, names_in

HOLD_FOLDERS = """
import sys, time
from pathlib import Path
from setveil.base.atomic import make_two_folders
target = Path(sys.argv[1])
with make_two_folders(target, Path(f"{target}.private")) as (out, private):
    (out / "data.dat").write_text("half")
    print("staged", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def pair(tmp_path):
    out = tmp_path / "out"
    return out, private_beside(out)


def make(out, private, text="new", *, force=False, failing=None, meanwhile=lambda: None):
    atomic.refuse_two_folders(out, private, force=force)
    with atomic.make_two_folders(out, private, force=force) as (public_folder, private_folder):
        (public_folder / "data.dat").write_text(text)
        (private_folder / "dossier.json").write_text(text)
        meanwhile()
        if failing:
            raise failing


def holds(out, private, text):
    return names_in(out) == ["data.dat"] and {
        (out / "data.dat").read_text(),
        (private / "dossier.json").read_text(),
    } == {text}


# -- folders ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_both_folders_appear_with_all_in_them_and_nothing_else(tmp_path, name):
    out = tmp_path / name
    make(out, private_beside(out))
    assert holds(out, private_beside(out), "new")
    assert names_in(tmp_path) == sorted([name, f"{name}.private"])
    assert names_in(private_beside(out)) == ["dossier.json"]


def test_the_private_folder_is_closed_to_others_even_while_it_is_filled(pair):
    with atomic.make_two_folders(*pair) as (public_folder, private_folder):
        assert private_folder.stat().st_mode & 0o777 == 0o700
        assert public_folder.stat().st_mode & 0o777 == 0o700
    assert pair[1].stat().st_mode & 0o777 == 0o700
    assert pair[0].stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("raised", "arrives"),
    [
        (ValueError("x"), ValueError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "full"), OutputRefused),
    ],
)
def test_an_exception_leaves_nothing_new(pair, force, raised, arrives):
    if force:
        make(*pair, "old")
    with pytest.raises(arrives):
        make(*pair, force=force, failing=raised)
    assert names_in(pair[0].parent) == (["out", "out.private"] if force else [])
    assert not force or holds(*pair, "old")


@pytest.mark.parametrize(("force", "failing"), [(False, 1), (False, 2), (True, 1), (True, 2), (True, 3), (True, 4)])
def test_a_rename_that_fails_puts_everything_back(pair, monkeypatch, force, failing):
    if force:
        make(*pair, "old")
    calls, real = [], Path.rename

    def rename(path, target):
        calls.append(path)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, "No space left on device", str(path), None, str(target))
        return real(path, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OutputRefused, match="No space left on device"):
        make(*pair, force=force)
    assert names_in(pair[0].parent) == (["out", "out.private"] if force else [])
    assert not force or holds(*pair, "old")


@pytest.mark.parametrize("there", ["out", "out.private"])
def test_what_exists_is_refused_without_force_and_replaced_with_it(pair, there):
    (pair[0].parent / there).mkdir()
    (pair[0].parent / there / "old.txt").write_text("old")
    with pytest.raises(OutputRefused, match=f"{there} exists; .* `force=True`"):
        make(*pair)
    assert names_in(pair[0].parent) == [there]
    make(*pair, force=True)
    assert holds(*pair, "new")
    assert names_in(pair[0].parent) == ["out", "out.private"]
    assert names_in(pair[1]) == ["dossier.json"]


@pytest.mark.parametrize("there", ["out", "out.private"])
def test_what_another_process_made_meanwhile_is_refused_too(pair, there):
    def another():
        (pair[0].parent / there).mkdir()
        (pair[0].parent / there / "theirs.txt").write_text("theirs")

    with pytest.raises(OutputRefused, match=f"{there} exists"):
        make(*pair, meanwhile=another)
    assert names_in(pair[0].parent) == [there]
    assert names_in(pair[0].parent / there) == ["theirs.txt"]


@pytest.mark.parametrize(
    ("out", "private", "says"),
    [
        ("out", "out", "neither may be inside the other"),
        ("out", "out/private", "neither may be inside the other"),
        ("out", "other/../out/private", "neither may be inside the other"),
        ("out", "link/private", "neither may be inside the other"),
        ("private/out", "private", "neither may be inside the other"),
        ("missing/out", "private", "missing is not a folder; create it"),
        ("out", "missing/private", "missing is not a folder; create it"),
        ("file/out", "private", "file is not a folder"),
        ("file", "private", "file is a file; expected a folder"),
        ("out", "file", "file is a file; expected a folder"),
        ("link", "private", "link is a symbolic link"),
        ("dangling", "private", "dangling is a symbolic link"),
        (".", "private", "is not a valid name for a new folder"),
        ("", "private", "is not a valid name for a new folder"),
        ("/", "private", "is not a valid name for a new folder"),
        ("..", "private", "is not a valid name for a new folder"),
        ("out", "..", "is not a valid name for a new folder"),
        ("a" * 300, "private", "File name too long"),
    ],
)
def test_a_place_that_cannot_be_is_refused_even_with_force(tmp_path, monkeypatch, out, private, says):
    monkeypatch.chdir(tmp_path)
    for folder in ("out", "other", "private"):
        Path(folder).mkdir()
    Path("file").write_text("mine")
    Path("link").symlink_to("out")
    Path("dangling").symlink_to("nowhere")
    before = names_in(tmp_path)
    with pytest.raises(OutputRefused, match=says):
        atomic.refuse_two_folders(Path(out), Path(private), force=True)
    assert names_in(tmp_path) == before
    assert Path("file").read_text() == "mine"


@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_staging_of_a_killed_process_is_removed_by_the_next_run(tmp_path, name):
    out = tmp_path / name
    killed(held(HOLD_FOLDERS, out))
    assert len(hidden_in(tmp_path)) == 2
    make(out, private_beside(out))
    assert names_in(tmp_path) == sorted([name, f"{name}.private"])


def test_staging_of_a_living_process_is_left_alone(pair):
    process = held(HOLD_FOLDERS, pair[0])
    try:
        theirs = hidden_in(pair[0].parent)
        make(*pair)
        assert hidden_in(pair[0].parent) == theirs
        assert len(theirs) == 2
    finally:
        killed(process)


def test_staging_beside_a_name_that_begins_alike_is_left_alone(tmp_path):
    other = tmp_path / "out-2"
    killed(held(HOLD_FOLDERS, other))
    make(tmp_path / "out", tmp_path / "out.private")
    assert len(hidden_in(tmp_path)) == 2


@pytest.mark.parametrize(
    ("new_there", "alive", "cleared"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_a_private_folder_is_cleared_only_if_its_public_one_never_comes(pair, new_there, alive, cleared):
    """Where nothing is in the workplace, the public folder came and somebody moved it; where the workplace is held, it is about to come."""
    out, private = pair
    workplace = out.with_name(f".{out.name}.setveil-staging-0123")
    workplace.mkdir()
    if new_there:
        (workplace / "new").mkdir()
    private.mkdir()
    (private / ".uncommitted").write_text(workplace.name)
    handle = atomic.lock_folder(workplace) if alive else None
    if cleared:
        make(out, private)
        assert holds(out, private, "new")
        assert names_in(out.parent) == ["out", "out.private"]
    else:
        with pytest.raises(OutputRefused, match=r"out\.private exists"):
            make(out, private)
        assert names_in(private) == [".uncommitted"]
    if handle is not None:
        os.close(handle)


# -- one folder ---------------------------------------------------------------------------------------------------------------


def make_one(target, text="new", *, force=False, meanwhile=lambda: None):
    atomic.refuse_folder(target, force=force, mark="about.txt", names=frozenset({"about.txt"}))
    with atomic.make_folder(target, force=force) as folder:
        (folder / "about.txt").write_text(text)
        meanwhile()


@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_a_folder_appears_whole_and_is_replaced_with_force_only(tmp_path, name):
    target = tmp_path / name
    make_one(target, "old")
    with pytest.raises(OutputRefused, match="exists; choose another path"):
        make_one(target)
    make_one(target, force=True)
    assert names_in(tmp_path) == [name]
    assert names_in(target) == ["about.txt"]
    assert (target / "about.txt").read_text() == "new"


def test_a_folder_that_another_process_made_meanwhile_is_refused(tmp_path):
    target = tmp_path / "out"
    with pytest.raises(OutputRefused, match="out exists"):
        make_one(target, meanwhile=target.mkdir)
    assert names_in(tmp_path) == ["out"]
    assert names_in(target) == []


@pytest.mark.parametrize("failing", [1, 2])
def test_the_old_folder_comes_back_when_the_new_one_cannot_be_renamed(tmp_path, monkeypatch, failing):
    target = tmp_path / "out"
    make_one(target, "old")
    calls, real = [], Path.rename

    def rename(path, to):
        calls.append(path)
        if len(calls) == failing:
            raise OSError(errno.EBUSY, "Device or resource busy", str(path), None, str(to))
        return real(path, to)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OutputRefused, match="cannot be written: Device or resource busy"):
        make_one(target, force=True)
    assert names_in(tmp_path) == ["out"]
    assert (target / "about.txt").read_text() == "old"


@pytest.mark.parametrize(
    ("holds", "says"),
    [
        (["thesis.tex"], r"out was not written by setveil \(it has no about\.txt\)"),
        (["about.txt", "thesis.tex"], "out contains 'thesis.tex', which setveil did not write"),
    ],
)
def test_a_folder_that_no_run_left_is_not_replaced(tmp_path, holds, says):
    target = tmp_path / "out"
    target.mkdir()
    for name in holds:
        (target / name).write_text("mine")
    with pytest.raises(OutputRefused, match=says):
        make_one(target, force=True)
    assert names_in(target) == holds


# -- what asks the program to stop --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_between_two_renames_is_heard_after_the_last_one(pair, monkeypatch, number, force):
    if force:
        make(*pair, "old")

    def stop(*_arguments):
        raise KeyboardInterrupt

    real = Path.rename

    def rename(path, target):
        signal.raise_signal(number)
        return real(path, target)

    before = signal.signal(number, stop)
    try:
        monkeypatch.setattr(Path, "rename", rename)
        with pytest.raises(KeyboardInterrupt):
            make(*pair, force=force)
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)
    assert holds(*pair, "new")
    assert names_in(pair[0].parent) == ["out", "out.private"]
    assert names_in(pair[1]) == ["dossier.json"]


# -- Ctrl-C while a staging folder is removed ---------------------------------------------------------------------------------


def test_ctrl_c_during_the_removal_waits_until_the_folder_is_removed(tmp_path, monkeypatch):
    remove = atomic.shutil.rmtree

    def interrupted(place, **options):
        signal.raise_signal(signal.SIGINT)
        remove(place, **options)

    monkeypatch.setattr(atomic.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic.refuse_folder(tmp_path / "out")
    assert names_in(tmp_path) == []


def test_the_end_of_the_process_removes_what_ctrl_c_kept_from_being_removed(tmp_path):
    script = """
import os, sys
from pathlib import Path
from setveil.base import atomic
def interrupted():
    if os.fork() == 0:
        sys.exit()  # a child does not remove the folders of its parent
    os.wait()
    print(len(list(Path(sys.argv[1]).iterdir())))
    raise KeyboardInterrupt
atomic._signals_deferred = interrupted
atomic.refuse_folder(Path(sys.argv[1]) / "out")
"""
    ended = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=False)
    assert ended.stdout == "1\n"
    assert ended.stderr.endswith("KeyboardInterrupt\n")
    assert names_in(tmp_path) == []
