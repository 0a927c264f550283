"""The folder that a reproduction leaves: a page for people, the figures, the verdicts; all of it or nothing."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from setveil.errors import OutputRefused
from setveil.report.reproduction_page import render_reproduction
from setveil.unfinished import committing, hidden_folder, hidden_name, sweep, sync

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.reproduce.paper import Reproduction

REPORT, FIGURES, VERDICTS = "report.html", "figures.csv", "verdicts.json"


def refuse_folder(out: Path, *, force: bool) -> None:
    """Refuse a folder that cannot be made or must not be replaced, before any work is done; clear away what a killed run left."""
    if out.name in ("", "..") or "\0" in str(out):
        raise OutputRefused(f"{str(out)!r} is not a name for a new folder; name another place")
    if not out.parent.is_dir():
        raise OutputRefused(f"{out.parent} is not a folder; make it first or name another place")
    sweep(out)
    if not (out.is_symlink() or out.exists()):
        return
    if not force:
        raise OutputRefused(f"{out} exists; name another place, or replace it with --force")
    if out.is_symlink() or not out.is_dir():
        raise OutputRefused(
            f"{out} is a {'link' if out.is_symlink() else 'file'}; only a folder of an earlier run is replaced"
        )
    strange = sorted(path.name for path in out.iterdir() if path.name not in {REPORT, FIGURES, VERDICTS})
    if strange:
        raise OutputRefused(f"{out} holds {strange[0]}, which is of no earlier run; name another place")


def save(found: Reproduction, out: Path, *, force: bool = False) -> None:
    """Write the folder under a hidden name and give it its own at the end."""
    refuse_folder(out, force=force)
    plain = found.to_dict()
    verdicts = {key: plain[key] for key in ("paper", "about", "datasets", "verdicts")}
    texts = {
        REPORT: render_reproduction(plain),
        FIGURES: found.figures.to_csv(),
        VERDICTS: json.dumps(verdicts, indent=2, ensure_ascii=False) + "\n",
    }
    with hidden_folder(out) as staging:
        try:
            for name, text in texts.items():
                (staging / name).write_text(text, encoding="utf-8")
                sync(staging / name)
            staging.chmod(0o755)
            sync(staging)
            with committing(str(out)):
                refuse_folder_again(out, force=force)
                old = out.rename(hidden_name(out, "old")) if out.exists() else None
                try:
                    staging.rename(out)
                except OSError:
                    if old is not None:
                        old.rename(out)
                    raise
                sync(out.parent)
                if old is not None:
                    shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise OutputRefused(f"{out} cannot be written: {error.strerror or error}") from None


def refuse_folder_again(out: Path, *, force: bool) -> None:
    """Refuse what another process made meanwhile."""
    if (out.is_symlink() or out.exists()) and not force:
        raise OutputRefused(f"{out} exists; name another place, or replace it with --force")
