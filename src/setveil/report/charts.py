"""Charts as Vega-Lite specifications for any page; this module does not depend on releases.

A page embeds a `Chart`: a specification, its text alternative, and the same numbers as a table. The functions below make specifications
from plain rows. `Axis` and `Series` define axes and colours. All charts are as wide as the page and share the settings `theme.LOOK`.
The reasons are in docs/decisions/0012-charts-in-the-page.md.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from setveil.report.theme import (
    AFTER,
    BEFORE,
    COUNT,
    DASHES,
    IN_LINES,
    INK,
    LOOK,
    MOST_IN_LINE,
    NEUTRAL,
    PALETTE,
    SCRIPT_ONLY,
    SHAPES,
    SHARE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Rows = list[dict[str, Any]]
Spec = dict[str, Any]


@dataclass(frozen=True)
class Axis:
    """An axis of a chart: the field of a row, its title and its number format."""

    field: str
    title: str
    format: str = COUNT
    scale: Literal["linear", "log", "symlog"] = "linear"
    """`symlog` is like `log` but includes 0."""
    limits: tuple[float, float] | None = None
    ticks: tuple[float, ...] = ()
    """The positions of grid lines and labels; by default those of Vega-Lite."""


@dataclass(frozen=True)
class Series:
    """A field that divides rows into series, such as before and after; colours come from the palette by default."""

    field: str
    names: tuple[str, ...]
    colours: tuple[str, ...] = ()
    title: str | None = None

    @property
    def palette(self) -> list[str]:
        """The colour of each name."""
        return [*(self.colours or _repeated(PALETTE, len(self.names)))]

    def colour(self, *, legend: bool = True, **looks: Any) -> alt.Color:
        """Return the colour channel of a chart, with a legend."""
        scale = alt.Scale(domain=[*self.names], range=self.palette)
        shown = alt.Legend(symbolOpacity=1, **looks) if legend else None
        return alt.Color(f"{self.field}:N", title=self.title, scale=scale, legend=shown)

    def only(self, name: str) -> alt.FieldEqualPredicate:
        """Return a filter for the rows of one name."""
        return alt.FieldEqualPredicate(field=self.field, equal=name)

    def scale_of(self, values: Sequence[Any]) -> alt.Scale:
        """Return a scale that maps each name to one of these values."""
        return alt.Scale(domain=[*self.names], range=_repeated(values, len(self.names)))


SIDES = Series("side", ("original", "release"), (BEFORE, AFTER))
"""The two colours for comparisons with the original."""


@dataclass(frozen=True)
class Chart:
    """A chart as a page embeds it, with its text alternative."""

    key: str
    """Its id on the page, a single word."""
    title: str
    text: str
    """The text alternative: what the chart shows."""
    spec: Spec = field(repr=False)
    columns: tuple[str, ...]
    """The column names of the table; the first column names the row."""
    rows: list[tuple[Any, ...]] = field(repr=False)
    note: str = ""


def _repeated(values: Sequence[Any], count: int) -> list[Any]:
    return [values[place % len(values)] for place in range(count)]


def _finished(chart: Any, *, height: int, text: str = "") -> Spec:
    """Return the specification of a chart that is as wide as its container and loads nothing."""
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    plain = {key: value for key, value in spec.items() if key not in SCRIPT_ONLY}
    return {**plain, "description": text} if text else plain


def _rows_high(rows: Rows, down: Axis, step: int) -> int:
    """Return the height of a chart with one line per name; Vega-Lite's own steps do not work with a flexible width."""
    return step * len({row[down.field] for row in rows})


