"""What is special about the engine `spark`: what travels, what remains, and what it says when something is wrong."""

import os
import platform
import signal
import socket
import sys
import time
import tomllib
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import setveil as sv
from setveil.data.records.in_blocks import as_block, gathered, in_blocks
from setveil.engines import spark as engine_module
from setveil.engines import spark_work
from setveil.engines.blocks import BlockKey, using_engine
from setveil.engines.chosen import using_chosen_engine
from setveil.engines.spark import BlocksHere, SparkEngine
from setveil.engines.spark_server import Cluster

from support import engine_work as work
from support import spark_servers
from support.forked import Forked
from support.program import HANG_SECONDS, call, names_in, signalled_one
from support.random_data import make

BAD_REMOTE = "sc://spark.example/;token=hidden;hidden"


@contextmanager
def engine_on(remote, block_records=10, folder=None):
    with SparkEngine(remote, block_records, folder) as engine, using_engine(engine):
        yield engine


def some_data(records=40):
    return make(21, records=records)[0]


# -- what travels ---------------------------------------------------------------------------------------------------------------


def test_large_blocks_travel_in_pieces(sail, monkeypatch):
    monkeypatch.setattr(spark_work, "PIECE_BYTES", 100)
    monkeypatch.setattr(engine_module, "READ_BYTES", 1000)
    data = some_data(300)
    with engine_on(sail, 60):
        numbered = in_blocks(data).map("numbering", work.numbered)
        assert gathered(numbered, data) == data
        assert gathered(numbered.regroup("grouping", partial(work.by_length, 1), 1), data) == data


def test_pieces_make_the_block_again(monkeypatch):
    monkeypatch.setattr(spark_work, "PIECE_BYTES", 100)
    blocks = [
        work.numbered(as_block(some_data(records)), work_key)
        for records, work_key in ((40, BlockKey(0, 0)), (7, BlockKey(1, 40)))
    ]
    pieces = [piece for number, block in enumerate(blocks) for piece in spark_work.pieces_of(number, block)]
    assert len(pieces) > 10
    for order in (pieces, pieces[::-1]):
        found = list(spark_work.contents_of(pa.Table.from_batches(order)))
        assert [rows for rows, _content in found] == [40, 7]
        assert [spark_work.decoded(content) for _rows, content in found] == blocks
    of_first = pa.Table.from_batches([piece for piece in pieces if piece.column("block")[0].as_py() == 0][::-1])
    whole = spark_work.join_pieces(of_first).to_batches()[0]
    assert spark_work.decoded(whole.column("content")[0].as_py()) == blocks[0]
    again = list(spark_work.cut_blocks([whole]))
    assert pa.Table.from_batches(again).sort_by("piece") == of_first.sort_by("piece")


def test_the_same_data_go_to_the_cluster_once(sail, monkeypatch):
    sent = []
    real = SparkEngine.send
    monkeypatch.setattr(SparkEngine, "send", lambda engine, blocks: sent.append(blocks) or real(engine, blocks))
    data, other = some_data(), some_data()
    with engine_on(sail):
        count = partial(work.supports, data.vocabulary)
        assert in_blocks(data).fold("counting", count).tolist() == data.supports.tolist()
        assert in_blocks(data).fold("counting", count).tolist() == data.supports.tolist()
        assert len(sent) == 1
        in_blocks(other).fold("counting", count)
        in_blocks(data, numbered=True).map("numbering", work.numbered)
        assert len(sent) == 3
        assert [len(block) for block in in_blocks(some_data())] == [10] * 4  # read here
        assert len(sent) == 3


def test_work_is_not_larger_than_a_message(sail):
    with engine_on(sail), pytest.raises(sv.BadParameter, match="more than 128 MB beside each block"):
        in_blocks(some_data()).fold("counting", partial(work.size_of, bytes(1 << 27)))


# -- what remains ---------------------------------------------------------------------------------------------------------------


def test_nothing_remains(sail, tmp_path):
    folder = tmp_path / "blocks"
    with engine_on(sail, folder=str(folder)):
        in_blocks(some_data()).map("numbering", work.numbered)
        assert len(names_in(folder)) == 1
    assert names_in(folder) == []
    with pytest.raises(sv.BadData), engine_on(sail, folder=f"file:{folder}/"):
        in_blocks(some_data()).map("refusing", work.refuse_second_block)
    assert names_in(folder) == []


