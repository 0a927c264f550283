"""The values of the API, as its OpenAPI document describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from setveil.studio.database import State

Id = Annotated[str, Field(description="A random id.", examples=["0f3c9a1b2d4e5f60"])]
Seconds = Annotated[float, Field(description="Seconds since 1970.")]


class Model(BaseModel):
    """A value that is made from a row."""

    model_config = ConfigDict(from_attributes=True)


class Asked(BaseModel):
    """The content of a request: other keys are refused."""

    model_config = ConfigDict(extra="forbid")


class SampleModel(Model):
    """A built-in sample."""

    name: str
    title: str
    text: str
    side_files: list[str]


class FileModel(Model):
    """A file below a root."""

    id: Id
    root: str
    name: str
    bytes: int
    changed: Seconds


class UploadModel(Model):
    """A file that was uploaded."""

    id: Id
    title: str
    bytes: int
    made: Seconds


class SourceModel(Model):
    """Data to work on."""

    id: Id
    title: str
    kind: Literal["sample", "file", "upload"]
    reading: dict[str, Any]
    made: Seconds


class NewSource(Asked):
    """Data to work on: one of a sample, a file or an upload."""

    sample: str | None = None
    file: str | None = None
    upload: str | None = None
    reading: dict[str, Any] = Field(
        default_factory=dict, description="Options of `setveil.read`, such as `format` or `id`."
    )
    title: str = Field("", max_length=1000)


class OfData(Asked):
    """A job on data."""

    source: str = Field(description="The id of the data.")
    content: dict[str, Any] = Field(default_factory=dict, description="Its settings, by the keys of a job file.")


class OfDataOrRelease(Asked):
    """A job on data or on a release."""

    source: str | None = Field(None, description="The id of the data.")
    release: str | None = Field(None, description="The id of the release.")
    content: dict[str, Any] = Field(default_factory=dict, description="Its settings.")


class OfRelease(Asked):
    """A job on a release."""

    release: str = Field(description="The id of the release.")
    content: dict[str, Any] = Field(default_factory=dict, description="Its settings.")


class StepModel(Model):
    """A step that runs now."""

    label: str
    share: float | None
    seconds: float


class ProgressModel(Model):
    """How far a job is."""

    steps: list[StepModel]
    done: list[str]
    notes: list[str]
    seconds: float


class JobModel(Model):
    """A run of the command line."""

    id: Id
    kind: str
    title: str
    source: str | None
    release: str | None
    content: dict[str, Any]
    state: State
    created: Seconds
    started: Seconds | None
    ended: Seconds | None
    exit_code: int | None
    stopping: Seconds | None


class JobWithProgress(JobModel):
    """A job, and how far it is."""

    progress: ProgressModel


class TextsModel(Model):
    """The same set-up as a command line, a job file and Python."""

    command: str
    file: str
    python: str
    files: dict[str, str]


class ReleaseModel(Model):
    """A release."""

    id: Id
    title: str
    method: str
    guarantee: str | None
    records: int
    made: Seconds
    run: str


class LogModel(Model):
    """An entry of the log."""

    number: int
    time: Seconds
    user: str
    action: str
    release: str | None


class UserModel(Model):
    """Who asks."""

    name: str
    role: Literal["owner", "reviewer"]


class WitnessesModel(Model):
    """Places where a guarantee fails."""

    witnesses: list[Any]


class ErrorFacts(BaseModel):
    """What is wrong, as the command line prints it in JSON."""

    model_config = ConfigDict(extra="allow")

    kind: str
    message: str
    exit_code: int


class ErrorModel(BaseModel):
    """An error."""

    error: ErrorFacts
