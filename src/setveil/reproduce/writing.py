"""The folder that a reproduction leaves: a page for people, the figures, the verdicts; all of it or nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from setveil.base import atomic
from setveil.report.reproduction_page import render_reproduction

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.reproduce.paper import Reproduction

REPORT, FIGURES, VERDICTS = "report.html", "figures.csv", "verdicts.json"


def refuse_folder(out: Path, *, force: bool) -> None:
    """Refuse a folder that cannot be made or must not be replaced, before any work is done; clear away what a killed run left."""
    atomic.refuse_folder(out, force=force, names=frozenset({REPORT, FIGURES, VERDICTS}))


def save(found: Reproduction, out: Path, *, force: bool = False) -> None:
    """Write the folder as a whole."""
    refuse_folder(out, force=force)
    plain = found.to_dict()
    verdicts = {key: plain[key] for key in ("paper", "about", "datasets", "verdicts")}
    texts = {
        REPORT: render_reproduction(plain),
        FIGURES: found.figures.to_csv(),
        VERDICTS: json.dumps(verdicts, indent=2, ensure_ascii=False) + "\n",
    }
    with atomic.make_folder(out, force=force) as folder:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        folder.chmod(0o755)
