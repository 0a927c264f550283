"""`setveil completion`."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from cyclopts import Parameter

from setveil.catalog import ATTACKS, FORMATS, GUARANTEES, METHODS, METRICS
from setveil.cli.options import OutputOptions, about
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode
from setveil.presence import catalog as joined
from setveil.reproduce import PAPERS

NAMES = {
    "method": METHODS,
    "guarantee": GUARANTEES,
    "metric": METRICS,
    "attack": ATTACKS,
    "format": FORMATS,
    "release_format": FORMATS,
}
"""Options whose values are names, and the tables of these names."""
LISTS = {
    "methods": [*METHODS, *joined.METHODS],
    "guarantees": [*GUARANTEES, *joined.GUARANTEES],
    "metrics": [*METRICS, *joined.METRICS],
    "attacks": [*ATTACKS],
    "reproduce": [*PAPERS],
}
"""Commands whose argument is a name, and these names."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], about("The shell.")], /, *, output: OutputOptions
) -> ExitCode:
    r"""Print a script that lets the shell complete commands, options and names.

    Bash: add the line `source <(setveil completion bash)` to ~/.bashrc. Zsh: write the script to a file named _setveil in a folder of
    $fpath, before compinit runs. Fish: write it to ~/.config/fish/completions/setveil.fish. Then start a new shell. Print the script again
    after an update of setveil.

    Example:
      setveil completion bash
    """
    script = completion_script(shell)
    if output.json:
        say_json({"shell": shell, "script": script})
    else:
        say(script.removesuffix("\n"))
    return ExitCode.OK


def completion_script(shell: Literal["bash", "zsh", "fish"]) -> str:
    """Return the completion script of a shell. Without a list of values, it completes file names."""
    from setveil.cli.main import program  # noqa: PLC0415 - which imports this module

    app = program([], complete=True)
    for name, function in _commands(app):
        function.__signature__ = _with_names(inspect.signature(function), name, shell)
    script = str(app.generate_completion(shell=shell))
    # bash completes a file name where the function has no suggestion, and adds the slash of folders itself
    return script.replace("complete -F _setveil", "complete -o default -F _setveil")


def _commands(app: Any) -> list[tuple[str, Any]]:
    """Return the name and the function of every command."""
    below = [(name, app[name]) for name in app if not name.startswith("-")]
    own = [(name, one.default_command) for name, one in below if one.default_command is not None]
    return own + [command for _name, group in below for command in _commands(group)]


def _with_names(signature: inspect.Signature, command: str, shell: str) -> inspect.Signature:
    """Return a signature with every option as a parameter of its own, each with the values that it can be completed with."""
    spread = [one for parameter in signature.parameters.values() for one in _spread(parameter)]
    changed = [one.replace(annotation=_completed(one, command, shell)) for one in spread]
    return signature.replace(parameters=changed)


def _spread(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """Return the options in a group of options, or the parameter itself."""
    if not is_dataclass(parameter.annotation):
        return [parameter]
    annotations = get_type_hints(parameter.annotation, include_extras=True)
    return [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotations[one.name], default=None)
        for one in fields(parameter.annotation)
    ]


def _completed(parameter: inspect.Parameter, command: str, shell: str) -> Any:
    """Return the annotation of a parameter with the names that it takes; of a text in other shells than bash, as a path."""
    kind, *about_it = get_args(parameter.annotation) or (parameter.annotation,)
    is_place = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    names = tuple(LISTS.get(command, ()) if is_place else NAMES.get(parameter.name, ()))
    if names:
        return Annotated[kind, *about_it, Parameter(choices=names)]
    is_path = shell != "bash" and kind in (str, str | None)
    return Annotated[Path, *about_it] if is_path else parameter.annotation