def test_only_the_cluster_reaches_the_folder(sail, tmp_path, monkeypatch):
    monkeypatch.setattr("setveil.engines.spark_server.SparkAddress.is_here", property(lambda _address: False))
    with engine_on(sail, folder=str(tmp_path / "blocks")):
        in_blocks(some_data()).map("numbering", work.numbered)
        assert [*(tmp_path / "blocks").rglob("*.parquet")]
    rest = [path for path in (tmp_path / "blocks").rglob("*") if path.is_file() and not path.name.endswith(".crc")]
    assert sum(path.stat().st_size for path in rest) < 2000  # of files without rows
    with pytest.raises(sv.OutputRefused, match="with `spark_folder=`"), engine_on(sail):
        pass


def test_an_early_end_is_resumed(sail, tmp_path):
    data, folder = some_data(), str(tmp_path / "blocks")

    def steps(engine, number, regroup):
        with using_engine(engine), engine.resuming(Path("setveil-17")):
            numbered = in_blocks(data).map("numbering", number)
            return [*numbered, *numbered.regroup("grouping", regroup, 5)]

    with SparkEngine(sail, 10, folder) as engine:
        expected = steps(engine, work.numbered, partial(work.by_length, 5))
    assert names_in(tmp_path / "blocks") == []
    with pytest.raises(sv.BadData), SparkEngine(sail, 10, folder) as engine:
        steps(engine, work.numbered, partial(work.refuse_second, np.zeros(10, np.int64)))
    assert names_in(tmp_path / "blocks") == ["setveil-17"]
    for broken in (tmp_path / "blocks").glob("*/*-grouping"):  # as if the run had been killed there
        broken.rename(broken.with_name("gone"))
    with SparkEngine(sail, 10, folder) as engine:
        assert steps(engine, work.never, partial(work.by_length, 5)) == expected
    assert names_in(tmp_path / "blocks") == []


def test_blocks_that_are_missing_are_noticed(sail, tmp_path, monkeypatch):
    with engine_on(sail, folder=str(tmp_path)) as engine:
        real = engine._stored

        def lose_one(path, blocks):
            for lost in Path(path).glob("block=2"):
                lost.rename(tmp_path / "lost")
            return real(path, blocks)

        monkeypatch.setattr(engine, "_stored", lose_one)
        with pytest.raises(
            sv.OutputRefused, match="name a folder that all machines of the cluster reach with `spark_folder=`"
        ):
            in_blocks(some_data()).fold("counting", work.by_length)


def test_the_address_is_not_recorded(sail, tmp_path):
    command = [
        "publish",
        "sample:supermarket?records=300",
        "--method",
        "rand-swap",
        "--mode",
        "plain",
        "--no-guarantee",
    ]
    command += [
        "--block-records",
        100,
        "--engine",
        "spark",
        "--spark-remote",
        f"{sail}/;user_id=ann-4711",
        "--out",
        "out",
    ]
    ended = call(*command, "--save-job", "job.toml", cwd=tmp_path)
    assert ended.code == 0, ended.err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"job.toml", "dossier.json"} < {path.name for path in files}
    assert [path for path in files if b"ann-4711" in path.read_bytes() or b"sc://" in path.read_bytes()] == []
    call("run", "job.toml", "--out", "again", "--seed", 2**100, cwd=tmp_path)
    job = tomllib.loads((tmp_path / "job.toml").read_text(encoding="utf-8"))
    job |= {"engine": "spark", "spark_remote": sail, "out": str(tmp_path / "on-spark"), "seed": str(2**100)}
    sv.run(job)
    again, on_spark = ((tmp_path / out / "data.csv").read_bytes() for out in ("again", "on-spark"))
    assert again == on_spark


# -- what is wrong --------------------------------------------------------------------------------------------------------------


def refusal(remote, **more):
    with pytest.raises(sv.InputError) as refused, SparkEngine(remote, **more):
        pass
    assert "hidden" not in str(refused.value) + repr(refused.value)
    return str(refused.value)


