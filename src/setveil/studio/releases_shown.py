"""What the screens of releases and comparisons show, as plain values and charts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup, escape

from setveil.base.display import quantity, share
from setveil.catalog import METHODS, METRICS
from setveil.comparison.candidates import SideFiles
from setveil.comparison.charts import frontier
from setveil.comparison.page import LOOKS, columns_of
from setveil.comparison.results import Comparison, Estimate, SetUpSummary, interval_text
from setveil.release.card import Card
from setveil.release.card_text import card_text
from setveil.report.attack_charts import attacks_tried
from setveil.report.item_names import with_item_names
from setveil.report.overview import overview
from setveil.report.release_charts import release_charts
from setveil.studio.forms import fields_of
from setveil.studio.refusals import NotFound, WrongState
from setveil.studio.showing import Screen, newest, places_of, run_row, title_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from setveil.studio.database import JobRow
    from setveil.studio.studio import Studio
    from setveil.studio.users import User

SHOWN: Final = ("items", "itemsets", "lengths", "named", "sensitive", "clusters", "pairs")
"""The charts of a report that the screen shows; the others are in the report."""
MOST_EARLIER: Final = 12
FOLLOWING: Final = ("check", "measure", "attack")
"""Kinds of jobs about a release."""


def release_screen(studio: Studio, user: User, release: str, witnesses: list[Any] | None = None) -> Screen:
    """Return the screen of a release: the verdict, what it cost, and what can still be found out."""
    row = studio.release(user, release)
    if not user.is_owner:
        return _reviewed(studio, user, release)
    job = studio.job(user, release)
    source = studio.source(user, job.source) if job.source else None
    dossier = with_item_names(studio.dossier(user, row))
    drawn = release_charts(dossier)
    charts = [drawn[key] for key in SHOWN if key in drawn]
    tried = attacks_tried(dossier)
    attacks = [drawn[one["key"]] for one in tried["kinds"] if one["key"] in drawn]
    content = {
        "release": {"id": row.id, "method": row.method, "made": row.made, "records": row.records, "title": row.title},
        "box": overview(dossier),
        "experiment": dossier["card"]["experiment"],
        "statement": dossier["card"]["guarantee"]["statement"],
        "pictures": [one.key for one in charts],
        "attacks": [
            {"key": one["key"], "title": one["note"]["title"], "sentences": one["sentences"]}
            for one in tried["kinds"]
            if one["key"] in drawn
        ],
        "names": [one for one in dossier.get("names", []) if one.get("missing")],
        "change": f"/data/{job.source}/set-up/{row.method}?from={release}",
        "later": [_later(studio, one) for one in studio.jobs(user) if one.release == release and one.kind in FOLLOWING],
        "earlier": [_earlier(studio, one, release) for one in studio.jobs(user) if _is_beside(one, job)][:MOST_EARLIER],
        "has_witnesses": bool(dossier["verdict"]),
        "witnesses": witnesses,
    }
    return Screen(
        "result.html.jinja",
        f"Release by {row.method}",
        content,
        [*charts, *attacks],
        source=source,
        step="result",
        links=_links(release),
    )


def _links(release: str) -> dict[str, str]:
    return {"run": f"/runs/{release}", "result": f"/releases/{release}", "hand-over": f"/releases/{release}/hand-over"}


def _is_beside(one: JobRow, job: JobRow) -> bool:
    return one.kind == "publish" and one.source == job.source and one.state == "done"


def _earlier(studio: Studio, one: JobRow, current: str) -> dict[str, Any]:
    """Return a run on the same data, as the table of earlier runs shows it."""
    found = studio.result(one) or {}
    method = one.content.get("method", {})
    settings = ", ".join(
        f"{name} = {value}" for name, value in method.items() if name != "name" and not isinstance(value, dict | list)
    )
    summary, verdict = found.get("summary") or {}, found.get("verdict")
    return {
        "id": one.id,
        "is_this": one.id == current,
        "method": method.get("name", ""),
        "settings": settings,
        "status": verdict["status"] if verdict else "none",
        "look": LOOKS.get(verdict["status"], "none") if verdict else "none",
        "cost": summary.get("cost", ""),
        "not_protected": summary.get("not_protected", ""),
        "ended": one.ended,
    }


def _later(studio: Studio, one: JobRow) -> dict[str, Any]:
    """Return what was done with a release later, with its outcome in a sentence."""
    found = studio.result(one) or {}
    error = found.get("error")
    figures: list[dict[str, Any]] = []
    if error:
        outcome = str(error.get("message", ""))
    elif one.kind == "check" and "status" in found:
        outcome = f"{found['guarantee']} {found['status']}" + (
            " (read again from the files)" if found["status"] == "holds" else ""
        )
    elif one.kind == "attack" and "findings" in found:
        outcome = f"{quantity(sum(1 for each in found['findings'] if each['main']), 'attack')} with a result, added to the charts below"
    elif one.kind == "measure":
        figures = [
            _figure(each)
            for each in found.get("measurements", found.get("metrics", []))
            if each.get("value") is not None
        ]
        outcome = quantity(len(figures), "figure")
    else:
        outcome = one.state
    return {**run_row(one), "outcome": outcome, "figures": figures, "look": _look(one, found)}


def _look(one: JobRow, found: Mapping[str, Any]) -> str:
    if one.kind == "check" and "status" in found:
        return LOOKS.get(found["status"], "none")
    return "holds" if one.state == "done" else "violated" if one.state in ("failed", "refused") else "none"


def _figure(each: Mapping[str, Any]) -> dict[str, Any]:
    kind = METRICS[each["name"]]
    value = share(each["value"]) if str(each["unit"]).startswith("share of ") else each["value"]
    settings = ", ".join(f"{name} = {value}" for name, value in each["parameters"].items())
    return {
        "title": kind.title,
        "about": kind.summary(),
        "settings": settings,
        "value": value,
        "unit": each["unit"],
        "better": each["better"],
    }


def _reviewed(studio: Studio, user: User, release: str) -> Screen:
    """Return what a reviewer sees: the card, the verdict and figures, without labels."""
    row = studio.release(user, release)
    dossier = studio.dossier(user, row)
    content = {
        "release": {"id": row.id, "method": row.method, "made": row.made, "records": row.records},
        "verdict": dossier.get("verdict"),
        "summary": dossier.get("summary"),
        "figures": [_short_figure(one) for one in dossier.get("metrics") or [] if one and one.get("value") is not None],
        "card": rendered(card_text(Card.model_validate(studio.card(row)))),
    }
    return Screen("reviewed.html.jinja", f"Release by {row.method}", content)


def _short_figure(one: Mapping[str, Any]) -> dict[str, Any]:
    kind = METRICS[one["name"]]
    value = share(one["value"]) if str(one["unit"]).startswith("share of ") else one["value"]
    return {"title": kind.title, "about": kind.summary(), "value": value, "unit": one["unit"], "better": one["better"]}


def hand_over_screen(studio: Studio, user: User, release: str) -> Screen:
    """Return the screen to hand a release over: its card, a checklist and its files."""
    row = studio.release(user, release)
    job = studio.job(user, release)
    source = studio.source(user, job.source) if job.source else None
    card, dossier = studio.card(row), studio.dossier(user, row)
    files = [
        {"name": card["data"]["file"], "bytes": card["data"]["bytes"]},
        *({"name": one["file"], "bytes": one["bytes"]} for one in card["documents"]),
    ]
    checked = [
        one for one in studio.jobs(user) if one.release == release and one.kind == "check" and one.state == "done"
    ]
    attacks = dossier.get("attacks", {}).get("findings", [])
    content = {
        "release": {"id": row.id, "method": row.method, "made": row.made, "records": row.records, "run": row.run},
        "card": rendered(card_text(Card.model_validate(card))),
        "files": [*files, {"name": "card.json", "bytes": None}],
        "guarantee": card["guarantee"]["name"],
        "experiment": card["experiment"],
        "not_protected": overview(dossier)["not_protected"],
        "checked": None if not checked else checked[0].ended,
        "attacks": sum(1 for one in attacks if one and one.get("main")),
        "registered": bool(dossier.get("register")),
        "inferable": _inferable(row.method),
    }
    return Screen("hand_over.html.jinja", "Hand over", content, source=source, step="hand-over", links=_links(release))


def _inferable(method: str) -> list[str]:
    return [*METHODS[method].inferable_parameters()] if method in METHODS else []


def releases_screen(studio: Studio, user: User) -> Screen:
    """Return the register of releases, and who looked at private values."""
    rows = studio.releases(user)
    content = {
        "releases": [
            {
                "id": one.id,
                "title": one.title,
                "method": one.method,
                "guarantee": one.guarantee,
                "records": one.records,
                "made": one.made,
                "owner": one.owner,
            }
            for one in rows
        ],
        "log": [
            {"time": one.time, "user": one.user, "action": one.action, "release": one.release}
            for one in studio.log(user)
        ]
        if user.is_owner
        else [],
        "is_owner": user.is_owner,
    }
    return Screen("releases.html.jinja", "Releases", content)


TASKS: Final = ("ease", "item-knn", "item-prediction", "pair-probabilities")
"""What a release can be used for, with models that are tested on other people."""
BUDGETS: Final = (
    ("1min", "1 minute"),
    ("5min", "5 minutes"),
    ("20min", "20 minutes"),
    ("", "Until all trials are done"),
)
COMPARED: Final = {
    "disassociation": "k = 3, 5, 10; m = 2",
    "apriori-generalization": "k = 5; m = 2",
    "part-swap": "",
    "insert": "rho = 30%, 50%",
    "permutation": "p = 3, 5",
    "partial-suppression": "rho = 50%",
    "exact-swap": "min_support = 1%",
}
"""The methods that the form offers, with the values it starts with."""


def compare_screen(studio: Studio, user: User, source: str) -> Screen:
    """Return the screen on which set-ups to compare are chosen."""
    one = studio.source(user, source)
    places = places_of(studio, user)
    before = newest(studio, user, "compare", source, "done")
    advised = newest(studio, user, "advise", source, "done")
    side_files: dict[str, Any] = {
        name: {"sample": chosen} for name in ("categories", "sensitive") if (chosen := places.preferred(name, one))
    }
    if advised is not None:
        side_files |= {name: value for name, value in advised.content.items() if name in SideFiles.model_fields}
    set_ups = ((studio.result(advised) or {}).get("set-ups") or []) if advised else []
    proposals = [_values_text(row["method"], advised.content if advised else {}) for row in set_ups]
    texts: dict[str, str] = {}
    for name, text in proposals:
        texts.setdefault(name, text)
    content = {
        "data": {"id": one.id, "title": one.title},
        "methods": [
            {
                "name": name,
                "title": title_of(name),
                "summary": METHODS[name].summary(),
                "values": texts.get(name, values),
                "needs": [
                    row.name
                    for row in METHODS[name].parameters()
                    if row.required and row.name in SideFiles.model_fields and row.name != "min_support"
                ],
                "chosen": name in texts or (not texts and name == "disassociation"),
            }
            for name, values in COMPARED.items()
        ],
        "side_files": [row for row in fields_of(SideFiles, side_files, places) if row.look == "file"],
        "tasks": [
            {"name": name, "title": METRICS[name].title, "summary": METRICS[name].summary()}
            for name in TASKS
            if name in METRICS
        ],
        "budgets": [{"value": value, "title": title} for value, title in BUDGETS],
        "before": None if before is None else before.id,
        "runs": [run_row(job) for job in studio.jobs(user) if job.source == source and job.kind == "compare"],
    }
    return Screen("compare.html.jinja", "Compare set-ups", content, source=one, step="compare")


def _values_text(method: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[str, str]:
    """Return the settings of a proposal as a person types them; side files have fields of their own."""
    shown = {
        name: value
        for name, value in method.items()
        if name != "name" and name not in given and not isinstance(value, dict | list)
    }
    shown = {
        name: value for name, value in shown.items() if name not in ("categories", "sensitive", "itemsets", "hierarchy")
    }
    return method["name"], "; ".join(f"{name} = {value}" for name, value in shown.items())


def comparison_screen(studio: Studio, user: User, job: str) -> Screen:
    """Return the screen of a comparison: the frontier and the table."""
    row = studio.job(user, job)
    if row.kind != "compare":
        raise NotFound("there is no such comparison")
    found = studio.result(row)
    if not found or "set_ups" not in found:
        raise WrongState(f"the comparison is {row.state} and has no result")
    compared = Comparison(found["facts"], [_set_up(one) for one in found["set_ups"]])
    chart = frontier(compared)
    content = {
        "comparison": {
            "id": row.id,
            "records": found["facts"]["data"]["records"],
            "held_out": found["facts"]["data"]["held_out"],
        },
        "task": found["facts"]["task"],
        "best": [
            {
                "title": one.title,
                "task": interval_text(one.task, is_share=False),
                "excess": interval_text(one.excess),
                "attack": one.attack,
                "place": place,
                "method": one.method,
            }
            for place, one in enumerate(compared.set_ups)
            if one.is_best
        ],
        "columns": columns_of(compared),
        "count": len(compared.set_ups),
        "failed": [
            {"title": one.title, "status": one.status, "look": LOOKS.get(one.status, "none"), "reason": one.reason}
            for one in compared.set_ups
            if one.fails
        ],
        "pictures": [] if chart is None else [chart.key],
    }
    source = studio.source(user, row.source) if row.source else None
    return Screen(
        "comparison.html.jinja",
        "Comparison",
        content,
        [] if chart is None else [chart],
        source=source,
        step="compare",
        more_scripts=("table.js",),
    )


def _set_up(row: Mapping[str, Any]) -> SetUpSummary:
    """Return a summary from a row of the table that the command printed."""
    names = [*row]
    first, last = names.index("stage"), names.index("best")
    settings = {name: row[name] for name in names[1:first] if row[name] != ""}
    measured = {name: row[name] for name in names[names.index("attack") + 1 : last]}
    shown = [f"{name}={value}" for name, value in settings.items() if not str(value).startswith(("sample:", "/"))]
    title = f"{row['method']} {', '.join(shown)}".rstrip()
    return SetUpSummary(
        method=row["method"],
        settings=settings,
        title=title,
        stage=row["stage"],
        status=row["status"],
        reason=row["reason"],
        trials=[],
        task=_estimate(row, "task"),
        excess=_estimate(row, "excess"),
        attack=row["attack"],
        measurements=measured,
        seconds=row["seconds"],
        is_best=row["best"],
        task_rank=row["task rank"],
        excess_rank=row["excess rank"],
    )


def _estimate(row: Mapping[str, Any], name: str) -> Estimate | None:
    return None if row[name] is None else Estimate(row[name], row[f"{name} low"], row[f"{name} high"])


_HEADING: Final = re.compile(r"(#{1,3}) (.*)")
_INLINE: Final = re.compile(r"(?P<code>`{1,2})(?P<text>.*?)(?P=code)|\*\*(?P<bold>.*?)\*\*")


def rendered(text: str) -> Markup:
    r"""Return a card as HTML: the parts of Markdown that cards use. Everything in it is escaped.

    >>> print(rendered("# A & B\n\n- `x`\n- **y**\n"))
    <h3>A &amp; B</h3>
    <ul><li><code>x</code></li><li><b>y</b></li></ul>
    """
    return Markup("\n").join(_blocks(text.strip("\n")))


def _blocks(text: str) -> Iterator[Markup]:
    for block in re.split(r"\n\n+(?=(?:[^`]|`(?!``)|```[^`]*```)*$)", text):
        lines = block.split("\n")
        heading = _HEADING.fullmatch(lines[0])
        if heading:
            level = len(heading[1]) + 2
            yield Markup("<h{0}>{1}</h{0}>").format(level, _inline(heading[2]))
        elif lines[0].startswith("```"):
            yield Markup("<pre><code>{}</code></pre>").format("\n".join(lines[1:-1]))
        elif lines[0].startswith("- "):
            yield Markup("<ul>{}</ul>").format(
                Markup("").join(Markup("<li>{}</li>").format(_inline(line[2:])) for line in lines)
            )
        elif lines[0].startswith("| "):
            yield _table([[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines])
        else:
            yield Markup("<p>{}</p>").format(_inline(" ".join(lines)))


def _table(rows: list[list[str]]) -> Markup:
    head, body = _row(rows[0], "<th>{}</th>"), Markup("").join(_row(cells, "<td>{}</td>") for cells in rows[2:])
    table = Markup("<table><thead>{}</thead><tbody>{}</tbody></table>").format(head, body)
    return Markup('<div class="wrap" tabindex="0" role="region" aria-label="Table">{}</div>').format(table)


def _row(cells: list[str], cell: str) -> Markup:
    shown = (Markup(cell).format(_inline(one.replace("\\|", "|"))) for one in cells)  # noqa: S704 - a tag of ours
    return Markup("<tr>{}</tr>").format(Markup("").join(shown))


def _inline(text: str) -> Markup:
    parts: list[Markup] = []
    reached = 0
    for found in _INLINE.finditer(text):
        parts.append(escape(text[reached : found.start()]))
        if found["bold"] is not None:
            parts.append(Markup("<b>{}</b>").format(_inline(found["bold"])))
        else:
            inner = found["text"]
            parts.append(Markup("<code>{}</code>").format(inner.strip() if len(found["code"]) == 2 else inner))
        reached = found.end()
    return Markup("").join([*parts, escape(text[reached:])])
