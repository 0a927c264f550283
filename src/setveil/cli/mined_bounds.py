"""`setveil mine` of disassociated data: itemsets with what is told of their supports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.cli.mined_files import write_mined
from setveil.cli.options import Option
from setveil.cli.show import say, say_json, say_table
from setveil.errors import BadParameter
from setveil.mining.disassociated_itemsets import BoundedItemsets, mine_bounds, top_bounds

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.data.forms.disassociated import Disassociated
    from setveil.mining.support_bounds import Reading

DEFAULT: Reading = "expected"
SUPPORT = Option(
    "support",
    Literal["expected", "certain", "possible", "inside"],
    "Of disassociated data, which support counts: expected over all ways to put records together, certain in all of them, possible in one, "
    f"or told inside one record chunk (default: {DEFAULT}).",
)


def mine_disassociated(data: Disassociated, target: Path | None, given: dict[str, Any]) -> int:
    """Mine clusters; the options were looked at, as for plain records."""
    if given["kind"] != "all":
        raise BadParameter(
            f"--kind {given['kind']} is not for disassociated data: which itemsets are closed or maximal is not told"
        )
    if given["rules"]:
        raise BadParameter("--rules is not for disassociated data: re-associate it, and mine the records")
    found, number = _mined(data, given)
    if target is not None:
        write_mined(found, target, separator=given["to_separator"] or given["separator"], force=given["force"])
    if given["json"]:
        listed = {} if given["count"] else {"itemsets": found.to_table().to_pylist()}
        say_json({**_head(data, given), "number": number, **({"out": str(target)} if target is not None else listed)})
    elif given["count"]:
        say(f"{number:,} {_in_words(data, given)}")
    else:
        _show(found, number, target, _in_words(data, given), given)
    return 0


def _mined(data: Disassociated, given: dict[str, Any]) -> tuple[BoundedItemsets, int]:
    """Return what was asked for, in the order in which people read it, and how many there are in all."""
    length = given["length"]
    chosen = {
        "support": given["support"] or DEFAULT,
        "min_length": length or 1,
        "max_length": length or given["max_length"],
        "limit": given["limit"],
        "threads": given["threads"],
    }
    if given["top"] is not None:
        best = top_bounds(data, given["top"], **chosen)
        return best, len(best)
    ordered = mine_bounds(data, given["min_support"], **chosen).ordered()
    number = len(ordered)
    if given["sample"] is None:
        return ordered, number
    if given["sample"] > number:
        raise BadParameter(
            f"{given['sample']:,} itemsets were asked for, but there are {number:,} {_in_words(data, given)}"
        )
    picked = np.random.default_rng(given["seed"]).choice(number, size=given["sample"], replace=False)
    return ordered.take(np.sort(picked)), number


def _in_words(data: Disassociated, given: dict[str, Any]) -> str:
    what = "itemsets"
    if given["length"] or given["max_length"]:
        what += f" of {given['length']} items" if given["length"] else f" of up to {given['max_length']} items"
    what += f" by {given['support'] or DEFAULT} support"
    if given["top"] is not None:
        return f"most frequent {what}"
    return f"frequent {what}, in at least {given['min_support'].count(data.records):,} of {data.records:,} records"


def _head(data: Disassociated, given: dict[str, Any]) -> dict[str, Any]:
    """Return what was asked, for machines."""
    asked = {name: given[name] for name in ("length", "max_length", "top", "sample", "seed") if given[name] is not None}
    if given["min_support"] is not None:
        asked |= {"min_support": str(given["min_support"]), "count": given["min_support"].count(data.records)}
    return {"records": data.records, "support": given["support"] or DEFAULT, **asked}


def _show(found: BoundedItemsets, number: int, target: Path | None, what: str, given: dict[str, Any]) -> None:
    """Print the first rows for people, and how many there are."""
    first = found.take(np.arange(min(given["rows"], len(found))))
    rows = [
        [", ".join(row["items"]), f"{row['expected']:,.2f}", row["certain"], row["possible"], row["inside"]]
        for row in first.to_table().to_pylist()
    ]
    if rows:
        say_table(["items", "expected", "certain", "possible", "inside"], rows)
    chosen = f"{len(found):,} chosen at random of the " if given["sample"] is not None else ""
    shown = f"; the first {len(rows):,} are shown" if 0 < len(rows) < len(found) else ""
    say(f"{chosen}{number:,} {what}{shown}")
    if target is not None:
        say(f"{target}: {len(found):,} written")
