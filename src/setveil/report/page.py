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
from setveil.base.display import cut, figure, quantity, setting, share
from setveil.metrics.base import NOT_COMPUTED
from setveil.report.item_names import with_item_names
from setveil.report.theme import styles

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
    from setveil.report.facts import failures_in, unit_of  # noqa: PLC0415 - loads the metrics
    from setveil.report.itemset_charts import border_attack, named_itemsets  # noqa: PLC0415 - the same
    from setveil.report.known_items_charts import known_items  # noqa: PLC0415 - the same
    from setveil.report.metric_rows import metric_groups, not_computed  # noqa: PLC0415 - loads the metrics
    from setveil.report.opinion import INTRODUCTION, criteria  # noqa: PLC0415 - the same
    from setveil.report.overview import overview  # noqa: PLC0415 - the same
    from setveil.report.release_charts import release_charts  # noqa: PLC0415 - the same
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
        failures=failures_in(dossier),
        named=named_itemsets(dossier),
        border=border_attack(dossier),
        tried=attacks_tried(dossier),
        sensitive=sensitive_items(dossier),
        known=known_items(dossier),
        notes=notes,
        box=overview(dossier),
        introduction=INTRODUCTION,
        criteria=criteria(dossier),
        compared_itemsets=_compared_itemsets(dossier),
        metrics=metric_groups(dossier["metrics"], notes),
        not_computed=not_computed(dossier["metrics"], notes),
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


def environment(*own: PackageLoader) -> Environment:
    """Return the environment of templates: those of these loaders, the shared ones, and the filters."""
    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([*own, PackageLoader(PACKAGE, ".")]),
        bytecode_cache=_TemplateCache.of_user(),
    )
    made.filters |= {
        "figure": figure,
        "quantity": quantity,
        "brief": brief,
        "words": words,
        "share": share,
        "cut": cut,
        "plain": plain,
        "with_code": with_code,
        "with_anchors": with_anchors,
        "headings": headings,
    }
    return made


def page_with_charts(
    template: str,
    charts: Sequence[Chart],
    *,
    package: str = PACKAGE,
    more_scripts: tuple[tuple[str, str], ...] = (),
    **values: Any,
) -> str:
    """Render a template that extends `base.html.jinja`; the macro `chart` of `parts.html.jinja` places a chart.

    `more_scripts` are files with further scripts, each with its package.
    """
    from setveil.report.charts import as_embedded  # noqa: PLC0415 - loads the chart library
    from setveil.report.scripts import scripts, security_policy  # noqa: PLC0415 - the same

    texts = scripts(more_scripts) if charts else ()
    return (
        environment(PackageLoader(package, "."))
        .get_template(template)
        .render(**values, scripts=texts, policy=security_policy(texts), embedded=as_embedded(charts), colours=styles())
    )


def _compared_itemsets(dossier: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the comparisons of frequent itemsets, with or without a result."""
    found = (one for one in dossier["metrics"] if one["name"] == "fi-similarity")
    return [one for one in found if not one["reason"].startswith(NOT_COMPUTED)]


def plain(value: float) -> str:
    """Format a number with four significant digits and without an exponent."""
    return f"{Decimal(f'{value:.4g}'):,f}"


def with_code(text: str) -> Markup:
    """Return a message as HTML, with text in backticks as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - the text is escaped


def with_anchors(page: Markup) -> Markup:
    """Return a page whose sections can be linked to: each heading has an id of the words in it."""

    def anchored(found: re.Match[str]) -> str:
        return f'<h2 id="{re.sub("[^a-z0-9]+", "-", found[1].lower()).strip("-")}">{found[1]}</h2>'

    return Markup(re.sub(r"<h2>(.*?)</h2>", anchored, str(page)))  # noqa: S704 - a page, with ids of letters and digits


def headings(page: Markup) -> list[tuple[str, Markup]]:
    """Return the sections of a page: ids and titles."""
    return [(anchor, Markup(title)) for anchor, title in re.findall(r'<h2 id="(.*?)">(.*?)</h2>', str(page))]  # noqa: S704 - from a page


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
    return cut(setting(value), MOST_CHARACTERS)
