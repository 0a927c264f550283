"""Where setveil keeps what it would otherwise make again: compiled loops, and the libraries of reports."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def find_cache_directory() -> Path:
    """Return the folder that SETVEIL_CACHE_DIR names, otherwise `setveil` in the user's cache directory; it need not exist yet."""
    given = os.environ.get("SETVEIL_CACHE_DIR")
    return Path(given) if given else user_cache_path("setveil", appauthor=False, opinion=False)
