"""Take the version, the pins and the platform of the wheel from the manifest of the kernels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


def _manifest(root: str) -> dict[str, Any]:
    return json.loads((Path(root) / "src" / "setveil_kernels" / "manifest.json").read_text())


class Pins(MetadataHookInterface):
    """The kernels fit one version of setveil and one minor version of Numba."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the version and the dependencies."""
        manifest = _manifest(self.root)
        minor = ".".join(manifest["versions"]["numba"].split(".")[:2])
        metadata["version"] = manifest["setveil"]
        metadata["dependencies"] = [f"setveil=={manifest['setveil']}", f"numba=={minor}.*"]


class Platform(BuildHookInterface):
    """The kernels fit one minor version of Python on one platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag of the wheel."""
        del version
        build_data["pure_python"] = False
        build_data["tag"] = _manifest(self.root)["tag"]
