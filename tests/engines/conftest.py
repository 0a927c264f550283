"""Engines to run one test on."""

import os
from contextlib import contextmanager

import pytest

from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.engines.spark import SparkEngine
from setveil.kernels.threads import using_threads

from support import spark_servers


@pytest.fixture(scope="session")
def sail(tmp_path_factory):
    """Give the address of a Spark Connect server without Java."""
    with spark_servers.sail(tmp_path_factory.mktemp("sail")) as server:
        yield server.remote


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Give a Spark server with two workers, which all workers of pytest-xdist share."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "spark"
    folder.mkdir(exist_ok=True)
    with spark_servers.shared_spark(folder) as server:
        yield server


@pytest.fixture(params=["local-1", "local-2", "sail"])
def where(request):
    """Give the arguments of `publish` for an engine: threads of this machine, `sail` or `spark`."""
    name = request.param
    if name.startswith("local"):
        return {"threads": int(name[-1])}
    remote = request.getfixturevalue("sail") if name == "sail" else request.getfixturevalue("spark").remote
    return {"engine": "spark", "spark_remote": remote}


@pytest.fixture
def on_engine(where):
    """Give a context in which work runs on an engine with blocks of this size."""

    @contextmanager
    def using(block_records):
        if "threads" in where:
            with using_threads(where["threads"]), using_engine(LocalEngine(block_records)):
                yield
        else:
            with SparkEngine(where["spark_remote"], block_records) as engine, using_engine(engine):
                yield

    return using
