"""Drafts of policies, made from the columns of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setveil.base.progress import note
from setveil.errors import BadParameter, Missing
from setveil.presence.policy import Policy, attribute_tables, sensitive_table
from setveil.presence.tables.schema import Schema

if TYPE_CHECKING:
    from setveil.presence.methods.dummy_users import DummyUsers
    from setveil.presence.table_source import TableSource

LIMITS = {"max_a": "0.9", "min_a": "0.1", "max_b": "0.9", "min_b": "0.1"}
"""The default limits of a draft."""
_REVIEW = "the ranges, steps and categories of the draft come from the data: review them before you share the draft"


@dataclass(frozen=True)
class Draft:
    """A draft of a policy, or of the part that one provider knows."""

    text: str
    policy: Policy | None = None
    part: str = ""
    """The provider whose part it is; empty for a whole policy."""


@dataclass(frozen=True, kw_only=True)
class Drafting:
    """The tables and columns that a policy is drafted from; contradictions are refused before anything is read."""

    a: TableSource | None = None
    b: TableSource | None = None
    population: TableSource | None = None
    """The ids of all people; required for a whole policy."""
    sensitive: str | None = None
    """The sensitive column of provider B."""
    person: str | None = None
    """The column of a provider's own customer keys, which does not become part of the policy."""

    def __post_init__(self) -> None:
        if self.a is None and self.b is None:
            raise Missing("`a=` and `b=` are missing: give the table of at least one provider")
        if self.b is not None and not self.sensitive:
            raise Missing("`sensitive=` is missing: name the sensitive column of provider B")
        if self.a is not None and self.b is not None and self.population is None:
            raise Missing("`population=` is missing: give the ids of all people, whose checksum is part of the policy")
        if self.sensitive and self.b is None:
            raise BadParameter("`sensitive=` requires `b=`: it names a column of provider B")
        if self.b is not None and self.sensitive == self.b.id_column:
            raise BadParameter(
                f"`sensitive=` is {self.sensitive!r}, the column of ids, which must not be in a policy; name another column"
            )
        if self.sensitive and self.sensitive == self.person:
            raise BadParameter(
                f"`sensitive=` and `person=` are both {self.person!r}; the sensitive column is published, and your own customer keys "
                "must not be: name two different columns"
            )

    def draft(self, method: DummyUsers) -> Draft:
        """Read the columns and return the draft of a policy with the limits of the method, or of one provider's part."""
        own_keys = [self.person] if self.person else []
        at_a = None if self.a is None else self.a.attributes(leaving_out=own_keys)
        if self.b is None:
            assert at_a is not None
            drafted = Draft(_text(attribute_tables("a", at_a)), part="a")
        else:
            assert self.sensitive is not None
            at_b = self.b.attributes(leaving_out=[*own_keys, self.sensitive])
            hidden = self.b.sensitive(self.sensitive)
            if at_a is None or self.population is None:
                drafted = Draft(_text(sensitive_table(hidden) + attribute_tables("b", at_b)), part="b")
            else:
                policy = Policy(method, Schema(at_a, at_b, hidden), self.population.population().sha256)
                drafted = Draft(policy.to_toml(), policy)
        note(_REVIEW)
        return drafted


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip() + "\n"
