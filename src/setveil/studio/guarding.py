"""What is checked before a request reaches a page or the API: its host, where it comes from, who asks, and its size."""

from __future__ import annotations

import json
import logging
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException

from setveil.studio.refusals import NotAllowed, NoToken, Refusal, TooLarge, WrongHost

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from setveil.studio.settings import Settings
    from setveil.studio.users import User

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOG = logging.getLogger("setveil.studio")
BODY_BYTES: Final = 4 * 1024 * 1024
"""Maximum size of a request other than an upload."""
API: Final = "/api/"
UPLOADS: Final = "/api/v1/uploads/"
OPEN: Final = ("/static/", "/favicon.ico")
"""What needs no token: files that are the same for everyone."""
LEAST_ERROR: Final = 400
SAFE: Final = ("GET", "HEAD", "OPTIONS")
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
}
"""Headers of each response; a response can replace them with its own."""


def cookie_name(settings: Settings) -> str:
    """Return the name of the cookie with the token; cookies are for all ports of a host, so the name distinguishes them."""
    return f"setveil-studio-{settings.port}"


class Guard:
    """The outermost part of the application."""

    def __init__(self, app: App, settings: Settings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no websockets
            return
        headers = _headers(scope)
        sender = _with_headers(scope, send)
        try:
            self._refuse_host(headers)
            user = self._user(scope, headers)
            self._refuse_foreign(scope, headers)
            if await self._sign_in(scope, sender):
                return
            if user is None and not scope["path"].startswith(OPEN):
                raise NoToken(
                    "open the address with the token that setveil studio printed, or send it as Authorization: Bearer TOKEN"
                )
            scope.setdefault("state", {})["user"] = user
            await self.app(scope, _limited(scope, headers, receive), sender)
        except Refusal as refusal:
            LOG.info("refused %s: %s", scope["method"], refusal.kind)
            await _refuse(scope, sender, refusal)

    def _refuse_host(self, headers: dict[str, str]) -> None:
        """Refuse other names of this machine: a page of another site can point its own name to it (DNS rebinding)."""
        if headers.get("host", "").lower() not in self.settings.hosts:
            raise WrongHost("the header Host is not a name of this studio; allow it where the studio is started")

    def _user(self, scope: Scope, headers: dict[str, str]) -> User | None:
        users = self.settings.users
        if users.header is not None:
            name = headers.get(users.header.lower())
            client = (scope.get("client") or ("",))[0]
            if name is not None and client in ("127.0.0.1", "::1"):
                scope["studio.ambient"] = True
                return users.named(name)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return users.of_token(token.strip())
        token = _cookies(headers).get(cookie_name(self.settings), "")
        scope["studio.ambient"] = True
        return users.of_token(token) if token else None

    def _refuse_foreign(self, scope: Scope, headers: dict[str, str]) -> None:
        """Refuse a request that changes something and that a page of another site made."""
        if scope["method"] in SAFE:
            return
        origin, fetch_site = headers.get("origin"), headers.get("sec-fetch-site")
        if fetch_site not in (None, "same-origin", "none"):
            raise NotAllowed("the request comes from another site")
        if origin is not None:
            place = urlsplit(origin)
            if place.scheme not in ("http", "https") or place.netloc.lower() not in self.settings.hosts:
                raise NotAllowed("the request comes from another site")
        elif scope.get("studio.ambient") and fetch_site != "same-origin":
            raise NotAllowed(
                "the request does not state where it comes from; send the token as Authorization: Bearer TOKEN"
            )

    async def _sign_in(self, scope: Scope, send: Send) -> bool:
        """Answer `/?token=...` with a cookie; return whether the request was that."""
        if scope["path"] != "/" or scope["method"] != "GET" or b"token=" not in scope["query_string"]:
            return False
        (token,) = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[:1]
        if self.settings.users.of_token(token) is None:
            raise NoToken("the token is not valid; use the address that setveil studio printed")
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        cookie = f"{cookie_name(self.settings)}={token}; Path=/; HttpOnly; SameSite=Strict{secure}"
        location = [(b"location", b"/"), (b"set-cookie", cookie.encode("latin-1")), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": location})
        await send({"type": "http.response.body", "body": b""})
        return True


def _headers(scope: Scope) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in found and key in ("host", "origin", "authorization", "content-length"):
            found[key] = "\0"  # twice: neither is trusted
        else:
            found[key] = value.decode("latin-1")
    return found


def _cookies(headers: dict[str, str]) -> dict[str, str]:
    try:
        return {name: one.value for name, one in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _with_headers(scope: Scope, send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            if message["status"] >= LEAST_ERROR and scope["method"] not in SAFE and b"connection" not in given:
                message["headers"] = [
                    *message["headers"],
                    (b"connection", b"close"),
                ]  # the rest of its content may never end
            extra = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given]
            message["headers"] = [*message["headers"], *extra]
        await send(message)

    return sender


def _limited(scope: Scope, headers: dict[str, str], receive: Receive) -> Receive:
    """Return a receiver that refuses a request that is too large, whatever it says of its length."""
    if scope["path"].startswith(UPLOADS):
        return receive  # counted where it is stored
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > BODY_BYTES:
        raise TooLarge(f"the request is too large; allowed are {BODY_BYTES:,} bytes")
    arrived = 0

    async def receiver() -> Message:
        nonlocal arrived
        message = await receive()
        arrived += len(message.get("body", b""))
        if arrived > BODY_BYTES:  # FastAPI passes on no other error while it reads
            raise HTTPException(TooLarge.status, f"the request is too large; allowed are {BODY_BYTES:,} bytes")
        return message

    return receiver


async def _refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Answer a refused request: as JSON for programs, as text for people."""
    if scope["path"].startswith(API) or scope["path"].endswith(".json"):
        kind, body = "application/json", json.dumps({"error": refusal.to_dict()})
    else:
        kind, body = "text/plain; charset=utf-8", f"{refusal}\n"
    content = body.encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(content)).encode()),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
