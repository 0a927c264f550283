"""What the screens before a release show: data, exposure, advice, set-up and runs, as plain values and charts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from setveil.base.display import quantity, share
from setveil.catalog import ATTACKS, METHODS, METRICS
from setveil.comparison.candidates import MOST_KNOWN, SideFiles
from setveil.comparison.recommendation import RISKS
from setveil.method_description import describe_method
from setveil.methods.base import TRUTHFUL_TEXTS
from setveil.release.context import ANSWERS, Context
from setveil.studio.database import ENDED
from setveil.studio.exposure_charts import length_chart, popular_chart
from setveil.studio.forms import Choice, Field, Places, fields_of, label
from setveil.studio.refusals import BadRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setveil.methods.base import Method
    from setveil.report.charts import Chart
    from setveil.studio.database import JobRow, Source
    from setveil.studio.studio import Studio
    from setveil.studio.users import User


def title_of(method: str) -> str:
    """Return the name of a method as a heading.

    >>> title_of("part-swap"), title_of("td-control")
    ('Part swap', 'TD control')
    """
    words = method.replace("-", " ")
    return words.replace("td ", "TD ") if words.startswith("td ") else words[:1].upper() + words[1:]


GROUPS: Final = {
    "disassociation": (
        "identity",
        "Which record belongs to a person",
        "An attacker who knows a few items of a person must not find the whole record.",
    ),
    "uncertainty": (
        "sensitive-items",
        "That a person has a sensitive item",
        "An attacker must not be able to conclude a sensitive item from the other items of a record.",
    ),
    "tendency": (
        "preference",
        "What a person prefers",
        "The items of a record show what its person likes most. That must not be visible.",
    ),
    "itemsets": (
        "itemsets",
        "Patterns that are your secret",
        "Some combinations of items must not be found as frequent in the release.",
    ),
}
"""Families of methods with what they hide: the answer of the advice, a title, and a sentence."""
UNITS: Final = {"person": "people", "record": "records"}
PEOPLE: Final = 100
"""Number of people in a picture."""
MOST_RUNS: Final = 8
PREVIEWED: Final = 20
"""Number of records that are shown as they were read."""


@dataclass(frozen=True)
class Screen:
    """What a page shows, for people and for programs."""

    template: str
    title: str
    content: dict[str, Any]
    charts: Sequence[Chart] = ()
    source: Source | None = None
    step: str = ""
    """The step of the flow that this screen is."""
    links: Mapping[str, str] = field(default_factory=dict)
    """The addresses of steps that can be reached from here, besides those of the data."""
    status: int = 200
    more_scripts: Sequence[str] = ()


def places_of(studio: Studio, user: User) -> Places:
    """Return what side files can be chosen from."""
    return Places(studio.samples(), studio.files(user), studio.uploads(user))


def newest(studio: Studio, user: User, kind: str, source: str, *states: str) -> JobRow | None:
    """Return the newest job of a kind on these data that is in one of these states."""
    return next(
        (one for one in studio.jobs(user) if one.kind == kind and one.source == source and one.state in states), None
    )


def start_screen(studio: Studio, user: User) -> Screen:
    """Return the screen of data to choose from."""
    sources = studio.sources(user)
    content = {
        "samples": studio.samples(),
        "files": studio.files(user),
        "roots": [one.name for one in studio.settings.roots],
        "uploads": studio.uploads(user),
        "sources": [_source(one) for one in sources[:MOST_RUNS]],
        "runs": [run_row(one) for one in studio.jobs(user)[:MOST_RUNS]],
        "most_upload": studio.settings.upload_bytes,
    }
    return Screen("start.html.jinja", "Choose data", content)


def _source(one: Source) -> dict[str, Any]:
    return {"id": one.id, "title": one.title, "kind": one.kind, "reading": one.reading, "made": one.made}


def run_row(job: JobRow) -> dict[str, Any]:
    """Return a run as lists of runs show it."""
    return {
        "id": job.id,
        "kind": job.kind,
        "title": job.title,
        "method": method_of(job),
        "state": job.state,
        "created": job.created,
        "seconds": None if job.started is None else (job.ended or time.time()) - job.started,
        "next": next_of(job),
    }


def method_of(job: JobRow) -> str:
    """Return the name of the method of a job that publishes."""
    method = job.content.get("method")
    return str(method.get("name", "")) if isinstance(method, dict) else ""


def next_of(job: JobRow) -> str:
    """Return the address of the result of a job that is done; that of the run otherwise."""
    if job.state != "done" and not (job.kind in ("check", "attack") and job.state == "refused" and job.release):
        return f"/runs/{job.id}"
    of_data = {"profile": "exposure", "advise": "advise"}
    if job.kind in of_data and job.source:
        return f"/data/{job.source}/{of_data[job.kind]}"
    if job.kind == "compare":
        return f"/comparisons/{job.id}"
    if job.kind == "publish":
        return f"/releases/{job.id}"
    return f"/releases/{job.release}" if job.release else f"/runs/{job.id}"


READING: Final = (
    (
        "unit",
        "What is one record?",
        "The guarantee protects records. It protects people only if each person has one record.",
    ),
    (
        "person",
        "Column with the id of the person",
        "For tables with one row per item: all rows with the same id become one record.",
    ),
    (
        "format",
        "Format",
        "Usually found in the file. Basket: one line per record. Long: one row per item. Wide: one row per record.",
    ),
    ("id", "Column with the id of the record", "Only if the column is not called id."),
    ("item", "Column with the item", "Only if the column is not called item."),
    ("items", "Column with all items", "For tables with one row per record, only if the column is not called items."),
    ("separator", "Separator", "What separates items or columns, if it is not found in the file."),
    ("encoding", "Character encoding", "Such as cp1252, if the file is not UTF-8."),
    ("ragged", "Each line of the CSV is a list of items", "For CSV files in which lines have different lengths."),
    ("no_header", "The CSV has no header", "Each line is an id and an item."),
    ("missing", "Missing items", "What to do with empty cells."),
    ("empty", "Records without items", "What to do with them."),
)
"""The options of reading that the form shows: name, label, explanation."""
_READING_CHOICES: Final = {
    "unit": (("", "One visit, order or session (a person can have several)"), ("person", "All items of one person")),
    "format": tuple(
        (one, one or "find it in the file") for one in ("", "basket", "long", "list", "wide", "matrix", "attributes")
    ),
    "missing": (("", "Refuse the data"), ("drop", "Leave them out")),
    "empty": (("", "Keep them"), ("drop", "Leave them out")),
}
_READING_FLAGS: Final = ("ragged", "no_header")
FIRST_READING: Final = 2
"""The number of reading options that are not folded away."""


def reading_fields(given: Mapping[str, Any]) -> list[Field]:
    """Return the fields of the options of reading."""
    found = []
    for name, title, about in READING:
        value = given.get(name)
        if name in _READING_FLAGS:
            found.append(Field(name, title, about, "flag", value=bool(value), changed=name in given))
        elif name in _READING_CHOICES:
            choices = [Choice(one, text) for one, text in _READING_CHOICES[name]]
            found.append(
                Field(
                    name,
                    title,
                    about,
                    "choice",
                    value=value or "",
                    choices=choices,
                    required=name == "unit",
                    changed=name in given,
                )
            )
        else:
            found.append(Field(name, title, about, "text", value=value or "", changed=name in given))
    return found


def reading_of(given: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the options of reading that were filled in."""
    found: dict[str, Any] = {}
    for name, _title, _about in READING:
        value = given.get(name, [""])[0].strip() if name != "separator" else given.get(name, [""])[0]
        if value:
            found[name] = True if name in _READING_FLAGS else value
    if "person" in found:  # it says what a record is
        found.pop("unit", None)
    return found


