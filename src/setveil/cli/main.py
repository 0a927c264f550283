"""The entry point: finds the command, runs it, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cyclopts import App, CycloptsError

from setveil import __version__, progress
from setveil.cli import interrupt, show
from setveil.cli.options import JSON, QUIET, signature
from setveil.errors import SetveilError

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = {
    "demo": ("demo", "Show the whole story on built-in data, and end with a report to open."),
    "profile": ("profile", "Tell what is in a data set, and how exposed people are."),
    "methods": ("listing", "List the methods, or tell about one."),
    "guarantees": ("listing", "List the guarantees, or tell about one."),
    "metrics": ("listing", "List the metrics, or tell about one."),
    "publish": ("publish", "Make a release whose guarantee was checked on the written file."),
    "check": ("check", "Check the guarantee of a release again."),
    "measure": ("measure", "Measure what a release cost and what it still tells."),
    "convert": ("convert", "Convert data between formats."),
}
"""Each command's module in this folder and its line in the overview."""

OVERVIEW = """Publish set-valued data so that people stay protected and the data stays useful.

Start with: setveil demo"""


def main() -> None:
    """Run the program."""
    interrupt.install()
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        return _dispatch(arguments)
    except SetveilError as error:
        sys.stderr.write(f"setveil: {error}\n")
        return error.exit_code
    except CycloptsError as error:
        command = arguments[0] if arguments and arguments[0] in COMMANDS else ""
        sentence = " ".join(str(error).split())
        sys.stderr.write(f"setveil: {sentence} See: setveil {command + ' ' if command else ''}--help\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(interrupt.MESSAGE)
        sys.stderr.flush()
        return interrupt.STOPPED
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last resort: a bug must not look like a result
        if os.environ.get("SETVEIL_DEBUG"):
            traceback.print_exc()
        sys.stderr.write(
            f"setveil: unexpected {type(error).__name__}: {error}. This is a bug; nothing was written. "
            "SETVEIL_DEBUG=1 shows where it happened.\n"
        )
        return 1


def _dispatch(arguments: list[str]) -> int:
    app = App(name="setveil", help=OVERVIEW, version=__version__, help_format="plaintext", result_action="return_value")
    chosen = arguments[0] if arguments else "--help"
    for name, (module, line) in COMMANDS.items():
        if name == chosen:
            loaded = import_module(f"setveil.cli.{module}_command")
            text = loaded.TEXT[name] if isinstance(loaded.TEXT, dict) else loaded.TEXT
            app.command(_command(name, loaded, arguments[1:]), name=name, help=f"{line}\n\n{text}")
        else:
            app.command(_placeholder, name=name, help=line)
    result = app(arguments or ["--help"], exit_on_error=False, print_error=False)
    return result if isinstance(result, int) else 0


def _command(name: str, module: Any, arguments: list[str]) -> Callable[..., int]:
    options = [*module.options(name, arguments), QUIET, JSON]

    def command(*places: Any, **given: Any) -> int:
        values = {option.name: option.default for option in options} | given
        values.update(zip((option.name for option in options if option.argument), places, strict=False))
        with progress.reporting(show.reporter(quiet=values["quiet"])):
            code: int = module.run(name, values)
        return code

    command.__signature__ = signature(options)  # type: ignore[attr-defined]  # cyclopts reads the options from here
    return command


def _placeholder() -> None:
    """Stand for a command that was not asked for, so that its module need not be loaded."""
