"""`setveil mine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from setveil.cli.mined_bounds import SUPPORT, mine_disassociated
from setveil.cli.mined_files import refuse_target, write_mined
from setveil.cli.options import FORCE, READING, THREADS, Option, argument, reading_of
from setveil.cli.show import say, say_json, say_table
from setveil.data.reading.source import read
from setveil.errors import BadParameter, Missing
from setveil.mining.frequent import LIMIT, count, mine, top
from setveil.mining.rules import Rules, association_rules
from setveil.parameters.shares import MinConfidence, MinSupport
from setveil.release.card import CARD_NAME
from setveil.release.inputs import as_published, as_records

if TYPE_CHECKING:
    from setveil.data.forms.base import Published
    from setveil.data.forms.disassociated import Disassociated
    from setveil.data.records.transactions import Transactions
    from setveil.mining.itemsets import Itemsets

TEXT = """An itemset is frequent if at least --min-support of the records hold all of its items; closed if every larger one is held by fewer
records; maximal if no larger one is frequent. The search is exact. A FILE in text or JSON Lines holds the itemsets alone, as --itemsets of
other commands reads them; CSV, JSON and Parquet hold their supports too. DATA may be a release folder. Of disassociated data, a folder or a
file, the support of an itemset is not one number but four, and --support chooses the one that makes an itemset frequent.

Example:
  setveil mine sample:supermarket --min-support 1% --max-length 3"""

DEFAULT_CONFIDENCE = "50%"
ROWS = 20
_LEAST = {"length": 1, "max_length": 1, "limit": 1, "top": 1, "sample": 1, "rows": 0, "seed": 0}


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("data", "A file, a release folder, a database with --query, or a built-in sample."),
        Option("min_support", str, f"From which support on an itemset is frequent: {MinSupport.in_words}."),
        SUPPORT,
        Option("kind", Literal["all", "closed", "maximal"], "Which frequent itemsets.", "all"),
        Option("max_length", int, "Itemsets of at most so many items."),
        Option("length", int, "Itemsets of exactly so many items."),
        Option("limit", int, "How many itemsets are listed at most; more are refused.", LIMIT),
        Option("top", int, "The so many most frequent itemsets, instead of --min-support."),
        Option("count", bool, "Only say how many there are; there can be more than a list can hold.", False),
        Option("rules", bool, "Association rules with one item as consequent, instead of itemsets.", False),
        Option(
            "min_confidence", str, f"With --rules: the least confidence, such as 80% (default: {DEFAULT_CONFIDENCE})."
        ),
        Option("min_lift", str, "With --rules: the least lift, such as 1.2."),
        Option("sample", int, "Only so many of the itemsets, chosen at random, as with --length for itemsets to hide."),
        Option("seed", int, "With --sample: choose the same ones again."),
        Option("rows", int, "How many lines the table on the terminal has.", ROWS),
        Option("out", str, "File to write: .txt, .jsonl, .csv, .json, .parquet, .arrow; text also with .gz or .zst."),
        Option("to_separator", str, "What separates items in a .txt or .csv FILE (default: --separator, or a blank)."),
        *READING,
        THREADS,
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Mine."""
    _refuse_combinations(given)
    target = None if given["out"] is None else Path(given["out"])
    if target is not None:
        refuse_target(target, rules=given["rules"], force=given["force"])  # before the work, not after it
    published = _read(given)
    if published.has_support_bounds:
        return mine_disassociated(cast("Disassociated", published), target, given)
    data = _plain(published, given)
    if given["count"]:
        number = count(data, given["min_support"], **_chosen(given))
        if given["json"]:
            say_json({**_head(data, given), "number": number})
        else:
            say(f"{number:,} {_in_words(given)}{_from(data, given)}")
        return 0
    found, number = _mined(data, given)
    if target is not None:
        write_mined(found, target, separator=given["to_separator"] or given["separator"], force=given["force"])
    if given["json"]:
        what = "rules" if given["rules"] else "itemsets"
        listed = {"out": str(target)} if target is not None else {what: found.to_table().to_pylist()}
        say_json({**_head(data, given), "number": number, **listed})
    else:
        _show(found, number, target, data, given)
    return 0


def _read(given: dict[str, Any]) -> Published:
    """Read the data; a release folder has a card, which says how."""
    place = Path(given["data"])
    if place.is_dir():
        if not (place / CARD_NAME).exists():
            return read(given["data"], **reading_of(given))  # which refuses a folder
        for option in READING:
            if given[option.name] != option.default:
                raise BadParameter(
                    f"--{option.name} is not for a release folder: its card says how it is read; leave it out"
                )
    return as_published(given["data"], reading_of(given))


def _plain(published: Published, given: dict[str, Any]) -> Transactions:
    """Return the records, where the form has such."""
    data = as_records(published, place=given["data"])
    if given["support"] is not None:
        raise BadParameter(
            f"--support is for disassociated data, but {given['data']} holds {published.form_in_words}; leave it out"
        )
    return data


