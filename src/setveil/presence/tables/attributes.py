"""Attributes of a provider's table: a public, ordered list of cells per column, and the text of any interval of cells.

A value belongs to one cell; a group shows an interval of cells. Cells are the steps of a public grid, ordered categories, or the leaves of
a taxonomy in its order. So a cut is never at the value of one user.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.display import quantity
from setveil.data.files.side_files import shown, unusable
from setveil.errors import BadData, BadParameter
from setveil.parameters.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EVERYTHING = "*"
_BETWEEN = " | "
_MOST_CELLS = 1 << 20
_INTERVAL = re.compile(r"\[(-?[0-9.]{1,40}), (-?[0-9.]{1,40})\)", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,12})?", re.ASCII)
"""Numbers in a policy. Their sums are exact."""
_VALUE = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,60})?", re.ASCII)
"""Numbers in data. Floating-point numbers may have many digits."""


def value_of(text: str) -> Decimal | None:
    """Return the number that a text in the data represents; None if it is not a number."""
    return Decimal(text) if _VALUE.fullmatch(text) else None


class Attribute(ABC):
    """A column, and the ordered cells of its values."""

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of cells."""

    def codes(self, texts: Any, file: str) -> NDArray[np.int32]:
        """Return the cell of each text of an Arrow column; refuse the first text that belongs to no cell."""
        encoded = texts.dictionary_encode()
        of_text = np.empty(len(encoded.dictionary), dtype=np.int32)
        for place, text in enumerate(encoded.dictionary.to_pylist()):
            cell = self.cell(text)
            if isinstance(cell, str):
                row = pc.index(encoded.indices, pa.scalar(place, encoded.indices.type)).as_py()
                raise BadData(f"the value {shown(text)} of {self.name!r} {cell}", file=file, row=row + 1)
            of_text[place] = cell
        codes: NDArray[np.int32] = of_text[encoded.indices.to_numpy(zero_copy_only=False)]
        return codes

    @abstractmethod
    def cell(self, text: str) -> int | str:
        """Return the cell of a value, or a text that says what is wrong with the value."""

    @abstractmethod
    def text(self, low: int, high: int) -> str:
        """Return the text that a group shows for the cells from `low` to before `high`."""

    @abstractmethod
    def interval(self, text: str) -> tuple[int, int] | None:
        """Return the first cell and the cell after the last for a text of an interval; None for a text that `text` never returns."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the attribute as plain values, as in a policy file."""


