"""The cache directory for compiled kernels and the libraries of reports."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def find_cache_directory() -> Path:
    """Return the folder in SETVEIL_CACHE_DIR, or by default `setveil` in the user's cache directory; it may not exist yet."""
    given = os.environ.get("SETVEIL_CACHE_DIR")
    return Path(given) if given else user_cache_path("setveil", appauthor=False, opinion=False)
