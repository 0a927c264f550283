"""Parse database addresses, and display them without secrets.

An address is checked strictly before a driver sees it. A driver's message about an invalid address repeats parts of it, and if the password
is not percent-encoded, such a part may be a piece of the password.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from setveil.data.records.labels import are_texts
from setveil.engines.spark_server import SCHEME, spark_address
from setveil.errors import BadParameter

Kind = Literal["postgresql", "sqlite", "duckdb", "spark"]

_LOOKS_LIKE_ONE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://|(?:postgres(?:ql)?|sqlite|duckdb)(?:\+\w+)?:", re.IGNORECASE)
_SERVER = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/?#]*)(?::(?P<password>[^@/?#]*))?@)?"
    r"(?P<hosts>[^@/?#]*)(?P<database>/[^@/?#]*)?(?:\?(?P<parameters>[^@?#]*))?"
)
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\[\]:]*)(?::[0-9]*)?")
_FILE = re.compile(r"(?P<kind>sqlite|duckdb):///(?P<path>[^?]+)", re.DOTALL)
_UNREADABLE = re.compile(r"[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})|%00")
_SHOWN_PARAMETERS = frozenset({"host", "hostaddr", "port", "dbname", "user", "sslmode"})
_SECRET_PARAMETER = re.compile("pass|secret|token|key", re.IGNORECASE)
_FORMS = "postgresql://user:password@host:port/database, sqlite:///file.db, duckdb:///file.duckdb and sc://host:port for Spark"


@dataclass(frozen=True)
class Address:
    """The address of a database. Its `repr` contains no secrets."""

    kind: Kind
    shown: str
    """The address for display: without the password, and only with parameters that identify the database."""
    url: str = field(repr=False)
    """The address for the driver."""
    secrets: tuple[str, ...] = field(repr=False, default=())
    """Secrets, in every spelling that could appear in a message."""
    path: Path | None = None
    """The file, if the database is a file."""

    def without_secrets(self, text: str) -> str:
        """Return a text with the secrets of this address replaced."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def is_database(source: str) -> bool:
    """Return whether a data argument is a database address, even an invalid one, and not a path."""
    return _LOOKS_LIKE_ONE.match(source) is not None


def shown(url: str) -> str:
    """Return an address for display, without secrets.

    >>> shown("postgresql://ann:hidden@db.example:5432/shop?sslpassword=hidden")
    'postgresql://ann@db.example:5432/shop'
    """
    try:
        return address(url).shown
    except BadParameter:
        return _unread(url)


def _unread(url: str) -> str:
    """Return the displayable part of an invalid address: only the scheme, because any other part may belong to the password."""
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.\-]*(?=://)", url)
    return f"{scheme[0]}://..." if scheme else "the address"


def address(url: str) -> Address:
    """Parse an address, or raise `BadParameter` without repeating what may be secret."""
    if not are_texts([url]):  # bytes on the command line that are not UTF-8 text
        raise BadParameter(f"{_unread(url)} holds bytes that are not UTF-8 text; write them percent-encoded")
    if url.startswith(("postgresql://", "postgres://")):
        return _server(url)
    if url.startswith(SCHEME):
        server = spark_address(url)
        return Address("spark", shown=server.shown, url=url, secrets=_spellings([*server.secrets]))
    file = _FILE.fullmatch(url)
    if file is None or "\0" in url or file["path"] == ":memory:":
        raise BadParameter(f"{_unread(url)} is not a supported database address; allowed are {_FORMS}")
    kind: Kind = "sqlite" if file["kind"] == "sqlite" else "duckdb"
    return Address(kind, shown=url, url=url, path=Path(file["path"]))


def _server(url: str) -> Address:
    parts = _SERVER.fullmatch(url)
    if parts is None or _UNREADABLE.search(url) or not all(map(_HOST.fullmatch, parts["hosts"].split(","))):
        raise BadParameter(
            f"{_unread(url)} cannot be read as postgresql://user:password@host:port/database; "
            "percent-encode characters of user and password other than letters and digits, such as %40 for @"
        )
    parameters = [part.partition("=") for part in (parts["parameters"] or "").split("&") if part]
    if not all(sign for _key, sign, _value in parameters):
        raise BadParameter(
            f"{_unread(url)} has a parameter without a value; write parameters as ?name=value&name=value"
        )
    secrets = [parts["password"] or ""]
    secrets += [value for key, _sign, value in parameters if _SECRET_PARAMETER.search(unquote(key))]
    login = f"{parts['user']}@" if parts["user"] else ""
    kept = "&".join(f"{key}={value}" for key, _sign, value in parameters if unquote(key) in _SHOWN_PARAMETERS)
    displayed = f"postgresql://{login}{parts['hosts']}{parts['database'] or ''}" + (f"?{kept}" if kept else "")
    return Address("postgresql", shown=displayed, url=_for_driver(url, parameters), secrets=_spellings(secrets))


def _for_driver(url: str, parameters: list[tuple[str, str, str]]) -> str:
    """Return the address with the parameters that setveil needs: texts in UTF-8, and a timeout for the connection."""
    needed = ["client_encoding=UTF8"]  # the last value wins, also over PGCLIENTENCODING
    if "PGCONNECT_TIMEOUT" not in os.environ and all(unquote(key) != "connect_timeout" for key, *_ in parameters):
        needed.append("connect_timeout=15")
    return f"{url}{'&' if '?' in url else '?'}{'&'.join(needed)}"


def _spellings(secrets: list[str]) -> tuple[str, ...]:
    """Return each secret as given, decoded and re-encoded; the longest first, so that no part of a secret remains."""
    found = {text for raw in secrets for text in (raw, unquote(raw), quote(unquote(raw)), quote(unquote(raw), safe=""))}
    return tuple(sorted(found - {""}, key=len, reverse=True))
