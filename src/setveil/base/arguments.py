"""Type checks for the arguments of public functions, with messages that say what was given and what is expected.

`check_arguments` reads the annotations of a function. It checks only the type of an argument; the function checks the value. An annotation
with an unknown part is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import signature
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, get_args, get_origin

from setveil.errors import BadParameter

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST = 60
_ALTERNATIVES = re.compile(r"\s*\|\s*(?![^\[]*\])")
"""The `|` between the alternatives of an annotation, not inside brackets."""


class Kind(NamedTuple):
    """A kind of argument: a test for it, and its name in messages."""

    holds: Callable[[Any], bool]
    words: str


def _is_listed(value: Any) -> bool:
    is_table = hasattr(value, "columns")  # iterating over a data frame gives column names
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | type) and not is_table


def _is_flag(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # Python's and NumPy's


_KINDS = {
    "None": Kind(lambda value: value is None, "None"),
    "str": Kind(lambda value: isinstance(value, str), "a text"),
    "Path": Kind(lambda value: isinstance(value, PathLike), "a path"),
    "bool": Kind(_is_flag, "True or False"),
    "int": Kind(lambda value: isinstance(value, Integral) and not _is_flag(value), "a whole number"),
    "float": Kind(lambda value: isinstance(value, Real) and not _is_flag(value), "a number"),
    "Iterable": Kind(_is_listed, "a list"),
    "Sequence": Kind(_is_listed, "a list"),
    "tuple": Kind(lambda value: isinstance(value, tuple), "a tuple"),
    "Callable": Kind(callable, "a function"),
}
_OUR_CLASSES = {
    "Transactions": "Transactions: read a file with setveil.read, or use setveil.from_lists, from_pandas or from_arrow",
    "Disassociated": "disassociated data: read them with setveil.read_disassociated",
    "Reassociated": "re-associated data: open their release with setveil.open_release",
    "Itemsets": "Itemsets: find them with setveil.mine",
    "BoundedItemsets": "BoundedItemsets: find them with setveil.mine_bounds",
    "Rules": "Rules: find them with setveil.association_rules",
    "Hierarchy": "a Hierarchy: read it with setveil.read_hierarchy",
    "JoinedTable": "a JoinedTable: read it with setveil.read_joined",
    "OrderedAttribute": "an OrderedAttribute: use schema.sensitive of the policy",
    "Originals": "Originals: create them from both tables with setveil.Originals",
    "Population": "a Population: read it with setveil.read_population",
    "ProviderTable": "a ProviderTable: read it with setveil.read_provider_table",
    "OpenedJoined": "a joined release: open it with setveil.open_joined",
    "TableSource": "a TableSource: create one with setveil.TableSource",
    "ProviderSide": "a ProviderSide: create one with setveil.ProviderSide",
    "Policy": "a Policy: read it with setveil.read_policy",
    "Home": "a Home: open it with setveil.Home.open",
    "Places": "Places: create them with setveil.Places",
    "Keys": "Keys: create them with setveil.Keys",
}
"""Classes of this package and how to get an instance; by name, because most are imported lazily."""


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that it raises `BadParameter` for arguments that do not match its annotations.

    >>> @check_arguments
    ... def double(number: int) -> int:
    ...     return 2 * number
    >>> double("2")
    Traceback (most recent call last):
    setveil.errors.BadParameter: number is '2'; expected a whole number
    """
    shape = signature(function)

    @cache  # on the first call: the names in annotations may be defined after the function
    def kinds_of(name: str) -> list[Kind]:
        return kinds_in(shape.parameters[name].annotation, function.__globals__)

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in _named(shape, args, kwargs):
            _refuse_none_of(kinds_of(name), name, value)
        return function(*args, **kwargs)

    return checked


def _named(shape: Any, args: Any, kwargs: Any) -> Iterable[tuple[str, Any]]:
    try:
        named: Iterable[tuple[str, Any]] = shape.bind(*args, **kwargs).arguments.items()
    except TypeError:  # wrong number of arguments: the call itself raises Python's error
        return ()
    return named


def refuse_other_kind(name: str, value: Any, annotation: Any, known: Mapping[str, Any]) -> None:
    """Refuse an argument that matches no alternative of its annotation; `known` are the globals of its module."""
    _refuse_none_of(kinds_in(annotation, known), name, value)


def _refuse_none_of(kinds: list[Kind], name: str, value: Any) -> None:
    if kinds and not any(kind.holds(value) for kind in kinds):
        words = dict.fromkeys(kind.words for kind in kinds)
        given, allowed = describe(value), " or ".join(words)
        raise BadParameter(f"{name} is {given}; expected {allowed}", parameter=name, given=given, allowed=allowed)


def kinds_in(annotation: Any, known: Mapping[str, Any]) -> list[Kind]:
    """Return the kinds in an annotation, or an empty list if one is unknown."""
    kinds = [_kind(one, known) for one in _ALTERNATIVES.split(annotation)] if isinstance(annotation, str) else [None]
    return [kind for kind in kinds if kind is not None] if None not in kinds else []


def _kind(annotation: str, known: Mapping[str, Any]) -> Kind | None:
    name = annotation.partition("[")[0]
    if get_origin(known.get(name)) is Literal:  # the function itself checks the choice
        return Kind(lambda value: isinstance(value, str), " | ".join(get_args(known[name])))
    if name in _OUR_CLASSES:
        return Kind(lambda value: name in {kind.__name__ for kind in type(value).__mro__}, _OUR_CLASSES[name])
    return _KINDS.get(name)


def describe(value: Any) -> str:
    """Describe a given value without revealing data or passwords."""
    if isinstance(value, str):
        return _cut(repr(value)) if "://" not in value else "an address"
    if value is None or isinstance(value, bool | Real):
        return _cut(repr(value))
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"of the type {type(value).__name__}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
