"""The columns that both providers agree on: the quasi-identifiers of each provider, and the sensitive attribute of B."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.errors import BadParameter
from setveil.presence.tables.attributes import Attribute, OrderedAttribute, attribute_from_dict

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Schema:
    """The public columns of a joined table.

    Parameters
    ----------
    a, b : tuple of Attribute
        The quasi-identifiers of provider A and provider B, at least one each.
    sensitive : OrderedAttribute
        The sensitive attribute, a column of provider B.

    Raises
    ------
    BadParameter
        A provider has no attribute, or two attributes have the same name.

    Examples
    --------
    >>> import setveil as sv
    >>> size, plan = sv.OrderedAttribute("size", ("S", "M", "L")), sv.OrderedAttribute("plan", ("basic", "plus"))
    >>> sv.Schema(a=(size,), b=(plan,), sensitive=sv.OrderedAttribute("genre", ("drama", "news"))).columns
    ('size', 'plan', 'genre')
    """

    a: tuple[Attribute, ...]
    b: tuple[Attribute, ...]
    sensitive: OrderedAttribute

    def __post_init__(self) -> None:
        for side, attributes in (("A", self.a), ("B", self.b)):
            if not attributes:
                raise BadParameter(f"provider {side} has no attribute; expected at least one quasi-identifier")
        names = [one.name for one in (*self.a, *self.b, self.sensitive)]
        for name in names:
            if names.count(name) > 1:
                raise BadParameter(f"two attributes have the name {name!r}; expected different names at both providers")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers of both providers, A's first."""
        return self.a + self.b

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the joined table, the sensitive attribute last."""
        return (*(one.name for one in self.attributes), self.sensitive.name)

    def of(self, role: str) -> tuple[Attribute, ...]:
        """Return the quasi-identifiers of a provider (`a` or `b`)."""
        return self.a if role == "a" else self.b

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain values, as in `attributes.json`."""
        return {
            "a": [one.to_dict() for one in self.a],
            "b": [one.to_dict() for one in self.b],
            "sensitive": {"name": self.sensitive.name, "values": list(self.sensitive.values)},
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], *, where: str) -> Schema:
        """Return a schema from plain values; `where` is the file that errors name."""
        sides = []
        for side in ("a", "b"):
            listed = given.get(side)
            if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
                raise BadParameter(f"{where}: expected the attributes of provider {side.upper()} as [[{side}]] tables")
            sides.append(tuple(attribute_from_dict(one, where=where) for one in listed))
        sensitive = given.get("sensitive")
        if not isinstance(sensitive, dict) or set(sensitive) != {"name", "values"}:
            raise BadParameter(f"{where}: expected [sensitive] with name and values")
        made = attribute_from_dict({**sensitive, "kind": "ordered"}, where=where)
        assert isinstance(made, OrderedAttribute)
        return cls(sides[0], sides[1], made)
