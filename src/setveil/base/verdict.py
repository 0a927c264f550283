"""The verdict of a check, with its witnesses and its reach."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from setveil.base.display import ShownTable, to_html

Status = Literal["holds", "violated", "undecided"]

MOST_WITNESSES = 100
"""A verdict carries at most so many cases of each kind; the counts are always complete."""

SHOWN_WITNESSES = 3
"""Witnesses that a notebook shows."""


@dataclass(frozen=True)
class Witness:
    """One case that a person can verify by hand."""

    kind: str
    """What is broken here, as the guarantee names it."""
    place: str
    """Where: released row 17, item 'milk' ..."""
    detail: str
    """What was found and what was expected, with the items and numbers concerned."""
    row: int | None = None
    items: tuple[str, ...] = ()
    group: int | None = None
    """The number of the group, of grouped data, or of the cluster, of disassociated data."""
    chunk: int | None = None
    """The number of the record chunk in its cluster, of disassociated data."""


@dataclass(frozen=True)
class Reach:
    """How much of a release a verdict covers: `covered` of `total` records, or of what `unit` names."""

    covered: int
    total: int
    unit: str = "records"
    rest: dict[str, int] = field(default_factory=dict)
    """Why the others are not covered, as phrases such as `have no tendency`, each with its count. They may overlap."""

    @classmethod
    def whole(cls, records: int, *, holds: bool) -> Reach:
        """Return the reach of a guarantee about the file as a whole: all records where it holds, none where it does not."""
        return cls(records if holds else 0, records)

    def __str__(self) -> str:
        rest = "; ".join(f"{count:,} {phrase}" for phrase, count in self.rest.items() if count)
        return f"{self.covered:,} of {self.total:,} {self.unit}" + (f"; {rest}" if rest else "")


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check. Truthy only when the guarantee holds."""

    status: Status
    guarantee: str
    counts: dict[str, int]
    """What was counted on the way, such as how many records had to be hidden."""
    violations: dict[str, int] = field(default_factory=dict)
    """How many cases of each kind were found; empty when it holds."""
    failures: int = 0
    """How many records the method could not treat: what `allow_failures` may allow. Other violations never are."""
    witnesses: tuple[Witness, ...] = ()
    reason: str = ""
    reach: Reach | None = None
    """How many records it covers; None only in a verdict of version 1, which did not count them."""

    def __bool__(self) -> bool:
        return self.status == "holds"

    def acceptable(self, allowed_failures: int) -> bool:
        """Tell whether it holds but for at most so many records that were left as they are."""
        if self.status == "holds":
            return True
        return self.status == "violated" and set(self.violations) <= {FAILURE} and self.failures <= allowed_failures

    def with_violations(self, kind: str, cases: int, witnesses: tuple[Witness, ...]) -> Verdict:
        """Return the verdict with one more kind of violation and its number of cases."""
        return replace(
            self,
            status="violated",
            violations={**self.violations, kind: cases},
            witnesses=self.witnesses + witnesses,
            reach=self.reach and replace(self.reach, covered=0),
        )

    def __str__(self) -> str:
        head = f"{self.guarantee}: {self.status}"
        if self.status == "holds" and self.reach is not None:
            head += f" for {self.reach}"
        found = "; ".join(f"{count:,} {_in_words(kind, count)}" for kind, count in self.violations.items())
        return head + (f" ({found})" if found else "") + (f": {self.reason}" if self.reason else "")

    def _repr_html_(self) -> str:
        """Show what `repr` shows, without the empty parts and with the first witnesses only."""
        facts: dict[str, Any] = {"covers": self.reach, "reason": self.reason, "not treated": self.failures}
        rows = [(name, value) for name, value in facts.items() if value]
        rows += [(name.replace("-", " "), count) for name, count in self.counts.items()]
        tables = [ShownTable(rows, title=f"{self.guarantee}: {self.status}")]
        if self.violations:
            cases = [(_in_words(kind, count), count) for kind, count in self.violations.items()]
            tables.append(ShownTable(cases, ["violation", "cases"]))
        if self.witnesses:
            shown = [(_in_words(one.kind, 1), one.place, one.detail) for one in self.witnesses[:SHOWN_WITNESSES]]
            more = len(self.witnesses) - len(shown)
            note = f"and {more:,} more in .witnesses" if more else ""
            tables.append(ShownTable(shown, ["witness", "place", "detail"], note=note))
        return to_html(*tables)

    def to_dict(self, *, witnesses: int | None = None) -> dict[str, Any]:
        """Return it as plain values, with at most so many witnesses."""
        plain = asdict(self)
        plain["witnesses"] = plain["witnesses"][:witnesses]
        return plain


def _in_words(kind: str, count: int) -> str:
    """Return the kind of a violation as people write it, in the plural where it names what was counted."""
    plural = count != 1 and kind.endswith(("item", "itemset"))
    return kind.replace("-", " ") + "s" * plural


FAILURE = "not-hidden"
"""The kind of violation that counts as a failure of the method on a record."""
