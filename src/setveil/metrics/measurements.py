"""The measurements of a release: a list that prints as a table, with access by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from setveil.base.display import ShownTable, to_html
from setveil.base.frames import as_pandas
from setveil.errors import BadParameter, UnknownName
from setveil.metrics.base import NOT_COMPUTED, Measurement
from setveil.metrics.headline import Headline, headline_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class Measurements(list[Measurement]):
    """The measurements of a release, as `measure` returns them: a list that also takes the name of a metric.

    Examples
    --------
    >>> measured = Measurements([Measurement("record-loss", 0.25, "share", "lower")])
    >>> measured["record-loss"].value
    0.25
    >>> measured
    metric       value  unit   better
    record-loss   0.25  share  lower
    """

    @overload
    def __getitem__(self, place: SupportsIndex | str) -> Measurement: ...
    @overload
    def __getitem__(self, place: slice) -> Measurements: ...
    def __getitem__(self, place: SupportsIndex | str | slice) -> Any:
        """Return a measurement by its number, the name of its metric or its title; or the measurements of a slice."""
        if isinstance(place, slice):
            return Measurements(super().__getitem__(place))
        return self._named(place) if isinstance(place, str) else super().__getitem__(place)

    def _named(self, name: str) -> Measurement:
        found = [one for one in self if name in (one.name, one.title)]
        if not found:
            raise UnknownName("measurement", name, {one.name for one in self})
        if len(found) > 1:
            raise BadParameter(
                f"{name!r} was measured in {len(found)} settings; use one of the titles: {', '.join(one.title for one in found)}"
            )
        return found[0]

    def __contains__(self, wanted: object) -> bool:
        if isinstance(wanted, str):
            return any(wanted in (one.name, one.title) for one in self)
        return super().__contains__(wanted)

    def __add__(self, others: Iterable[Measurement]) -> Measurements:  # type: ignore[override]  # adding to another list still returns Measurements
        return Measurements([*self, *others])

    @property
    def headline(self) -> Headline:
        """The figures to look at first: at most ten, in plain words, grouped by utility and privacy."""
        return headline_of(self)

    def __repr__(self) -> str:
        return "\n\n".join(table.to_text() for table in self._tables()) or "no measurements"

    def _repr_html_(self) -> str:
        return to_html(*self._tables() or [ShownTable((), note="no measurements")])

    def _tables(self) -> list[ShownTable]:
        """Return a table of the figures, and one of the metrics that were not computed, by reason."""
        lacking: dict[str, dict[str, None]] = {}
        figures = []
        for one in self:
            if one.reason.startswith(NOT_COMPUTED):
                lacking.setdefault(one.reason.removeprefix(NOT_COMPUTED), {})[one.name] = None
            else:
                figures.append([one.title, one.value, one.unit, one.better, one.remark])
        header = ["metric", "value", "unit", "better", "remark"]
        if not any(row[-1] for row in figures):
            header, figures = header[:-1], [row[:-1] for row in figures]
        missing = [[", ".join(names), reason] for reason, names in lacking.items()]
        tables = ShownTable(figures, header), ShownTable(missing, ["not computed", "reason"])
        return [table for table in tables if table.rows]

    def to_table(self) -> Any:
        """Return an Arrow table with one row per measurement: `metric`, `settings`, `value`, `unit`, `better`, `remark`.

        The remark states why there is no value, or that it is an estimate or a bound.
        """
        import pyarrow as pa  # noqa: PLC0415 - imported only for tables

        rows = [
            {
                "metric": one.name,
                "settings": one.settings,
                "value": one.value,
                "unit": one.unit,
                "better": one.better,
                "remark": one.remark,
            }
            for one in self
        ]
        kinds = dict.fromkeys(("metric", "settings", "value", "unit", "better", "remark"), pa.string())
        return pa.Table.from_pylist(rows, schema=pa.schema(kinds | {"value": pa.float64()}))

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`, and `details` as dictionaries. It requires pandas."""
        frame = as_pandas(self.to_table())
        frame["details"] = [one.details for one in self]
        return frame
