"""A process that has imported what the program needs, and forks for each program that a test asks for.

Started by `support.forked`. A request is a line of JSON with the descriptors of standard output, standard error and of a pipe to which the
number of the new process is written at once, and how it ended at its end.
"""

import gc
import json
import os
import pkgutil
import socket
import sys
from importlib import import_module

import setveil
from setveil.cli import lean_imports

IMPORTED_LATE = ("cryptography.x509", "nacl.bindings", "pyarrow.dataset")
"""What modules of the program import when they need it."""


def asked(requests):
    """Answer requests; in the process of a new program, return what it runs. At the end of the tests, the process ends."""
    while True:
        text, descriptors, _flags, _address = socket.recv_fds(requests, 1 << 16, 3)
        while text and not text.endswith(b"\n"):
            text += requests.recv(1 << 16)
        if not text:
            os._exit(0)
        request = json.loads(text)
        if os.fork() == 0:  # one that waits for the program, so that nobody else has to
            if _begun(*descriptors):
                requests.close()
                return request
            os._exit(0)
        for one in descriptors:
            os.close(one)
        while _reaped():
            pass


def _begun(out, err, status):
    """Begin the program: true in its process. In the one that waits for it, tell how it ended, and return false."""
    process = os.fork()
    if process == 0:
        os.close(status)
        for one, place in ((out, 1), (err, 2)):
            os.dup2(one, place)
            os.close(one)
        return True
    os.write(status, f"{process}\n".encode())
    for one in (out, err):
        os.close(one)
    _process, how = os.waitpid(process, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(how)}\n".encode())
    return False


def _reaped():
    """Tell whether there was a process that has ended, and is now forgotten."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


if __name__ == "__main__":
    lean_imports.install()  # as the program does before it imports anything large
    for module in pkgutil.walk_packages(setveil.__path__, "setveil."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for name in IMPORTED_LATE:
        import_module(name)
    os.fsync = lambda _handle: None  # as in conftest: nobody waits for the disk
    gc.freeze()
    wanted = asked(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    sys.argv = wanted["argv"]
    exec(compile(wanted["code"], "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - a test's own code
