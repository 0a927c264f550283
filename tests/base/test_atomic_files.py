"""A file that appears whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from setveil.base import atomic
from setveil.errors import OutputRefused

from support.program import AWKWARD_NAMES, held, hidden_in, killed, names_in

HOLD_FILE = """
import sys, time
from pathlib import Path
from setveil.base.atomic import make_file
with make_file(Path(sys.argv[1])) as hidden:
    hidden.write_text("half")
    print("staged", flush=True)
    time.sleep(600)
"""


def make_file(target, text="new", *, force=False, failing=None, meanwhile=lambda: None):
    with atomic.make_file(target, force=force) as hidden:
        assert hidden.name == target.name
        hidden.write_text(text)
        meanwhile()
        if failing:
            raise failing


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
        ("folder", "is not a regular file"),
        ("missing/a.csv", "is not a folder"),
        ("link.csv", "is a symbolic link"),
        (".", "is not a regular file"),
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


def test_a_file_made_in_the_last_moment_is_refused(tmp_path, monkeypatch):
    target, look = tmp_path / "a.csv", atomic._refuse_existing
    calls = []

    def look_and_be_late(*arguments, **options):
        look(*arguments, **options)
        calls.append(1)
        if len(calls) == 2:  # the second time is right before the renaming
            target.write_text("theirs")

    monkeypatch.setattr(atomic, "_refuse_existing", look_and_be_late)
    with pytest.raises(OutputRefused, match=r"a\.csv exists"):
        make_file(target)
    assert target.read_text() == "theirs"
    assert names_in(tmp_path) == ["a.csv"]


def test_a_file_is_renamed_where_the_file_system_knows_no_links(tmp_path, monkeypatch):
    def link(*_arguments):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    make_file(tmp_path / "a.csv")
    with pytest.raises(OutputRefused):  # and never over one that is there
        make_file(tmp_path / "a.csv")
    assert names_in(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "new"


def test_a_file_that_the_disk_does_not_take_is_a_sentence_and_leaves_nothing(tmp_path, monkeypatch):
    def fsync(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OutputRefused, match=r"a\.csv cannot be written: No space left on device"):
        make_file(tmp_path / "a.csv")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_a_small_file_replaces_the_one_before(tmp_path, name):
    target = tmp_path / name
    for content, mode in ((b"one", 0o600), (b"two", 0o644)):
        atomic.replace_file(target, content, mode=mode)
        assert target.read_bytes() == content
        assert target.stat().st_mode & 0o777 == mode
    assert names_in(tmp_path) == [name]


def test_a_small_file_stays_as_it_was_when_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    target = tmp_path / "head"
    atomic.replace_file(target, b"one")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputRefused, match="head cannot be written: No space left on device"):
        atomic.replace_file(target, b"two")
    assert target.read_bytes() == b"one"
    assert names_in(tmp_path) == ["head"]


# -- locks --------------------------------------------------------------------------------------------------------------------


def test_where_the_file_system_has_no_locks_work_is_done_and_nothing_of_others_is_removed(tmp_path, monkeypatch):
    def no_locks(*_arguments, **_options):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("filelock.lock_descriptor", no_locks)
    stale = tmp_path / ".a.csv.setveil-staging-0123"
    stale.mkdir()
    make_file(tmp_path / "a.csv")
    assert names_in(tmp_path) == [stale.name, "a.csv"]


def test_a_link_that_is_named_like_a_workplace_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    link = tmp_path / ".a.csv.setveil-staging-0123"
    link.symlink_to("mine")
    make_file(tmp_path / "a.csv")
    assert link.is_symlink()
    assert names_in(tmp_path / "mine") == ["thesis.tex"]
