"""Check the two wheels in an environment of their own: no first run compiles anything, and the results are those of compiling on the spot.

Builds the wheel of setveil, installs it and the wheel of kernels into a new environment, and runs all commands twice, each time with an
empty cache: with the installed kernels, and without them. Exits with 1 if the first pass compiles a kernel or if a result differs.

Usage: python check_wheels.py KERNELS_WHEEL [CACHE]    prints one line per command; the second pass keeps what it compiles in CACHE.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import venv
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
INSIDE = "--inside"
RANDOM = re.compile(r"^(compared|demo|joined|registered|releases\.db)\b")
"""Outputs of commands that draw anew each time."""
VARYING = {"compare", "demo", "simulate", "releases"}
"""Words of commands that print what was drawn, times or paths."""
TIMES = re.compile(
    rb"\d{4}-\d\d-\d\dT[\d:.+]+Z?"
    rb"|\"(?:method|arranging and checking|measuring|attacking|writing and checking)\": [\d.e-]+"
    rb"|seconds for [\w ]+</th><td>[\d.e-]+"
)
"""Points in time, and durations in dossiers and reports."""


def run_all(folder: Path) -> list[dict[str, Any]]:
    """Run all commands in this process and return what each compiled, printed and took."""
    from setveil.cli.main import run  # noqa: PLC0415 - the same
    from setveil.kernels.jit import compiling  # noqa: PLC0415 - the same

    from commands import list_commands  # noqa: PLC0415 - needs the package, which the caller lacks

    found = []
    with chdir(folder):
        for words in list_commands():
            told: list[str | None] = []
            out, errors, started = StringIO(), StringIO(), time.process_time()
            with compiling(told.append), redirect_stdout(out), redirect_stderr(errors):
                code = run(words)
            found.append({
                "words": words,
                "code": code,
                "compiled": sum(name is not None for name in told),
                "cpu": time.process_time() - started,
                "out": out.getvalue(),
                "errors": errors.getvalue(),
            })  # fmt: skip
    return found


def results_of(folder: Path) -> dict[str, bytes]:
    """Return the written files by name, without points in time and the path of the folder, which the jobs in dossiers hold."""
    here = str(folder).encode()
    return {
        path.relative_to(folder).as_posix(): TIMES.sub(b"", path.read_bytes()).replace(here, b"")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main() -> None:
    """Install, run, compare."""
    kernels = Path(sys.argv[1]).resolve()
    constraints = REPOSITORY / "constraints.txt"
    with TemporaryDirectory() as name:
        place = Path(name)
        venv.create(place / "venv", with_pip=True)
        python = place / "venv" / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", place, REPOSITORY], check=True)
        (package,) = place.glob("setveil-*.whl")
        install = [
            str(python),
            *pip[1:],
            "install",
            "--constraint",
            str(constraints),
            f"{package}[presence]",
            str(kernels),
        ]
        subprocess.run(install, check=True)

        passes, written = {}, {}
        for title, used in (("installed", "1"), ("compiled", "0")):
            folder, cache = place / title, place / f"{title}-cache"
            if title == "compiled" and len(sys.argv) > 2:
                cache = Path(sys.argv[2]).resolve()
            folder.mkdir()
            environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            environment |= {"SETVEIL_CACHE_DIR": str(cache), "SETVEIL_SHIPPED_KERNELS": used}
            command = [str(python), str(Path(__file__).resolve()), INSIDE, str(folder)]
            ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, cwd=place)
            passes[title] = json.loads(ended.stdout)
            written[title] = results_of(folder)
        saved = len(list((place / "installed-cache").rglob("*.nbc")))  # also by processes that the commands start
        sys.exit(report(passes, written, saved))


def report(passes: dict[str, list[dict[str, Any]]], written: dict[str, dict[str, bytes]], saved: int) -> int:
    """Print the comparison and return the exit code."""
    differing = 0
    for one, other in zip(passes["installed"], passes["compiled"], strict=True):
        shown = f"setveil {' '.join(one['words'])}"
        same = one["out"] == other["out"] or not VARYING.isdisjoint(one["words"])
        differing += not same or one["code"] != 0
        sys.stdout.write(
            f"{one['compiled']} compiled, {one['cpu']:5.1f} CPU s; without the wheel {other['compiled']:2d}, {other['cpu']:5.1f} CPU s; "
            f"exit {one['code']}; output {'the same' if same else 'DIFFERS'}: {shown[:110]}\n"
        )
        if one["code"]:
            sys.stdout.write(one["errors"])
    first, second = written["installed"], written["compiled"]
    unlike = [
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name) and not RANDOM.match(name)
    ]
    compiled, others = (sum(one["compiled"] for one in passes[title]) for title in passes)
    took, longer = (sum(one["cpu"] for one in passes[title]) for title in passes)
    sys.stdout.write(
        f"{len(passes['installed'])} commands: {compiled} kernels compiled and {saved} saved, {took:.0f} CPU s; "
        f"without the wheel {others} compiled, {longer:.0f} CPU s\n"
        f"{len(first)} files written, {len(unlike)} differ: {' '.join(sorted(unlike))}\n"
    )
    return int(bool(compiled or saved or differing or unlike))


if __name__ == "__main__":
    if sys.argv[1] == INSIDE:
        found = run_all(Path(sys.argv[2]))
        sys.stdout.write(json.dumps(found))
    else:
        main()
