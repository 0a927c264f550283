"""A publication in blocks that is killed resumes from its scratch folder, with the same bytes as one that was not."""

import json
import random
import shutil
import signal

import pytest

import setveil as sv

from support.exhaustive import IS_EXHAUSTIVE
from support.forked import Forked, run
from support.program import assert_complete, call, killed, names_in, signalled_one

SEED = ("--seed", 2**100 + 7)
LARGE = ("publish", "sample:supermarket?records=12000", "--method", "part-swap", "--categories", "sample:supermarket")
LARGE += ("--block-records", 1500, "--measure", "none", "--attack", "none", "--out", "out")
SCRATCH = ("--scratch", "scratch")

_rng = random.Random(20191)  # noqa: S311 - moments of a test
MOMENTS = sorted((place + _rng.random()) / 20 for place in range(20))[:: 1 if IS_EXHAUSTIVE else 5]
"""Shares of a run's time."""


def released(folder):
    """Return the files of a release by name."""
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Publish without a scratch folder, after a run in which kernels are compiled; return the files and how long it took."""
    folder = tmp_path_factory.mktemp("whole")
    times = [run(*LARGE, *SEED, "--force", cwd=folder) for _ in range(2)]
    assert [ended.code for ended in times] == [0, 0], times[-1].err
    return released(folder), times[-1].seconds


@pytest.mark.parametrize("share", MOMENTS, ids=lambda share: f"{share:.3f}")
def test_killed_at_any_moment(tmp_path, whole, share):
    files, seconds = whole
    ended = signalled_one(Forked(*LARGE, *SEED, *SCRATCH, cwd=tmp_path), number=signal.SIGKILL, after=share * seconds)
    assert ended.code in (-signal.SIGKILL, 0), ended.err
    if (tmp_path / "out").exists():
        assert_complete(tmp_path / "out", tmp_path / "out.private")
    again = call(*LARGE, *SEED, *SCRATCH, "--force", cwd=tmp_path)
    assert again.code == 0, again.err
    assert released(tmp_path) == files
    assert names_in(tmp_path / "scratch") == []


def test_killed_again_and_again(tmp_path, whole):
    """Each run takes up what the ones before it finished, also the seed that the first one drew."""
    _files, seconds = whole
    for share in (0.5, 0.7, 0.9):
        signalled_one(Forked(*LARGE, *SCRATCH, "--force", cwd=tmp_path), number=signal.SIGKILL, after=share * seconds)
    ended = call(*LARGE, *SCRATCH, "--force", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert_complete(tmp_path / "out", tmp_path / "out.private")
    dossier = json.loads((tmp_path / "out.private" / "dossier.json").read_text(encoding="utf-8"))
    shutil.move(tmp_path / "out", tmp_path / "first")
    assert call(*LARGE, "--seed", dossier["seed"], "--force", cwd=tmp_path).code == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()} == released(tmp_path)


DIE = """
import os, signal, sys
from setveil.cli.main import main
from setveil.engines import local

fatal, how = int(sys.argv[1]), sys.argv[2]
written, real = 0, local._write

def write(file, block):
    global written
    written += 1
    if written > fatal:
        os.kill(os.getpid(), getattr(signal, how))
    real(file, block)

