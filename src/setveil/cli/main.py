"""The entry point: finds the command, runs it, and turns errors into one sentence and an exit code.

Slow imports are inside functions, after the handler of Ctrl-C is installed.
"""

from __future__ import annotations

import inspect
import os
import sys
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from setveil import __version__
from setveil.base import progress
from setveil.cli import interrupt, lean_imports
from setveil.cli.ending import Ending
from setveil.cli.raw_arguments import HYPHEN
from setveil.errors import ExitCode, SetveilError
from setveil.presence import PROTECTS

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = {
    "demo": ("demo", "Run all steps on built-in data, and write a report to open."),
    "profile": ("profile", "Describe a data set, and how exposed its people are."),
    "risk": ("risk", "Report what a file reveals to every recipient, without the original."),
    "advise": ("advise", "Recommend methods and settings, tried on a part of the data."),
    "methods": ("listing", "List the methods, or describe one."),
    "guarantees": ("listing", "List the guarantees, or describe one."),
    "metrics": ("listing", "List the metrics, or describe one."),
    "attacks": ("listing", "List the attacks, or describe one."),
    "publish": ("publish", "Publish a release after checking its guarantee on the written file."),
    "run": ("run", "Publish a release as a job file describes it."),
    "releases": ("register", "List the releases in a register."),
    "withdraw": ("register", "Mark a release in a register as withdrawn."),
    "check": ("check", "Check the guarantee of a release again."),
    "measure": ("measure", "Measure what a release costs and what it still reveals."),
    "attack": ("attack", "Try out what an attacker can still find out from a release."),
    "report": ("report", "Measure more of a release, and write its report again."),
    "studio": ("studio", "Open a web page to publish with, and a REST API."),
    "compare": ("compare", "Compare methods and settings on the same data, or finished releases."),
    "mine": ("mine", "Find frequent itemsets and association rules."),
    "convert": ("convert", "Convert data between formats."),
    "reproduce": ("reproduce", "Repeat the experiments of a paper, and check its claims."),
    "completion": ("completion", "Print a script that lets the shell complete commands, options and names."),
}
"""The module of each command and its line in the overview."""

PRESENCE = {
    "sample": ("presence.sample", "Write sample tables of a bank and a video service."),
    "policy": ("presence.policy", "Draft the policy that both providers and the collector agree on."),
    "simulate": ("presence.simulate", "Run all three parties on this machine, as a trial."),
    "init": ("presence.init", "Create the home of a party, and pin the certificates of the other parties."),
    "ledger": ("presence.ledger", "List the runs that a party's home records, or recover a lost ledger."),
    "provider": ("presence.provider", "Run provider A or B over the network."),
    "collector": ("presence.collector", "Run the collector over the network."),
    "check": ("presence.check", "Check a joined table again, with or without the providers' tables."),
    "measure": ("presence.measure", "Measure the query error of a joined table."),
    "compare": ("presence.compare", "Compare the protocol with other methods in a trial."),
    "attack": ("presence.attack", "Measure what each party could learn from a run."),
}
"""The commands of `setveil presence`."""

GROUPS = {
    "presence": (
        PRESENCE,
        "Join the tables of two providers and hide which provider a person is a customer of.",
        PROTECTS,
    )
}
"""Command groups: their commands, their line in the overview, and the last paragraph of their help."""

OVERVIEW = """Publish set-valued data with a privacy guarantee that is checked on the written file.

Start with: setveil demo. Describe a command with: setveil help COMMAND"""


def main() -> None:
    """Run the program."""
    try:
        interrupt.install()
        lean_imports.install()
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the parent process
                setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False))
        code = run(sys.argv[1:])
        if code != interrupt.STOPPED:
            interrupt.uninstall()
    except KeyboardInterrupt:
        code = interrupt.STOPPED
    if code == interrupt.STOPPED:
        interrupt.end()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    from setveil.cli.log_file import logging_to  # noqa: PLC0415 - after the handler of Ctrl-C is installed

    interrupt.begin()
    ending = Ending(arguments)
    try:
        with logging_to(ending.log_path) as log:
            ending.log = log
            interrupt.report_with(ending.stopped)
            if log is not None:
                log.begin(arguments)
            code = _ended(arguments, ending)
            if log is not None and code != interrupt.STOPPED:
                log.end(code)
            return code
    except SetveilError as error:  # the log file is refused
        return ending.refused(error)


def _ended(arguments: list[str], ending: Ending) -> int:
    """Run a command, report an error in the way that was asked for, and return the exit code."""
    try:
        return _dispatch(arguments)
    except SetveilError as error:
        return ending.refused(error)
    except KeyboardInterrupt:
        return interrupt.STOPPED
    except OSError as error:
        return ending.refused_by_system(error)
    except Exception as error:  # noqa: BLE001 - the last resort: a bug must not look like a result
        if interrupt.heard():  # some imports turn Ctrl-C into another exception
            return interrupt.STOPPED
        return ending.failed(error)


