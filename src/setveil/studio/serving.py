"""Start the server of a studio, and print how to reach it."""

from __future__ import annotations

import signal
import socket
import sys
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING

from setveil.errors import Missing, OutputRefused

if TYPE_CHECKING:
    from setveil.studio.settings import Settings

MISSING = (
    "the studio requires FastAPI and uvicorn, which are not installed; install them with: pip install 'setveil[studio]'"
)


def serve(settings: Settings, *, token: str | None, open_browser: bool = False) -> None:
    """Serve a studio until Ctrl-C; jobs that run go on."""
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from setveil.studio.app import make_app  # noqa: PLC0415 - the same
    except ImportError:
        raise Missing(MISSING) from None
    from setveil.studio.studio import Studio  # noqa: PLC0415 - imports every method

    listening = _listening(settings)
    studio = Studio(settings)
    try:
        config = uvicorn.Config(
            make_app(studio),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=30,
            h11_max_incomplete_event_size=64 * 1024,
        )
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"http://{name}:{settings.port}/" + (f"?token={token}" if token else "")
        sys.stdout.write(f"Open {address}\nStop with Ctrl-C; jobs that run go on.\n")
        sys.stdout.flush()
        if open_browser:
            with suppress(webbrowser.Error):
                webbrowser.open(address)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)  # uvicorn raises a signal again once it has stopped
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        studio.close()


def _listening(settings: Settings) -> socket.socket:
    """Return a socket that listens; refuse an address that is taken."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise OutputRefused(
            f"{settings.host}:{settings.port} cannot be used: {error.strerror}; choose another --port"
        ) from None
    return listening
