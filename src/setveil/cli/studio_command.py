"""`setveil studio`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from setveil.cli import interrupt
from setveil.cli.options import OutputOptions, about
from setveil.cli.show import say, say_json
from setveil.errors import BadParameter, ExitCode
from setveil.studio.serving import serve
from setveil.studio.settings import FOLDER, HOST, MEGABYTE, PORT, QUOTA_BYTES, UPLOAD_BYTES, Settings


def studio(
    *,
    folder: Annotated[str, about("The folder of the studio: uploads, jobs and releases. Keep it private.")] = FOLDER,
    root: Annotated[
        list[str] | None,
        about("A folder whose files can be chosen as data; can be repeated (default: samples and uploads only)."),
    ] = None,
    host: Annotated[str, about("The address to listen on. Others than those of this machine require --serve.")] = HOST,
    port: Annotated[int, about("The port to listen on; 0 chooses a free one.")] = PORT,
    jobs: Annotated[int, about("Maximum number of jobs that run at the same time; others wait.")] = 1,
    open_page: Annotated[bool, Parameter(name="--open", help="Open the page in a browser.")] = False,
    several: Annotated[bool, Parameter(name="--serve", help="Serve several users; requires --tokens.")] = False,
    tokens: Annotated[
        str | None,
        about(
            "With --serve: a TOML file with a table for each user: role (owner or reviewer), and sha256 of the token."
        ),
    ] = None,
    user_header: Annotated[
        str | None,
        about(
            "With --serve: the header in which a reverse proxy on this machine names the user; roles are in the file."
        ),
    ] = None,
    host_name: Annotated[
        list[str] | None,
        about("A further name under which browsers reach the studio, such as data.example.org; can be repeated."),
    ] = None,
    upload_limit: Annotated[int, about("Maximum size of an upload in megabytes.")] = UPLOAD_BYTES // MEGABYTE,
    quota: Annotated[int, about("Maximum size of all uploads together in megabytes.")] = QUOTA_BYTES // MEGABYTE,
    output: OutputOptions,
) -> ExitCode:
    r"""Open a web page to publish with, and a REST API.

    Prints the address of the page with a token: everyone who has it can work with the data. Each job is a command of setveil in a process
    of its own, which goes on if the server stops. Requires: pip install 'setveil[studio]'.

    Example:
      setveil studio --open
    """
    if several != (tokens is not None):
        raise BadParameter("`serve=True` and `tokens=` belong together: give both or none of them", parameter="tokens")
    settings = Settings.of(
        folder,
        roots=root or (),
        host=host,
        port=port,
        jobs=jobs,
        tokens=tokens,
        user_header=user_header,
        host_names=host_name or (),
        upload_bytes=upload_limit * MEGABYTE,
        quota_bytes=quota * MEGABYTE,
    )

    def announce(address: str) -> None:
        if output.json:
            say_json({"address": address, "folder": str(settings.folder)})
        else:
            say(f"Open {address}")
            say("Stop with Ctrl-C. Jobs that run go on, and are found again.")

    interrupt.hand_over()
    serve(settings, announce=announce, open_page=open_page)
    return ExitCode.OK