def _dispatch(arguments: list[str]) -> int:
    from cyclopts import CycloptsError  # noqa: PLC0415 - takes a tenth of a second

    from setveil.cli.show import flush  # noqa: PLC0415 - the same
    from setveil.cli.usage import refusal  # noqa: PLC0415 - the same

    if arguments[:1] == ["help"]:
        arguments = [*(text for text in arguments[1:] if text != "help" and not text.startswith("-")), "--help"]
    parsed = [HYPHEN if text == "-" else text for text in arguments]
    try:
        result = program(arguments)(parsed or ["--help"], exit_on_error=False, print_error=False)
    except CycloptsError as error:
        raise refusal(error, arguments, _place_of(arguments), _command_of(arguments)) from None
    flush()
    return result if isinstance(result, int) else ExitCode.OK


def program(arguments: list[str], *, complete: bool = False) -> Any:
    """Return the program as an app of cyclopts, with the module of the requested command, or with all if it must be complete."""
    from cyclopts import App, Parameter  # noqa: PLC0415 - takes a tenth of a second

    app = App(
        name="setveil",
        help=OVERVIEW,
        version=__version__,
        version_flags=["--version", "-V"],
        help_format="plaintext",
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(negative="", show_default=lambda default: None if default is False else default),
    )
    _fill(app, COMMANDS, arguments, complete=complete)
    for group, (commands, line, warning) in GROUPS.items():
        below = App(name=group, help=f"{line}\n\n{warning}", help_format="plaintext")
        within = arguments[1:] if arguments[:1] == [group] else []
        _fill(below, commands, within, warning, complete=complete)
        app.command(below)
    return app


def _place_of(arguments: list[str]) -> str:
    """Return the command that the arguments name, as far as it is known."""
    first, second = [*arguments, "", ""][:2]
    if first in GROUPS:
        return f"{first} {second} " if second in GROUPS[first][0] else f"{first} "
    return f"{first} " if first in COMMANDS else ""


def _command_of(arguments: list[str]) -> Callable[..., Any] | None:
    """Return the function of the command that the arguments name, if they do."""
    name, *_rest = [*arguments, ""]
    return getattr(import_module(f"setveil.cli.{COMMANDS[name][0]}_command"), name) if name in COMMANDS else None


def _fill(
    app: Any, commands: dict[str, tuple[str, str]], arguments: list[str], warning: str = "", *, complete: bool = False
) -> None:
    """Add commands to an app and load only the module of the requested one; its help ends with the warning."""
    chosen = arguments[0] if arguments else "--help"
    for name, (module, line) in commands.items():
        if name == chosen or complete:
            command = getattr(import_module(f"setveil.cli.{module}_command"), name)
            # cyclopts would treat an "Example:" inside the text as a docstring section and drop it
            text, _, example = inspect.cleandoc(command.__doc__).removeprefix(line).partition("Example:")
            app.command(
                _called(command, arguments[1:], complete=complete),
                name=name,
                help=f"{line}\n\n{' '.join(text.split())}\n\n{warning}".strip(),
                help_epilogue=f"Example:{example}",
            )
        else:
            app.command(_placeholder, name=name, help=line)


def _called(command: Callable[..., int], arguments: list[str], *, complete: bool) -> Callable[..., int]:
    """Return a command as cyclopts calls it: with its signature for these arguments, and a reporter for its progress."""
    from setveil.cli.options import signature_of  # noqa: PLC0415 - takes a tenth of a second
    from setveil.cli.reporters import reporting_as  # noqa: PLC0415 - the same

    signature = signature_of(command, arguments, every=complete)

    def call(*places: Any, **given: Any) -> int:
        bound = signature.bind(*places, **given)
        bound.apply_defaults()
        options = {name: _as_given(value) for name, value in bound.kwargs.items() if value is not None}
        with reporting_as(options["output"]) as reporter, progress.reporting(reporter):
            return command(*map(_as_given, bound.args), **options)

    call.__signature__ = signature  # type: ignore[attr-defined]  # cyclopts reads the options from here
    return call


def _as_given(value: Any) -> Any:
    """Return the value of an argument, an option or a group of options, with hyphens where they were given."""
    if is_dataclass(value):
        return replace(value, **{one.name: _as_given(getattr(value, one.name)) for one in fields(value)})  # type: ignore[type-var]
    return "-" if value == HYPHEN else value


def _placeholder() -> None:
    """Represent a command that was not requested, so that its module need not be loaded."""