def _data(rows: Rows) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _number(kind: type, axis: Axis, **options: Any) -> Any:
    """Return a channel for numbers along an axis."""
    scale: dict[str, Any] = {"type": axis.scale, "nice": axis.limits is None}
    if axis.scale != "log":
        scale["zero"] = True
    if axis.limits:
        scale["domain"] = [*axis.limits]
    shown: dict[str, Any] = {
        "format": axis.format.replace(".1%", ".0%"),
        "labelOverlap": "parity",
        "labelSeparation": 8,
    }
    if axis.ticks:
        shown["values"] = [*axis.ticks]
    elif axis.format == COUNT:
        shown["tickMinStep"] = 1
    return kind(f"{axis.field}:Q", title=axis.title, scale=alt.Scale(**scale), axis=alt.Axis(**shown), **options)


def _names(kind: type, axis: Axis, **options: Any) -> Any:
    """Return a channel for names, in the order of the rows."""
    return kind(f"{axis.field}:N", title=axis.title or None, sort=None, axis=alt.Axis(**options))


def _tilted(rows: Rows, axis: Axis) -> dict[str, Any]:
    """Return the label options of names below a chart: tilted if they would not fit side by side on a narrow page."""
    names = {str(row[axis.field]) for row in rows}
    steeper = -40 if len(names) <= 10 else -60 if len(names) <= 18 else -90
    return {"labelAngle": steeper if sum(len(name) + 2 for name in names) > 40 else 0, "labelOverlap": False}


def decades(values: Iterable[float]) -> tuple[float, ...]:
    """Return the powers of ten around positive values, as ticks of a logarithmic axis; empty if there are only two."""
    found = [*values]
    powers = range(floor(log10(min(found))), ceil(log10(max(found))) + 1)
    return tuple(10**power for power in powers) if len(powers) > 2 else ()


def wrapped(name: str, width: int = MOST_IN_LINE, lines: int | None = None) -> str:
    """Return a name wrapped into lines, as `bars` and `paired_dots` show it; with `lines`, a longer name is cut."""
    cut = lines is not None
    return "\n".join(textwrap.wrap(name, width, break_long_words=cut, max_lines=lines, placeholder=" …"))


def _tooltip(*sides: Axis | Series) -> list[alt.Tooltip]:
    shown = []
    for side in sides:
        if isinstance(side, Series):
            shown.append(alt.Tooltip(f"{side.field}:N", title=side.title or "in"))
        else:
            shown.append(alt.Tooltip(side.field, title=side.title or side.field, **_typed(side)))
    return shown


def _typed(axis: Axis) -> dict[str, Any]:
    return {"type": "quantitative", "format": axis.format} if axis.format else {"type": "nominal"}


def paired_dots(
    rows: Rows,
    *,
    down: Axis,
    along: Axis,
    series: Series = SIDES,
    sizes: tuple[int, ...] | None = None,
    lines: int = 1,
    limit: float | None = None,
    text: str = "",
) -> Spec:
    """Draw one line of dots per name, one dot per series; dots differ in size, so that overlapping ones stay visible.

    Names of several `lines` are broken as by `wrapped`; `limit` is drawn as a line across the chart.
    """
    broken = {"labelExpr": IN_LINES, "labelOffset": {"expr": f"-7 * (length({IN_LINES}) - 1)"}} if lines > 1 else {}
    base = _data(rows).encode(y=_names(alt.Y, down, grid=True, **broken), x=_number(alt.X, along))
    threads = base.mark_line(color=NEUTRAL, strokeWidth=2).encode(detail=f"{down.field}:N")
    dots = [
        base.mark_point(filled=True, opacity=1, size=size)
        .encode(
            color=series.colour(),
            shape=alt.Shape(f"{series.field}:N", title=series.title, scale=series.scale_of(SHAPES)),
            tooltip=_tooltip(down, series, along),
        )
        .transform_filter(series.only(name))
        for name, size in zip(series.names, sizes or (150, *[45] * (len(series.names) - 1)), strict=True)
    ]
    across = [] if limit is None else [_rule(limit, along)]
    return _finished(alt.layer(*across, threads, *dots), height=_rows_high(rows, down, 4 + 14 * lines), text=text)


