"""The pages of the studio: each screen as HTML, and as JSON at the same address with `.json`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from jinja2 import PackageLoader
from markupsafe import Markup
from pydantic_core import to_jsonable_python
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

from setveil import __version__
from setveil.base.display import size_text
from setveil.catalog import METHODS
from setveil.comparison.candidates import SideFiles
from setveil.comparison.folder import PAGE_NAME
from setveil.comparison.page import TABLE_SCRIPT
from setveil.errors import SetveilError
from setveil.parameters import extra_options
from setveil.release.context import ANSWERS, Context
from setveil.report import page as report_page
from setveil.report import scripts as report_scripts
from setveil.report.charts import as_embedded
from setveil.report.theme import styles
from setveil.studio import releases_shown, showing
from setveil.studio.forms import side_file, table_of
from setveil.studio.kinds import COMPARISON
from setveil.studio.refusals import BadRequest, NotFound, Refusal
from setveil.studio.requests import studio_of, user_of
from setveil.studio.showing import Screen, newest

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

    from setveil.studio.database import JobRow
    from setveil.studio.forms import Given
    from setveil.studio.studio import Studio
    from setveil.studio.users import User

router = APIRouter()

STEPS: Final = (
    ("data", "Data", ""),
    ("exposure", "What it shows", "/exposure"),
    ("advise", "Advise", "/advise"),
    ("set-up", "Set up", "/set-up"),
    ("run", "Run", None),
    ("result", "Result", None),
    ("compare", "Compare", "/compare"),
    ("hand-over", "Hand over", None),
)
"""The steps of the flow: key, title, and the address below that of the data; None if a job belongs to it."""
HEADERS: Final = {"referrer-policy": "same-origin"}
"""With `no-referrer`, browsers do not say from which origin a form is sent; other origins learn nothing either way."""
CHARTS_SCRIPTS: Final = ("charts.js", "draw.js")
"""The chart libraries, and what draws with them."""
MOST_FIELDS: Final = 2000


# pages


def page_of(request: Request, screen: Screen, *, status: int = 0) -> Response:
    """Return a screen as HTML, or as JSON if the address asks for it."""
    if request.url.path.endswith(".json"):
        charts = {
            one.key: {"title": one.title, "text": one.text, "columns": one.columns, "rows": one.rows}
            for one in screen.charts
        }
        content = {
            "screen": screen.template.partition(".")[0],
            "title": screen.title,
            **screen.content,
            "charts": charts,
        }
        return JSONResponse(to_jsonable_python(content, fallback=str), status or screen.status)
    user = getattr(request.state, "user", None)
    html = (
        _environment()
        .get_template(screen.template)
        .render(
            **screen.content,
            screen=screen,
            title=screen.title,
            drawn={one.key: one for one in screen.charts},
            embedded=as_embedded(screen.charts) if screen.charts else None,
            scripts=[*(CHARTS_SCRIPTS if screen.charts else ()), *screen.more_scripts],
            flow=_steps(screen),
            user=user,
            version=__version__,
            path=request.url.path,
        )
    )
    return HTMLResponse(html, status or screen.status, headers=HEADERS)


@cache
def _environment() -> Environment:
    made = report_page.environment(PackageLoader("setveil.studio", "screens"))
    made.filters |= {
        "size": size_text,
        "ago": _ago,
        "clock": _clock,
        "upper_first": lambda text: text[:1].upper() + text[1:],
        "with_options": with_options,
    }
    return made


def with_options(text: str) -> Markup:
    """Return a message as HTML, with options of the command line and text in backticks as code."""
    return report_page.with_code(re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", text))


def _ago(moment: float | None) -> str:
    """Return a moment as a date and a time, in the time of this machine."""
    from datetime import datetime  # noqa: PLC0415 - only for pages

    return "" if moment is None else f"{datetime.fromtimestamp(moment).astimezone():%d %B %Y, %H:%M}".lstrip("0")


def _clock(seconds: float | None) -> str:
    """Return a duration.

    >>> _clock(9.4), _clock(75)
    ('9 s', '1 min 15 s')
    """
    whole = int(seconds or 0)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


def _steps(screen: Screen) -> list[dict[str, Any]]:
    """Return the steps at the top of a page: title, address if it can be reached, and whether it is this one."""
    if screen.source is None:
        return []
    keys = [key for key, _title, _below in STEPS]
    here = keys.index(screen.step) if screen.step in keys else -1
    found = []
    for place, (key, title, below) in enumerate(STEPS):
        address = screen.links.get(key) if below is None else f"/data/{screen.source.id}{below}"
        found.append(
            {
                "key": key,
                "title": title,
                "number": place + 1,
                "address": address,
                "is_here": place == here,
                "is_done": place < here,
            }
        )
    return found


def error_page(request: Request, error: SetveilError, status: int) -> Response:
    """Return the page of an error."""
    content = {"message": str(error), "status": status}
    titles = {404: "Not found", 403: "Not allowed", 409: "Not possible now", 413: "Too large"}
    return page_of(
        request, Screen("refusal.html.jinja", titles.get(status, "This did not work"), content), status=status
    )


def screen_at(path: str, view: Callable[..., Screen]) -> None:
    """Add a screen at an address, as a page and as JSON."""

    def page(request: Request) -> Response:
        return page_of(request, view(studio_of(request), user_of(request), **request.path_params))

    if path != "/":
        router.add_route(f"{path}.json", page, methods=["GET"], include_in_schema=False)
    else:
        router.add_route("/index.json", page, methods=["GET"], include_in_schema=False)
    router.add_route(path, page, methods=["GET"], include_in_schema=False)


def form_at(path: str, act: Callable[..., Response | Screen]) -> None:
    """Add what happens when a form is sent; a refusal of settings shows the form again."""

    async def send(request: Request) -> Response:
        given = await _form(request)
        found = await run_in_threadpool(act, studio_of(request), user_of(request), given, **request.path_params)
        if isinstance(found, Response):
            return found
        live = request.headers.get("hx-request") == "true"  # a part of the page is renewed while a person types
        return await run_in_threadpool(page_of, request, found, status=200 if live else 0)

    router.add_route(path, send, methods=["POST"], include_in_schema=False)


async def _form(request: Request) -> Given:
    """Return the fields of a form. Forms are sent as URL-encoded text only: files are sent as they are, by the API."""
    if request.headers.get("content-type", "").partition(";")[0].strip() not in (
        "application/x-www-form-urlencoded",
        "",
    ):
        raise BadRequest("a form must be sent as application/x-www-form-urlencoded")
    try:
        return parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise BadRequest("the form cannot be read: it is not UTF-8, or has too many fields") from None


def to(address: str) -> Response:
    """Return a redirect after a form was sent."""
    return RedirectResponse(address, 303)


def to_run(job: JobRow) -> Response:
    """Return a redirect to the page of a run."""
    return to(f"/runs/{job.id}")


def one(given: Given, name: str) -> str:
    """Return the value of a field; empty if it was not sent."""
    return given.get(name, [""])[0].strip()


def _refused(screen: Screen, error: SetveilError) -> Screen:
    """Return a form again, with the reason why it was refused."""
    facts = error.facts() if hasattr(error, "facts") else {}
    screen.content["refused"] = {"message": str(error), "parameter": facts.get("parameter")}
    return Screen(**{**vars(screen), "status": error.status if isinstance(error, Refusal) else 400})


# data


def _start(studio: Studio, user: User) -> Screen:
    return showing.start_screen(studio, user) if user.is_owner else releases_shown.releases_screen(studio, user)


screen_at("/", _start)
screen_at("/open/{kind}/{number}", showing.open_screen)
screen_at("/data/{source}", showing.source_screen)
screen_at("/data/{source}/exposure", showing.exposure_screen)


def _choose_data(studio: Studio, user: User, given: Given) -> Response | Screen:
    """Choose a sample, or a file or an upload with the way to read it."""
    sample, kind, number = one(given, "sample"), one(given, "kind"), one(given, "number")
    if sample:
        named = next((f"{row.title} sample" for row in studio.samples() if row.name == sample.partition("?")[0]), "")
        return to(f"/data/{studio.add_source(user, sample=sample, title=named).id}")
    if kind not in ("file", "upload"):
        raise BadRequest("choose a sample, a file or an upload")
    try:
        source = studio.add_source(user, **{kind: number}, reading=showing.reading_of(given))
    except SetveilError as error:
        return _refused(showing.open_screen(studio, user, kind, number), error)
    return to(f"/data/{source.id}")


form_at("/data", _choose_data)


def _expose(studio: Studio, user: User, given: Given, source: str) -> Response:
    content: dict[str, Any] = {"known": 3, "show": showing.PREVIEWED}
    chosen = side_file("sensitive", ".txt", given)
    if chosen is not None:
        content["sensitive"] = chosen
    return to_run(studio.start(user, "profile", source=source, content=content))


form_at("/data/{source}/exposure", _expose)


def _read_again(studio: Studio, user: User, _given: Given, source: str) -> Response:
    """Lead to the form that says how to read the same file."""
    kind, number = studio.place_of(user, source)
    return to(f"/open/{kind}/{number}") if kind != "sample" else to("/")


form_at("/data/{source}/read-again", _read_again)

# advice and set-up

screen_at("/data/{source}/advise", showing.advise_screen)
screen_at("/data/{source}/set-up", showing.choose_screen)


def _advise(studio: Studio, user: User, given: Given, source: str) -> Response | Screen:
    answers: dict[str, Any] = {}
    for name in ANSWERS:
        values = [value for value in given.get(name, []) if value]
        if values:
            answers[name] = values if name in ("hide", "work") else values[0]
    try:
        sides = table_of(SideFiles, given)
        Context.of(answers)
        return to_run(studio.start(user, "advise", source=source, content=answers | sides))
    except SetveilError as error:
        screen = showing.advise_screen(studio, user, source)
        screen.content["questions"] = showing.question_fields(answers)
        screen.content["has_result"] = False
        return _refused(screen, error)


form_at("/data/{source}/advise", _advise)


def publication_of(method: str, given: Given, context: dict[str, Any] | None) -> dict[str, Any]:
    """Return the content of a job that publishes from the fields of its form."""
    if method not in METHODS:
        raise NotFound("there is no such method")
    content: dict[str, Any] = {"method": {"name": method, **table_of(METHODS[method], given)}}
    for name in ("metrics", "attacks"):
        level = one(given, name)
        if level and level != "quick":
            content[name] = [level]
    if ids := one(given, "ids"):
        content["ids"] = ids
    failures = one(given, "allow_failures")
    if failures not in ("", "0"):
        if not failures.isdecimal():
            raise BadRequest("the number of records without protection must be a whole number of at least 0")
        content["allow_failures"] = int(failures)
    if "register" in given:
        content["register"] = {"recipient": one(given, "recipient")} if one(given, "recipient") else True
    if (names := side_file("names", ".csv", given)) is not None:
        content["names"] = names
    if "no_guarantee" in given:
        content["no_guarantee"] = True
    if "context" in given and context is not None:
        content["context"] = context
    return content


def _context(studio: Studio, user: User, source: str) -> dict[str, Any] | None:
    """Return the answers of the newest advice on these data."""
    job = newest(studio, user, "advise", source, "done")
    return None if job is None else {name: job.content[name] for name in ANSWERS if name in job.content}


def _set_up(request: Request) -> Response:
    studio, user = studio_of(request), user_of(request)
    source, method = request.path_params["source"], request.path_params["method"]
    number, proposal = request.query_params.get("from"), request.query_params.get("proposal", "")
    given: dict[str, Any] = {}
    if number:
        given = showing.content_of_job(
            studio, user, number, int(proposal) if proposal.isdecimal() and len(proposal) < 4 else None, source
        )
        if given["method"].get("name") != method:
            given = {}
    return page_of(request, _with_texts(studio, user, source, method, given))


def _with_texts(studio: Studio, user: User, source: str, method: str, given: dict[str, Any]) -> Screen:
    """Return the form of a method with the texts that do the same, as far as the settings are complete."""
    screen = showing.set_up_screen(studio, user, source, method, given)
    shown = given
    if not given:  # the values that the form starts with
        table = {field.name: _sent(field) for field in [*screen.content["fields"]]}
        shown = {
            "method": {"name": method, **{name: value for name, value in table.items() if value not in (None, "")}}
        }
    try:
        screen.content["texts"] = studio.job_text(user, source, shown)
    except SetveilError:
        screen.content["texts"] = None
    return screen


def _sent(field: Any) -> Any:
    if field.look == "file":
        return side_file(field.name, ".txt", {f"{field.name}.from": [field.value], f"{field.name}.typed": [""]})
    return int(field.value) if field.look == "number" and str(field.value).isdecimal() else field.value


for _path in ("/data/{source}/set-up/{method}.json", "/data/{source}/set-up/{method}"):
    router.add_route(_path, _set_up, methods=["GET"], include_in_schema=False)


def _publish(studio: Studio, user: User, given: Given, source: str, method: str) -> Response | Screen:
    """Show the texts of a set-up, or publish with it."""
    content: dict[str, Any] = {}
    try:
        content = publication_of(method, given, _context(studio, user, source))
        texts = studio.job_text(user, source, content)
        if one(given, "action") == "publish":
            return to_run(studio.start(user, "publish", source=source, content=content))
    except SetveilError as error:
        return _refused(showing.set_up_screen(studio, user, source, method, content), error)
    return showing.set_up_screen(studio, user, source, method, content, texts)


form_at("/data/{source}/set-up/{method}", _publish)

# runs

screen_at("/runs/{job}", showing.run_screen)


def _cancel(studio: Studio, user: User, _given: Given, job: str) -> Response:
    return to_run(studio.cancel(user, job))


def _again(studio: Studio, user: User, _given: Given, job: str) -> Response:
    return to_run(studio.again(user, job))


form_at("/runs/{job}/cancel", _cancel)
form_at("/runs/{job}/again", _again)

# releases

screen_at("/releases", releases_shown.releases_screen)
screen_at("/releases/{release}", releases_shown.release_screen)
screen_at("/releases/{release}/hand-over", releases_shown.hand_over_screen)


def _follow(kind: str, content: dict[str, Any]) -> Callable[..., Response]:
    def act(studio: Studio, user: User, _given: Given, release: str) -> Response:
        return to_run(studio.start(user, kind, release=release, content=content))

    return act


form_at("/releases/{release}/check", _follow("check", {}))
form_at("/releases/{release}/measure", _follow("measure", {"metrics": ["full"]}))
form_at("/releases/{release}/attack", _follow("attack", {"attacks": ["full"]}))


def _witnesses(studio: Studio, user: User, _given: Given, release: str) -> Screen:
    """Show the witnesses of a release; this is logged."""
    found = studio.witnesses(user, studio.release(user, release))
    return releases_shown.release_screen(studio, user, release, witnesses=found)


form_at("/releases/{release}/witnesses", _witnesses)


def _report(request: Request) -> Response:
    studio, user = studio_of(request), user_of(request)
    return _own_page(studio.report(user, studio.release(user, request.path_params["release"])))


def _comparison_page(request: Request) -> Response:
    studio, user = studio_of(request), user_of(request)
    row = studio.job(user, request.path_params["job"])
    path = studio.queue.path(row) / COMPARISON / PAGE_NAME
    if row.kind != "compare" or not path.is_file():
        raise NotFound("there is no such page")
    return _own_page(path)


def _own_page(path: Path) -> Response:
    """Return a page that setveil wrote, under the policy that it states itself: only its own scripts, and nothing is loaded."""
    stated = re.search(
        r'http-equiv="Content-Security-Policy" content="([^"]*)"', path.read_text(encoding="utf-8")[:4000]
    )
    policy = stated[1].replace("&#39;", "'") if stated else "default-src 'none'"
    return FileResponse(
        path,
        media_type="text/html; charset=utf-8",
        headers={"content-security-policy": f"{policy}; frame-ancestors 'none'"},
    )


router.add_route("/releases/{release}/report", _report, methods=["GET"], include_in_schema=False)
router.add_route("/comparisons/{job}/page", _comparison_page, methods=["GET"], include_in_schema=False)

# comparisons

screen_at("/data/{source}/compare", releases_shown.compare_screen)
screen_at("/comparisons/{job}", releases_shown.comparison_screen)


def _compare(studio: Studio, user: User, given: Given, source: str) -> Response | Screen:
    try:
        sides = table_of(SideFiles, given)
        methods = []
        for name in given.get("method", []):
            if name not in METHODS:
                raise NotFound("there is no such method")
            table: dict[str, Any] = {"name": name, **values_in(one(given, f"values.{name}"))}
            for row in METHODS[name].parameters():
                if row.name in sides and row.name not in table and (row.required or row.name == "hierarchy"):
                    table[row.name] = _listed_once(sides[row.name])
                    table |= {option.name: sides[option.name] for option in extra_options(row) if option.name in sides}
            methods.append(table)
        if not methods:
            raise BadRequest("choose at least one method to compare")
        content = {"methods": methods, "task": one(given, "task") or "ease", "seeds": int(one(given, "seeds") or 1)}
        if budget := one(given, "budget"):
            content["budget"] = budget
        return to_run(studio.start(user, "compare", source=source, content=content))
    except (SetveilError, ValueError) as error:
        screen = releases_shown.compare_screen(studio, user, source)
        for row in screen.content["methods"]:
            row["chosen"] = row["name"] in given.get("method", [])
            row["values"] = one(given, f"values.{row['name']}")
        return _refused(screen, error if isinstance(error, SetveilError) else BadRequest(str(error)))


form_at("/data/{source}/compare", _compare)


def _listed_once(value: Any) -> Any:
    """Return a value of a grid: there, a list stands for several values, so a single list is in a list."""
    return [value] if isinstance(value, list) else value


def values_in(text: str) -> dict[str, Any]:
    """Return typed settings; several values of a parameter have commas between.

    >>> values_in("k = 3, 5; m = 2; rho = 50%")
    {'k': [3, 5], 'm': 2, 'rho': '50%'}
    """
    found: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in re.split(r"[;\n]", text))):
        name, equals, values = (one.strip() for one in part.partition("="))
        if not equals or not values:
            raise BadRequest(f"{part!r} is not a setting; type them as in: k = 3, 5, 10; m = 2")
        listed = [_typed(one.strip()) for one in values.split(",") if one.strip()]
        found[name] = listed[0] if len(listed) == 1 else listed
    return found


def _typed(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# the tour and the reference


def _tour(studio: Studio, _user: User) -> Screen:
    return Screen("tour.html.jinja", "A tour in two minutes", {"samples": studio.samples()})


GROUPS: Final = {
    "Data": ("samples", "files", "uploads", "data"),
    "Start a job": ("profile", "advise", "publish", "check", "measure", "attack", "risk", "compare", "texts"),
    "Jobs": ("jobs",),
    "Releases": ("releases", "log"),
}
"""The parts of the API, with the first parts of their addresses."""
OTHERS: Final = "Other"


def _reference(request: Request) -> Response:
    from setveil.studio.api import described  # noqa: PLC0415 - it imports what imports this

    document = described(request.app)
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in (*GROUPS, OTHERS)}
    for path, operations in document["paths"].items():
        first = path.removeprefix("/api/v1/").partition("/")[0]
        group = next((name for name, firsts in GROUPS.items() if first in firsts), OTHERS)
        for verb, facts in operations.items():
            groups[group].append(
                {
                    "verb": verb.upper(),
                    "path": path,
                    "summary": facts.get("summary", ""),
                    "about": facts.get("description", ""),
                    "parameters": facts.get("parameters", []),
                    "body": _body(facts, document),
                    "responses": {code: answer.get("description", "") for code, answer in facts["responses"].items()},
                }
            )
    return page_of(
        request,
        Screen("reference.html.jinja", "REST API", {"groups": groups, "version_of_api": document["info"]["version"]}),
    )


def _body(facts: dict[str, Any], document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of the body of a request, if it is JSON."""
    schema = facts.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    model = document.get("components", {}).get("schemas", {}).get(name, {})
    needed = model.get("required", [])
    return [
        {"name": key, "required": key in needed, "about": value.get("description", value.get("title", ""))}
        for key, value in model.get("properties", {}).items()
    ]


