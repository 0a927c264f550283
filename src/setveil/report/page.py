"""The report of a release: one page that opens offline."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

PARTS_SHOWN = 12


def render(dossier: dict[str, Any]) -> str:
    """Return the report as HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["figure"] = figure
    environment.filters["brief"] = brief
    template = files("setveil.report").joinpath("release.html.jinja").read_text(encoding="utf-8")
    return environment.from_string(template).render(d=dossier, card=dossier["card"], verdict=dossier["verdict"])


def figure(value: Any) -> str:
    """Write a number for people: thousands apart, shares with four significant digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def brief(value: Any) -> str:
    """Write a parameter for people; a long mapping by its size."""
    if isinstance(value, dict) and len(value) > PARTS_SHOWN:
        return f"{len(value):,} entries"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return figure(value) if isinstance(value, bool | int | float) else str(value)
