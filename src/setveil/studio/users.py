"""Who uses a studio: the person who started it, or several with tokens or a reverse proxy."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, get_args

from setveil.data.files.toml_files import parse_toml, read_settings
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Role = Literal["owner", "reviewer"]
"""An owner works with data and releases of their own. A reviewer sees cards, and dossiers without labels."""
TOKEN_NAME: Final = "token"  # noqa: S105 - the name of a file
EXPECTED: Final = "a file with a table for each user: role, and sha256 of the token"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class User:
    """A person who uses the studio."""

    name: str
    role: Role

    @property
    def is_owner(self) -> bool:
        """Whether the user may work with data."""
        return self.role == "owner"


@dataclass(frozen=True)
class Users:
    """The users, by the hash of their tokens and by their names."""

    by_hash: Mapping[str, User] = field(default_factory=dict)
    by_name: Mapping[str, User] = field(default_factory=dict)
    header: str | None = None
    """The header in which a reverse proxy on this machine names the user."""

    def of_token(self, token: str) -> User | None:
        """Return the user who has a token."""
        given = token_hash(token)
        found = None
        for known, user in self.by_hash.items():  # takes the same time for each token
            if hmac.compare_digest(known, given):
                found = user
        return found

    def named(self, name: str) -> User | None:
        """Return the user of a name."""
        return self.by_name.get(name)


def token_hash(token: str) -> str:
    """Return the hash of a token, as the file of users holds it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def only_owner(token: str) -> Users:
    """Return the users of a studio with one person."""
    owner = User("owner", "owner")
    return Users({token_hash(token): owner}, {"owner": owner})


def kept_token(folder: Path) -> str:
    """Return the token of a studio with one person; it is the same after a restart."""
    path = folder / TOKEN_NAME
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        token = ""
    if len(token) < 32:
        token = secrets.token_urlsafe(32)
        path.touch(mode=0o600)
        path.chmod(0o600)
        path.write_text(token, encoding="ascii")
    return token


def users_in(file: Path, *, header: str | None = None) -> Users:
    """Read the users from a file (TOML); with a header, a user needs no token."""
    content = parse_toml(read_settings(file, EXPECTED), file, EXPECTED)
    by_hash: dict[str, User] = {}
    by_name: dict[str, User] = {}
    for name, table in content.items():
        if not isinstance(table, dict) or table.get("role") not in get_args(Role):
            raise BadData(f"{name}: the key 'role' must be {' or '.join(get_args(Role))}", file=str(file))
        for key in table.keys() - {"role", "sha256"}:
            raise BadData(f"{name}: there is no key {key!r}; there are: role, sha256", file=str(file))
        user = User(name, table["role"])
        by_name[name] = user
        sha256 = table.get("sha256")
        if sha256 is None and header is not None:
            continue
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            raise BadData(
                f"{name}: the key 'sha256' must be the SHA-256 of the token in 64 lower-case hexadecimal digits",
                file=str(file),
            )
        if sha256 in by_hash:
            raise BadData(
                f"{name}: has the same token as {by_hash[sha256].name}; give each user a token", file=str(file)
            )
        by_hash[sha256] = user
    if not by_name:
        raise BadData(f"names no user; expected {EXPECTED}", file=str(file))
    return Users(by_hash, by_name, header)
