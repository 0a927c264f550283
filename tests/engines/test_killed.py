"""Runs on a cluster of which a worker, or the program itself, is killed in the middle: the same bytes, and nothing remains."""

import os
import random
import signal
import threading
from functools import partial

import pytest

import setveil as sv
from setveil.data.records.in_blocks import in_blocks
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.engines.spark import SparkEngine
from setveil.engines.spark_server import Cluster

from support import engine_work as work
from support.exhaustive import IS_EXHAUSTIVE
from support.forked import Forked, run
from support.program import assert_complete, names_in, signalled_one
from support.random_data import make

PUBLISH = ("publish", "sample:supermarket?records=4000", "--method", "part-swap", "--categories", "sample:supermarket")
PUBLISH += ("--block-records", 700, "--measure", "none", "--attack", "none", "--out", "out", "--seed", 2**100 + 7)
MOMENTS = [random.Random(place).random() for place in range(12 if IS_EXHAUSTIVE else 3)]  # noqa: S311 - moments of a test


def killing_one(server, after):
    """Start to wait, and then kill a worker; return a function that tells which, when it is done."""
    before = server.executors()
    timer = threading.Timer(after, lambda: os.kill(before[0], signal.SIGKILL))
    timer.start()

    def done():
        timer.join()
        assert len(before) == 2
        assert before[0] not in server.executors()

    return done


@pytest.mark.exhaustive
def test_a_worker_is_killed_in_a_step(spark):
    data, _categories = make(31, records=60)

    def steps(number):
        blocks = in_blocks(data)
        blocks.fold("counting", partial(work.supports, data.vocabulary))
        numbered = blocks.map("numbering", number)
        return [*numbered, *numbered.regroup("grouping", partial(work.by_length, 5), 5)]

    with using_engine(LocalEngine(10)):
        expected = steps(work.numbered)
    with SparkEngine(spark.remote, 10) as engine, using_engine(engine):
        done = killing_one(spark, after=3)
        assert steps(partial(work.wait, 2)) == expected
        done()


@pytest.mark.exhaustive
def test_a_worker_is_killed_in_a_publication(spark, tmp_path, monkeypatch):
    data, categories = make(32, records=80, categories=4)

    def files(out, **where):
        sv.publish(
            data,
            sv.PartSwap(categories=categories),
            out=out,
            seed=2**100 + 7,
            block_records=15,
            allow_failures=80,
            **where,
        )
        return {path.name: path.read_bytes() for path in out.iterdir()}

    expected = files(tmp_path / "expected")
    steps, waiting = [], []
    real = Cluster.run

    def run_and_kill(cluster, label, *more):
        steps.append(label)
        if len(steps) == 5:
            waiting.append(killing_one(spark, after=0.1))
        return real(cluster, label, *more)

    monkeypatch.setattr(Cluster, "run", run_and_kill)
    assert files(tmp_path / "found", engine="spark", spark_remote=spark.remote) == expected
    waiting[0]()


def released(folder):
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


@pytest.fixture(scope="module")
def whole(sail, tmp_path_factory):
    """Publish on this machine, and on the cluster; return the files, which are the same, and how long it takes there."""
    folder = tmp_path_factory.mktemp("whole")
    assert run(*PUBLISH, cwd=folder).code == 0
    expected = released(folder)
    ended = run(*PUBLISH, "--force", "--engine", "spark", "--spark-remote", sail, cwd=folder)
    assert ended.code == 0, ended.err
    assert released(folder) == expected
    return expected, ended.seconds


@pytest.mark.parametrize("share", MOMENTS, ids=lambda share: f"{share:.3f}")
def test_the_program_is_killed(sail, tmp_path, whole, share):
    files, seconds = whole
    command = (
        *PUBLISH,
        "--engine",
        "spark",
        "--spark-remote",
        sail,
        "--spark-folder",
        tmp_path / "blocks",
        "--scratch",
        "scratch",
    )
    ended = signalled_one(Forked(*command, cwd=tmp_path), number=signal.SIGKILL, after=share * seconds)
    assert ended.code in (-signal.SIGKILL, 0), ended.err
    if (tmp_path / "out").exists():
        assert_complete(tmp_path / "out", tmp_path / "out.private")
    again = run(*command, "--force", cwd=tmp_path)
    assert again.code == 0, again.err
    assert released(tmp_path) == files
    assert names_in(tmp_path / "scratch") == []
    assert names_in(tmp_path / "blocks") == []
