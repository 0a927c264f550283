"""Kernels that were compiled before: the folder of the distribution `setveil-kernels`, which is only read.

Layout::

    setveil_kernels/
      manifest.json                   versions, processor, and the SHA-256 of every file
      kernels-MODULE-HASH/            as in the user's cache: the hash covers sources, compile options and versions
        KERNEL-HASH.nbc               a pickle; the hash covers the types of the arguments and the processor

The folder is used if its versions, its platform and its processor level fit this process. A kernel of it is used if its sources are the
ones that run here and its content has the SHA-256 of the manifest, which is verified before anything is unpickled. In every other case
the kernel comes from the user's cache or is compiled. SETVEIL_SHIPPED_KERNELS=0 ignores the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = "setveil_kernels"
MANIFEST = "manifest.json"
FORMAT = 1
"""The version of the layout."""


@dataclass(frozen=True)
class Shipped:
    """Compiled kernels that fit this process."""

    folder: Path
    target: tuple[str, str, str]
    """What they were compiled for: platform, processor and its features, as Numba names them."""
    digests: Mapping[str, str]

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if it is not shipped, missing or damaged."""
        with suppress(OSError):
            content = (self.folder / name).read_bytes() if name in self.digests else b""
            if hashlib.sha256(content).hexdigest() == self.digests.get(name):
                return content
        return None


def find_shipped(versions: Mapping[str, str], platform: str, features: Mapping[str, bool]) -> Shipped | None:
    """Return the installed kernels, or None if there are none that fit these versions and this processor."""
    if os.environ.get("SETVEIL_SHIPPED_KERNELS") == "0":
        return None
    with suppress(Exception):  # a package that cannot be found or a manifest that cannot be read is none
        spec = find_spec(PACKAGE)
        return (
            None
            if spec is None or spec.origin is None
            else _open(Path(spec.origin).parent, versions, platform, features)
        )
    return None


def _open(folder: Path, versions: Mapping[str, str], platform: str, features: Mapping[str, bool]) -> Shipped | None:
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
    built_for, processor, enabled = manifest["target"]
    fits = (
        manifest["format"] == FORMAT
        and manifest["versions"] == dict(versions)
        and built_for == platform
        and all(features.get(name.removeprefix("+"), False) for name in enabled.split(","))
    )
    return Shipped(folder, (built_for, processor, enabled), dict(manifest["files"])) if fits else None
