"""Releases that jobs made: what may be shown to whom."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from setveil.release.card import CARD_NAME
from setveil.release.dossier import DOSSIER_NAME, REPORT_NAME, private_beside
from setveil.studio.kinds import OUT, Place
from setveil.studio.refusals import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setveil.studio.database import JobRow

ZIP_BLOCK: Final = 1024 * 1024


@dataclass(frozen=True)
class ReleaseRow:
    """A release."""

    id: str
    """The id of the job that made it."""
    owner: str
    title: str
    method: str
    guarantee: str | None
    records: int
    made: float
    run: str


def place_of(folder: Path) -> Place:
    """Return the folders of the release that a job made, and where its original lies."""
    out = folder / OUT
    private = private_beside(out)
    dossier = _read(private / DOSSIER_NAME)
    return Place(out, private, str(dossier.get("input", {}).get("source", "")))


def row_of(job: JobRow, folder: Path, *, named: bool) -> ReleaseRow:
    """Return the row of a release; its title names the data only for its owner."""
    card = card_in(folder)
    method = str(card["method"]["name"])
    made = job.ended or job.created
    return ReleaseRow(
        job.id,
        job.owner,
        job.title if named else method,
        method,
        card["guarantee"]["name"],
        int(card["counts"]["records"]),
        made,
        str(card["run"]),
    )


def card_in(folder: Path) -> dict[str, Any]:
    """Return the card of a release."""
    return _read(folder / OUT / CARD_NAME)


def dossier_in(folder: Path) -> dict[str, Any]:
    """Return the dossier of a release for its owner, without witnesses."""
    dossier = _read(private_beside(folder / OUT) / DOSSIER_NAME)
    for name in ("verdict", "before"):
        if isinstance(dossier.get(name), dict):
            dossier[name] = dossier[name] | {"witnesses": []}
    return dossier


def report_in(folder: Path) -> Path:
    """Return the path of the report, which is for the owner only."""
    path = private_beside(folder / OUT) / REPORT_NAME
    if not path.is_file():
        raise NotFound("the release has no report")
    return path


def witnesses_in(folder: Path) -> list[Any]:
    """Return the witnesses in the dossier."""
    verdict = _read(private_beside(folder / OUT) / DOSSIER_NAME).get("verdict")
    found = verdict.get("witnesses", []) if isinstance(verdict, dict) else []
    return found if isinstance(found, list) else []


def reviewed(dossier: dict[str, Any]) -> dict[str, Any]:
    """Return what a reviewer sees of a dossier: named fields only, none of which holds a label, a seed or a path."""
    verdict = dossier.get("verdict")
    return {
        "dossier_version": dossier.get("dossier_version"),
        "made": dossier.get("made"),
        "versions": dossier.get("versions"),
        "run": dossier.get("run"),
        "experiment": dossier.get("experiment"),
        "form": dossier.get("form"),
        "ids": dossier.get("ids"),
        "allow_failures": dossier.get("allow_failures"),
        "context": dossier.get("context"),
        "method": {"name": dossier.get("method", {}).get("name")},
        "verdict": _only(verdict, ("status", "guarantee", "counts", "failures", "reach")),
        "summary": _only(dossier.get("summary"), ("guarantee", "cost", "not_protected")),
        "metrics": [_only(one, ("name", "value", "unit", "better", "interval")) for one in dossier.get("metrics", [])],
        "metric_notes": dossier.get("metric_notes"),
        "attacks": {
            "limit": dossier.get("attacks", {}).get("limit"),
            "findings": [
                _only(one, ("name", "main", "naive", "control", "excess", "targets"))
                for one in dossier.get("attacks", {}).get("findings", [])
            ],
        },
        "attack_notes": dossier.get("attack_notes"),
        "seconds": dossier.get("seconds"),
        "card": dossier.get("card"),
    }


def _only(table: Any, names: tuple[str, ...]) -> dict[str, Any] | None:
    return {name: table[name] for name in names if name in table} if isinstance(table, dict) else None


def zipped(folder: Path) -> Iterator[bytes]:
    """Yield a zip file of the release folder, piece by piece."""
    out = folder / OUT
    buffer = _Growing()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(out.iterdir()):
            if not path.is_file() or path.is_symlink():
                continue
            with (
                path.open("rb") as file,
                archive.open(zipfile.ZipInfo.from_file(path, f"{OUT}/{path.name}"), "w", force_zip64=True) as entry,
            ):
                while block := file.read(ZIP_BLOCK):
                    entry.write(block)
                    yield buffer.taken()
    yield buffer.taken()


class _Growing(io.RawIOBase):
    """A file that is written and taken piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        self.parts.append(bytes(block))
        return len(block)

    def taken(self) -> bytes:
        parts, self.parts = self.parts, []
        return b"".join(parts)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise NotFound("the release is no longer complete")
    return found