def _refuse_combinations(given: dict[str, Any]) -> None:
    """Refuse options that contradict each other or make no sense alone, in one sentence."""
    set_ = {name for name, value in given.items() if value is not None and value is not False}
    if given["kind"] == "all":
        set_.discard("kind")
    for name, others in {
        "length": ("max_length",),
        "top": ("min_support", "rules", "sample"),
        "count": ("top", "rules", "sample", "out"),
        "rules": ("kind", "length", "sample"),
    }.items():
        for other in others:
            if {name, other} <= set_:
                raise BadParameter(
                    f"{_option(name, given)} and {_option(other, given)} do not go together; leave one out"
                )
    for name, needed in (
        ("min_confidence", "rules"),
        ("min_lift", "rules"),
        ("seed", "sample"),
        ("to_separator", "out"),
        ("force", "out"),
    ):
        if name in set_ and needed not in set_:
            raise BadParameter(f"{_option(name, given)} goes with {_option(needed, given)}, which was not given")
    if not set_ & {"min_support", "top"}:
        raise Missing(
            "name the least support with --min-support (0.1%, or 30 records), or how many itemsets with --top"
        )
    if given["min_support"] is not None:
        given["min_support"] = MinSupport(given["min_support"])
    if given["rules"]:
        given["min_confidence"] = MinConfidence(given["min_confidence"] or DEFAULT_CONFIDENCE)
    for name, least in _LEAST.items():
        if given[name] is not None and given[name] < least:
            raise BadParameter(f"{name.replace('_', '-')} is {given[name]}; allowed is a whole number from {least} on")


def _option(name: str, given: dict[str, Any]) -> str:
    return f"--kind {given['kind']}" if name == "kind" else "--" + name.replace("_", "-")


def _chosen(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the functions of mining have in common."""
    length = given["length"]
    return {
        "kind": given["kind"],
        "min_length": length or 1,
        "max_length": length or given["max_length"],
        "threads": given["threads"],
    }


def _mined(data: Transactions, given: dict[str, Any]) -> tuple[Itemsets | Rules, int]:
    """Return what was asked for, in the order in which people read it, and how many there are in all."""
    if given["top"] is not None:
        best = top(data, given["top"], limit=given["limit"], **_chosen(given))
        return best, len(best)
    found = mine(data, given["min_support"], limit=given["limit"], **_chosen(given))
    if given["rules"]:
        rules = association_rules(found, given["min_confidence"], min_lift=given["min_lift"], threads=given["threads"])
        return rules.ordered(), len(rules)
    number, ordered = len(found), found.ordered()
    if given["sample"] is None:
        return ordered, number
    if given["sample"] > number:
        raise BadParameter(
            f"{given['sample']:,} itemsets were asked for, but there are {number:,} {_in_words(given)}{_from(data, given)}"
        )
    # From the ordered ones, so that the choice depends on the data and the seed alone.
    chosen = np.random.default_rng(given["seed"]).choice(number, size=given["sample"], replace=False)
    return ordered.take(np.sort(chosen)), number


def _in_words(given: dict[str, Any]) -> str:
    kind = {"all": "frequent", "closed": "frequent closed", "maximal": "frequent maximal"}[given["kind"]]
    if given["length"]:
        return f"{kind} itemsets of {given['length']} items"
    return f"{kind} itemsets of up to {given['max_length']} items" if given["max_length"] else f"{kind} itemsets"


def _from(data: Transactions, given: dict[str, Any]) -> str:
    support: MinSupport = given["min_support"]
    return f" in at least {support.count(data.records):,} of {data.records:,} records"


def _head(data: Transactions, given: dict[str, Any]) -> dict[str, Any]:
    """Return what was asked, for machines."""
    asked = {name: given[name] for name in ("kind", "length", "max_length", "top", "sample", "seed", "min_lift")}
    for name in ("min_support", "min_confidence"):
        asked[name] = None if given[name] is None else str(given[name])
    head: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if given["min_support"] is not None:
        head["count"] = given["min_support"].count(data.records)
    return {"records": data.records, **head}


def _show(found: Itemsets | Rules, number: int, target: Path | None, data: Transactions, given: dict[str, Any]) -> None:
    """Print the first rows for people, and how many there are."""
    first = found.take(np.arange(min(given["rows"], len(found))))
    if isinstance(first, Rules):
        what = f"association rules of a confidence from {given['min_confidence']} on{_from(data, given)}"
        rows = [
            [", ".join(row["antecedent"]), row["consequent"], row["support"], f"{row['confidence']:.1%}", row["lift"]]
            for row in first.to_table().to_pylist()
        ]
        header = ["antecedent", "consequent", "records", "confidence", "lift"]
    else:
        what = f"most {_in_words(given)}" if given["top"] is not None else f"{_in_words(given)}{_from(data, given)}"
        rows = [
            [", ".join(row["items"]), row["support"], f"{row['share']:.2%}"] for row in first.to_table().to_pylist()
        ]
        header = ["itemset", "records", "share"]
    if rows:
        say_table(header, rows)
    chosen = f"{len(found):,} chosen at random of the " if given["sample"] is not None else ""
    shown = f"; the first {len(rows):,} are shown" if 0 < len(rows) < len(found) else ""
    say(f"{chosen}{number:,} {what}{shown}")
    if target is not None:
        say(f"{target}: {len(found):,} written")
