"""Connections to a Spark Connect server: its address, sessions, and what goes wrong there in plain words."""

from __future__ import annotations

import platform
import re
import socket
import sys
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from setveil import __version__
from setveil.base import progress
from setveil.errors import BadData, BadParameter, Missing, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SCHEME = "sc://"
DEFAULT_PORT = 15002
REACHING_SECONDS = 20.0
"""How long to wait for an answer at the address."""
RETRIES = 6
"""How often the client asks again when the connection breaks: for about a minute."""
PROBES = 8
"""How many tasks ask the workers for their versions."""

_ADDRESS = re.compile(
    r"sc://(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>[0-9]{1,5}))?(?:/(?P<parameters>(?:;[\w-]+=[^;=\s]*)*))?"
)
_FORM = "sc://host:port, or sc://host:port/;use_ssl=true;token=..."
_NO_MODULE = re.compile(r"No module named '?([\w.]+)")

Result = TypeVar("Result")


@dataclass(frozen=True)
class SparkAddress:
    """The address of a Spark Connect server. Its `repr` contains no secrets."""

    host: str
    port: int
    url: str = field(repr=False)
    """The address for the client."""
    secrets: tuple[str, ...] = field(repr=False)
    """The values of its parameters, such as a token."""

    @property
    def shown(self) -> str:
        """The address for display, without its parameters."""
        return f"{SCHEME}{self.host}:{self.port}"

    @property
    def is_here(self) -> bool:
        """Whether the server seems to be on this machine; the port may also lead elsewhere."""
        return self.host in ("localhost", "127.0.0.1", "[::1]")


def spark_address(url: str) -> SparkAddress:
    """Parse an address, or raise `BadParameter` without repeating what may be secret."""
    found = _ADDRESS.fullmatch(url)
    if found is None:
        begin = f"{SCHEME}..." if url.startswith(SCHEME) else "the address of the Spark Connect server"
        raise BadParameter(f"{begin} cannot be read as {_FORM}")
    values = [part.partition("=")[2] for part in (found["parameters"] or "").split(";") if part]
    secrets = {text for value in values for text in (value, unquote(value)) if len(text) > len("false")}
    return SparkAddress(found["host"], int(found["port"] or DEFAULT_PORT), url, tuple(secrets))


@contextmanager
def _with_a_main_file() -> Iterator[None]:
    """Give the main module a file: of a program without one, such as `python -c`, pyspark thinks that it tests pyspark, and ends it."""
    main = sys.modules["__main__"]
    if hasattr(main, "__file__"):
        yield
        return
    main.__file__ = ""
    try:
        yield
    finally:
        del main.__file__


