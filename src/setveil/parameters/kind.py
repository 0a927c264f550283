"""The base class of kinds of parameters, whose values can be given in Python, on the command line and in files.

The annotation of a declared field is its kind: a subclass of `ParameterKind` needs no registration. Plain types (numbers, texts, choices,
tuples of them) are not kinds: pydantic reads them, and `declaration` describes the allowed values.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from pydantic_core import core_schema

from setveil.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from setveil.data.records.look_alikes import LookAlikes
    from setveil.data.records.transactions import Transactions


@dataclass(frozen=True)
class Option:
    """A further option about how to read a parameter, such as a column of its file."""

    name: str
    type: type
    help: str
    default: Any = None


@dataclass(frozen=True)
class CommandExample:
    """A command of the program as an example; the command line writes it as text."""

    command: str
    arguments: tuple[str, ...] = ()
    options: tuple[tuple[str, str | bool], ...] = ()
    """Python names of options with their values; True for a flag."""


@dataclass(frozen=True)
class Origin:
    """Where a value was read from: what is needed to read it again, and what was found there."""

    source: str
    """The file, sample or other text that was given."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of `read` that were given, by name."""
    found: str = ""
    """What was read, for people: file, columns and level."""

    @classmethod
    def of(cls, source: str | Path, found: str, **options: Any) -> Origin:
        """Return the origin of a value that was read with these options; those with None or False were not given."""
        given = {name: value for name, value in options.items() if value is not None and value is not False}
        return cls(str(source), given, f"{source}: {found}")


class ParameterKind:
    """A type of values that methods, guarantees and metrics take as a parameter."""

    allowed_text: ClassVar[str]
    """The allowed values on the command line."""
    python_type: ClassVar[str]
    """The allowed values in Python, if they differ."""
    example: ClassVar[str]
    """An example value as Python code, for help pages."""
    option_example: ClassVar[str] = ""
    """A value as a person types it, for a kind whose `example` is more than a text."""
    example_command: ClassVar[CommandExample | None] = None
    """The command that makes the file that `option_example` names, if it does not exist yet."""
    reader: ClassVar[str] = ""
    """The public function that reads a value from a file; empty for a kind that is given as text."""
    ending: ClassVar[str] = ""
    """The extension of files that `read` reads and `to_file` writes; empty for a kind that is given as text, not as a file."""
    options: ClassVar[tuple[Option, ...]] = ()
    """The keyword arguments of `read`."""
    bad_values: ClassVar[tuple[Any, ...]] = ()
    """Invalid values, for tests."""
    ways: ClassVar[tuple[Any, ...]] = ()
    """Further values with which methods are tested."""
    names_items: ClassVar[bool] = False
    """Whether values name items of the data; then no default fits all data."""
    origin: Origin | None = None
    """Where the value was read from; None for a value that was made in Python."""

    if TYPE_CHECKING:  # a real one would override those of Mapping and other bases

        def __init__(self, value: Any, /) -> None: ...

    @classmethod
    def read(cls, source: str | Path, **_given: Any) -> Any:
        """Read a value from a command-line text or a file, in a form that a declaration accepts.

        `data` is the data set that the value is for. `separator` separates items in files of lists. Further arguments are the `options`.
        A kind that is given as text, such as a share, does not override this method: the declaration parses the text.
        """
        return source

    @classmethod
    def example_for(cls, data: Transactions) -> Self:
        """Return a value that fits the data; equal data give equal values."""
        raise NotImplementedError(f"{cls.__name__} has no example for data")

    def with_origin(self, origin: Origin) -> Self:
        """Return an equal value with its origin."""
        named = copy(self)
        object.__setattr__(named, "origin", origin)
        return named

    def to_json(self) -> Any:
        """Return plain JSON values from which the constructor makes an equal value."""
        raise NotImplementedError(f"{type(self).__name__} cannot be stored")

    def to_file(self) -> str:
        """Return the content of a file from which `read` reads an equal value."""
        raise NotImplementedError(f"{type(self).__name__} is not given as a file")

    def refuse_look_alikes(self, parameter: str, found: LookAlikes) -> None:
        """Refuse names that look like other labels of the data; only for kinds that name items."""

    @classmethod
    def validated(cls, value: Any) -> Self:
        """Return a value as an instance of this kind, or raise `ValueError`, which pydantic expects."""
        if type(value) is cls:
            return value
        try:
            return cls(value)
        except InputError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        """Make pydantic accept what the constructor accepts, and serialize with `to_json`."""
        return core_schema.no_info_plain_validator_function(
            cls.validated, serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.to_json())
        )


def kind_of(annotation: Any) -> type[ParameterKind] | None:
    """Return the kind in the annotation of a required or optional field; None for plain types."""
    for one in get_args(annotation) if type(None) in get_args(annotation) else (annotation,):
        if isinstance(one, type) and issubclass(one, ParameterKind):
            return one
    return None
