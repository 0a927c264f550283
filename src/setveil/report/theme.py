"""The theme of all charts: colours, marks, number formats, and the settings of Vega-Lite."""

from __future__ import annotations

from typing import Any

BEFORE, AFTER = "#0072B2", "#D55E00"
"""Colours of Okabe and Ito, which can be distinguished with any kind of colour vision and in grey print."""
NEUTRAL, WARNING = "#8A94A3", "#8B1A5A"
PALETTE = (BEFORE, AFTER, "#009E73", "#CC79A7", "#56B4E9", "#B58900", "#4D4D4D")
"""Colours for series without their own colours."""
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 4], [1, 3])

COUNT, SHARE = ",d", ".1%"
"""Number formats: thousands separators, and percent."""

MOST_IN_LINE = 18
"""Maximum number of characters per line of a name beside a bar."""

IN_LINES = "split(datum.label, '\\n')"
"""The lines of a name, as Vega computes them."""

INK, PALE = "#1c2430", "#e3e8ef"
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
        "gridColor": PALE,
        "domainColor": "#aab4c2",
        "tickColor": "#aab4c2",
    },
    "legend": {
        "orient": "top",
        "labelFontSize": 13,
        "titleFontSize": 13,
        "labelColor": INK,
        "symbolSize": 110,
        "columnPadding": 18,
        "labelLimit": 300,
    },
    "text": {"color": INK, "fontSize": 12, "font": FONT},
}
"""The settings that all charts of a page share."""
