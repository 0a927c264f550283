"""`setveil mine`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from setveil.base.display import quantity, share
from setveil.cli.options import (
    ForceOption,
    NamesOption,
    OutputOptions,
    ReadingOptions,
    ThreadsOption,
    about,
    about_separator,
    refuse_negative,
)
from setveil.cli.show import say, say_json, say_table
from setveil.errors import BadParameter, ExitCode
from setveil.mining.disassociated_itemsets import BoundedItemsets
from setveil.mining.files import refuse_target, write_mined
from setveil.mining.frequent import LIMIT
from setveil.mining.question import DEFAULT_CONFIDENCE, DEFAULT_SUPPORT, Question
from setveil.mining.rules import Rules
from setveil.mining.support_intervals import EstimatedItemsets
from setveil.parameters.item_names import as_item_names
from setveil.parameters.shares import MinConfidence, MinSupport
from setveil.release.inputs import as_minable, read_place

if TYPE_CHECKING:
    from setveil.mining.itemsets import Itemsets
    from setveil.mining.question import Answer
    from setveil.parameters.item_names import ItemNames

ROWS = 20


def mine(
    data: Annotated[
        str, about("A file, - for standard input, a release folder, a database with --query, or a built-in sample.")
    ],
    /,
    *,
    min_support: Annotated[
        str | None, about(f"Minimum support of a frequent itemset: {MinSupport.allowed_text}.")
    ] = None,
    support: Annotated[
        Literal["expected", "certain", "possible", "inside"] | None,
        about(
            "For disassociated data, the support to use: expected over all ways to combine the chunks into records, certain in all of "
            f"them, possible in at least one, or counted inside one record chunk (default: {DEFAULT_SUPPORT})."
        ),
    ] = None,
    kind: Annotated[Literal["all", "closed", "maximal"], about("Which frequent itemsets to list.")] = "all",
    max_length: Annotated[int | None, about("Maximum number of items in an itemset.")] = None,
    length: Annotated[int | None, about("Exact number of items in an itemset.")] = None,
    limit: Annotated[int, about("Maximum number of itemsets to list; more are an error.")] = LIMIT,
    top: Annotated[int | None, about("List the N most frequent itemsets instead of using --min-support.")] = None,
    count: Annotated[bool, about("Print only their number, which can exceed what a list can hold.")] = False,
    rules: Annotated[bool, about("List association rules with one item as consequent instead of itemsets.")] = False,
    min_confidence: Annotated[
        str | None, about(f"With --rules: minimum confidence, such as 80% (default: {DEFAULT_CONFIDENCE}).")
    ] = None,
    min_lift: Annotated[str | None, about("With --rules: minimum lift, such as 1.2.")] = None,
    sample: Annotated[
        int | None,
        about("List N itemsets chosen at random. With --length, use it to choose itemsets to hide."),
    ] = None,
    seed: Annotated[int | None, about("With --sample: a seed to choose the same itemsets again.")] = None,
    rows: Annotated[int, about("Maximum number of rows of the printed table.")] = ROWS,
    out: Annotated[
        str | None,
        about("File to write: .txt, .jsonl, .csv, .json, .parquet, .arrow; text also with .gz or .zst."),
    ] = None,
    to_separator: Annotated[
        str | None, about_separator("What separates items in a .txt or .csv file (default: --separator, or a blank).")
    ] = None,
    names: NamesOption = None,
    source: ReadingOptions,
    threads: ThreadsOption = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Find frequent itemsets and association rules.

    An itemset is frequent if at least --min-support of the records hold all its items. It is closed if every larger itemset has a smaller
    support, and maximal if no larger itemset is frequent. The search is exact. An --out file in text or JSON Lines holds only the
    itemsets, as --itemsets of other commands reads them; CSV, JSON and Parquet also hold their supports. DATA can be a release folder. For
    disassociated data, an itemset has four supports, and --support selects the one that decides whether it is frequent. For several sets
    of re-associated data, it has the mean of its supports, and a 95 % interval.

    Example:
      setveil mine sample:supermarket --min-support 1% --max-length 3
    """
    question = Question(
        min_support=None if min_support is None else MinSupport(min_support),
        support=support,
        kind=kind,
        max_length=max_length,
        length=length,
        limit=limit,
        top=top,
        count=count,
        rules=rules,
        min_confidence=None if min_confidence is None else MinConfidence(min_confidence),
        min_lift=min_lift,
        sample=sample,
        seed=seed,
        threads=threads,
    )
    refuse_negative(rows=rows)
    target = _target(out, question, to_separator=to_separator, force=force)
    mined = as_minable(read_place(data, source.given()), place=data)
    item_names = as_item_names(names, mined)
    answer = question.answer(mined, place=data)
    if target is not None and answer.found is not None:
        write_mined(answer.found, target, to_separator=to_separator or source.separator, force=force)
    if output.json:
        say_json(_plain(answer, target, question))
    else:
        _show(answer, target, question, rows, item_names)
    return ExitCode.OK


