"""The findings of several attacks: a list that prints as a table, with access by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.attacks.base import FOUND, Finding
from setveil.base.display import ShownTable, share, signed_share, to_html
from setveil.errors import BadParameter, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Findings(list[Finding]):
    """What attacks found, as `attack` returns it: a list that also takes the name of an attack.

    Attributes
    ----------
    limit
        The highest excess that the caller accepts; None if there is no limit.

    Examples
    --------
    >>> import setveil as sv
    >>> from setveil.attacks.trials import Trial
    >>> found = sv.Findings([sv.Finding("find-record", {"known": 2}, Trial(30, 100), Trial.known(0.01))])
    >>> found["find-record"].main.rate
    0.3
    >>> found
    attack                  right  by chance  beyond  95 % interval     verdict
    find-record (known=2)  30.0 %      1.0 %  29.3 %  21.1 % to 39.0 %  finds more than without the release
    """

    def __init__(self, found: Iterable[Finding] = (), *, limit: float | None = None) -> None:
        super().__init__(found)
        self.limit = limit

    def __getitem__(self, place: Any) -> Any:
        """Return a finding by its number, the name of its attack or its title."""
        if not isinstance(place, str):
            return super().__getitem__(place)
        found = [one for one in self if place in (one.name, one.title)]
        if not found:
            raise UnknownName("finding", place, {one.name for one in self})
        if len(found) > 1:
            titles = ", ".join(one.title for one in found)
            raise BadParameter(f"{place!r} was tried in {len(found)} settings; use one of the titles: {titles}")
        return found[0]

    @property
    def above_limit(self) -> list[Finding]:
        """The findings whose excess may be above the limit: the upper end of the interval counts."""
        return [] if self.limit is None else [one for one in self if one.exceeds(self.limit)]

    @property
    def meets_limit(self) -> bool:
        """Whether an attack had a result and none is above the limit, or there is no limit."""
        return self.limit is None or (any(one.main is not None for one in self) and not self.above_limit)

    @property
    def judgement(self) -> str:
        """Which attacks are above the limit, and which were run without a result, as sentences; empty without a limit."""
        if self.limit is None:
            return ""
        names = ", ".join(one.title for one in self.above_limit)
        limit = f"the limit of {share(self.limit)}"
        if not any(one.was_run for one in self):
            return f"No attack was run, so {limit} was not tested."
        if all(one.main is None for one in self):
            return f"No attack had a result, so {limit} was not tested."
        lacking = ", ".join(one.title for one in self if one.was_run and one.main is None)
        text = f"Above {limit}: {names}." if names else f"No attack is above {limit}."
        return f"{text} Without a result: {lacking}." if lacking else text

    @property
    def strongest(self) -> list[Finding]:
        """The findings that show more than without the release, those with the largest excess first."""
        found = [(one.excess.low, one) for one in self if one.excess is not None and one.verdict == FOUND]
        return [one for _low, one in sorted(found, key=lambda pair: -pair[0])]

    def tables(self) -> list[ShownTable]:
        """Return a table of the attacks that were run, and one of the others with the reasons."""
        header = ["attack", "right", "by chance", "control", "beyond", "95 % interval", "bound", "verdict"]
        rows: list[list[str]] = []
        lacking: dict[str, dict[str, None]] = {}
        for one in self:
            if one.main is None or one.naive is None or one.excess is None:
                lacking.setdefault(one.reason, {})[one.name] = None
                continue
            rows.append(
                [
                    one.title,
                    share(one.main.rate),
                    share(one.naive.rate),
                    "" if one.control is None else share(one.control.rate),
                    signed_share(one.excess.value),
                    f"{signed_share(one.excess.low)} to {signed_share(one.excess.high)}",
                    "" if one.bound is None else share(one.bound),
                    one.verdict + ("; above the limit" if self.limit is not None and one.exceeds(self.limit) else ""),
                ]
            )
        for column in (6, 3):
            if not any(row[column] for row in rows):
                header = header[:column] + header[column + 1 :]
                rows = [row[:column] + row[column + 1 :] for row in rows]
        others = [[", ".join(names), reason] for reason, names in lacking.items()]
        tables = ShownTable(rows, header), ShownTable(others, ["no result", "reason"])
        return [table for table in tables if table.rows]

    def __repr__(self) -> str:
        return "\n\n".join(table.to_text() for table in self.tables()) or "no attacks"

    def _repr_html_(self) -> str:
        return to_html(*self.tables() or [ShownTable((), note="no attacks")])

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values."""
        return {"limit": self.limit, "findings": [one.to_dict() for one in self]}

    @classmethod
    def from_dict(cls, noted: Mapping[str, Any]) -> Findings:
        """Return the findings that `to_dict` gave these plain values for."""
        return cls(map(Finding.from_dict, noted["findings"]), limit=noted["limit"])
