"""The theme of all charts: colours, marks, number formats, and the settings of Vega-Lite."""

from __future__ import annotations

from typing import Any

LIGHT = {
    "paper": "#ffffff",
    "raised": "#f5f7fa",
    "ink": "#1c2430",
    "soft": "#525e6e",
    "line": "#dfe4ec",
    "original": "#0072b2",
    "release": "#d55e00",
    "lost": "#571662",
    "new": "#783d00",
    "protected": "#00aa68",
    "violated": "#ed1f45",
    "neutral": "#8996a6",
    "control": "#4d4a5a",
}
DARK = {
    "paper": "#12161c",
    "raised": "#1b2129",
    "ink": "#e8ecf1",
    "soft": "#a5b0be",
    "line": "#323b47",
    "original": "#3b94c5",
    "release": "#e47128",
    "lost": "#ff86ff",
    "new": "#f7cb4f",
    "protected": "#097642",
    "violated": "#f11f58",
    "neutral": "#7e8293",
    "control": "#ceddf0",
}
"""The colours of a page by their meaning, for light and dark screens.

A colour means the same in all charts and texts of a page: the original, the release, what is lost or new, what is protected, where a
guarantee is violated, anything else (neutral), and people who are not in the release (control). With any kind of colour vision they can be
distinguished; a test simulates it.
"""


def colour(meaning: str) -> str:
    """Return a colour by its meaning, as charts and styles name it; the page defines it for light and dark screens."""
    return f"var(--{meaning})"


def styles() -> str:
    """Return the colours as style rules; print is always light."""
    light, dark = ("; ".join(f"--{name}: {value}" for name, value in colours.items()) for colours in (LIGHT, DARK))
    return (
        f":root {{ color-scheme: light; {light} }}\n"
        f"  @media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark} }} }}"
    )


BEFORE, AFTER = colour("original"), colour("release")
LOST, NEW, WARNING = colour("lost"), colour("new"), colour("violated")
NEUTRAL, CONTROL = colour("neutral"), colour("control")
INK, PAPER = colour("ink"), colour("paper")
ON_PALE = LIGHT["ink"]
"""The ink on a field that is pale on dark screens too."""
PALETTE = (BEFORE, AFTER, "#009E73", "#CC79A7", "#56B4E9", "#B58900", CONTROL)
"""Colours for series without a meaning of their own: those of Okabe and Ito, which can be distinguished with any kind of colour vision."""
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 4], [1, 3])

COUNT, SHARE = ",d", ".1%"
"""Number formats: thousands separators, and percent."""

MOST_IN_LINE = 18
"""Maximum number of characters per line of a name beside a bar."""

IN_LINES = "split(datum.label, '\\n')"
"""The lines of a name, as Vega computes them."""

FONT = "system-ui, sans-serif"

LOOK: dict[str, Any] = {
    "font": FONT,
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelColor": INK,
        "titleColor": INK,
        "gridColor": colour("line"),
        "domainColor": NEUTRAL,
        "tickColor": NEUTRAL,
    },
    "legend": {
        "orient": "top",
        "labelFontSize": 13,
        "titleFontSize": 13,
        "labelColor": INK,
        "titleColor": INK,
        "symbolSize": 110,
        "columnPadding": 18,
        "labelLimit": 300,
    },
    "text": {"color": INK, "fontSize": 12, "font": FONT},
}
"""The settings that all charts of a page share."""
