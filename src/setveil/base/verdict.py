"""The verdict of a check, with its witnesses and its reach."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from setveil.base.display import ShownTable, to_html

Status = Literal["holds", "violated", "undecided"]

MOST_WITNESSES = 100
"""The maximum number of witnesses of each kind in a verdict; the counts are always complete."""

SHOWN_WITNESSES = 3
"""The number of witnesses that a notebook shows."""


@dataclass(frozen=True)
class Witness:
    """One case of a violation that you can verify by hand.

    Attributes
    ----------
    kind : str
        The kind of violation, as the guarantee names it.
    place : str
        Where it is: released row 17, item 'milk' ...
    detail : str
        What was found and what was expected, with the items and numbers.
    row : int or None
        The released row, counted from 0.
    items : tuple of str
        The items involved.
    group : int or None
        The number of the group (grouped data) or cluster (disassociated data).
    chunk : int or None
        The number of the record chunk in its cluster (disassociated data).

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["milk", "tea"], ["milk"], ["milk"]])
    >>> verdict = sv.HiddenItemsets(itemsets=[["milk"]], min_support=3).check(data)
    >>> verdict.witnesses[0].items
    ('milk',)
    """

    kind: str
    place: str
    detail: str
    row: int | None = None
    items: tuple[str, ...] = ()
    group: int | None = None
    chunk: int | None = None


@dataclass(frozen=True)
class Reach:
    """How much of a release a verdict covers.

    Attributes
    ----------
    covered, total : int
        The verdict covers `covered` of `total` records.
    unit : str
        What is counted, if not records.
    rest : dict of str to int
        Why the others are not covered: phrases such as `have no tendency`, each with its count. They may overlap.

    Examples
    --------
    >>> import setveil as sv
    >>> print(sv.Reach(7, 10, rest={"have no tendency": 3}))
    7 of 10 records; 3 have no tendency
    """

    covered: int
    total: int
    unit: str = "records"
    rest: dict[str, int] = field(default_factory=dict)

    @classmethod
    def whole(cls, records: int, *, holds: bool) -> Reach:
        """Return the reach of a guarantee about the data as a whole: all records if it holds, none otherwise."""
        return cls(records if holds else 0, records)

    def __str__(self) -> str:
        rest = "; ".join(f"{count:,} {phrase}" for phrase, count in self.rest.items() if count)
        return f"{self.covered:,} of {self.total:,} {self.unit}" + (f"; {rest}" if rest else "")


@dataclass(frozen=True)
class Verdict:
    """The result of a check. It is true only if the guarantee holds.

    Attributes
    ----------
    status : {'holds', 'violated', 'undecided'}
        The result.
    guarantee : str
        The name of the guarantee.
    counts : dict of str to int
        What the check counted, such as the number of records that had to be hidden.
    violations : dict of str to int
        The number of cases of each kind of violation; empty if the guarantee holds.
    failures : int
        The number of records that the method could not treat. `allow_failures` can allow them; other violations are never allowed.
    witnesses : tuple of Witness
        Cases to verify by hand, at most 100 of each kind.
    reason : str
        Why the check is undecided; empty otherwise.
    reach : Reach or None
        How many records the verdict covers; None only in verdicts of version 1, which did not count them.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.from_lists([["milk", "tea"], ["milk"], ["milk"]])
    >>> verdict = sv.HiddenItemsets(itemsets=[["milk"]], min_support=3).check(data)
    >>> bool(verdict), verdict.status, len(verdict.witnesses)
    (False, 'violated', 1)
    """

    status: Status
    guarantee: str
    counts: dict[str, int]
    violations: dict[str, int] = field(default_factory=dict)
    failures: int = 0
    witnesses: tuple[Witness, ...] = ()
    reason: str = ""
    reach: Reach | None = None

    def __bool__(self) -> bool:
        return self.status == "holds"

    def acceptable(self, allowed_failures: int) -> bool:
        """Return whether the guarantee holds except for at most `allowed_failures` records that the method could not treat."""
        if self.status == "holds":
            return True
        return self.status == "violated" and set(self.violations) <= {FAILURE} and self.failures <= allowed_failures

    def with_violations(self, kind: str, cases: int, witnesses: tuple[Witness, ...]) -> Verdict:
        """Return the verdict with one more kind of violation and its number of cases and witnesses."""
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
        found = "; ".join(f"{count:,} {_kind_text(kind, count)}" for kind, count in self.violations.items())
        return head + (f" ({found})" if found else "") + (f": {self.reason}" if self.reason else "")

    def _repr_html_(self) -> str:
        """Return an HTML table of what `repr` shows, without empty parts and with the first witnesses only."""
        facts: dict[str, Any] = {"covers": self.reach, "reason": self.reason, "not treated": self.failures}
        rows = [(name, value) for name, value in facts.items() if value]
        rows += [(name.replace("-", " "), count) for name, count in self.counts.items()]
        tables = [ShownTable(rows, title=f"{self.guarantee}: {self.status}")]
        if self.violations:
            cases = [(_kind_text(kind, count), count) for kind, count in self.violations.items()]
            tables.append(ShownTable(cases, ["violation", "cases"]))
        if self.witnesses:
            shown = [(_kind_text(one.kind, 1), one.place, one.detail) for one in self.witnesses[:SHOWN_WITNESSES]]
            more = len(self.witnesses) - len(shown)
            note = f"and {more:,} more in .witnesses" if more else ""
            tables.append(ShownTable(shown, ["witness", "place", "detail"], note=note))
        return to_html(*tables)

    def to_dict(self, *, witnesses: int | None = None) -> dict[str, Any]:
        """Return the verdict as plain values, with at most `witnesses` witnesses (default: all)."""
        plain = asdict(self)
        plain["witnesses"] = plain["witnesses"][:witnesses]
        return plain


def _kind_text(kind: str, count: int) -> str:
    """Return a kind of violation as text, in the plural if it names what was counted."""
    plural = count != 1 and kind.endswith(("item", "itemset"))
    return kind.replace("-", " ") + "s" * plural


FAILURE = "not-hidden"
"""The kind of violation that counts as a record the method could not treat."""
