"""Methods, guarantees and metrics from texts: options, files and form fields."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from setveil.errors import BadParameter
from setveil.parameters.kind import Origin, ParameterKind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setveil.base.declaration import Declaration, Parameter
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.kind import Option

D = TypeVar("D", bound="Declaration")


def from_texts(
    kind: type[D], texts: Mapping[str, Any], *, data: Transactions | None = None, separator: str | None = None
) -> D:
    """Create a method, guarantee or metric from values for its parameters and for the options of their kinds.

    The kind of each parameter reads its text; most texts are file names. Other values are used unchanged, and unknown names are ignored.
    `data` is the data set to use it on. `separator` separates items in files of lists.
    """
    former = {name: texts[name] for name in kind.renamed if texts.get(name) is not None}
    return kind(**values_of(kind.parameters(), texts, data=data, separator=separator), **former)


def values_of(
    parameters: Iterable[Parameter],
    texts: Mapping[str, Any],
    *,
    data: Transactions | None = None,
    separator: str | None = None,
) -> dict[str, Any]:
    """Return the values of the given parameters, read by their kinds."""
    values = {}
    for parameter in parameters:
        value, kind = texts.get(parameter.name), kind_of(parameter.annotation)
        if value is None:
            continue
        if kind is not None and isinstance(value, str | Path):
            options = {one.name: texts[one.name] for one in extra_options(parameter) if texts.get(one.name) is not None}
            source = str(value)
            value = kind.read(value, data=data, separator=separator, **options)
            if isinstance(value, ParameterKind) and value.origin is None:
                value = value.with_origin(
                    Origin(source, options if separator is None else {**options, "separator": separator})
                )
        values[parameter.name] = value
    return values


def settings_in(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and the parameters in a text `NAME[:param=value,...]`."""
    name, _, rest = text.partition(":")
    given = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise BadParameter(f"{text!r}: {part!r} is not of the form parameter=value")
        given[key.strip().replace("-", "_")] = value.strip()
    return name, given


def extra_options(parameter: Parameter) -> tuple[Option, ...]:
    """Return the further options about how to read a parameter."""
    kind = kind_of(parameter.annotation)
    return () if kind is None else kind.options
