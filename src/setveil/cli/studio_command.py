"""`setveil studio`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from setveil.cli import interrupt
from setveil.cli.options import OutputOptions, about
from setveil.errors import BadParameter, ExitCode
from setveil.studio.serving import serve
from setveil.studio.settings import PORT, QUOTA_BYTES, UPLOAD_BYTES, Settings
from setveil.studio.users import kept_token, only_owner, users_in

MEGABYTE = 1024 * 1024


def studio(
    *,
    folder: Annotated[
        str, about("The folder of the studio: uploads, jobs and releases. Keep it private.")
    ] = "setveil-studio",
    root: Annotated[
        list[str] | None,
        about("A folder whose files can be chosen as data; can be repeated (default: uploads and samples only)."),
    ] = None,
    host: Annotated[str, about("The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, about("The port to listen on; 0 chooses a free one.")] = PORT,
    jobs: Annotated[int, about("Maximum number of jobs that run at the same time; others wait.")] = 1,
    open_page: Annotated[
        Literal["browser", "none"], about("Open the page in a browser, or only print its address.")
    ] = "none",
    serve_users: Annotated[bool, about("Serve several users: requires --tokens.")] = False,
    tokens: Annotated[str | None, about("File with a table for each user: role, and sha256 of the token.")] = None,
    user_header: Annotated[
        str | None,
        about("The header in which a reverse proxy on this machine names the user; roles are in the file --tokens."),
    ] = None,
    host_name: Annotated[
        list[str] | None,
        about("A further name under which browsers reach the studio, such as data.example.org; can be repeated."),
    ] = None,
    upload_limit: Annotated[int, about("Maximum size of an upload in megabytes.")] = UPLOAD_BYTES // MEGABYTE,
    quota: Annotated[int, about("Maximum size of all uploads together in megabytes.")] = QUOTA_BYTES // MEGABYTE,
    output: OutputOptions,
) -> ExitCode:
    """Open a web page to publish with, and a REST API."""
    _ = (output, open_page, serve_users, user_header)
    if jobs < 1:
        raise BadParameter(f"`jobs=` is {jobs}; allowed is a whole number of at least 1", parameter="jobs")
    place = Path(folder).absolute()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = None if tokens else kept_token(place)
    settings = Settings(
        place,
        tuple(Path(one) for one in root or ()),
        host,
        port,
        jobs,
        upload_limit * MEGABYTE,
        quota * MEGABYTE,
        tuple(host_name or ()),
        only_owner(token) if token else users_in(Path(tokens or ""), header=user_header),
    )
    interrupt.hand_over()
    serve(settings, token=token, open_browser=open_page == "browser")
    return ExitCode.OK
