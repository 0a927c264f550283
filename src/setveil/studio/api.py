"""The REST API. Each function calls the studio; what it may do depends on the role of the user."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Header, Path, Query, Request, Response, status
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, StreamingResponse

from setveil.studio import models
from setveil.studio.refusals import BadRequest, TooSlow, WrongState
from setveil.studio.requests import is_closing, studio_of, user_of
from setveil.studio.studio import Studio
from setveil.studio.users import User

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from setveil.studio.events import Event

PREFIX: Final = "/api/v1"
WAIT_SECONDS: Final = 60.0
"""How long to wait for the next part of an upload."""
EVENTS_SECONDS: Final = 0.25
ALIVE_SECONDS: Final = 15.0
"""Between events, a comment keeps the connection open."""
LARGEST: Final = 2**53

EVENT_SCHEMA: Final = {
    "type": "object",
    "description": "`event` is start, advance, end, note, detail, error or ended; `data` are its facts as JSON; `id` is for Last-Event-ID.",
    "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
    "required": ["data"],
}
_MEANINGS: Final = {
    400: "the request is not what is expected",
    401: "there is no token, or a wrong one",
    403: "the role does not allow this, or the request comes from another site",
    404: "there is no such thing",
    405: "the address does not take requests of this kind",
    408: "the upload did not arrive in time",
    409: "not possible now",
    413: "too large",
    421: "the header Host is not a name of this studio",
    507: "the disk of the studio is full",
}


def _errors(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {
        code: {"model": models.ErrorModel, "description": _MEANINGS[code]}
        for code in sorted({400, 401, 403, 413, 421, *codes})
    }


AStudio = Annotated[Studio, Depends(studio_of)]
AUser = Annotated[User, Depends(user_of)]
Number = Annotated[str, Path(max_length=200)]

router = APIRouter(prefix=PREFIX, responses=_errors())


@router.get("/me", operation_id="me", summary="Who you are.")
async def me(user: AUser) -> models.UserModel:
    """Return the name and the role of the user."""
    return models.UserModel.model_validate(user)


@router.get("/samples", operation_id="samples", summary="The built-in samples.")
async def samples(studio: AStudio, user: AUser) -> list[models.SampleModel]:
    """Return the built-in samples."""
    studio.uploads(user)  # for owners
    return [models.SampleModel.model_validate(one) for one in studio.samples()]


@router.get("/files", operation_id="files", summary="The data files below the allowed folders.")
def files(studio: AStudio, user: AUser) -> list[models.FileModel]:
    """Return the data files below the roots."""
    return [models.FileModel.model_validate(one) for one in studio.files(user)]


@router.get("/uploads", operation_id="uploads", summary="Your uploads.")
async def uploads(studio: AStudio, user: AUser) -> list[models.UploadModel]:
    """Return the uploads of the user."""
    return [models.UploadModel.model_validate(one) for one in studio.uploads(user)]


@router.put(
    "/uploads/{label}",
    operation_id="upload",
    summary="Upload a file.",
    status_code=status.HTTP_201_CREATED,
    responses=_errors(408, 507),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(
    label: Annotated[
        str,
        Path(max_length=1000, description="What to call it. It is only shown; its extension is that of the format."),
    ],
    request: Request,
    studio: AStudio,
    user: AUser,
) -> models.UploadModel:
    """Store the body of the request as a file."""
    length = request.headers.get("content-length")
    if length is not None and not length.isdecimal():
        raise BadRequest("the header Content-Length is not a number")
    blocks = aiter(request.stream())
    with studio.receive(user, label, None if length is None else int(length)) as arriving:
        try:
            while True:
                async with asyncio.timeout(WAIT_SECONDS):
                    block = await anext(blocks, None)
                if block is None:
                    break
                await asyncio.to_thread(arriving.write, block)
        except TimeoutError:
            raise TooSlow("the upload did not arrive in time") from None
        done = await asyncio.to_thread(arriving.finish)
    return models.UploadModel.model_validate(done)


@router.delete(
    "/uploads/{number}",
    operation_id="delete_upload",
    summary="Delete an upload.",
    status_code=204,
    responses=_errors(404),
)
async def delete_upload(number: Number, studio: AStudio, user: AUser) -> Response:
    """Delete an upload."""
    studio.remove_upload(user, number)
    return Response(status_code=204)


@router.get("/data", operation_id="data", summary="The data that you work on.")
async def data(studio: AStudio, user: AUser) -> list[models.SourceModel]:
    """Return the data that the user works on."""
    return [models.SourceModel.model_validate(one) for one in studio.sources(user)]


@router.post("/data", operation_id="add_data", summary="Choose data.", status_code=201, responses=_errors(404, 507))
def add_data(asked: models.NewSource, studio: AStudio, user: AUser) -> models.SourceModel:
    """Choose a sample, a file or an upload."""
    return models.SourceModel.model_validate(studio.add_source(user, **asked.model_dump()))


@router.get("/data/{number}", operation_id="one_data", summary="Data by their id.", responses=_errors(404))
async def one_data(number: Number, studio: AStudio, user: AUser) -> models.SourceModel:
    """Return data that the user works on."""
    return models.SourceModel.model_validate(studio.source(user, number))


@router.post(
    "/texts", operation_id="texts", summary="A set-up as command line, job file and Python.", responses=_errors(404)
)
def texts(asked: models.OfData, studio: AStudio, user: AUser) -> models.TextsModel:
    """Return the texts that make the same release."""
    return models.TextsModel.model_validate(studio.job_text(user, asked.source, asked.content))


def _start(
    studio: Studio, user: User, kind: str, asked: models.OfData | models.OfRelease | models.OfDataOrRelease
) -> models.JobModel:
    return models.JobModel.model_validate(studio.start(user, kind, **asked.model_dump()))


def _job_route(kind: str, summary: str, model: type[Any]) -> None:
    """Add the address that starts jobs of a kind."""

    def start(asked: Any, studio: AStudio, user: AUser) -> models.JobModel:
        return _start(studio, user, kind, asked)

    start.__annotations__["asked"] = model
    start.__doc__ = f"Start the job, or let it wait: setveil {kind}."
    router.add_api_route(
        f"/{kind}",
        start,
        methods=["POST"],
        operation_id=kind,
        summary=summary,
        status_code=202,
        responses=_errors(404, 409, 507),
    )


for _kind, _summary, _model in (
    ("profile", "Describe data, and how exposed their people are.", models.OfData),
    ("advise", "Recommend methods and settings.", models.OfData),
    ("publish", "Publish a release after checking its guarantee.", models.OfData),
    ("compare", "Compare methods and settings.", models.OfData),
    ("check", "Check a release again.", models.OfRelease),
    ("measure", "Measure a release.", models.OfRelease),
    ("attack", "Attack a release.", models.OfRelease),
    ("risk", "Report what data or a release reveal to every recipient.", models.OfDataOrRelease),
):
    _job_route(_kind, _summary, _model)


@router.get("/jobs", operation_id="jobs", summary="Your jobs.")
async def jobs(studio: AStudio, user: AUser) -> list[models.JobModel]:
    """Return the jobs of the user, the newest first."""
    return [models.JobModel.model_validate(one) for one in studio.jobs(user)]


@router.get("/jobs/{number}", operation_id="job", summary="A job, and how far it is.", responses=_errors(404))
def job(number: Number, studio: AStudio, user: AUser) -> models.JobWithProgress:
    """Return a job with its progress."""
    found = studio.job(user, number)
    progress = models.ProgressModel.model_validate(studio.progress(found))
    return models.JobWithProgress(**models.JobModel.model_validate(found).model_dump(), progress=progress)


@router.get("/jobs/{number}/result", operation_id="result", summary="What a job printed.", responses=_errors(404, 409))
def result(number: Number, studio: AStudio, user: AUser) -> dict[str, Any]:
    """Return the result of a job, or its error."""
    found = studio.job(user, number)
    printed = studio.result(found)
    if printed is None:
        raise WrongState(f"the job is {found.state} and has no result")
    return printed


@router.get(
    "/jobs/{number}/events",
    operation_id="events",
    summary="What a job reports, as server-sent events.",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": EVENT_SCHEMA}},
            "description": "Events until the job has ended.",
        },
        **_errors(404),
    },
)
async def events(
    number: Number,
    request: Request,
    studio: AStudio,
    user: AUser,
    last_event_id: Annotated[int, Header(ge=0, le=LARGEST, description="Continue after this event.")] = 0,
    after: Annotated[int, Query(ge=0, le=LARGEST, description="The same, for the first connection.")] = 0,
) -> StreamingResponse:
    """Send the events of a job as they happen; the last one is `ended` with the state of the job."""
    studio.job(user, number)
    return StreamingResponse(
        _stream(request, studio, user, number, max(last_event_id, after)), media_type="text/event-stream"
    )


async def _stream(request: Request, studio: Studio, user: User, number: str, after: int) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    silent = 0.0
    while not is_closing(request):
        now = studio.job(user, number)
        found = await asyncio.to_thread(studio.events, now, after)
        for one in found:
            after = one.position
            yield _sent(one)
        if not found:
            if now.has_ended:
                yield f"id: {after}\nevent: ended\ndata: {json.dumps({'state': now.state, 'exit_code': now.exit_code})}\n\n"
                return
            silent += EVENTS_SECONDS
            if silent >= ALIVE_SECONDS:
                silent = 0.0
                yield ": alive\n\n"
            await asyncio.sleep(EVENTS_SECONDS)


def _sent(event: Event) -> str:
    return f"id: {event.position}\nevent: {event.kind}\ndata: {json.dumps(event.facts)}\n\n"


@router.post("/jobs/{number}/cancel", operation_id="cancel", summary="Stop a job.", responses=_errors(404, 409))
def cancel(number: Number, studio: AStudio, user: AUser) -> models.JobModel:
    """Ask a job to stop: a running one ends within a second."""
    return models.JobModel.model_validate(studio.cancel(user, number))


@router.post(
    "/jobs/{number}/again",
    operation_id="again",
    summary="Run a job again.",
    status_code=202,
    responses=_errors(404, 409, 507),
)
def again(number: Number, studio: AStudio, user: AUser) -> models.JobModel:
    """Start a new job with the same files."""
    return models.JobModel.model_validate(studio.again(user, number))


@router.get("/releases", operation_id="releases", summary="Releases.")
def releases(studio: AStudio, user: AUser) -> list[models.ReleaseModel]:
    """Return the releases, the newest first."""
    return [models.ReleaseModel.model_validate(one) for one in studio.releases(user)]


@router.get("/releases/{number}", operation_id="release", summary="A release.", responses=_errors(404, 409))
def release(number: Number, studio: AStudio, user: AUser) -> models.ReleaseModel:
    """Return a release."""
    return models.ReleaseModel.model_validate(studio.release(user, number))


@router.get(
    "/releases/{number}/card", operation_id="card", summary="The public card of a release.", responses=_errors(404, 409)
)
def card(number: Number, studio: AStudio, user: AUser) -> dict[str, Any]:
    """Return the card."""
    return studio.card(studio.release(user, number))


@router.get(
    "/releases/{number}/dossier",
    operation_id="dossier",
    summary="The dossier of a release.",
    responses=_errors(404, 409),
)
def dossier(number: Number, studio: AStudio, user: AUser) -> dict[str, Any]:
    """Return the dossier without witnesses; for a reviewer, without labels, seeds and paths."""
    return studio.dossier(user, studio.release(user, number))


@router.post(
    "/releases/{number}/witnesses",
    operation_id="witnesses",
    summary="The witnesses of a release. This is logged.",
    responses=_errors(404, 409),
)
def witnesses(number: Number, studio: AStudio, user: AUser) -> models.WitnessesModel:
    """Return the witnesses in the dossier."""
    return models.WitnessesModel(witnesses=studio.witnesses(user, studio.release(user, number)))


@router.get(
    "/releases/{number}/files",
    operation_id="release_files",
    summary="The release folder as a zip file.",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            "description": "A zip file.",
        },
        **_errors(404, 409),
    },
)
def release_files(number: Number, studio: AStudio, user: AUser) -> StreamingResponse:
    """Return the files that may be shared."""
    found = studio.release(user, number)
    headers = {"content-disposition": f'attachment; filename="release-{found.run[:8]}.zip"'}
    return StreamingResponse(studio.zip(user, found), media_type="application/zip", headers=headers)


@router.get("/log", operation_id="log", summary="Who looked at witnesses, and when.")
async def log(studio: AStudio, user: AUser) -> list[models.LogModel]:
    """Return the log."""
    return [models.LogModel.model_validate(one) for one in studio.log(user)]


@router.get("/openapi.json", operation_id="openapi", summary="This description.", response_class=JSONResponse)
async def openapi(request: Request) -> dict[str, Any]:
    """Return the OpenAPI document."""
    return described(request.app)


def described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of the API."""
    found = get_openapi(
        title=app.title,
        version=app.version,
        summary="Publish set-valued data under checked guarantees.",
        routes=router.routes,
    )
    found["components"].setdefault("securitySchemes", {})["token"] = {"type": "http", "scheme": "bearer"}
    found["security"] = [{"token": []}]
    for path in found["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)  # validation errors are 400
    for name in ("HTTPValidationError", "ValidationError"):
        found["components"].get("schemas", {}).pop(name, None)
    return found
