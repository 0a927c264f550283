"""Runs on a cluster of which a worker, or the program itself, is killed in the middle: the same bytes, and nothing remains."""

import os
import random
import signal
import threading
import time
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


@pytest.fixture
def killed(spark, monkeypatch):
    """Give a function that has a worker killed in the first step of this name, and the list of workers that were killed."""
    found = []

    def kill():
        found.append(spark.executors()[0])
        os.kill(found[0], signal.SIGKILL)

    def kill_in(label, after):
        real = Cluster.run

        def run_and_kill(cluster, step, *more):
            if step != label or found:
                return real(cluster, step, *more)
            timer = threading.Timer(after, kill)
            timer.start()
            try:
                return real(cluster, step, *more)
            finally:
                timer.cancel()  # it was not in the middle
                timer.join()

        monkeypatch.setattr(Cluster, "run", run_and_kill)

    yield kill_in
    assert len(found) == 1
    while found[0] in spark.executors():
        time.sleep(0.1)


@pytest.mark.exhaustive
def test_a_worker_is_killed_in_a_step(spark, killed):
    data, _categories = make(31, records=60)

    def steps(number):
        blocks = in_blocks(data)
        blocks.fold("counting", partial(work.supports, data.vocabulary))
        numbered = blocks.map("numbering", number)
        return [*numbered, *numbered.regroup("grouping", partial(work.by_length, 5), 5)]

    with using_engine(LocalEngine(10)):
        expected = steps(work.numbered)
    killed("numbering", after=3)
    with SparkEngine(spark.remote, 10) as engine, using_engine(engine):
        assert steps(partial(work.wait, 2)) == expected


@pytest.mark.exhaustive
def test_a_worker_is_killed_in_a_publication(spark, killed, tmp_path):
    data, categories = make(32, records=80, categories=4)

    def files(out, **where):
        more = {"block_records": 15, "allow_failures": 80, "metrics": "none", "attacks": "none"}
        sv.publish(data, sv.PartSwap(categories=categories), out=out, seed=2**100 + 7, **more, **where)
        return {path.name: path.read_bytes() for path in out.iterdir()}

    expected = files(tmp_path / "expected")
    killed("returning records", after=0.1)
    assert files(tmp_path / "found", engine="spark", spark_remote=spark.remote) == expected


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
