"""Runs a command in the folder of a job and stores how it ended. It outlives the server.

It is started as a script of its own, without setveil or other libraries, so that it takes little time and memory. It holds the lock
of the job's folder for as long as it lives: a server that was started again sees by the lock that the job still runs.

Usage: child.py FOLDER PROGRAM ARGUMENT ...
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress

EVENTS_BYTES = 32 * 1024 * 1024
"""Of a command that reports endlessly, the rest is not stored."""
BLOCK = 64 * 1024


def main(folder: str, command: list[str]) -> int:
    """Run the command and return its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # they are for the command, which does not inherit this
    os.chdir(folder)
    write("pid", str(os.getpid()))
    with open("result.json", "wb") as result, open("events.jsonl", "ab", buffering=0) as events:  # noqa: PTH123 - imports little
        with subprocess.Popen(  # noqa: S603 - the server gives the command
            command, stdin=subprocess.DEVNULL, stdout=result, stderr=subprocess.PIPE, bufsize=0
        ) as process:
            assert process.stderr is not None
            stored = 0
            while block := process.stderr.read(BLOCK):
                if stored < EVENTS_BYTES:
                    with suppress(OSError):  # the disk is full: the result still counts
                        stored += events.write(block[: EVENTS_BYTES - stored])
            code = process.wait()
        with suppress(OSError):
            os.fsync(result.fileno())
    with suppress(OSError):  # the server that started this process learns the code from its end
        write("exit_code", str(code))
    return code if code >= 0 else 128 - code


def write(name: str, text: str) -> None:
    """Write a small file in one step."""
    with open(f"{name}.new", "w", encoding="ascii") as file:  # noqa: PTH123 - imports little
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{name}.new", name)  # noqa: PTH105 - the same


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