def test_no_client(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.client", None)
    assert refusal("sc://localhost") == (
        "sc://localhost:15002 needs pyspark-client, which is not installed; run pip install 'setveil[spark]'"
    )


@pytest.mark.parametrize("remote", ["localhost:15002", BAD_REMOTE, "sc://a b", "sc://host:port", "sc://u:hidden@host"])
def test_bad_addresses(remote):
    assert "cannot be read as sc://host:port" in refusal(remote)


def test_nothing_listens():
    port = spark_servers.free_port()
    said = refusal(f"sc://localhost:{port}/;token=hidden")
    assert said.startswith(f"sc://localhost:{port} cannot be reached (Connection refused); start the server")
    assert "cannot be reached" in refusal("sc://no-such-host.invalid")


def test_something_else_listens(monkeypatch):
    monkeypatch.setattr("setveil.engines.spark_server.REACHING_SECONDS", 1.0)
    with socket.create_server(("localhost", 0)) as listening:
        assert "is not a Spark Connect server" in refusal(f"sc://localhost:{listening.getsockname()[1]}")


def test_workers_of_another_python(sail, monkeypatch):
    monkeypatch.setattr("setveil.engines.spark_server.platform.python_version", lambda: "3.99.1")
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"run Python {here}, and this machine 3.99; let both run the same minor version" in refusal(sail)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            "__version__ = '0.0.1'",
            f"has setveil 0.0.1, and this machine {sv.__version__}; install the same version there",
        ),
        # All threads of a worker import it before the first import fails.
        ("import time; time.sleep(0.5); raise ModuleNotFoundError(\"No module named 'setveil'\")", "has no setveil"),
    ],
)
def test_workers_without_the_same_setveil(tmp_path, content, why):
    package = tmp_path / "other" / "setveil"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(content, encoding="utf-8")
    with spark_servers.sail(tmp_path, PYTHONPATH=str(package.parent)) as server:
        assert why in refusal(server.remote)


def test_workers_that_lack_a_module(sail):
    cluster = Cluster(sail)
    cluster.open()
    try:
        with pytest.raises(sv.Missing, match=r"the workers of .* has no no_such_module; install setveil"):
            cluster.ask("it failed", _raising(ModuleNotFoundError("No module named 'no_such_module'"), cluster))
    finally:
        cluster.close()


def _raising(error, cluster):
    def broken(batches):
        del batches
        raise error

    return cluster.session.range(1).mapInArrow(broken, "a long").toArrow


def test_the_message_of_spark_about_another_python():
    """It has this form in Spark; Sail has no other Python."""
    said = '[PYTHON_VERSION_MISMATCH] Python in worker has different version: "3.12" than that in driver: 3.11'
    told = str(Cluster("sc://localhost")._refusal("asking", said))
    assert f"run Python 3.12, and this machine {platform.python_version().rpartition('.')[0]};" in told


def test_the_server_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("setveil.engines.spark_server.RETRIES", 1)
    with spark_servers.sail(tmp_path) as server, engine_on(server.remote):
        blocks = in_blocks(some_data())
        blocks.map("numbering", work.numbered)
        os.kill(server.pid, signal.SIGKILL)
        os.waitpid(server.pid, 0)
        with pytest.raises(sv.BadData, match="the step 'numbering' failed"):
            blocks.map("numbering", work.numbered)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--engine", "spark"), "name it with --spark-remote"),
        (("--spark-remote", "sc://localhost"), "--spark-remote goes with --engine spark"),
        (("--spark-folder", "/tmp"), "--spark-folder goes with --engine spark"),  # noqa: S108 - not used
        (("--engine", "spark", "--spark-remote", BAD_REMOTE), "cannot be read as sc://host:port"),
        (("--engine", "ray"), "ray"),
    ],
)
def test_on_the_command_line(tmp_path, monkeypatch, options, why):
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    ended = call("publish", "missing.csv", "--method", "rand-swap", *options, "--out", "out", cwd=tmp_path)
    assert ended.code == 2
    assert why in ended.err
    assert "hidden" not in ended.err


def test_the_variable_names_the_server(sail, monkeypatch):
    monkeypatch.setenv("SPARK_REMOTE", sail)
    with using_chosen_engine("spark", 10), using_chosen_engine("spark", 10):
        blocks = in_blocks(some_data())
        assert isinstance(blocks, BlocksHere)
        assert blocks.rows.tolist() == [10] * 4


WAIT = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from functools import partial
from setveil.cli.main import main
from setveil.methods import in_blocks
from support import engine_work

in_blocks._apply = lambda *_given: None
in_blocks.partial = lambda *_given: partial(engine_work.wait, 200)
main()
"""


def test_ctrl_c(tmp_path):
    command = [
        "publish",
        "sample:supermarket?records=300",
        "--method",
        "rand-swap",
        "--mode",
        "plain",
        "--no-guarantee",
    ]
    command += ["--block-records", 50, "--engine", "spark", "--spark-folder", tmp_path / "blocks", "--out", "out"]
    (tmp_path / "here").mkdir()
    with spark_servers.sail(tmp_path) as server:
        process = Forked(*command, "--spark-remote", server.remote, cwd=tmp_path / "here", code=WAIT)
        while process.poll() is None and not [*tmp_path.glob("blocks/*/*-sent/*/*.parquet")]:
            time.sleep(0.05)
        ended = signalled_one(process, number=signal.SIGINT, after=1)
    assert ended.code == 130, ended.err
    assert ended.seconds < HANG_SECONDS  # the step takes longer
    assert names_in(tmp_path / "here") == []
    assert names_in(tmp_path / "blocks") == []
