"""The private folder of a comparison, to which each trial adds a line as soon as it ends.

A run that was stopped or killed leaves a folder from which the same command continues. Results are reused if the data, the division of the
people, the measurements and the versions of the programs are the same; set-ups and seeds can be added.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from setveil.base.atomic import EXISTS, make_folder, replace_file
from setveil.errors import BadData, OutputRefused
from setveil.release import CARD_NAME
from setveil.release.tried import FACTS_NAME, RESULTS_NAME, facts_in, results_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from io import BufferedRandom

GRID_NAME: Final = "grid.toml"
TABLE_NAME: Final = "table.csv"
PAGE_NAME: Final = "compare.html"
NAMES: Final = (PAGE_NAME, TABLE_NAME, RESULTS_NAME, GRID_NAME, FACTS_NAME)
SAME: Final = ("comparison_version", "versions", "data", "measured")
"""The facts that must be equal for results to be reused."""
OTHER: Final = "choose another folder, or remove this one"


class TrialKey(NamedTuple):
    """What identifies a trial on the same data: the set-up, the seed, and how many records it used."""

    set_up: str
    seed: int
    records: int


@dataclass
class Results:
    """The results of all trials so far, in memory or in a folder."""

    found: dict[TrialKey, dict[str, Any]] = field(default_factory=dict)
    file: BufferedRandom | None = None

    def add(self, key: TrialKey, result: Mapping[str, Any]) -> None:
        """Add the result of a trial, and write it to the disk before anything else happens."""
        entry = {**key._asdict(), **result}
        if self.file is not None:
            self.file.write(as_line(entry).encode())
            self.file.flush()
            os.fsync(self.file.fileno())
        self.found[key] = entry


@contextmanager
def results_of(out: str | Path | None, facts: Mapping[str, Any], grid: str) -> Iterator[Results]:
    """Yield the results of earlier runs of a comparison; a new one gets its folder. Without `out`, results are in memory only."""
    if out is None:
        yield Results()
        return
    folder = Path(out)
    refuse_inside_release(folder)
    if not folder.exists():
        with make_folder(folder, if_exists=EXISTS) as new:
            (new / FACTS_NAME).write_text(as_text(facts), encoding="utf-8")
            (new / RESULTS_NAME).touch()
    _refuse_other(folder, facts)
    with ExitStack() as stack:
        file = stack.enter_context((folder / RESULTS_NAME).open("r+b"))
        _lock(file, folder)
        content = file.read()
        entries = results_in(content, folder / RESULTS_NAME)
        whole = content.rfind(b"\n") + 1  # a torn last line is removed
        file.truncate(whole)
        file.seek(whole)
        replace_file(folder / GRID_NAME, grid.encode(), mode=0o600, is_result=False)
        yield Results({TrialKey(*(one[name] for name in TrialKey._fields)): one for one in entries}, file)


def refuse_inside_release(folder: Path) -> None:
    """Refuse a folder inside a release folder, which is not private."""
    if any((parent / CARD_NAME).exists() for parent in folder.resolve().parents):
        raise OutputRefused(
            f"{folder} would be inside a release folder, and a comparison is private; choose another path"
        )


def _refuse_other(folder: Path, facts: Mapping[str, Any]) -> None:
    """Refuse a folder that holds something else, or results that cannot be compared with new ones."""
    try:
        noted = facts_in(folder)
    except BadData:
        raise OutputRefused(f"{folder} exists and is not the folder of a comparison; choose another path") from None
    words = {"versions": "other versions of the programs", "data": "other data", "measured": "other measurements"}
    for name in SAME:
        if noted.get(name) != facts[name]:
            raise OutputRefused(f"{folder} holds a comparison with {words.get(name, 'another format')}; {OTHER}")


def _lock(file: BufferedRandom, folder: Path) -> None:
    from filelock import lock_descriptor  # noqa: PLC0415 - takes 20 ms

    with suppress(OSError):  # some file systems have no locks
        if not lock_descriptor(file.fileno(), blocking=False):
            raise OutputRefused(f"another run is writing to {folder}; wait for its end, or choose another path")


def as_line(entry: Mapping[str, Any]) -> str:
    """Return a result as a line of the file of results."""
    return json.dumps(entry, ensure_ascii=False) + "\n"


def as_text(facts: Mapping[str, Any]) -> str:
    """Return the facts about a comparison as text."""
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
