"""What the arguments say before they are parsed: which method is named, and how to report an error in the arguments themselves."""

from __future__ import annotations

HYPHEN = "\ue000"
"""Stands for the argument `-` while options are parsed: cyclopts would take that for an option without a name."""


def named_in(arguments: list[str], option: str) -> str | None:
    """Return the value of an option before parsing: `--method` determines which other options exist."""
    for i, text in enumerate(arguments):
        if text == option and i + 1 < len(arguments):
            return arguments[i + 1]
        if text.startswith(option + "="):
            return text.partition("=")[2]
    return None


def has_flag(arguments: list[str], flag: str) -> bool:
    """Return whether a flag is given."""
    return any(text in (flag, f"{flag}=true") for text in arguments)