def _rule(limit: float, along: Axis) -> Any:
    """Return a dashed line at a value."""
    rule = _data([{along.field: limit}]).mark_rule(color=INK, strokeDash=[6, 4], strokeWidth=1.5)
    return rule.encode(x=_number(alt.X, along))


def curves(
    rows: Rows,
    *,
    across: Axis,
    up: Axis,
    series: Series = SIDES,
    limits: Sequence[dict[str, Any]] = (),
    widest: float = 10,
    text: str = "",
    height: int = 300,
) -> Spec:
    """Draw one curve per series; the first one is the widest, so that it stays visible below another one.

    `limits` are lines across the chart: rows with the height, the `name`, the position of the name, and its `side` of the line.
    """
    colour = series.colour(symbolType="stroke", symbolStrokeWidth=4)
    base = _data(rows).encode(x=_number(alt.X, across), y=_number(alt.Y, up), color=colour)
    lines = [
        base.mark_line(strokeWidth=width, opacity=opacity).transform_filter(series.only(name))
        for name, (width, opacity) in zip(
            series.names, [(widest, 0.5 if widest > 2.5 else 1), *[(2.5, 1)] * (len(series.names) - 1)], strict=True
        )
    ]
    dots = base.mark_point(size=90, opacity=0, filled=True).encode(tooltip=_tooltip(series, across, up))
    return _finished(alt.layer(*_limits(limits, across, up), *lines, dots), height=height, text=text)


def _limits(limits: Sequence[dict[str, Any]], across: Axis, up: Axis) -> list[Any]:
    """Return dashed lines at heights, each with its name below or above it."""
    if not limits:
        return []
    base = _data([*limits]).encode(y=_number(alt.Y, up))
    looks: dict[str, dict[str, Any]] = {
        "below": {"align": "left", "baseline": "top", "dy": 5},
        "above": {"align": "right", "baseline": "bottom", "dy": -4},
    }
    names = [
        base.mark_text(**look)
        .encode(x=_number(alt.X, across), text="name:N")
        .transform_filter(alt.FieldEqualPredicate(field="side", equal=side))
        for side, look in looks.items()
    ]
    return [base.mark_rule(color=INK, strokeDash=[6, 4], strokeWidth=1.5), *names]


def grouped_bars(
    rows: Rows,
    *,
    across: Axis,
    up: Axis,
    series: Series = SIDES,
    legend: bool = True,
    text: str = "",
    height: int = 280,
) -> Spec:
    """Draw one group of bars per name, with one bar per series."""
    bars = (
        _data(rows)
        .mark_bar()
        .encode(
            x=_names(alt.X, across, **_tilted(rows, across)),
            xOffset=alt.XOffset(f"{series.field}:N", scale=alt.Scale(domain=[*series.names])),
            y=_number(alt.Y, up),
            color=series.colour(legend=legend),
            tooltip=_tooltip(across, series, up),
        )
    )
    return _finished(bars, height=height, text=text)


def stacked_shares(rows: Rows, *, down: Axis, along: Axis, series: Series, text: str = "", room: float = 0.2) -> Spec:
    """Draw one bar per name, divided into the shares of the series, with the number on each part that is wide enough."""
    placed: Rows = []
    for name in dict.fromkeys(row[down.field] for row in rows):
        parts = {row[series.field]: row for row in rows if row[down.field] == name}
        total, reached = sum(row[along.field] for row in parts.values()), 0
        for kind in filter(parts.__contains__, series.names):
            start, reached = reached, reached + parts[kind][along.field]
            ends = [part / (total or 1) for part in (start, reached, (start + reached) / 2)]
            placed.append(
                {**parts[kind], "from": ends[0], "to": ends[1], "middle": ends[2], "share": ends[1] - ends[0]}
            )
    base = _data(placed).encode(y=_names(alt.Y, down))
    limits = Axis("from", along.title, SHARE, limits=(0, 1))
    tooltip = _tooltip(down, series, Axis(along.field, "number", along.format), Axis("share", "share", SHARE))
    drawn = base.mark_bar(stroke="white", strokeWidth=1).encode(
        x=_number(alt.X, limits), x2="to:Q", color=series.colour(), tooltip=tooltip
    )
    numbers = (
        base.mark_text(color="white", fontWeight="bold")
        .encode(x=alt.X("middle:Q"), text=alt.Text(f"{along.field}:Q", format=along.format))
        .transform_filter(f"datum.share >= {room}")
    )
    return _finished(drawn + numbers, height=_rows_high(rows, down, 40), text=text)


