"""Render a template, its values and its charts as one HTML page that opens offline."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from setveil.base.cache_directory import find_cache_directory
from setveil.base.display import cut, figure, quantity, share
from setveil.metrics.base import NOT_COMPUTED
from setveil.report.item_names import with_item_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2.bccache import Bucket

    from setveil.report.charts import Chart

PACKAGE = "setveil.report"
"""The package of the shared templates."""
PARTS_SHOWN = 12
MOST_CHARACTERS = 300
"""Longer parameters are cut; the dossier has the full value."""


def render(dossier: dict[str, Any]) -> str:
    """Return the report of a release as HTML."""
    from setveil.report.attack_charts import attacks_tried  # noqa: PLC0415 - loads the chart library
    from setveil.report.itemset_charts import border_attack, named_itemsets  # noqa: PLC0415 - the same
    from setveil.report.known_items_charts import known_items  # noqa: PLC0415 - the same
    from setveil.report.release_charts import release_charts, unit_of  # noqa: PLC0415 - the same
    from setveil.report.sensitive_charts import sensitive_items  # noqa: PLC0415 - the same

    dossier = with_item_names(dossier)
    charts = release_charts(dossier)
    notes = dossier.get("metric_notes", {})
    return page_with_charts(
        "release.html.jinja",
        [*charts.values()],
        d=dossier,
        card=dossier["card"],
        verdict=dossier["verdict"],
        drawn=charts,
        pictures=dossier.get("pictures"),
        unit=unit_of(dossier),
        named=named_itemsets(dossier),
        border=border_attack(dossier),
        tried=attacks_tried(dossier),
        sensitive=sensitive_items(dossier),
        known=known_items(dossier),
        notes=notes,
        metrics=_by_concern(dossier["metrics"], notes),
        not_computed=_by_reason(dossier["metrics"]),
    )


class _TemplateCache(FileSystemBytecodeCache):
    """Compiled templates on disk; compiling them takes 0.2 s. A damaged file is no error: the template is compiled."""

    @classmethod
    def of_user(cls) -> _TemplateCache | None:
        """Return the one in the cache directory, or None if nothing can be written there."""
        folder = find_cache_directory() / "templates"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        return cls(str(folder)) if os.access(folder, os.W_OK) else None

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template into a bucket, which stays empty if the file is damaged."""
        with suppress(Exception):
            super().load_bytecode(bucket)


def page_with_charts(template: str, charts: Sequence[Chart], *, package: str = PACKAGE, **values: Any) -> str:
    """Render a template that extends `base.html.jinja`; the macro `chart` of `parts.html.jinja` places a chart."""
    from setveil.report.charts import as_embedded  # noqa: PLC0415 - loads the chart library
    from setveil.report.scripts import scripts, security_policy  # noqa: PLC0415 - the same

    texts = scripts() if charts else ()
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(PACKAGE, ".")]),
        bytecode_cache=_TemplateCache.of_user(),
    )
    environment.filters |= {
        "figure": figure,
        "quantity": quantity,
        "brief": brief,
        "words": words,
        "share": share,
        "cut": cut,
        "plain": plain,
        "with_code": with_code,
    }
    return environment.get_template(template).render(
        **values, scripts=texts, policy=security_policy(texts), embedded=as_embedded(charts)
    )


def _by_concern(metrics: list[dict[str, Any]], notes: dict[str, dict[str, str]]) -> dict[str, list[dict[str, Any]]]:
    """Group the computed metrics by utility and privacy; dossiers of older versions do not state which."""
    grouped: dict[str, list[dict[str, Any]]] = {"utility": [], "privacy": [], "": []}
    for metric in metrics:
        if not metric["reason"].startswith(NOT_COMPUTED):
            grouped.setdefault(notes.get(metric["name"], {}).get("about", ""), []).append(metric)
    return grouped


def _by_reason(metrics: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the names of the metrics that were not computed, grouped by the reason, each once."""
    found: dict[str, list[str]] = {}
    for metric in metrics:
        if metric["reason"].startswith(NOT_COMPUTED):
            names = found.setdefault(metric["reason"].removeprefix(NOT_COMPUTED), [])
            if metric["name"] not in names:
                names.append(metric["name"])
    return found


def plain(value: float) -> str:
    """Format a number with four significant digits and without an exponent."""
    return f"{Decimal(f'{value:.4g}'):,f}"


def with_code(text: str) -> Markup:
    """Return a message as HTML, with text in backticks as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - the text is escaped


def words(name: Any) -> str:
    """Format the name of a count or a setting for people."""
    return str(name).replace("-", " ").replace("_", " ")


def brief(value: Any) -> str:
    """Format a parameter for people; a long mapping or list is replaced by its size."""
    if value is None:
        return "none"
    if isinstance(value, dict | list | tuple) and len(value) > PARTS_SHOWN:
        return f"{len(value):,} entries"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {brief(part)}" for key, part in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(f"{{{brief(part)}}}" if isinstance(part, list) else str(part) for part in value) or "none"
    return figure(value) if isinstance(value, bool | int | float) else cut(value, MOST_CHARACTERS)