def _target(out: str | None, question: Question, *, to_separator: str | None, force: bool) -> Path | None:
    """Return the file to write; refuse a file that cannot be written before the work starts."""
    if out is None:
        for option, given in (("--to-separator", to_separator), ("--force", force)):
            if given:
                raise BadParameter(f"{option} requires --out, which is missing; add --out FILE or remove {option}")
        return None
    if question.count:
        raise BadParameter("--count cannot be combined with --out; remove one of them")
    refuse_target(Path(out), rules=question.rules, force=force)
    return Path(out)


def _plain(answer: Answer, target: Path | None, question: Question) -> dict[str, Any]:
    """Return the answer for machines."""
    listed: dict[str, Any] = {}
    if target is not None:
        listed["out"] = str(target)
    elif answer.found is not None:
        listed["rules" if question.rules else "itemsets"] = answer.found.to_table().to_pylist()
    return {**answer.asked, "number": answer.number, **listed}


def _show(answer: Answer, target: Path | None, question: Question, rows: int, names: ItemNames) -> None:
    """Print the first rows, and the total number."""
    found = answer.found
    if found is None:
        say(_total(answer))
        return
    header, lines = _table(found.take(np.arange(min(rows, len(found)))), names)
    if lines:
        say_table(header, lines)
    chosen = f"{len(found):,} chosen at random from " if question.sample is not None else ""
    first = "the first is" if len(lines) == 1 else f"the first {len(lines):,} are"
    say(f"{chosen}{_total(answer)}" + (f"; {first} shown" if 0 < len(lines) < len(found) else ""))
    if target is not None:
        say(f"{target}: {quantity(len(found), 'rule' if question.rules else 'itemset')} written")


def _total(answer: Answer) -> str:
    """Return the total number with its noun, in the singular where it is 1."""
    description = answer.description
    if answer.number == 1:
        description = re.sub(r"\b(itemset|rule)s\b", r"\1", description, count=1)
    return f"{answer.number:,} {description}"


def _table(found: Itemsets | BoundedItemsets | Rules, names: ItemNames) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of a table for people."""
    rows = found.to_table().to_pylist()
    if isinstance(found, Rules):
        return ["antecedent", "consequent", "records", "confidence", "lift"], [
            [
                names.listed(row["antecedent"]),
                names.text(row["consequent"]),
                row["support"],
                share(row["confidence"]),
                row["lift"],
            ]
            for row in rows
        ]
    if isinstance(found, EstimatedItemsets):
        return ["itemset", "records", "95 % interval", "share"], [
            [
                names.listed(row["items"]),
                f"{row['support']:,.1f}",
                f"{row['low']:,.1f} to {row['high']:,.1f}",
                share(row["share"]),
            ]
            for row in rows
        ]
    if isinstance(found, BoundedItemsets):
        return ["items", "expected", "certain", "possible", "inside"], [
            [names.listed(row["items"]), f"{row['expected']:,.2f}", row["certain"], row["possible"], row["inside"]]
            for row in rows
        ]
    return ["itemset", "records", "share"], [
        [names.listed(row["items"]), row["support"], share(row["share"])] for row in rows
    ]
