"""Charts as Vega-Lite specifications for any page; this module does not depend on releases.

A page embeds a `Chart`: a specification, its text alternative, and the same numbers as a table. The functions below make specifications
from plain rows. `Axis` and `Series` define axes and colours. All charts are as wide as the page and share the settings `theme.LOOK`.
Specifications are plain dictionaries: importing Altair and letting it check them would take longer than the rest of a report. Tests
check them against its schema. The reasons are in docs/decisions/0012-charts-in-the-page.md.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Literal

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
    ON_PALE,
    PALETTE,
    PAPER,
    SHAPES,
    SHARE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CROSS = "M-1,-1L1,1M-1,1L1,-1"
"""The shape of a cross, as a path."""

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

    def colour(self, *, legend: bool = True, **looks: Any) -> Spec:
        """Return the colour channel of a chart, with a legend."""
        scale = {"domain": [*self.names], "range": self.palette}
        return self._channel(scale=scale, legend={"symbolOpacity": 1, **looks} if legend else None)

    def mapped_to(self, values: Sequence[Any]) -> Spec:
        """Return a channel that maps each name to one of these values."""
        return self._channel(scale={"domain": [*self.names], "range": _repeated(values, len(self.names))})

    def only(self, name: str) -> Spec:
        """Return the rows of one name as a transformation of a layer."""
        return _filtered({"field": self.field, "equal": name})

    def _channel(self, **options: Any) -> Spec:
        return _nominal(self.field, title=self.title, **options)


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


def _finished(rows: Rows, *layers: Spec, height: int, text: str = "") -> Spec:
    """Return the specification of a chart that is as wide as its container and loads nothing."""
    drawn = layers[0] if len(layers) == 1 else {"layer": [*layers]}
    spec = {"data": {"values": rows}, **drawn, "width": "container", "height": height}
    return {**spec, "description": text} if text else spec


def _layer(mark: str, encoding: Mapping[str, Any], more: Mapping[str, Any] | None = None, /, **looks: Any) -> Spec:
    """Return a layer: marks with their looks and channels, and `more` of what a layer may have."""
    return {"mark": {"type": mark, **looks}, "encoding": encoding, **(more or {})}


def _filtered(condition: str | Spec) -> Spec:
    return {"transform": [{"filter": condition}]}


def _rows_high(rows: Rows, down: Axis, step: int) -> int:
    """Return the height of a chart with one line per name; Vega-Lite's own steps do not work with a flexible width."""
    return step * len({row[down.field] for row in rows})


def _nominal(field: str, **options: Any) -> Spec:
    return {"field": field, "type": "nominal", **options}


def _quantity(field: str, **options: Any) -> Spec:
    return {"field": field, "type": "quantitative", **options}


def _number(axis: Axis) -> Spec:
    """Return a channel for numbers along an axis."""
    scale: Spec = {"type": axis.scale, "nice": axis.limits is None}
    if axis.scale != "log":
        scale["zero"] = True
    if axis.limits:
        scale["domain"] = [*axis.limits]
    shown: Spec = {"format": axis.format.replace(".1%", ".0%"), "labelOverlap": "parity", "labelSeparation": 8}
    if axis.ticks:
        shown["values"] = [*axis.ticks]
    elif axis.format == COUNT:
        shown["tickMinStep"] = 1
    return _quantity(axis.field, title=axis.title, scale=scale, axis=shown)


def _names(axis: Axis, **options: Any) -> Spec:
    """Return a channel for names, in the order of the rows."""
    return _nominal(axis.field, title=axis.title or None, sort=None, axis=options)


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


def _tooltip(*sides: Axis | Series) -> list[Spec]:
    return [
        _nominal(side.field, title=side.title or "in")
        if isinstance(side, Series)
        else _quantity(side.field, title=side.title or side.field, format=side.format)
        if side.format
        else _nominal(side.field, title=side.title or side.field)
        for side in sides
    ]


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
    places = {"x": _number(along), "y": _names(down, grid=True, **broken)}
    threads = _layer("line", {**places, "detail": _nominal(down.field)}, color=NEUTRAL, strokeWidth=2)
    shown = {
        **places,
        "color": series.colour(),
        "shape": series.mapped_to(SHAPES),
        "tooltip": _tooltip(down, series, along),
    }
    dots = [
        _layer("point", shown, series.only(name), filled=True, opacity=1, size=size)
        for name, size in zip(series.names, sizes or (150, *[45] * (len(series.names) - 1)), strict=True)
    ]
    across = [] if limit is None else [_rule([{along.field: limit}], {"x": _number(along)})]
    return _finished(rows, *across, threads, *dots, height=_rows_high(rows, down, 4 + 14 * lines), text=text)


def _rule(rows: Rows, encoding: Spec) -> Spec:
    """Return a dashed line at the value of each row."""
    return _layer("rule", encoding, {"data": {"values": rows}}, color=INK, strokeDash=[6, 4], strokeWidth=1.5)


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
    places = {"x": _number(across), "y": _number(up), "color": colour}
    lines = [
        _layer("line", places, series.only(name), strokeWidth=width, opacity=opacity)
        for name, (width, opacity) in zip(
            series.names, [(widest, 0.5 if widest > 2.5 else 1), *[(2.5, 1)] * (len(series.names) - 1)], strict=True
        )
    ]
    dots = _layer("point", {**places, "tooltip": _tooltip(series, across, up)}, size=90, opacity=0, filled=True)
    return _finished(rows, *_limits([*limits], across, up), *lines, dots, height=height, text=text)