@dataclass(frozen=True)
class NumericAttribute(Attribute):
    """Numbers from `low` to `high` on a public grid; each step of the grid is one cell.

    Parameters
    ----------
    name : str
        The name of the column.
    low, high : decimal.Decimal
        The smallest and the largest number that is allowed.
    step : decimal.Decimal
        The size of a cell, more than 0. The last cell may extend beyond `high`.

    Raises
    ------
    BadParameter
        `low` is not below `high`, `step` is not positive, or there are more than 1,048,576 steps.

    Examples
    --------
    >>> from decimal import Decimal
    >>> import setveil as sv
    >>> age = sv.NumericAttribute("age", Decimal(17), Decimal(90), Decimal(1))
    >>> age.cells
    74
    >>> age.cell("20")
    3
    >>> age.text(3, 20)
    '[20, 37)'
    """

    kind: ClassVar[str] = "numeric"

    name: str
    low: Decimal
    high: Decimal
    step: Decimal

    def __post_init__(self) -> None:
        if not all(number.is_finite() for number in (self.low, self.high, self.step)):
            raise BadParameter(f"attribute {self.name!r}: low, high and step must be finite numbers")
        if self.high <= self.low or self.step <= 0:
            raise BadParameter(
                f"attribute {self.name!r} has low = {self.low}, high = {self.high} and step = {self.step}; expected low < high and step > 0"
            )
        if (self.high - self.low) / self.step >= _MOST_CELLS:
            raise BadParameter(f"attribute {self.name!r} has more than {_MOST_CELLS:,} steps; choose a larger step")

    @property
    def cells(self) -> int:
        """The number of steps; the last one may extend beyond `high`."""
        return int((self.high - self.low) // self.step) + 1

    @cached_property
    def _edges(self) -> list[str]:
        return [_plain(self.low + number * self.step) for number in range(self.cells + 1)]

    @cached_property
    def _edge_of(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self._edges)}

    def cell(self, text: str) -> int | str:
        """Return the step that contains a number, or a text that says what is wrong with it."""
        number = value_of(text)
        if number is None:
            return "is not a number such as 37 or 0.5"
        if not self.low <= number <= self.high:
            return f"is not between {_plain(self.low)} and {_plain(self.high)}"
        # Fractions are exact. Decimals are rounded to 28 digits, which could move a value just below an edge to the edge.
        return int((Fraction(number) - Fraction(self.low)) // Fraction(self.step))

    def text(self, low: int, high: int) -> str:
        """Return an interval such as `[20, 37)`, for numbers of at least 20 and below 37, or `*` for all numbers."""
        return EVERYTHING if (low, high) == (0, self.cells) else f"[{self._edges[low]}, {self._edges[high]})"

    def interval(self, text: str) -> tuple[int, int] | None:
        """Return the cells of an interval's text; None for a text that `text` never returns."""
        if text == EVERYTHING:
            return 0, self.cells
        found = _INTERVAL.fullmatch(text)
        if not found:
            return None
        low, high = (self._edge_of.get(edge) for edge in found.groups())
        return None if low is None or high is None or low >= high else (low, high)

    def to_dict(self) -> dict[str, Any]:
        """Return the attribute as plain values."""
        edges = {name: _plain(getattr(self, name)) for name in ("low", "high", "step")}
        return {"name": self.name, "kind": self.kind, **edges}


@dataclass(frozen=True)
class OrderedAttribute(Attribute):
    """Categories in an order that both providers know; each category is one cell.

    Parameters
    ----------
    name : str
        The name of the column.
    values : tuple of str
        The categories in their order: at least two, all different, without bars (`|`) and control characters, and not `*`.

    Raises
    ------
    BadParameter
        A category is not usable or occurs twice, or there are fewer than two.

    Examples
    --------
    >>> import setveil as sv
    >>> size = sv.OrderedAttribute("size", ("small", "medium", "large"))
    >>> size.cell("large")
    2
    >>> size.text(0, 2)
    'small | medium'
    >>> size.interval("small | medium")
    (0, 2)
    """

    kind: ClassVar[str] = "ordered"

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_labels(self.name, self.values)

    @property
    def cells(self) -> int:
        """The number of categories."""
        return len(self.values)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.values)}

    def cell(self, text: str) -> int | str:
        """Return the index of a category, or a text that says what is wrong with it."""
        return self._code_of.get(text, f"is not one of its {self.cells:,} categories in the policy")

    def text(self, low: int, high: int) -> str:
        """Return the categories of the interval, separated by ` | `, or `*` for all."""
        return EVERYTHING if (low, high) == (0, self.cells) else _BETWEEN.join(self.values[low:high])

    def interval(self, text: str) -> tuple[int, int] | None:
        """Return the cells of an interval's text; None for a text that `text` never returns."""
        if text == EVERYTHING:
            return 0, self.cells
        codes = [self._code_of.get(part, -1) for part in text.split(_BETWEEN)]
        if codes[0] < 0 or codes != list(range(codes[0], codes[0] + len(codes))):
            return None
        return codes[0], codes[-1] + 1

    def to_dict(self) -> dict[str, Any]:
        """Return the attribute as plain values."""
        return {"name": self.name, "kind": self.kind, "values": list(self.values)}


