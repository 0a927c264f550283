"""Attributes of a provider's table: an ordered line of cells that is public, and the text of any interval of it.

A value falls into one cell; a group shows an interval of cells. Cells are the steps of a public grid, ordered categories, or the leaves
of a taxonomy in its order, and so a cut never stands at one user's value.
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
"""Of a policy: sums of such numbers are exact."""
_VALUE = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,60})?", re.ASCII)
"""Of data: floating-point numbers have many digits."""


def value_of(text: str) -> Decimal | None:
    """Return the number that a text of the data stands for; None for another text."""
    return Decimal(text) if _VALUE.fullmatch(text) else None


class Attribute(ABC):
    """A column, and the line of cells that its values fall into."""

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many cells there are."""

    def codes(self, texts: Any, file: str) -> NDArray[np.int32]:
        """Return the cell of each text of an Arrow column, or refuse the first that has none."""
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
        """Return the cell of a value, or what is wrong with it."""

    @abstractmethod
    def text(self, low: int, high: int) -> str:
        """Return what a group shows whose values are in the cells from `low` to before `high`."""

    @abstractmethod
    def interval(self, text: str) -> tuple[int, int] | None:
        """Return the cells that such a text stands for; None for a text that `text` never gives."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as a policy file holds them."""


@dataclass(frozen=True)
class NumericAttribute(Attribute):
    """Numbers from `low` to `high` on a public grid: a cell holds the values of one step.

    >>> age = NumericAttribute("age", Decimal(17), Decimal(90), Decimal(1))
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
            raise BadParameter(f"attribute {self.name!r}: low, high and step must be numbers")
        if self.high <= self.low or self.step <= 0:
            raise BadParameter(
                f"attribute {self.name!r} goes from {self.low} to {self.high} in steps of {self.step}; expected low < high and step > 0"
            )
        if (self.high - self.low) / self.step >= _MOST_CELLS:
            raise BadParameter(f"attribute {self.name!r} has more than {_MOST_CELLS:,} steps; choose a larger step")

    @property
    def cells(self) -> int:
        """How many steps there are, the last of which may reach beyond `high`."""
        return int((self.high - self.low) // self.step) + 1

    @cached_property
    def _edges(self) -> list[str]:
        return [_plain(self.low + number * self.step) for number in range(self.cells + 1)]

    @cached_property
    def _edge_of(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self._edges)}

    def cell(self, text: str) -> int | str:
        """Return the step of a number."""
        number = value_of(text)
        if number is None:
            return "is not a number such as 37 or 0.5"
        if not self.low <= number <= self.high:
            return f"is not between {_plain(self.low)} and {_plain(self.high)}"
        # In fractions: decimals would be rounded to 28 digits, and a value just below an edge could go up to it.
        return int((Fraction(number) - Fraction(self.low)) // Fraction(self.step))

    def text(self, low: int, high: int) -> str:
        """Return `[20, 37)` for the numbers from 20 on and below 37, and `*` for all."""
        return EVERYTHING if (low, high) == (0, self.cells) else f"[{self._edges[low]}, {self._edges[high]})"

    def interval(self, text: str) -> tuple[int, int] | None:
        """Read what `text` wrote."""
        if text == EVERYTHING:
            return 0, self.cells
        found = _INTERVAL.fullmatch(text)
        if not found:
            return None
        low, high = (self._edge_of.get(edge) for edge in found.groups())
        return None if low is None or high is None or low >= high else (low, high)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        edges = {name: _plain(getattr(self, name)) for name in ("low", "high", "step")}
        return {"name": self.name, "kind": self.kind, **edges}


@dataclass(frozen=True)
class OrderedAttribute(Attribute):
    """Categories in an order that both providers know.

    >>> OrderedAttribute("size", ("small", "medium", "large")).text(0, 2)
    'small | medium'
    """

    kind: ClassVar[str] = "ordered"

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_labels(self.name, self.values)

    @property
    def cells(self) -> int:
        """How many categories there are."""
        return len(self.values)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.values)}

    def cell(self, text: str) -> int | str:
        """Return the place of a category."""
        return self._code_of.get(text, f"is none of its {self.cells} categories in the policy")

    def text(self, low: int, high: int) -> str:
        """Return the categories of the interval, or `*` for all."""
        return EVERYTHING if (low, high) == (0, self.cells) else _BETWEEN.join(self.values[low:high])

    def interval(self, text: str) -> tuple[int, int] | None:
        """Read what `text` wrote."""
        if text == EVERYTHING:
            return 0, self.cells
        codes = [self._code_of.get(part, -1) for part in text.split(_BETWEEN)]
        if codes[0] < 0 or codes != list(range(codes[0], codes[0] + len(codes))):
            return None
        return codes[0], codes[-1] + 1

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"name": self.name, "kind": self.kind, "values": list(self.values)}


@dataclass(frozen=True)
class TaxonomyAttribute(OrderedAttribute):
    """The leaves of a taxonomy in its order; an interval that is all below one node is shown as that node."""

    kind: ClassVar[str] = "taxonomy"

    parents: tuple[tuple[str, str], ...] = ()

    @classmethod
    def over(cls, name: str, hierarchy: Hierarchy) -> TaxonomyAttribute:
        """Make the attribute of a tree."""
        parents = {
            node: hierarchy.nodes[parent]
            for node, parent in zip(hierarchy.nodes, hierarchy.parents.tolist(), strict=True)
            if parent >= 0
        }
        _check_labels(name, hierarchy.nodes, least=1, star=True)
        return cls(name, hierarchy.leaves, tuple(sorted(parents.items())))

    @cached_property
    def _nodes(self) -> tuple[dict[tuple[int, int], str], dict[str, tuple[int, int]]]:
        """Which node covers an interval, the highest of several, and which interval a node covers."""
        tree = Hierarchy(dict(self.parents))
        spans = list(zip(tree.leaf_starts.tolist(), tree.leaf_ends.tolist(), strict=True))
        node_of = {span: node for node, span in reversed(list(zip(tree.nodes, spans, strict=True)))}
        return node_of, dict(zip(tree.nodes, spans, strict=True))

    def text(self, low: int, high: int) -> str:
        """Return the node that covers exactly the interval, or its leaves."""
        if (low, high) == (0, self.cells):
            return EVERYTHING
        return self._nodes[0].get((low, high)) or super().text(low, high)

    def interval(self, text: str) -> tuple[int, int] | None:
        """Read what `text` wrote."""
        if text == EVERYTHING:
            return 0, self.cells
        return self._nodes[1].get(text) or super().interval(text)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"name": self.name, "kind": self.kind, "parents": dict(self.parents)}


def attribute_from_dict(given: dict[str, Any], *, where: str) -> Attribute:
    """Make an attribute from plain values, or say what is wrong with them."""
    values = dict(given)
    name, kind = values.pop("name", None), values.pop("kind", None)
    if not isinstance(name, str) or unusable(name):
        raise BadParameter(f"{where}: an attribute has no usable name; expected name = a column")
    wanted = {"numeric": {"low", "high", "step"}, "ordered": {"values"}, "taxonomy": {"parents"}}
    if not isinstance(kind, str) or kind not in wanted:
        raise BadParameter(f"{where}: attribute {name!r} is of kind {kind!r}; allowed is {' | '.join(wanted)}")
    if kind == "numeric":
        values.setdefault("step", 1)
    if set(values) != wanted[kind]:
        raise BadParameter(
            f"{where}: attribute {name!r} has {', '.join(sorted(values)) or 'nothing'}; a {kind} one has {', '.join(sorted(wanted[kind]))}"
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
            raise BadParameter(f"{where}: values of attribute {name!r} must be a list of texts")
        return OrderedAttribute(name, tuple(labels))
    parents = values["parents"]
    if not isinstance(parents, dict) or not all(isinstance(parent, str) for parent in parents.values()):
        raise BadParameter(f"{where}: parents of attribute {name!r} must be a table of node = parent")
    return TaxonomyAttribute.over(name, Hierarchy(parents))


def _check_labels(name: str, labels: Sequence[str], *, least: int = 2, star: bool = False) -> None:
    if len(labels) < least:
        raise BadParameter(f"attribute {name!r} has {len(labels)} categories; expected at least {least}")
    if len(set(labels)) < len(labels):
        raise BadParameter(f"attribute {name!r} has a category twice")
    for label in labels:
        if unusable(label) or "|" in label or (label == EVERYTHING and not star):
            raise BadParameter(
                f"attribute {name!r}: the category {shown(label)} is empty, is {EVERYTHING!r}, or holds a control character or a bar"
            )


def as_number(text: str) -> Decimal | None:
    """Return the number that a text writes out, if it is one."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
