"""Start the server of a studio."""

from __future__ import annotations

import signal
import socket
import webbrowser
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from setveil.errors import Missing, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from setveil.studio.settings import Settings


def serve(settings: Settings, *, announce: Callable[[str], object] = print, open_page: bool = False) -> None:
    """Serve a studio until Ctrl-C; jobs that run go on.

    `announce` is called with the address once the server listens. The address holds the token of a studio with one person.
    """
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from setveil.studio.app import make_app  # noqa: PLC0415 - the same
    except ImportError:
        raise Missing(
            "the studio requires FastAPI and uvicorn, which are not installed; install them with: pip install 'setveil[studio]'"
        ) from None
    from setveil.studio.studio import Studio  # noqa: PLC0415 - imports every method

    listening = _listening(settings)
    studio = None
    try:
        settings = replace(settings, port=listening.getsockname()[1])
        studio = Studio(settings)
        app = make_app(studio)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=30,
            h11_max_incomplete_event_size=64 * 1024,
        )
        server = uvicorn.Server(config)
        app.state.is_closing = lambda: server.should_exit
        with suppress(KeyboardInterrupt):
            signal.signal(
                signal.SIGTERM, signal.default_int_handler
            )  # uvicorn raises a signal again once it has stopped
            if hasattr(signal, "SIGHUP"):
                signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
            announce(settings.address)
            if open_page:
                with suppress(webbrowser.Error):
                    webbrowser.open(settings.address)
            server.run(sockets=[listening])
    finally:
        listening.close()
        if studio is not None:
            studio.close()
            studio.queue.leave()


def _listening(settings: Settings) -> socket.socket:
    """Return a socket that listens; refuse an address that is taken."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listening.close()
        message = f"{settings.host}:{settings.port} cannot be used: {getattr(error, 'strerror', None) or error}; choose another `port=`"
        raise OutputRefused(message) from None
    listening.listen(128)
    return listening