def bars(rows: Rows, *, down: Axis, along: Axis, series: Series, legend: bool = True, text: str = "") -> Spec:
    """Draw one bar per name, coloured by series, with the number at its end; names are wrapped into lines."""
    named = [{**row, "line": wrapped(str(row[down.field]))} for row in rows]
    lines = max(row["line"].count("\n") + 1 for row in named)
    several = len({row[series.field] for row in rows}) > 1
    broken = _names(alt.Y, Axis("line", down.title, ""), labelExpr=IN_LINES)
    base = _data(named).encode(y=broken, x=_number(alt.X, along))
    drawn = base.mark_bar(height={"band": 0.7}).encode(
        color=series.colour(legend=legend and several), tooltip=_tooltip(down, along)
    )
    numbers = base.mark_text(align="left", dx=5).encode(text=alt.Text(f"{along.field}:Q", format=along.format))
    return _finished(drawn + numbers, height=_rows_high(rows, down, 16 + 16 * lines), text=text)


def lines_with_spread(
    rows: Rows,
    *,
    across: Axis,
    up: Axis,
    series: Series,
    spread: tuple[str, str] | None = None,
    text: str = "",
    height: int = 320,
) -> Spec:
    """Draw one line with points per series over names in row order; `spread` names the fields of the lower and upper bound."""
    base = _data(rows).encode(x=_names(alt.X, across, **_tilted(rows, across)), color=series.colour())
    lines = base.mark_line(strokeWidth=2).encode(
        y=_number(alt.Y, up),
        strokeDash=alt.StrokeDash(f"{series.field}:N", title=series.title, scale=series.scale_of(DASHES)),
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=_number(alt.Y, up),
        shape=alt.Shape(f"{series.field}:N", title=series.title, scale=series.scale_of(SHAPES)),
        tooltip=_tooltip(series, across, up, *(Axis(name, name, up.format) for name in spread or ())),
    )
    if not spread:
        return _finished(lines + points, height=height, text=text)
    low, high = spread
    band = base.mark_area(opacity=0.15).encode(
        y=_number(alt.Y, Axis(low, up.title, up.format, up.scale, up.limits)), y2=f"{high}:Q"
    )
    return _finished(band + lines + points, height=height, text=text)


def heat_map(
    rows: Rows, *, across: Axis, down: Axis, up: Axis, series: Series, text: str = "", height: int = 300
) -> Spec:
    """Draw one field per pair of names, coloured by the series, with the text of `label`, which is white if `dark` is set."""
    base = _data(rows).encode(
        x=_names(alt.X, across, **_tilted(rows, across)),
        y=_names(alt.Y, down),
        tooltip=_tooltip(across, down, up, series),
    )
    fields = base.mark_rect(stroke="white", strokeWidth=2).encode(color=series.colour())
    labels = base.mark_text(fontSize=11).encode(
        text="label:N", color=alt.condition("datum.dark", alt.value("white"), alt.value(INK))
    )
    return _finished(fields + labels, height=height, text=text)


def as_embedded(charts: Sequence[Chart]) -> Mapping[str, Any]:
    """Return the input of the page's script: the settings, and the specifications by key."""
    return {"look": LOOK, "specs": {chart.key: chart.spec for chart in charts}}
