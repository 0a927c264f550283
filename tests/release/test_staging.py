"""Two folders, or one file, that appear whole or not at all."""

import errno
import os
import sys
from pathlib import Path

import pytest

from setveil.errors import OutputRefused
from setveil.release.staging import private_beside, refuse_taken, replacing, staged
from setveil.unfinished import hidden_name, lock

from program import hidden_in, names_in, start

AWKWARD_NAMES = ["out", "out[1]", "o*t", "two words", "out.v1"]

HOLD_FOLDERS = """
import sys, time
from pathlib import Path
from setveil.release.staging import private_beside, staged
target = Path(sys.argv[1])
with staged(target, private_beside(target)) as (out, private):
    (out / "data.dat").write_text("half")
    print("staged", flush=True)
    time.sleep(600)
"""
HOLD_FILE = """
import sys, time
from pathlib import Path
from setveil.release.staging import replacing
with replacing(Path(sys.argv[1]), force=False) as hidden:
    hidden.write_text("half")
    print("staged", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def pair(tmp_path):
    out = tmp_path / "out"
    return out, private_beside(out)


def make(out, private, text="new", *, force=False, failing=None, meanwhile=lambda: None):
    refuse_taken(out, private, force=force)
    with staged(out, private, force=force) as (public_folder, private_folder):
        (public_folder / "data.dat").write_text(text)
        (private_folder / "dossier.json").write_text(text)
        meanwhile()
        if failing:
            raise failing


def make_file(target, text="new", *, force=False, failing=None, meanwhile=lambda: None):
    with replacing(target, force=force) as hidden:
        assert hidden.name == target.name
        hidden.write_text(text)
        meanwhile()
        if failing:
            raise failing


def holds(out, private, text):
    return names_in(out) == ["data.dat"] and {
        (out / "data.dat").read_text(),
        (private / "dossier.json").read_text(),
    } == {text}


def held(script, target):
    """Start a process that stages and then waits."""
    process = start(target.name, cwd=target.parent, program=[sys.executable, "-W", "error", "-c", script])
    assert process.stdout.readline() == "staged\n"
    return process


def killed(process):
    process.kill()
    process.communicate()


# -- folders ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_both_folders_appear_with_all_in_them_and_nothing_else(tmp_path, name):
    out = tmp_path / name
    make(out, private_beside(out))
    assert holds(out, private_beside(out), "new")
    assert names_in(tmp_path) == sorted([name, f"{name}.private"])
    assert names_in(private_beside(out)) == ["dossier.json"]


def test_the_private_folder_is_closed_to_others_even_while_it_is_filled(pair):
    with staged(*pair) as (public_folder, private_folder):
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
    with pytest.raises(OutputRefused, match=f"{there} exists; .* --force"):
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
        ("out", "out", "must stand apart"),
        ("out", "out/private", "must stand apart"),
        ("out", "other/../out/private", "must stand apart"),
        ("out", "link/private", "must stand apart"),
        ("private/out", "private", "must stand apart"),
        ("missing/out", "private", "missing is not a folder; make it first"),
        ("out", "missing/private", "missing is not a folder; make it first"),
        ("file/out", "private", "file is not a folder"),
        ("file", "private", "file is a file; expected a folder"),
        ("out", "file", "file is a file; expected a folder"),
        ("link", "private", "link is a link"),
        ("dangling", "private", "dangling is a link"),
        (".", "private", "is not a name for a new folder"),
        ("", "private", "is not a name for a new folder"),
        ("/", "private", "is not a name for a new folder"),
        ("..", "private", "is not a name for a new folder"),
        ("out", "..", "is not a name for a new folder"),
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
        refuse_taken(Path(out), Path(private), force=True)
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
    ("staging_there", "alive", "cleared"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_a_private_folder_is_cleared_only_if_its_public_one_never_comes(pair, staging_there, alive, cleared):
    """Where the staging is gone, the public folder was there and somebody took it away; where it is held, it is about to come."""
    out, private = pair
    staging = hidden_name(out, "staging")
    if staging_there:
        staging.mkdir()
    private.mkdir()
    (private / ".uncommitted").write_text(staging.name)
    handle = lock(private) if alive else None
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


# -- a file -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [f"{name}.csv.gz" for name in AWKWARD_NAMES])
def test_a_file_appears_whole_under_its_name(tmp_path, name):
    make_file(tmp_path / name)
    assert names_in(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "new"


def test_a_file_that_exists_is_refused_without_force_and_replaced_with_it(tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")
    with pytest.raises(OutputRefused, match=r"a\.csv exists"):
        make_file(target)
    with pytest.raises(ValueError, match="x"):
        make_file(target, force=True, failing=ValueError("x"))
    assert target.read_text() == "old"
    make_file(target, force=True)
    assert target.read_text() == "new"
    assert names_in(tmp_path) == ["a.csv"]


def test_a_file_made_meanwhile_is_refused(tmp_path):
    target = tmp_path / "a.csv"
    with pytest.raises(OutputRefused, match=r"a\.csv exists"):
        make_file(target, meanwhile=lambda: target.write_text("theirs"))
    assert target.read_text() == "theirs"
    assert names_in(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("folder", "is not a file"),
        ("missing/a.csv", "is not a folder"),
        ("link.csv", "is a link"),
        (".", "is not a file"),
    ],
)
def test_a_place_where_no_file_can_be_is_refused_even_with_force(tmp_path, monkeypatch, target, says):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("there.csv").write_text("mine")
    Path("link.csv").symlink_to("there.csv")
    with pytest.raises(OutputRefused, match=says):
        make_file(Path(target), force=True)
    assert names_in(tmp_path) == ["folder", "link.csv", "there.csv"]


def test_a_file_of_a_killed_process_is_removed_by_the_next_run_and_one_of_a_living_process_is_not(tmp_path):
    target = tmp_path / "a.csv"
    killed(held(HOLD_FILE, target))
    process = held(HOLD_FILE, target)
    try:
        theirs = hidden_in(tmp_path)
        assert len(theirs) == 1
        make_file(target)
        assert names_in(tmp_path) == [*theirs, "a.csv"]
    finally:
        killed(process)
