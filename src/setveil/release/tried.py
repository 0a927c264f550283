"""How many set-ups were tried on the data before one was chosen, as the folder of a comparison records it.

A choice among many set-ups uses the private data, so its number belongs to the facts about a release.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from setveil.base.display import quantity
from setveil.errors import BadData

FACTS_NAME: Final = "comparison.json"
RESULTS_NAME: Final = "results.jsonl"
IDENTITY: Final = ("set_up", "seed", "records")
"""What identifies a trial on the same data: the set-up, the seed, and how many records it used."""


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


def results_in(content: bytes, file: Path) -> list[dict[str, Any]]:
    """Return the results in the lines of a file; a torn last line, which a killed run leaves, is not a result."""
    found = []
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            one = json.loads(line)
        except ValueError:
            one = None
        if not isinstance(one, dict) or not {*IDENTITY} <= one.keys():
            raise BadData(f"line {number} is not a result; restore the file", file=str(file))
        found.append(one)
    return found


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
    try:
        results = results_in(path.read_bytes(), path)
    except OSError as error:
        raise BadData(f"cannot be read ({error.strerror}); restore the file", file=str(path)) from None
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
