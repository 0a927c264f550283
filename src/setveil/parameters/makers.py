"""Values that a text describes in place of a file: `random:50` makes categories, `balanced:5` makes a hierarchy.

A kind has a table of its makers: the beginning of the text (or, without a colon at its end, the whole text), and the function that makes
the value. The function is named as `module.function` in this package and imported when it is used. It takes the text, and by keyword
`data`, the data set that the value is for or None, and the options of the kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from setveil.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from setveil.data.forms.base import Published


def maker_of(source: str, makers: Mapping[str, str]) -> Callable[..., Any] | None:
    """Return the function that makes the value which a text describes; None for the name of a file."""
    for beginning, place in makers.items():
        if source.startswith(beginning) if beginning.endswith(":") else source == beginning:
            module, _, name = place.rpartition(".")
            found: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), name)
            return found
    return None


def items_for(text: str, data: Published | None) -> tuple[str, ...]:
    """Return the items of the data set that a text needs; refuse the text if there is none."""
    if data is None:
        raise BadParameter(
            f"{text} is made from the items of a data set, and none was given; give it as `data` in Python, or with `original=` in a check"
        )
    return data.vocabulary
