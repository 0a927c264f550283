"""`setveil advise`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_origin

import setveil as sv
from setveil.base.translation import as_command_line, as_options
from setveil.cli.options import (
    Declared,
    ForceOption,
    Option,
    OutputOptions,
    ReadingOptions,
    ThreadsOption,
    Value,
    about,
    declared,
    of_declaration,
)
from setveil.cli.show import say, say_json, say_pairs, say_table
from setveil.comparison.candidates import SideFiles
from setveil.comparison.recommendation import Recommendation
from setveil.errors import ExitCode, Missing
from setveil.release.context import ANSWERS, Context
from setveil.release.inputs import as_records

if TYPE_CHECKING:
    from setveil.base.declaration import Parameter


def _options() -> list[Option]:
    """Return an option for each question, and one for each side file with those of its kind."""
    answers = [Option(one.name, str, f"{one.description} ({one.allowed})") for one in Context.parameters()]
    return [*answers, *of_declaration(SideFiles)]


def advise(
    data: Annotated[str, about("A file, a database with --query, or a built-in sample.")],
    /,
    *,
    context: Annotated[
        str | None, about("File with the answers to the questions; options such as --hide replace single answers.")
    ] = None,
    save_context: Annotated[
        str | None, about("Write the answers to a file, for setveil publish --context. Keep it private.")
    ] = None,
    records: Annotated[int | None, about("Number of records to try set-ups on (default: 20,000 to 50,000).")] = None,
    source: ReadingOptions,
    force: ForceOption = False,
    threads: ThreadsOption = None,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(_options, after="save_context")],
) -> ExitCode:
    r"""Recommend methods and settings, tried on a part of the data.

    Seven questions come first: on a terminal they are asked, otherwise they are options or a file. At most three set-ups are shown, each
    with the reason, a bound that is computed on all data, what the trial kept and what attackers found, and the command to publish with
    it. Nothing is published.

    Example:
      setveil advise "sample:supermarket?records=5000" --record person --recipients contract \
          --hide identity --known 2 --rows true --work recommendation --earlier no
    """
    if save_context is not None:
        Context.refuse_saving(Path(save_context), force=force)
    reading = source.given()
    given = {} if context is None else Context.read(context).model_dump(mode="json")
    given |= {name: parameters[name] for name in ANSWERS if parameters.get(name) is not None}
    if sys.stdin.isatty() and not output.json and context is None:
        given |= {one.name: _ask(one) for one in Context.parameters() if one.name not in given}
    answers = Context.of(given)
    everyone = as_records(data, reading)
    files = declared(SideFiles, {**parameters, **reading, "data": data}, everyone)
    found = sv.advise(everyone, answers, files, records=records, threads=threads)
    if save_context is not None:
        answers.save(save_context, force=force)
    if output.json:
        say_json(found.to_dict())
    else:
        _say(found, save_context or context or "")
    return ExitCode.OK


def _ask(one: Parameter) -> str:
    """Ask a question on the terminal until the answer is one of those allowed; standard output is for the result."""
    choices = ANSWERS[one.name]
    most = len(choices) if get_origin(one.annotation) is tuple else 1
    numbers = {str(number): choice for number, choice in enumerate(choices, 1)}
    _show(one.description)
    for number, choice in numbers.items():
        _show(f"  {number}  {choice}: {choices[choice]}")
    while True:
        _show("> ", end="")
        line = sys.stdin.readline()
        if not line:
            raise Missing(
                f"the input ended before this was answered: {one.description} Answer it, or give `{one.name}=`"
            )
        chosen = [numbers.get(part.strip(), part.strip()) for part in line.split(",")]
        if {*chosen} <= choices.keys() and len({*chosen}) == len(chosen) <= most:
            _show("")
            return ",".join(chosen)
        several = ", or several with commas, the most important first" if most > 1 else ""
        _show(f"Type a number from 1 to {len(choices)}{several}.")


def _show(text: str, end: str = "\n") -> None:
    sys.stderr.write(text + end)
    sys.stderr.flush()


def _say(found: Recommendation, context: str) -> None:
    for number, one in enumerate(found.set_ups, 1):
        say(f"{number}. {one.title}: {one.role}\n")
        lines = [(heading, as_options(text)) for heading, text in one.lines()]
        say_pairs([*lines, ("Command", as_command_line(found.command(one, context=context)))])
        say()
    if found.sample:
        say(f"{found.sample[0].upper()}{found.sample[1:]}.")
    if len(found.tried) > len(found.set_ups):
        for table in found.tables():
            say_table(table.header, table.rows)
    for set_up, problem in found.problems():
        say_pairs([(set_up, as_options(problem))])
    for gap in found.gaps:
        say_pairs([(f"No set-up for {gap.hides}", as_options(gap.text))])
    for warning in found.warnings:
        say_pairs([("Note", as_options(warning))])
    if found.set_ups and not context:
        say("Add --save-context FILE to keep the answers, and publish with --context FILE to record them.")