screen_at("/tour", _tour)
for _path in ("/api.json", "/api"):
    router.add_route(_path, _reference, methods=["GET"], include_in_schema=False)

# files that are the same for all users


def _static(request: Request) -> Response:
    """Return a style sheet or a script that other parts of setveil own; there is one source of each."""
    name = request.path_params["name"]
    made = _MADE.get(name)
    if made is None:
        raise NotFound("there is no such file")
    text, kind = made()
    return PlainTextResponse(
        text, media_type=kind, headers={"cache-control": "public, max-age=3600"} if name == "charts.js" else {}
    )


def _resource(package: str, name: str) -> str:
    from importlib.resources import files  # noqa: PLC0415 - only for pages

    return files(package).joinpath(name).read_text("utf-8")


_MADE: Final[dict[str, Callable[[], tuple[str, str]]]] = {
    "theme.css": lambda: (styles(), "text/css"),
    "page.css": lambda: (_resource("setveil.report", "page.css"), "text/css"),
    "draw.js": lambda: (_resource("setveil.report", "draw.js"), "text/javascript"),
    "table.js": lambda: (_resource(*TABLE_SCRIPT), "text/javascript"),
    "charts.js": lambda: (report_scripts.libraries(), "text/javascript"),
}
router.add_route("/static/made/{name}", _static, methods=["GET"], include_in_schema=False)
