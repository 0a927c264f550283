"""How many set-ups were tried on the data before one was chosen, as the folder of a comparison records it.

A choice among many set-ups uses the private data, so its number belongs to the facts about a release.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from setveil.base.display import quantity
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator

FACTS_NAME: Final = "comparison.json"
RESULTS_NAME: Final = "results.jsonl"


def facts_in(folder: Path) -> dict[str, Any]:
    """Return the facts about a comparison; refuse a folder that holds none."""
    path = folder / FACTS_NAME
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadData(
            f"is not the folder of a comparison: it has no {FACTS_NAME}; name a folder that compare wrote",
            file=str(folder),
        ) from None
    except (OSError, ValueError) as error:
        raise BadData(f"cannot be read ({error})", file=str(path)) from None
    if not isinstance(facts, dict) or not isinstance(facts.get("data"), dict) or "checksum" not in facts["data"]:
        raise BadData("does not describe a comparison", file=str(path))
    return facts


def results_in(text: str, file: str) -> Iterator[dict[str, Any]]:
    """Yield the results in the lines of a file; a torn last line, which a killed run leaves, is not a result."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            found = json.loads(line) if line.endswith("\n") else None
        except ValueError:
            raise BadData(f"line {number} is not a result; restore the file", file=file) from None
        if found is not None:
            yield found


def tried_in(folder: str | Path, checksum: str) -> dict[str, Any]:
    """Return how many set-ups and trials a comparison ran on the data with this checksum; refuse one of other data."""
    place = Path(folder)
    facts = facts_in(place)
    if facts["data"]["checksum"] != checksum:
        raise BadData(
            "compares set-ups on other data: their checksum differs from that of the data to publish; name the comparison of these data",
            file=str(folder),
        )
    path = place / RESULTS_NAME
    results = list(results_in(path.read_text(encoding="utf-8"), str(path)))
    set_ups = len({one["set_up"] for one in results})
    return {
        "folder": str(folder),
        "set_ups": set_ups,
        "trials": len(results),
        "text": tried_text(set_ups, len(results)),
    }


def tried_text(set_ups: int, trials: int) -> str:
    """Return the numbers as a sentence."""
    return (
        f"{quantity(set_ups, 'set-up')} in {quantity(trials, 'trial')} were tried on these data before this one was chosen. The choice "
        "depends on the private data: the more set-ups were tried, the more it can reveal."
    )