def _limits(limits: Rows, across: Axis, up: Axis) -> list[Spec]:
    """Return dashed lines at heights, each with its name below or above it."""
    if not limits:
        return []
    height = {"y": _number(up)}
    named = {**height, "x": _number(across), "text": _nominal("name")}
    looks: dict[str, Spec] = {
        "below": {"align": "left", "baseline": "top", "dy": 5},
        "above": {"align": "right", "baseline": "bottom", "dy": -4},
    }
    names = [
        _layer("text", named, {"data": {"values": limits}, **_filtered({"field": "side", "equal": side})}, **look)
        for side, look in looks.items()
    ]
    return [_rule(limits, height), *names]


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
    encoding = {
        "x": _names(across, **_tilted(rows, across)),
        "xOffset": _nominal(series.field, scale={"domain": [*series.names]}),
        "y": _number(up),
        "color": series.colour(legend=legend),
        "tooltip": _tooltip(across, series, up),
    }
    return _finished(rows, _layer("bar", encoding), height=height, text=text)


def stacked_shares(rows: Rows, *, down: Axis, along: Axis, series: Series, text: str = "") -> Spec:
    """Draw one bar per name, divided into the shares of the series, with the number on each part that is wide enough for it."""
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
    place = {"y": _names(down)}
    edges = {"x": _number(Axis("from", along.title, SHARE, limits=(0, 1))), "x2": {"field": "to"}}
    tooltip = _tooltip(down, series, Axis(along.field, "number", along.format), Axis("share", "share", SHARE))
    drawn = {**place, **edges, "color": series.colour(), "tooltip": tooltip}
    numbers = {**place, "x": _quantity("middle"), "text": _quantity(along.field, format=along.format)}
    fits = _filtered(f"datum.share * width >= 6 + 8 * length(format(datum['{along.field}'], '{along.format}'))")
    return _finished(
        placed,
        _layer("bar", drawn, stroke=PAPER, strokeWidth=1),
        _layer("text", numbers, fits, color=PAPER, stroke=PAPER, strokeWidth=4, fontWeight="bold"),
        _layer("text", numbers, fits, color=INK, fontWeight="bold"),
        height=_rows_high(rows, down, 40),
        text=text,
    )


def bars(rows: Rows, *, down: Axis, along: Axis, series: Series, legend: bool = True, text: str = "") -> Spec:
    """Draw one bar per name, coloured by series, with the number at its end; names are wrapped into lines."""
    named = [{**row, "line": wrapped(str(row[down.field]))} for row in rows]
    lines = max(row["line"].count("\n") + 1 for row in named)
    several = len({row[series.field] for row in rows}) > 1
    places = {"x": _number(along), "y": _names(Axis("line", down.title, ""), labelExpr=IN_LINES)}
    drawn = {**places, "color": series.colour(legend=legend and several), "tooltip": _tooltip(down, along)}
    numbers = {**places, "text": _quantity(along.field, format=along.format)}
    return _finished(
        named,
        _layer("bar", drawn, height={"band": 0.7}),
        _layer("text", numbers, align="left", dx=5),
        height=_rows_high(rows, down, 16 + 16 * lines),
        text=text,
    )


def bars_with_intervals(
    rows: Rows, *, down: Axis, along: Axis, series: Series, limit: float | None = None, text: str = ""
) -> Spec:
    """Draw one group of bars per name with one bar per series, each with its `label` and its interval from `low` to `high`, if it has one.

    `limit` is a dashed line across the chart.
    """
    drawn = [{**row, "end": row[along.field] if row["high"] is None else row["high"]} for row in rows]
    places = {"y": _names(down), "yOffset": _nominal(series.field, scale={"domain": [*series.names]})}
    value = {**places, "x": _number(along), "color": series.colour(), "tooltip": _tooltip(down, series, along)}
    interval = {**places, "x": _quantity("low"), "x2": {"field": "high"}}
    label = {**places, "x": _quantity("end"), "text": _nominal("label")}
    across = [] if limit is None else [_rule([{along.field: limit}], {"x": _number(along)})]
    bars_per_name = len({row[series.field] for row in rows})
    return _finished(
        drawn,
        _layer("bar", value),
        _layer("rule", interval, _filtered("datum.high !== null"), color=INK, strokeWidth=2),
        _layer("text", label, align="left", dx=5),
        *across,
        height=_rows_high(rows, down, 14 + 24 * bars_per_name),
        text=text,
    )


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
    base = {"x": _names(across, **_tilted(rows, across)), "color": series.colour()}
    places = {**base, "y": _number(up)}
    tooltip = _tooltip(series, across, up, *(Axis(name, name, up.format) for name in spread or ()))
    marks = {"shape": series.mapped_to(SHAPES), "tooltip": tooltip}
    layers = [
        _layer("line", {**places, "strokeDash": series.mapped_to(DASHES)}, strokeWidth=2),
        _layer("point", {**places, **marks}, filled=True, size=70, opacity=1),
    ]
    if spread:
        low = Axis(spread[0], up.title, up.format, up.scale, up.limits)
        layers.insert(0, _layer("area", {**base, "y": _number(low), "y2": {"field": spread[1]}}, opacity=0.15))
    return _finished(rows, *layers, height=height, text=text)