def open_screen(studio: Studio, user: User, kind: str, number: str) -> Screen:
    """Return the screen that asks how to read a file or an upload."""
    listed: dict[str, str] = {}
    if kind == "file":
        listed = {one.id: one.name for one in studio.files(user)}
    elif kind == "upload":
        listed = {one.id: one.title for one in studio.uploads(user)}
    if number not in listed:
        raise NotFound("there is no such file; it may have been moved or deleted. Choose data again")
    fields = reading_fields({})
    content = {
        "kind": kind,
        "id": number,
        "name": listed[number],
        "fields": fields[:FIRST_READING],
        "more": fields[FIRST_READING:],
    }
    return Screen("open.html.jinja", "Say what one record is", content)


def source_screen(studio: Studio, user: User, source: str) -> Screen:
    """Return the screen of data that were chosen."""
    one = studio.source(user, source)
    done = newest(studio, user, "profile", source, "done")
    found = None if done is None else studio.result(done)
    content = {
        "data": _source(one),
        "unit": found["unit"]
        if found
        else one.reading.get("unit", "person" if one.kind == "sample" or "person" in one.reading else "record"),
        "known": bool(found),
        "profile": None
        if found is None
        else {name: found[name] for name in ("records", "items", "occurrences", "empty_records")},
        "preview": (found or {}).get("first", [])[:PREVIEWED],
        "reading": [
            (title, _answer(name, one.reading[name])) for name, title, _about in READING if name in one.reading
        ],
        "runs": [run_row(job) for job in studio.jobs(user) if job.source == source][:MOST_RUNS],
    }
    return Screen("source.html.jinja", one.title, content, source=one, step="data")


