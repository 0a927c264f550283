"""`setveil mine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from setveil.cli.options import ForceOption, OutputOptions, ReadingOptions, ThreadsOption, about, refuse_negative
from setveil.cli.show import say, say_json, say_table
from setveil.errors import BadParameter, ExitCode
from setveil.mining.disassociated_itemsets import BoundedItemsets
from setveil.mining.files import refuse_target, write_mined
from setveil.mining.frequent import LIMIT
from setveil.mining.question import DEFAULT_CONFIDENCE, DEFAULT_SUPPORT, Question
from setveil.mining.rules import Rules
from setveil.parameters.shares import MinConfidence, MinSupport
from setveil.release.inputs import as_minable, read_place

if TYPE_CHECKING:
    from setveil.mining.itemsets import Itemsets
    from setveil.mining.question import Answer

ROWS = 20


def mine(
    data: Annotated[str, about("A file, a release folder, a database with --query, or a built-in sample.")],
    /,
    *,
    min_support: Annotated[str | None, about(f"Minimum support of a frequent itemset: {MinSupport.in_words}.")] = None,
    support: Annotated[
        Literal["expected", "certain", "possible", "inside"] | None,
        about(
            "Of disassociated data, which support counts: expected over all ways to put records together, certain in all of them, "
            f"possible in one, or told inside one record chunk (default: {DEFAULT_SUPPORT})."
        ),
    ] = None,
    kind: Annotated[Literal["all", "closed", "maximal"], about("Which frequent itemsets.")] = "all",
    max_length: Annotated[int | None, about("Maximum number of items in an itemset.")] = None,
    length: Annotated[int | None, about("Exact number of items in an itemset.")] = None,
    limit: Annotated[int, about("How many itemsets are listed at most; more are refused.")] = LIMIT,
    top: Annotated[int | None, about("List the N most frequent itemsets instead of using --min-support.")] = None,
    count: Annotated[bool, about("Only say how many there are; there can be more than a list can hold.")] = False,
    rules: Annotated[bool, about("Association rules with one item as consequent, instead of itemsets.")] = False,
    min_confidence: Annotated[
        str | None, about(f"With --rules: the least confidence, such as 80% (default: {DEFAULT_CONFIDENCE}).")
    ] = None,
    min_lift: Annotated[str | None, about("With --rules: the least lift, such as 1.2.")] = None,
    sample: Annotated[
        int | None,
        about("List N itemsets chosen at random. With --length, use it to choose itemsets to hide."),
    ] = None,
    seed: Annotated[int | None, about("With --sample: choose the same ones again.")] = None,
    rows: Annotated[int, about("How many lines the table on the terminal has.")] = ROWS,
    out: Annotated[
        str | None,
        about("File to write: .txt, .jsonl, .csv, .json, .parquet, .arrow; text also with .gz or .zst."),
    ] = None,
    to_separator: Annotated[
        str | None, about("What separates items in a .txt or .csv FILE (default: --separator, or a blank).")
    ] = None,
    source: ReadingOptions,
    threads: ThreadsOption = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Find frequent itemsets and association rules.

    An itemset is frequent if at least --min-support of the records hold all of its items; closed if every larger one is held by fewer
    records; maximal if no larger one is frequent. The search is exact. A FILE in text or JSON Lines holds the itemsets alone, as --itemsets
    of other commands reads them; CSV, JSON and Parquet hold their supports too. DATA may be a release folder. Of disassociated data, a
    folder or a file, the support of an itemset is not one number but four, and --support chooses the one that makes an itemset frequent.

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
    answer = question.answer(as_minable(read_place(data, source.given()), place=data), place=data)
    if target is not None and answer.found is not None:
        write_mined(answer.found, target, to_separator=to_separator or source.separator, force=force)
    if output.json:
        say_json(_plain(answer, target, question))
    else:
        _show(answer, target, question, rows)
    return ExitCode.OK


def _target(out: str | None, question: Question, *, to_separator: str | None, force: bool) -> Path | None:
    """Return the file to write, refused before the work if it cannot be."""
    if out is None:
        for option, given in (("--to-separator", to_separator), ("--force", force)):
            if given:
                raise BadParameter(f"{option} goes with --out, which was not given")
        return None
    if question.count:
        raise BadParameter("--count and --out do not go together; leave one out")
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


def _show(answer: Answer, target: Path | None, question: Question, rows: int) -> None:
    """Print the first rows for people, and how many there are."""
    found = answer.found
    if found is None:
        say(f"{answer.number:,} {answer.in_words}")
        return
    header, lines = _table(found.take(np.arange(min(rows, len(found)))))
    if lines:
        say_table(header, lines)
    chosen = f"{len(found):,} chosen at random of the " if question.sample is not None else ""
    shown = f"; the first {len(lines):,} are shown" if 0 < len(lines) < len(found) else ""
    say(f"{chosen}{answer.number:,} {answer.in_words}{shown}")
    if target is not None:
        say(f"{target}: {len(found):,} written")


def _table(found: Itemsets | BoundedItemsets | Rules) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of a table for people."""
    rows = found.to_table().to_pylist()
    if isinstance(found, Rules):
        return ["antecedent", "consequent", "records", "confidence", "lift"], [
            [", ".join(row["antecedent"]), row["consequent"], row["support"], f"{row['confidence']:.1%}", row["lift"]]
            for row in rows
        ]
    if isinstance(found, BoundedItemsets):
        return ["items", "expected", "certain", "possible", "inside"], [
            [", ".join(row["items"]), f"{row['expected']:,.2f}", row["certain"], row["possible"], row["inside"]]
            for row in rows
        ]
    return ["itemset", "records", "share"], [
        [", ".join(row["items"]), row["support"], f"{row['share']:.2%}"] for row in rows
    ]