@dataclass(frozen=True)
class TaxonomyAttribute(OrderedAttribute):
    """The leaves of a taxonomy in its order; an interval that covers all leaves below a node is shown as that node.

    Use `TaxonomyAttribute.over` to make one from a `Hierarchy`.

    Parameters
    ----------
    name : str
        The name of the column.
    values : tuple of str
        The leaves in the order of the tree.
    parents : tuple of (str, str)
        Pairs of a node and its parent.

    Raises
    ------
    BadParameter
        A label is not usable or occurs twice.

    Examples
    --------
    >>> import setveil as sv
    >>> tree = sv.Hierarchy({"Alder": "North", "Birch": "North", "Dale": "South", "Elm": "South"})
    >>> town = sv.TaxonomyAttribute.over("town", tree)
    >>> town.text(0, 2)
    'North'
    >>> town.text(1, 3)
    'Birch | Dale'
    """

    kind: ClassVar[str] = "taxonomy"

    parents: tuple[tuple[str, str], ...] = ()

    @classmethod
    def over(cls, name: str, hierarchy: Hierarchy) -> TaxonomyAttribute:
        """Return the attribute for a tree."""
        parents = {
            node: hierarchy.nodes[parent]
            for node, parent in zip(hierarchy.nodes, hierarchy.parents.tolist(), strict=True)
            if parent >= 0
        }
        _check_labels(name, hierarchy.nodes, least=1, star=True)
        return cls(name, hierarchy.leaves, tuple(sorted(parents.items())))

    @cached_property
    def _nodes(self) -> tuple[dict[tuple[int, int], str], dict[str, tuple[int, int]]]:
        """The node that covers each interval (the highest, if there are several), and the interval that each node covers."""
        tree = Hierarchy(dict(self.parents))
        spans = list(zip(tree.leaf_starts.tolist(), tree.leaf_ends.tolist(), strict=True))
        node_of = {span: node for node, span in reversed(list(zip(tree.nodes, spans, strict=True)))}
        return node_of, dict(zip(tree.nodes, spans, strict=True))

    def text(self, low: int, high: int) -> str:
        """Return the node that covers exactly the interval, the leaves of the interval if there is no such node, or `*` for all."""
        if (low, high) == (0, self.cells):
            return EVERYTHING
        return self._nodes[0].get((low, high)) or super().text(low, high)

    def interval(self, text: str) -> tuple[int, int] | None:
        """Return the cells of an interval's text; None for a text that `text` never returns."""
        if text == EVERYTHING:
            return 0, self.cells
        return self._nodes[1].get(text) or super().interval(text)

    def to_dict(self) -> dict[str, Any]:
        """Return the attribute as plain values."""
        return {"name": self.name, "kind": self.kind, "parents": dict(self.parents)}


def attribute_from_dict(given: dict[str, Any], *, where: str) -> Attribute:
    """Return an attribute from plain values; `where` is the file that errors name."""
    values = dict(given)
    name, kind = values.pop("name", None), values.pop("kind", None)
    if not isinstance(name, str) or unusable(name):
        raise BadParameter(f"{where}: an attribute has no usable name; expected `name` with the name of a column")
    wanted = {"numeric": {"low", "high", "step"}, "ordered": {"values"}, "taxonomy": {"parents"}}
    if not isinstance(kind, str) or kind not in wanted:
        raise BadParameter(f"{where}: attribute {name!r} has the kind {kind!r}; allowed is {' | '.join(wanted)}")
    if kind == "numeric":
        values.setdefault("step", 1)
    if set(values) != wanted[kind]:
        raise BadParameter(
            f"{where}: attribute {name!r} has the keys {', '.join(sorted(values)) or '(none)'}; the kind {kind} requires "
            f"{', '.join(sorted(wanted[kind]))}"
        )
    if kind == "numeric":
        numbers = {key: as_number(str(value)) for key, value in values.items()}
        for key, number in numbers.items():
            if number is None:
                raise BadParameter(
                    f"{where}: {key} of attribute {name!r} is {shown(str(values[key]))}; expected a number"
                )
        return NumericAttribute(name, **numbers)  # type: ignore[arg-type]  # none of them is None
    if kind == "ordered":
        labels = values["values"]
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise BadParameter(f"{where}: `values` of attribute {name!r} must be a list of texts")
        return OrderedAttribute(name, tuple(labels))
    parents = values["parents"]
    if not isinstance(parents, dict) or not all(isinstance(parent, str) for parent in parents.values()):
        raise BadParameter(f"{where}: `parents` of attribute {name!r} must be a table of node = parent")
    return TaxonomyAttribute.over(name, Hierarchy(parents))


def _check_labels(name: str, labels: Sequence[str], *, least: int = 2, star: bool = False) -> None:
    if len(labels) < least:
        raise BadParameter(
            f"attribute {name!r} has {quantity(len(labels), 'category', 'categories')}; expected at least {least}"
        )
    if len(set(labels)) < len(labels):
        raise BadParameter(f"attribute {name!r} has the same category twice; expected each category once")
    for label in labels:
        if unusable(label) or "|" in label or (label == EVERYTHING and not star):
            raise BadParameter(
                f"attribute {name!r}: the category {shown(label)} is empty, is {EVERYTHING!r}, or contains a control character or a bar; "
                "rename it"
            )


def as_number(text: str) -> Decimal | None:
    """Return the number that a text in a policy represents; None if it is not a number."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