def _answer(name: str, value: Any) -> str:
    choices: Mapping[str, str] = dict(_READING_CHOICES.get(name, ()))
    return choices.get(str(value), "yes" if value is True else str(value))


def exposure_screen(studio: Studio, user: User, source: str) -> Screen:
    """Return the screen of what data show today."""
    one = studio.source(user, source)
    done, runs = (
        newest(studio, user, "profile", source, "done"),
        newest(studio, user, "profile", source, "queued", "running"),
    )
    found = None if done is None else studio.result(done)
    places = places_of(studio, user)
    asked = Field(
        "sensitive",
        "Sensitive items",
        "Items that an attacker must not learn about a person. setveil counts who has them, and how many of the names occur.",
        "file",
        value=places.preferred("sensitive", one),
        hint="One item per line.",
        places=places.of("sensitive"),
    )
    content: dict[str, Any] = {
        "data": _source(one),
        "running": None if runs is None else runs.id,
        "profile": found,
        "sensitive": asked,
    }
    charts: list[Chart] = []
    if found is not None:
        unit = UNITS[found["unit"]]
        content |= {
            "unit": unit,
            "verdict": _exposure(found, unit).replace(" %", "\u00a0%"),
            "pictures": [_picture(row, unit) for row in found["unique"]],
        }
        charts = [drawn for drawn in (length_chart(found, unit), popular_chart(found, unit)) if drawn is not None]
    return Screen("exposure.html.jinja", "What it shows today", content, charts, source=one, step="exposure")


def _exposure(found: Mapping[str, Any], unit: str) -> str:
    """Return in one sentence how exposed people are."""
    rows = [row for row in found["unique"] if row["share"]]
    if not found["records"]:
        return "There are no records."
    if not rows:
        known = found["unique"][-1]["known"] if found["unique"] else 0
        return f"No {unit[:-1] if unit == 'records' else 'person'} can be recognized by {quantity(known, 'item')}."
    best = next((row for row in rows if row["known"] == 2), rows[-1])
    are = "is" if best["known"] == 1 else "are"
    return f"{quantity(best['known'], 'known item')} {are} enough to recognize {share(best['share'])} of the {unit}."


def _picture(row: Mapping[str, Any], unit: str) -> dict[str, Any]:
    part = row["share"] or 0.0
    of_hundred = max(1, round(PEOPLE * part)) if part else 0
    return {
        **row,
        "of_hundred": min(of_hundred, PEOPLE),
        "text": f"{share(part)} of the {unit}",
        "title": quantity(row["known"], "known item"),
    }


def question_fields(given: Mapping[str, Any]) -> list[Field]:
    """Return the seven questions as fields."""
    found = []
    for one in Context.parameters():
        answers = [
            Choice(name, text[0].upper() + text[1:])
            for name, text in ANSWERS[one.name].items()
            if name not in ("provider", "customers")
        ]
        several = one.name in ("hide", "work")
        value = given.get(one.name)
        if several:
            value = [value] if isinstance(value, str) else list(value or ())
        found.append(
            Field(
                one.name,
                one.description,
                "",
                "several" if several else "choice",
                value=value or "",
                choices=answers,
                required=True,
            )
        )
    return found


