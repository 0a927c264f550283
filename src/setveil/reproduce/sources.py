"""Where the data sets of experiments are looked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "SETVEIL_DATA"
BESIDE = Path("..") / "shared" / "data"


def data_folder(given: str | Path | None = None) -> Path:
    """Return the folder that was named, else that of SETVEIL_DATA, else ../shared/data."""
    return Path(given or os.environ.get(VARIABLE) or BESIDE)


def find_files(names: Sequence[str], *, folder: Path) -> dict[str, Path]:
    """Return the files of these data sets that are in the folder, packed or not."""
    places = {name: (folder / f"{name}.dat.gz", folder / f"{name}.dat") for name in names}
    return {name: path for name, paths in places.items() for path in paths[::-1] if path.is_file()}


def need_files(names: Sequence[str], *, folder: Path) -> dict[str, Path]:
    """Return the files of these data sets, or say which are missing and what to do."""
    found = find_files(names, folder=folder)
    missing = [f"{name}.dat.gz" for name in names if name not in found]
    if missing:
        raise Missing(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not in {folder}; name the folder that holds "
            f"{'it' if len(missing) == 1 else 'them'} with `data=`, or in the variable {VARIABLE}"
        )
    return found