def points_with_intervals(
    rows: Rows, *, across: Axis, up: Axis, series: Series, size: Axis, tooltip: Sequence[Axis], text: str = ""
) -> Spec:
    """Draw one point per row with its intervals in both directions, and a line over the rows that are `best`.

    A row has the ends `across_low`, `across_high`, `up_low` and `up_high`, or None. One that `fails` is drawn as a cross, and one that is
    `coarse` as a ring.
    """
    places = {"x": _number(across), "y": _number(up)}
    shape = {**series.mapped_to([SHAPES[place // len(PALETTE) % len(SHAPES)] for place in range(len(series.names))])}
    shown = {**places, "color": series.colour(), "tooltip": _tooltip(*tooltip)}
    sized = {
        "size": _quantity(
            size.field,
            title=size.title,
            scale={"type": "sqrt", "range": [60, 600], "zero": False},
            legend={
                "orient": "bottom",
                "symbolFillColor": NEUTRAL,
                "symbolStrokeColor": NEUTRAL,
                "titleFontWeight": "normal",
            },
        )
    }
    colour = series.colour()
    ends = [
        _layer(
            "rule",
            {
                **places,
                side: _quantity(f"{name}_low", title=axis.title),
                f"{side}2": {"field": f"{name}_high"},
                "color": colour,
            },
            _filtered(f"datum.{name}_low !== null"),
            strokeWidth=1.5,
            opacity=0.7,
        )
        for side, name, axis in (("x", "across", across), ("y", "up", up))
        if any(row[f"{name}_low"] is not None for row in rows)
    ]
    solid = {"filled": True, "stroke": PAPER, "strokeWidth": 1}
    looks: dict[str, tuple[Spec, Spec]] = {
        "!datum.fails && !datum.coarse": ({**shown, **sized, "shape": shape}, solid),
        "!datum.fails && datum.coarse": ({**shown, "shape": shape}, {"filled": False, "strokeWidth": 2, "size": 90}),
        "datum.fails": (shown, {"shape": CROSS, "filled": False, "strokeWidth": 3, "size": 130}),
    }
    kinds = {
        ("datum.fails" if row["fails"] else f"!datum.fails && {'' if row['coarse'] else '!'}datum.coarse")
        for row in rows
    }
    points = [
        _layer("point", encoding, _filtered(test), opacity=1, **look)
        for test, (encoding, look) in looks.items()
        if test in kinds
    ]
    best = [_layer("line", places, _filtered("datum.best"), color=INK, strokeDash=[6, 4], strokeWidth=1.5)]
    return _finished(rows, *(best if any(row["best"] for row in rows) else []), *ends, *points, height=420, text=text)


def points_per_name(rows: Rows, *, across: Axis, up: Axis, series: Series, within: str, text: str = "") -> Spec:
    """Draw the rows of each name side by side as points, one per value of the field `within`, with a line through the means of a series."""
    names = {**_names(across, **_tilted(rows, across)), "scale": {"paddingInner": 0.6, "paddingOuter": 0.3}}
    places = {"x": names, "y": _number(up)}
    mean = {**places, "y": {**_number(up), "aggregate": "mean"}, "color": series.colour(legend=len(series.names) > 1)}
    dots = {
        **places,
        "xOffset": _nominal(within),
        "color": mean["color"],
        "tooltip": _tooltip(across, series, Axis(within, within, ""), up),
    }
    return _finished(
        rows,
        _layer("line", mean, strokeWidth=2, opacity=0.6),
        _layer("point", dots, filled=True, size=70, opacity=1),
        height=220,
        text=text,
    )


def heat_map(
    rows: Rows, *, across: Axis, down: Axis, up: Axis, series: Series, text: str = "", height: int = 300
) -> Spec:
    """Draw one field per pair of names, coloured by the series, with the text of `label`, which is white if `dark` is set."""
    places = {
        "x": _names(across, **_tilted(rows, across)),
        "y": _names(down),
        "tooltip": _tooltip(across, down, up, series),
    }
    ink = {"condition": {"test": "datum.dark", "value": "white"}, "value": ON_PALE}
    return _finished(
        rows,
        _layer("rect", {**places, "color": series.colour()}, stroke=PAPER, strokeWidth=2),
        _layer("text", {**places, "color": ink, "text": _nominal("label")}, fontSize=11),
        height=height,
        text=text,
    )


def as_embedded(charts: Sequence[Chart]) -> Mapping[str, Any]:
    """Return the input of the page's script: the settings, and the specifications by key."""
    return {"look": LOOK, "specs": {chart.key: chart.spec for chart in charts}}
