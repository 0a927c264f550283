"""The settings of a studio: its folder, what it may read, and its limits."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from setveil.errors import BadData, BadParameter
from setveil.studio.users import Users, kept_token, only_owner, users_in

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER: Final = "setveil-studio"
HOST: Final = "127.0.0.1"
PORT: Final = 8321
LARGEST_PORT: Final = 65_535
MEGABYTE: Final = 1024 * 1024
UPLOAD_BYTES: Final = 2048 * MEGABYTE
QUOTA_BYTES: Final = 5 * UPLOAD_BYTES


@dataclass(frozen=True)
class Settings:
    """What a studio is started with."""

    folder: Path
    """Where the studio keeps everything; nothing is written outside it."""
    roots: tuple[Path, ...] = ()
    """Folders whose files can be chosen as data."""
    host: str = HOST
    port: int = PORT
    jobs: int = 1
    """Maximum number of jobs that run at the same time; others wait."""
    upload_bytes: int = UPLOAD_BYTES
    """Maximum size of an upload."""
    quota_bytes: int = QUOTA_BYTES
    """Maximum size of all uploads together."""
    host_names: tuple[str, ...] = ()
    """Further names under which browsers reach the studio, such as that of a reverse proxy."""
    users: Users = field(default_factory=Users)
    token: str | None = field(default=None, repr=False)
    """The token of a studio with one person, to print; None with several users."""

    @classmethod
    def of(
        cls,
        folder: str | Path = FOLDER,
        *,
        roots: Iterable[str | Path] = (),
        tokens: str | Path | None = None,
        user_header: str | None = None,
        host_names: Iterable[str] = (),
        **limits: Any,
    ) -> Self:
        """Return checked settings; makes the folder and its token.

        `tokens` is the file of several users. `limits` are the other fields by name.
        """
        place = Path(folder).absolute()
        made = cls(place, tuple(map(Path, roots)), host_names=tuple(host_names), **limits)
        for name, least in (("jobs", 1), ("port", 0), ("upload_bytes", 1), ("quota_bytes", 1)):
            if getattr(made, name) < least:
                raise BadParameter(
                    f"{name} is {getattr(made, name)}; allowed is a whole number of at least {least}", parameter=name
                )
        if made.port > LARGEST_PORT:
            raise BadParameter(
                f"port is {made.port}; allowed is a whole number from 0 to {LARGEST_PORT}", parameter="port"
            )
        for root in made.roots:
            if not root.is_dir():
                raise BadData("is not a folder; `root=` names a folder whose files can be chosen", file=str(root))
            if place.resolve().is_relative_to(root.resolve()):
                raise BadParameter(
                    f"the folder of the studio is inside {root}, and its files could be chosen as data; choose another folder"
                )
        if user_header is not None and tokens is None:
            raise BadParameter(
                "`user_header=` needs `tokens=`: a file with the role of each user", parameter="user_header"
            )
        if tokens is None and not _is_loopback(made.host):
            raise BadParameter(
                f"`host={made.host!r}` can be reached from other machines; `serve=True` and `tokens=` let users in by their tokens",
                parameter="host",
            )
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = kept_token(place) if tokens is None else None
        users = only_owner(token) if token is not None else users_in(Path(tokens or ""), header=user_header)
        return cls(**(vars(made) | {"users": users, "token": token}))

    @property
    def hosts(self) -> frozenset[str]:
        """The values of the header Host that are accepted."""
        names = ["localhost", "127.0.0.1", "[::1]"]
        if self.host not in ("", "0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            names.append(f"[{self.host}]" if ":" in self.host else self.host)
        local = [f"{name}:{self.port}" for name in names] + (names if self.port in (80, 443) else [])
        return frozenset(name.lower() for name in (*local, *self.host_names))

    @property
    def address(self) -> str:
        """The address of the first page, with the token of a studio with one person."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/" + (f"?token={self.token}" if self.token else "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
