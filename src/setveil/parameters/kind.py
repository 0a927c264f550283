"""What a kind of parameter declares, so that it can be given in Python, on the command line and in files alike.

The annotation of a declared field is its kind: a class that derives from `ParameterKind` needs no registration. Plain types (numbers,
texts, choices, tuples of them) are not kinds; pydantic reads them, and `declaration` says in words what they allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from pydantic_core import core_schema

from setveil.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.data.records.look_alikes import LookAlikes
    from setveil.data.records.transactions import Transactions


@dataclass(frozen=True)
class Option:
    """What can be said beside a parameter about how to read it, such as a column of its file."""

    name: str
    type: type
    help: str
    default: Any = None


class ParameterKind:
    """A type of values that methods, guarantees and metrics take as a parameter."""

    in_words: ClassVar[str]
    """What a person may type for it."""
    python_type: ClassVar[str]
    """What Python takes, if that is something else."""
    example: ClassVar[str]
    """A value as Python code, for help pages."""
    ending: ClassVar[str] = ""
    """How the name of a file ends that `read` reads and `to_file` makes; empty for a kind that is given as its text."""
    options: ClassVar[tuple[Option, ...]] = ()
    """What `read` takes beside the text, by name."""
    bad_values: ClassVar[tuple[Any, ...]] = ()
    """Values that must be refused."""
    ways: ClassVar[tuple[Any, ...]] = ()
    """Values that methods are tested with beside their defaults."""
    names_items: ClassVar[bool] = False
    """Whether values name items of the data, so that no default fits all data."""

    if TYPE_CHECKING:  # a real one would stand before those of Mapping and other bases

        def __init__(self, value: Any, /) -> None: ...

    @classmethod
    def read(cls, source: str | Path, **_given: Any) -> Any:
        """Return what a person typed or wrote in a file, as a value that a declaration takes.

        `data` are those that the value is for, `separator` is what separates items in files of lists; further arguments are the `options`.
        A kind that is given as its text, such as a share, need not override this: the declaration takes the text.
        """
        return source

    @classmethod
    def example_for(cls, data: Transactions) -> Self:
        """Return a value that fits the data, the same one for the same data."""
        raise NotImplementedError(f"{cls.__name__} has no example for data")

    def to_json(self) -> Any:
        """Return plain values, of which the same value can be made again."""
        raise NotImplementedError(f"{type(self).__name__} cannot be stored")

    def to_file(self) -> str:
        """Return the content of a file from which `read` reads the same value."""
        raise NotImplementedError(f"{type(self).__name__} is not given as a file")

    def refuse_look_alikes(self, parameter: str, found: LookAlikes) -> None:
        """Refuse names that look like others in the data, if the kind names items."""

    @classmethod
    def validated(cls, value: Any) -> Self:
        """Return a value as one of this kind, or say what is wrong with it in a `ValueError`, as pydantic wants it."""
        if type(value) is cls:
            return value
        try:
            return cls(value)
        except InputError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        """Let pydantic take what the constructor takes, and give plain values back as JSON."""
        return core_schema.no_info_plain_validator_function(
            cls.validated, serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.to_json())
        )


def kind_of(annotation: Any) -> type[ParameterKind] | None:
    """Return the kind that the annotation of a field leads to, also of one that may be left out; None for plain types."""
    for one in get_args(annotation) if type(None) in get_args(annotation) else (annotation,):
        if isinstance(one, type) and issubclass(one, ParameterKind):
            return one
    return None