def advise_screen(studio: Studio, user: User, source: str) -> Screen:
    """Return the screen of advice."""
    one = studio.source(user, source)
    done = newest(studio, user, "advise", source, "done")
    runs = newest(studio, user, "advise", source, "queued", "running")
    found = None if done is None else studio.result(done)
    given: dict[str, Any] = dict(done.content) if done else {}
    places = places_of(studio, user)
    if not done:
        given = (
            {"record": "person"} if one.kind == "sample" or "person" in (one.reading, one.reading.get("unit")) else {}
        )
        given |= {
            name: {"sample": chosen} for name in ("categories", "sensitive") if (chosen := places.preferred(name, one))
        }
    content = {
        "data": _source(one),
        "running": None if runs is None else runs.id,
        "job": None if done is None else done.id,
        "questions": question_fields(given),
        "side_files": fields_of(SideFiles, given, places),
        "answers": found["context"]["texts"] if found else [],
        "sample": found["sample"] if found else "",
        "proposals": [_proposal(row, number) for number, row in enumerate(found["set-ups"], 1)] if found else [],
        "tried": [_tried(row) for row in found["tried"]] if found else [],
        "gaps": found["gaps"] if found else [],
        "warnings": found["warnings"] if found else [],
        "has_result": found is not None,
    }
    return Screen("advise.html.jinja", "Advice", content, source=one, step="advise")


