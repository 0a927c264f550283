"""A publication in blocks on disks that fill at any step: a release that holds, or none and a message that says what to do."""

import shutil

import pytest

from support.large_data import disk_of
from support.program import assert_complete, call, names_in

PUBLISH = ("publish", "sample:supermarket?records=2000", "--method", "part-swap", "--categories", "sample:supermarket")
PUBLISH += ("--block-records", 500, "--measure", "none", "--attack", "none", "--out", "disk/out", "--private", "kept")
WHAT_TO_DO = "free some space, or choose a folder on another disk with --scratch or the variable TMPDIR"
MOST = 4096
"""Kilobytes that are sufficient for all steps."""


@pytest.mark.parametrize("kilobytes", [150, 800, MOST])
def test_the_scratch_folder_is_full(tmp_path, monkeypatch, kilobytes):
    monkeypatch.chdir(tmp_path)
    command = (*PUBLISH[:-3], "out", *PUBLISH[-2:], "--scratch")
    with disk_of(kilobytes, tmp_path / "disk") as disk:
        ended = call(*command, "disk")
        if kilobytes < MOST:
            assert ended.code == 2
            assert ended.sentence().endswith(WHAT_TO_DO)
            assert "finished blocks remain in disk/setveil-" in ended.err
            assert names_in(tmp_path) == ["disk"]
            (folder,) = disk.iterdir()
            shutil.move(folder, tmp_path)  # as a person does who moves it to a larger disk
            ended = call(*command, ".")
        assert ended.code == 0, ended.err
    assert_complete(tmp_path / "out", tmp_path / "kept")
    assert names_in(tmp_path) == ["disk", "kept", "out"]


@pytest.mark.parametrize("kilobytes", [150, 400])
def test_the_folder_of_the_system_is_full(tmp_path, monkeypatch, kilobytes):
    monkeypatch.chdir(tmp_path)
    with disk_of(kilobytes, tmp_path / "disk") as disk:
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        ended = call(*PUBLISH[:-3], "out", *PUBLISH[-2:])
        assert ended.code == 2
        assert ended.sentence().endswith(WHAT_TO_DO)
        assert str(disk) in ended.sentence()
        assert names_in(disk) == []
    assert names_in(tmp_path) == ["disk"]


@pytest.mark.parametrize("kilobytes", [16, MOST])
def test_the_disk_of_the_release_is_full(tmp_path, monkeypatch, kilobytes):
    monkeypatch.chdir(tmp_path)
    with disk_of(kilobytes, tmp_path / "disk") as disk:
        ended = call(*PUBLISH)
        if kilobytes < MOST:
            assert ended.code == 2
            assert "No space left on device" in ended.sentence()
            assert names_in(disk) == []
            assert names_in(tmp_path) == ["disk"]
        else:
            assert ended.code == 0, ended.err
            assert_complete(disk / "out", tmp_path / "kept")