class Cluster:
    """A session on a Spark Connect server.

    Parameters
    ----------
    remote
        The address of the server.
    """

    def __init__(self, remote: str) -> None:
        self.address = spark_address(remote)
        self.session: Any = None

    def open(self) -> None:
        """Begin a session, or say within seconds why there is none."""
        with without_warnings(), _with_a_main_file():
            try:
                from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415 - an optional dependency
                from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 - the same
                from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415 - the same
            except ImportError:  # also if one of its dependencies is missing
                raise Missing(
                    f"{self.address.shown} needs pyspark-client, which is not installed; run pip install 'setveil[spark]'"
                ) from None
            channel = DefaultChannelBuilder(self.address.url)
            self._reach(channel)
            self.session = SparkSession.builder.channelBuilder(channel).create()
            self.session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
        self.ask("the session cannot begin", lambda: self.session.version)

    def _reach(self, builder: Any) -> None:
        import grpc  # noqa: PLC0415 - comes with the client

        found = None
        host, port = self.address.host, self.address.port
        try:
            socket.create_connection((host.strip("[]"), port), REACHING_SECONDS).close()
            with builder.toChannel() as channel:
                grpc.channel_ready_future(channel).result(timeout=REACHING_SECONDS)
        except TimeoutError:
            found = f"gives no answer within {REACHING_SECONDS:.0f} seconds"
        except OSError as error:
            found = f"cannot be reached ({error.strerror or 'unknown host'})"
        except grpc.FutureTimeoutError:
            found = "is not a Spark Connect server, or expects or refuses encryption (use_ssl=true in the address)"
        if found is not None:
            raise Missing(
                f"{self.address.shown} {found}; start the server, or name another one as in {SCHEME}spark.example:{DEFAULT_PORT}"
            )

    def close(self) -> None:
        """End the session."""
        if self.session is not None:
            with without_warnings(), suppress(Exception):
                self.session.stop()
            self.session = None

    def ask(self, what: str, call: Callable[[], Result]) -> Result:
        """Return the result of a call to the server; turn its errors into a message that begins with `what`."""
        from pyspark.errors import PySparkException  # noqa: PLC0415 - an optional dependency

        refused = None
        try:
            with without_warnings():
                return call()
        except KeyboardInterrupt:
            with suppress(Exception):
                self.session.interruptAll()
            raise
        except (PySparkException, OSError, ValueError) as error:  # of Arrow too, if the answer is a stream
            if _is_of_work(error):
                raise
            refused = self._refusal(what, str(error))
        raise refused

    def run(self, label: str, call: Callable[[], Result], total: int) -> Result:
        """Run a call as a step with progress out of `total`, the share of the tasks that are done."""
        with progress.step(label, total) as advance:

            def tell(stages: Iterable[Any] | None, **_more: Any) -> None:
                shown = [*(stages or ())]
                if tasks := sum(stage.num_tasks for stage in shown):
                    advance(total * sum(stage.num_completed_tasks for stage in shown) // tasks)

            self.session.registerProgressHandler(tell)
            try:
                return self.ask(f"the step {label!r} failed", call)
            finally:
                self.session.removeProgressHandler(tell)

    def check_workers(self) -> None:
        """Refuse a cluster whose workers cannot run work of this machine."""

        def versions(batches: Any) -> Any:  # sent as code, since workers may have no setveil
            import platform  # noqa: PLC0415 - on the worker

            import pyarrow as pa  # noqa: PLC0415 - the same

            try:
                import setveil  # noqa: PLC0415 - the same

                found = setveil.__version__
            except (ImportError, AttributeError):  # the second if the import fails in another thread
                found = ""
            for _batch in batches:
                yield pa.record_batch({"python": [platform.python_version()], "setveil": [found]})

        frame = self.session.range(0, PROBES, 1, PROBES)
        table = self.run(
            "asking the workers for their versions",
            lambda: frame.mapInArrow(versions, "python string, setveil string").distinct().toArrow(),
            PROBES,
        )
        for worker in table.to_pylist():
            if _minor(worker["python"]) != _minor(platform.python_version()):
                raise self._other_python(_minor(worker["python"]))
            if worker["setveil"] != __version__:
                has = f"setveil {worker['setveil']}" if worker["setveil"] else "no setveil"
                raise Missing(
                    f"the Python of the workers of {self.address.shown} has {has}, and this machine {__version__}; "
                    "install the same version there"
                )

    def _other_python(self, there: str) -> Missing:
        return Missing(
            f"the workers of {self.address.shown} run Python {there}, and this machine {_minor(platform.python_version())}; "
            "let both run the same minor version, since functions are sent as compiled Python"
        )

    def _refusal(self, what: str, message: str) -> Exception:
        module = _NO_MODULE.search(message)
        if module is not None:
            return Missing(
                f"the Python of the workers of {self.address.shown} has no {module[1]}; install setveil {__version__} there, "
                "with its dependencies"
            )
        if "PYTHON_VERSION_MISMATCH" in message:
            found = re.search(r"different version: \"?([0-9.]+)", message)
            return self._other_python("of another minor version" if found is None else found[1])
        if "message larger than max" in message:
            return BadParameter(
                f"{self.address.shown}: {what}: it needs more than 128 MB beside each block, which Spark Connect cannot send; "
                "use `engine='local'`"
            )
        line = first_line(message)
        for secret in self.address.secrets:
            line = line.replace(secret, "***")
        if any(sign in message for sign in ("PATH_NOT_FOUND", "Permission denied", "AccessDenied", "Mkdirs failed")):
            return OutputRefused(
                f"{self.address.shown}: {what}: {line}; choose another folder with `spark_folder=`, which all machines of the "
                "cluster can write"
            )
        return BadData(f"{what}: {line}", file=self.address.shown)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore what pyspark says about pandas 3, which setveil does not use, and about lost connections, which the error reports."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]", UserWarning)
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def stream_of(frame: Any) -> Iterator[Any]:
    """Yield the rows of a frame in their order as Arrow tables, while they come: as its `toLocalIterator`, but without Python objects."""
    client, plan = frame.sparkSession.client, frame._plan  # noqa: SLF001 - there is no public way that keeps the order of rows
    for found in client.to_table_as_iterator(plan.to_proto(client), plan.observations):
        if hasattr(found, "to_batches"):  # not the schema
            yield found


def first_line(message: str) -> str:
    """Return what a message of Spark begins with."""
    return next((line.strip() for line in message.splitlines() if line.strip()), "no reason given")[:300]


def _is_of_work(error: Exception) -> bool:
    """Return whether an error is a bug in the work that ran on a worker, and not one of the cluster."""
    return "PythonException" in type(error).__name__ and _NO_MODULE.search(str(error)) is None


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
