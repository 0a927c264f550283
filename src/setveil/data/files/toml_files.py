"""TOML files, with messages that name the file and what it was expected to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path


def read_settings(file: Path, expected: str) -> str:
    """Return the text of a settings file; `expected` says what it should be, such as "a policy file"."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadData(f"does not exist; expected {expected}", file=str(file)) from None
    except OSError as error:
        what = "is a folder" if isinstance(error, IsADirectoryError) else f"cannot be read: {error.strerror or error}"
        raise BadData(f"{what}; expected {expected}", file=str(file)) from None
    except UnicodeDecodeError:
        raise BadData(f"is not UTF-8 text; expected {expected}", file=str(file)) from None
    except ValueError:
        raise BadData(f"is not a valid file name; expected {expected}", file=repr(str(file))) from None


def parse_toml(text: str, file: Path, expected: str) -> dict[str, Any]:
    """Return the values in a TOML text."""
    import tomllib  # noqa: PLC0415 - only for commands that read such a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadData(f"is not valid TOML ({error}); expected {expected}", file=str(file)) from None
    except RecursionError:
        raise BadData(f"is nested too deeply; expected {expected}", file=str(file)) from None
