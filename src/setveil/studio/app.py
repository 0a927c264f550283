"""The application: the API, and the pages if they are installed, behind a guard."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from setveil import __version__
from setveil.errors import SetveilError
from setveil.studio import api
from setveil.studio.guarding import Guard
from setveil.studio.refusals import BadRequest, NoSpace, NotFound, Refusal, TooLarge, WrongMethod

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from setveil.studio.studio import Studio

STATIC: Final = Path(__file__).parent / "static"
PAGES: Final = "setveil.studio.pages"
BAD_REQUEST: Final = 400
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


def make_app(studio: Studio) -> FastAPI:
    """Return the application of a studio."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        studio.open()
        yield

    app = FastAPI(
        title="setveil studio",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.studio = studio
    app.state.is_closing = lambda: False  # the server replaces it
    app.include_router(api.router)
    if (pages := _pages()) is not None:
        app.include_router(pages.router, include_in_schema=False)
    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(SetveilError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OSError, _system)
    app.add_exception_handler(sqlite3.OperationalError, _system)
    app.add_middleware(Guard, settings=studio.settings)
    return app


def _pages() -> Any:
    """Return the module of the pages, if there is one."""
    return import_module(PAGES) if find_spec(PAGES) is not None else None


def answer(request: Request, error: SetveilError) -> Response:
    """Return the response for an error: as JSON for programs, as a page for people."""
    status = error.status if isinstance(error, Refusal) else BAD_REQUEST
    for_program = request.url.path.startswith("/api/") or request.url.path.endswith(".json")
    pages = None if for_program else _pages()
    if pages is not None:
        response: Response = pages.error_page(request, error, status)
        return response
    return JSONResponse({"error": error.to_dict()}, status)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, SetveilError)
    return answer(request, error)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(one) for one in first["loc"][1:])
    return answer(request, BadRequest(f"{place or 'the request'}: {first['msg']}"))


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kinds: dict[int, type[Refusal]] = {404: NotFound, 405: WrongMethod, 413: TooLarge}
    refusal = kinds.get(error.status_code, BadRequest)(str(error.detail))
    response = answer(request, refusal)
    response.headers.update(error.headers or {})
    return response


def _system(request: Request, error: Exception) -> Response:
    full = isinstance(error, OSError) and error.errno in _FULL
    if full or "full" in str(error):
        return answer(request, NoSpace("the disk of the studio is full; nothing was changed"))
    raise error
