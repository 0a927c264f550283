"""The engine that a caller chooses by name."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, get_args

from setveil.engines.blocks import BLOCK_RECORDS, current_engine, using_engine
from setveil.engines.local import LocalEngine
from setveil.errors import BadParameter, Missing

if TYPE_CHECKING:
    from collections.abc import Iterator

EngineName = Literal["local", "spark"]
REMOTE_VARIABLE = "SPARK_REMOTE"
"""The variable that every program for Spark Connect reads its server from."""


@contextmanager
def using_chosen_engine(
    name: EngineName = "local",
    block_records: int = BLOCK_RECORDS,
    spark_remote: str | None = None,
    spark_folder: str | None = None,
) -> Iterator[None]:
    """Let work in the block run on an engine; the same choice inside the block uses the same engine."""
    choice = name, block_records, spark_remote, spark_folder
    if current_engine().choice == choice:
        yield
        return
    if name not in get_args(EngineName):
        raise BadParameter.not_among("engine", name, get_args(EngineName))
    if name == "local":
        for parameter, value in {"spark_remote": spark_remote, "spark_folder": spark_folder}.items():
            if value is not None:
                raise BadParameter(f"`{parameter}=` goes with `engine='spark'`; add that, or remove it")
        local = LocalEngine(block_records)
        local.choice = choice
        with using_engine(local):
            yield
        return
    remote = spark_remote or os.environ.get(REMOTE_VARIABLE)
    if not remote:
        raise Missing(
            "the engine spark needs the address of a Spark Connect server: name it with `spark_remote=`, such as "
            f"sc://spark.example:15002, or with the variable {REMOTE_VARIABLE}"
        )
    from setveil.engines.spark import SparkEngine  # noqa: PLC0415 - needs an optional dependency

    with SparkEngine(remote, block_records, spark_folder) as engine:
        engine.choice = choice
        with using_engine(engine):
            yield