def _proposal(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {**_tried(row), "number": number, "bound": row["bound"]}


def _tried(row: Mapping[str, Any]) -> dict[str, Any]:
    method, trial = row["method"], row["trial"]
    kind = METHODS[method["name"]]
    settings = {
        name: value
        for name, value in method.items()
        if name != "name" and not isinstance(value, dict | list) and not _is_file(kind, name)
    }
    covered = method.get("m", MOST_KNOWN)
    tested = [
        one
        for one in trial["findings"]
        if one["main"] is not None
        and one["excess"] is not None
        and one["name"] in RISKS[row["hides"]]
        and one["parameters"].get("known", 0) <= covered
    ]
    strongest = max(tested, key=lambda one: one["excess"]["low"], default=None)
    task = next((one for one in trial["measurements"] if one["value"] is not None), None)
    return {
        "role": row["role"],
        "method": method["name"],
        "title": title_of(method["name"]),
        "summary": kind.summary(),
        "settings": settings,
        "hides": row["hides"],
        "hides_text": ANSWERS["hide"][row["hides"]],
        "why": row["why"],
        "status": trial["status"],
        "reason": trial["reason"],
        "task": None
        if task is None
        else {
            "title": METRICS[task["name"]].title,
            "value": task["value"],
            "interval": task["interval"],
            "unit": task["unit"],
        },
        "risk": None
        if strongest is None
        else {
            "text": ATTACKS[strongest["name"]].success_with(strongest["parameters"]),
            "rate": strongest["main"]["rate"],
            "before": strongest["details"].get("in-the-original", {}).get("right"),
            "chance": strongest["naive"]["rate"],
        },
    }


def _is_file(kind: type[Method], name: str) -> bool:
    return any(one.parameter == name for one in describe_method(kind).files) or name in (
        "level",
        "item_column",
        "side_encoding",
    )


def choose_screen(studio: Studio, user: User, source: str) -> Screen:
    """Return the screen of methods to choose from, by what they hide."""
    one = studio.source(user, source)
    groups: dict[str, dict[str, Any]] = {
        family: {"key": key, "title": title, "about": about, "methods": []}
        for family, (key, title, about) in GROUPS.items()
    }
    baselines: list[dict[str, Any]] = []
    for name, kind in METHODS.items():
        if one_needs_release(kind):
            continue
        card = _method_card(name, kind)
        family = kind.__module__.split(".")[2]
        (groups[family]["methods"] if card["guarantee"] else baselines).append(card)
    content = {"data": _source(one), "groups": [*groups.values()], "baselines": baselines}
    return Screen("choose.html.jinja", "Choose a method", content, source=one, step="set-up")


def one_needs_release(kind: type[Method]) -> bool:
    """Return whether a method takes the release of another one, which data are not."""
    return kind.accepts[0].__name__ != "Transactions"


def _method_card(name: str, kind: type[Method]) -> dict[str, Any]:
    found = describe_method(kind)
    guarantee = found.guarantees[0].summary if found.guarantees else ""
    needs = [label(one.parameter) for one in found.files if one.required]
    return {
        "name": name,
        "title": title_of(name),
        "summary": kind.summary(),
        "guarantee": guarantee,
        "sometimes_none": found.sometimes_none,
        "truthful": TRUTHFUL_TEXTS[kind.truthful],
        "is_true": kind.truthful != "no",
        "form": found.form_title,
        "needs": needs,
        "citation": found.citation,
    }


LEVELS: Final = (
    Choice("quick", "What the summary shows (seconds)"),
    Choice("full", "Everything (minutes on large data)"),
    Choice("none", "Nothing"),
)
IDS: Final = (
    Choice("", "As the method needs it"),
    Choice("pseudonym", "Give rows pseudonyms"),
    Choice("keep", "Keep the ids of the data"),
    Choice("drop", "Publish no ids"),
)


def _level(given: Any) -> str:
    """Return the level of what is measured or tried; the one of the form if there is none."""
    named = given[0] if isinstance(given, list) and given else given
    return named if named in [one.value for one in LEVELS] else "quick"


def publish_fields(given: Mapping[str, Any], places: Places) -> list[Field]:
    """Return the fields of a publication besides its method."""
    names = given.get("names")
    chosen = (
        names.get("sample") or next(iter(f"{kind}:{number}" for kind, number in names.items()), "")
        if isinstance(names, dict)
        else ""
    )
    return [
        Field(
            "metrics",
            "Measure the cost",
            "How much to measure of what the release keeps and loses.",
            "choice",
            value=_level(given.get("metrics")),
            choices=LEVELS,
        ),
        Field(
            "attacks",
            "Try attacks",
            "Attacks on the release show what can still be found out.",
            "choice",
            value=_level(given.get("attacks")),
            choices=LEVELS,
        ),
        Field(
            "ids",
            "Ids of rows",
            "A pseudonym is a new random id: with it, rows can be named, but not connected with people.",
            "choice",
            value=given.get("ids", ""),
            choices=IDS,
            changed="ids" in given,
        ),
        Field(
            "allow_failures",
            "Records without protection to accept",
            "0 refuses the release if a single record is not protected.",
            "number",
            value=given.get("allow_failures", 0),
            least=0,
            changed=bool(given.get("allow_failures")),
        ),
        Field(
            "register",
            "Record the release in the register of the studio",
            "Later releases of the same people are then checked together with it.",
            "flag",
            value=bool(given.get("register")),
            changed=bool(given.get("register")),
        ),
        Field(
            "recipient",
            "Who gets the release",
            "For the register; private.",
            "text",
            value=given["register"].get("recipient", "") if isinstance(given.get("register"), dict) else "",
        ),
        Field(
            "names",
            "Names of items that are codes",
            "The report then shows names beside codes. They are never published.",
            "file",
            value=chosen,
            hint="",
            places=places.of("names"),
            changed=bool(chosen),
        ),
    ]


def set_up_screen(
    studio: Studio, user: User, source: str, method: str, given: Mapping[str, Any], texts: Any = None
) -> Screen:
    """Return the form of a method; `given` is the content of a job that publishes."""
    one = studio.source(user, source)
    if method not in METHODS or one_needs_release(METHODS[method]):
        raise NotFound("there is no such method for these data")
    kind = METHODS[method]
    places = places_of(studio, user)
    table = dict(given.get("method") or {})
    if not table:
        chosen = {
            parameter.name: places.preferred(parameter.name, one)
            for parameter in kind.parameters()
            if parameter.required
        }
        table |= {name: {"sample": place} for name, place in chosen.items() if place}
        table |= {
            row.name: _example(row)
            for row in kind.parameters()
            if row.required and row.name not in table and _example(row) is not None
        }
    fields = fields_of(kind, table, places)
    advised = newest(studio, user, "advise", source, "done")
    content = {
        "data": _source(one),
        "method": _method_card(method, kind),
        "fields": [row for row in fields if row.required],
        "more": [row for row in fields if not row.required],
        "publish": publish_fields(given, places),
        "context": advised is not None,
        "context_chosen": bool(given.get("context", advised is not None)) if given else advised is not None,
        "no_guarantee": bool(given.get("no_guarantee")),
        "texts": texts,
    }
    return Screen("set_up.html.jinja", f"Set up {title_of(method)}", content, source=one, step="set-up")


def _example(row: Any) -> Any:
    """Return the example of a number or a share, as the first value of a required field."""
    value = row.example
    return value.strip("'\"") if value and value[0] in "0123456789'\"" else None


REMEDY: Final = "Change the settings and run it again."


def run_screen(studio: Studio, user: User, job: str) -> Screen:
    """Return the screen of a run: how far it is, or how it ended."""
    row = studio.job(user, job)
    progress = studio.progress(row)
    source = None if row.source is None else studio.source(user, row.source)
    result = studio.result(row) or {}
    error = result.get("error")
    failed = row.state in ("failed", "refused")
    content = {
        "run": run_row(row),
        "state": row.state,
        "has_ended": row.state in ENDED,
        "stopping": row.stopping is not None,
        "waits_for": sum(one.state == "running" for one in studio.jobs(user)) if row.state == "queued" else 0,
        "steps": _steps(progress),
        "now": [{"label": one.label, "share": one.share} for one in progress.steps] if row.state == "running" else [],
        "notes": list(dict.fromkeys(progress.notes)),
        "started": row.started,
        "seconds": (row.ended or time.time()) - row.started if row.started else 0.0,
        "error": _error(error, row) if failed else None,
        "change": f"/data/{row.source}/set-up/{method_of(row)}?from={row.id}"
        if row.kind == "publish" and row.source
        else None,
        "result": result if row.state == "done" and next_of(row).startswith("/runs/") else None,
        "next": next_of(row) if next_of(row) != f"/runs/{row.id}" else None,
    }
    steps = {"profile": "exposure", "advise": "advise", "compare": "compare"}
    return Screen(
        "run.html.jinja",
        _run_title(row),
        content,
        source=source,
        step=steps.get(row.kind, "run"),
        links={"run": f"/runs/{row.id}"},
    )


_TITLES: Final = {
    "profile": "Looking at the data",
    "advise": "Trying set-ups",
    "publish": "Making the release",
    "check": "Checking the release",
    "measure": "Measuring the release",
    "attack": "Attacking the release",
    "risk": "Looking for risks",
    "compare": "Comparing set-ups",
}


def _run_title(row: JobRow) -> str:
    if row.state == "refused":
        return "The guarantee could not be reached" if row.exit_code == 3 else "The settings were refused"
    ended = {"failed": "The run failed", "stopped": "The run was stopped", "queued": "Waiting"}
    return ended.get(row.state, _TITLES[row.kind])


def _steps(progress: Any) -> list[dict[str, Any]]:
    """Return the steps that were completed, with equal ones counted."""
    counts: dict[str, int] = {}
    for one in progress.done:
        counts[one] = counts.get(one, 0) + 1
    return [{"label": one, "times": times} for one, times in counts.items()]


def _error(error: Any, row: JobRow) -> dict[str, Any]:
    if not isinstance(error, dict):
        message = (
            "The system ended the job, perhaps because the memory was full."
            if row.exit_code not in (None, 0)
            else "The server and the job ended."
        )
        return {"message": message, "remedies": [], "bounds": {}, "nothing_written": True}
    verdict = error.get("verdict") or {}
    return {
        "message": str(error.get("message", "")),
        "remedies": [str(one) for one in error.get("remedies", [])],
        "bounds": error.get("bounds") or {},
        "counts": verdict.get("counts") or {},
        "parameter": error.get("parameter"),
    }


def content_of_job(studio: Studio, user: User, number: str, proposal: int | None, source: str) -> dict[str, Any]:
    """Return the content of a job that publishes, to fill a form with: of an earlier run, or of a proposal of an advice."""
    row = studio.job(user, number)
    if row.source != source:
        raise BadRequest("the run is one of other data")
    if row.kind == "publish":
        return dict(row.content)
    if row.kind not in ("advise", "compare") or proposal is None:
        raise BadRequest("the run has no settings of a method")
    found = studio.result(row) or {}
    set_ups = found.get("set-ups" if row.kind == "advise" else "set_ups", [])
    if not 0 < proposal <= len(set_ups):
        raise NotFound("there is no such proposal")
    if row.kind == "compare":
        return {"method": _compared(row.content["methods"], set_ups[proposal - 1])}
    table = dict(set_ups[proposal - 1]["method"])
    for name, value in row.content.items():  # files by their ids, not by the paths that the command read
        if name in table and isinstance(value, dict | list):
            table[name] = value
    return {"method": table}


def _compared(methods: Sequence[Mapping[str, Any]], set_up: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a set-up that was compared: of several values, the one that it has."""
    table = dict(next(one for one in methods if one["name"] == set_up["method"]))
    for name, value in table.items():
        if isinstance(value, list):
            table[name] = next((one for one in value if str(one) == str(set_up.get(name))), value[0])
    return table
