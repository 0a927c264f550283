"""Where setveil keeps what it would otherwise make again: compiled loops, and the libraries of reports."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_root() -> Path:
    """Return the folder, which need not be there yet. SETVEIL_CACHE_DIR names another one."""
    given = os.environ.get("SETVEIL_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "setveil" if base else Path.home() / ".cache" / "setveil"
