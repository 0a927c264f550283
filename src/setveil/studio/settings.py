"""The settings of a studio: its folder, what it may read, and its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from setveil.studio.users import Users

if TYPE_CHECKING:
    from pathlib import Path

PORT: Final = 8321
UPLOAD_BYTES: Final = 2 * 1024**3
QUOTA_BYTES: Final = 10 * 1024**3


@dataclass(frozen=True)
class Settings:
    """What a studio is started with."""

    folder: Path
    """Where the studio keeps everything; nothing is written outside it."""
    roots: tuple[Path, ...] = ()
    """Folders whose files can be chosen as data."""
    host: str = "127.0.0.1"
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

    @property
    def hosts(self) -> frozenset[str]:
        """The values of the header Host that are accepted."""
        names = ["localhost", "127.0.0.1", "[::1]"]
        if self.host not in ("", "0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            names.append(f"[{self.host}]" if ":" in self.host else self.host)
        local = [f"{name}:{self.port}" for name in names] + (names if self.port in (80, 443) else [])
        return frozenset(name.lower() for name in (*local, *self.host_names))
