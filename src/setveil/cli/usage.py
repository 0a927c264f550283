"""Errors in the arguments themselves, as sentences: what was given, what is allowed, and what was probably meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from cyclopts import CoercionError, MissingArgumentError, UnknownCommandError, UnknownOptionError

from setveil.base.translation import option_of
from setveil.cli.options import declared_of, of_declaration
from setveil.cli.raw_arguments import HYPHEN, named_in
from setveil.errors import InputError, closest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from cyclopts import CycloptsError

    from setveil.errors import Facts


class UsageError(InputError):
    """The arguments of the program are wrong. The message already holds the suggestion."""

    def __init__(self, message: str, **facts: Unpack[Facts]) -> None:
        meant = facts.pop("suggestion", None)
        super().__init__(message, **facts)
        self.suggestion = meant


def refusal(error: CycloptsError, arguments: list[str], place: str, command: Callable[..., Any] | None) -> UsageError:
    """Return the error of cyclopts as one of ours; `place` is the command as far as it is known, and `command` its function."""
    match error:
        case UnknownOptionError():
            message, facts = _unknown_option(error, arguments, command)
        case UnknownCommandError():
            message, facts = _unknown_command(error)
        case MissingArgumentError():
            message, facts = _missing_argument(error, place)
        case CoercionError():
            message, facts = _wrong_value(error)
        case _:
            message, facts = " ".join(str(error).split()), {}
    facts["given"] = (facts.get("given") or "").replace(HYPHEN, "-") or None
    return UsageError(f"{message.replace(HYPHEN, '-')} See: setveil {place}--help", **facts)


def _unknown_option(
    error: UnknownOptionError, arguments: list[str], command: Callable[..., Any] | None
) -> tuple[str, Facts]:
    given = (error.token.keyword or error.token.value).partition("=")[0]
    known = [name for one in error.argument_collection for name in one.names if one.parse and name.startswith("--")]
    facts: Facts = {"given": given, "parameter": given.lstrip("-")}
    if elsewhere := _of_others(given, arguments, command):
        return elsewhere, facts
    near = closest(given, known)
    hint = f" Did you mean {near}?" if near else ""
    return f"Unknown option: {given}.{hint}", {**facts, "suggestion": near, "allowed": known}


def _of_others(given: str, arguments: list[str], command: Callable[..., Any] | None) -> str:
    """Return which methods or guarantees have an option, if the command could have it with another one; otherwise nothing."""
    declared = None if command is None else declared_of(command)
    if declared is None or not isinstance(declared.kinds, Mapping):
        return ""
    selecting = option_of(declared.after)
    having = [
        name
        for name, kind in declared.kinds.items()
        if given in {option_of(option.name) for option in of_declaration(kind)}
    ]
    if not having:
        return ""
    chosen = named_in(arguments, selecting)
    whose = f"not of {chosen}" if chosen else f"name one of them with {selecting}"
    return f"{given} is an option of {', '.join(having)}; {whose}."


def _unknown_command(error: UnknownCommandError) -> tuple[str, Facts]:
    given = (error.unused_tokens or [""])[0]
    known = [name for name in (error.app or ()) if not name.startswith("-")]
    near = closest(given, known)
    hint = f" Did you mean {near}?" if near else ""
    message = f'Unknown command "{given}".{hint} The commands are: {", ".join(known)}.'
    return message, {"given": given, "suggestion": near, "allowed": known}


def _missing_argument(error: MissingArgumentError, place: str) -> tuple[str, Facts]:
    assert error.argument is not None
    name = error.argument.name if error.argument.name.startswith("-") else error.argument.name.upper()
    facts: Facts = {"parameter": name.lstrip("-").lower().replace("-", "_")}
    if error.keyword is not None or error.argument.tokens:
        return f"{error.keyword or name} needs a value.", facts
    near = closest(name, [text for text in error.unused_tokens or () if text.startswith("--")])
    hint = f" Did you mean {name} instead of {near}?" if near else ""
    return f"{place}needs {name}: {error.argument.parameter.help}{hint}", facts


def _wrong_value(error: CoercionError) -> tuple[str, Facts]:
    message = " ".join(str(error).split())
    if error.token is None:
        return message, {}
    choices = [one for one in get_args(error.target_type) if isinstance(one, str)]
    given = error.token.value
    name = (error.token.keyword or (error.argument.name if error.argument else "")).lstrip("-").replace("-", "_")
    near = closest(given, choices)
    return message, {"parameter": name, "given": given, "allowed": choices or None, "suggestion": near}