local._write = write
sys.argv[1:3] = []
main()
"""
"""Runs a command that ends before it writes a further block."""


def test_finished_blocks_are_not_made_again(tmp_path, whole):
    files, _seconds = whole
    assert run(5, "SIGKILL", *LARGE, *SEED, *SCRATCH, "--threads", 1, cwd=tmp_path, code=DIE).code == -signal.SIGKILL
    (folder,) = (tmp_path / "scratch").iterdir()
    made = {path: path.stat().st_mtime_ns for path in folder.glob("*/*.arrow")}
    assert len(made) == 5
    assert run(1, "SIGKILL", *LARGE, *SEED, *SCRATCH, "--threads", 1, cwd=tmp_path, code=DIE).code == -signal.SIGKILL
    assert len([*folder.glob("*/*.arrow")]) == 6
    assert {path: path.stat().st_mtime_ns for path in made} == made
    ended = call(*LARGE, *SEED, *SCRATCH, cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert "resuming an earlier run: 6 blocks of its steps are in" in ended.err
    assert released(tmp_path) == files
    assert names_in(tmp_path / "scratch") == []


def test_ctrl_c_says_where_blocks_remain(tmp_path):
    ended = run(5, "SIGINT", *LARGE, *SEED, *SCRATCH, cwd=tmp_path, code=DIE)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert names_in(tmp_path) == ["scratch"]


def test_other_data_or_parameters_do_not_resume(tmp_path):
    assert run(5, "SIGKILL", *LARGE, *SEED, *SCRATCH, cwd=tmp_path, code=DIE).code == -signal.SIGKILL
    other = call(*LARGE, *SEED, *SCRATCH, "--order", "seeded", cwd=tmp_path)
    assert other.code == 0
    assert "resuming" not in other.err
    assert len(names_in(tmp_path / "scratch")) == 1


def test_two_runs_do_not_share_a_folder(tmp_path):
    waiting = DIE.replace("os.kill(os.getpid(), getattr(signal, how))", "print('waiting', flush=True), signal.pause()")
    first = Forked(2, "-", *LARGE, *SEED, *SCRATCH, cwd=tmp_path, code=waiting)
    try:
        while not [*tmp_path.glob("scratch/*/*/*.arrow")]:
            assert first.poll() is None
        second = call(*LARGE, *SEED, *SCRATCH, cwd=tmp_path)
        assert second.code == 2
        assert "another run works in scratch/setveil-" in second.sentence()
    finally:
        killed(first)


@pytest.mark.parametrize("place", ["a-file", "a-file/below"])
def test_a_scratch_folder_that_cannot_be_made_is_refused(tmp_path, place):
    (tmp_path / "a-file").write_text("")
    ended = call(*LARGE, "--scratch", place, cwd=tmp_path)
    assert ended.code == 2
    assert "choose another one with --scratch" in ended.sentence()


@pytest.mark.parametrize("place", ["out", "out/below", "out.private", "../{name}/out/below"])
def test_a_scratch_folder_in_a_folder_of_the_release_is_refused(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    place = place.format(name=tmp_path.name)
    ended = call(*LARGE, "--scratch", place)
    assert ended.code == 2
    assert f"the scratch folder {place} is in out" in ended.sentence()
    assert "a folder of the release; choose another one with --scratch" in ended.sentence()
    with pytest.raises(sv.OutputRefused, match="is in out"):
        sv.publish([["milk"]], METHOD, out="out", scratch=place)
    assert names_in(tmp_path) == []


def test_nothing_remains_of_a_run_without_a_scratch_folder(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    for how in ("SIGKILL", "SIGTERM"):
        assert run(5, how, *LARGE, *SEED, cwd=tmp_path, code=DIE).code != 0
        assert names_in(temporary) == []
    assert names_in(tmp_path) == ["temporary"]


GIVEN = {"block_records": 300, "attacks": "none"}
METHOD = sv.PartSwap(categories=sv.read_categories("sample:supermarket"))


@pytest.fixture
def ended_early(tmp_path, monkeypatch):
    """Give a function that publishes with a scratch folder and ends early, when everything was measured; and return that folder."""

    def publish(data, **given):
        def fail(*_given, **_named):
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr("setveil.release.publishing.run_attacks", fail)
            with pytest.raises(MemoryError):
                sv.publish(data, METHOD, scratch=tmp_path / "scratch", **GIVEN, **given)
        assert [*tmp_path.glob("scratch/*/*/*.arrow")]
        return tmp_path / "scratch"

    return publish


def test_what_an_earlier_run_measured_is_not_taken(ended_early):
    data = sv.read("sample:supermarket?records=1000&seed=8")
    other, metrics = (["fi-similarity:min_support=5%"], ["fi-similarity:min_support=2%"])
    scratch = ended_early(data, seed=2**100, metrics=other)
    found = sv.publish(data, METHOD, scratch=scratch, seed=2**100, metrics=metrics, **GIVEN)
    expected = sv.publish(data, METHOD, seed=2**100, metrics=metrics, **GIVEN)
    assert found.data == expected.data
    assert [one.to_dict() for one in found.measurements] == [one.to_dict() for one in expected.measurements]


def test_blocks_of_another_seed_are_not_taken(tmp_path, ended_early):
    data = sv.read("sample:supermarket?records=1000&seed=8")
    scratch = ended_early(data, metrics="none")
    kept = {"register": tmp_path / "releases.db", "metrics": "none", **GIVEN}
    first = sv.publish(data, METHOD, scratch=scratch, out=tmp_path / "first", **kept)
    second = sv.publish(data, METHOD, out=tmp_path / "second", **kept)
    assert first.randomness == second.randomness
    assert first.data == second.data
