"""`CARD.md`: the card as one page for people, written from the fields of the card only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.display import figure, quantity
from setveil.catalog import FORMS, GUARANTEES
from setveil.data.forms.parts import FIRST
from setveil.methods.base import TRUTHFUL_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from setveil.release.card import Card, CardGuarantee

OPENING = """```python
import setveil as sv
release = sv.open_release("FOLDER")  # verifies the checksums
release.data
```"""
VERIFYING = f"To verify that the files are those that were published, open the folder with setveil:\n\n{OPENING}"
REPEATING = "```\nsetveil check FOLDER\n```"


def card_text(card: Card) -> str:
    """Return the card as a page of Markdown."""
    return "\n\n".join(_parts(card)) + "\n"


def _parts(card: Card) -> Iterator[str]:
    form, counts = FORMS[card.form], card.counts
    yield f"# Release: {quantity(counts.records, 'record')}, published as {form.form_title}"
    if card.experiment:
        yield "**This is an experiment: its random choices can be guessed. Do not share it.**"
    content = f"{quantity(counts.items, 'item')} and {quantity(counts.occurrences, 'occurrence')}"
    yield (
        f"The method {_code(card.method.name)}{_settings(card.method.parameters)} of setveil {card.setveil_version} made this release. "
        f"It has {content}. {form.about_form}"
    )
    yield "## What is guaranteed"
    yield from _guaranteed(card)
    yield "## What is not protected"
    yield _list([*card.guarantee.not_covered, *_unprotected(card.guarantee)])
    if card.attacks:
        yield f"The owner tried these attacks before publishing: {', '.join(_attacks(card))}. The results are private."
    yield "## Are the records true?"
    yield TRUTHFUL_TEXTS[card.truthful]
    yield "## How to read the files"
    yield from _files(card)
    yield "## How to check this release"
    yield from _checks(card)


def _guaranteed(card: Card) -> Iterator[str]:
    guarantee = card.guarantee
    if guarantee.name is None:
        yield "**Nothing.** The method is a baseline, and nothing was checked. Treat these data like the original."
        return
    reach = guarantee.reach
    covered = "" if reach is None else f" for {reach.covered:,} of {reach.total:,} {reach.unit}"
    holds = "holds" if not guarantee.failures else f"holds with {quantity(guarantee.failures, 'exception')}"
    yield f"**{guarantee.name} {holds}{covered}.** {guarantee.statement}"
    yield f"It was checked on the published file, by code that shares nothing with the method. It {card.unit_in_words}."
    yield _list([
        f"The attacker {guarantee.attacker}.",
        f"Singling out (finding the record of a person): {guarantee.singling_out}.",
        f"Linkability (connecting records of a person): {guarantee.linking}.",
        f"Inference (concluding further items of a person): {guarantee.inference}.",
    ])  # fmt: skip


def _unprotected(guarantee: CardGuarantee) -> Iterator[str]:
    """Return what is not protected in this release, besides what its guarantee never protects."""
    if guarantee.failures:
        yield f"{quantity(guarantee.failures, 'record')} that the method could not treat; the owner accepted this"
    if guarantee.published_unchanged:
        unchanged = quantity(guarantee.published_unchanged, "record that is", "records that are")
        yield f"{unchanged} published unchanged"


def _attacks(card: Card) -> Iterator[str]:
    for one in card.attacks:
        judged = "" if one.limit is None else f" (limit of the owner {one.limit})"
        yield f"{_code(one.name)}{_settings(one.parameters)}{judged}"


def _files(card: Card) -> Iterator[str]:
    written = FORMS[card.form].format_named(card.data.format)
    lines = [f"Format {_code(written.name)}: {written.summary}."]
    lines += [f"{name.capitalize()}: {_code(value)}." for name, value in card.data.layout.items()]
    if card.data.file.startswith(FIRST):
        lines.append("The records are divided into files. They are in the order of the files.")
    lines.append("Text files are UTF-8. `datapackage.json` describes the files for other programs (Data Package 2).")
    yield _list(lines)
    rows = [f"| {_code(one.file)} | {figure(one.bytes)} | {_code(one.sha256)} |" for one in card.data.every_file]
    yield "\n".join(["| file | bytes | sha256 |", "|---|--:|---|", *rows])


def _checks(card: Card) -> Iterator[str]:
    guarantee = card.guarantee
    if guarantee.name is None:
        yield f"There is no guarantee to check. {VERIFYING}"
        return
    kind = GUARANTEES[guarantee.name]
    lacking = [f"the {one}" for one in kind.needs]
    lacking += [f"the private parameter {_code(one.name)}" for one in kind.parameters() if not one.public]
    if lacking:
        needed = " and ".join(filter(None, [", ".join(lacking[:-1]), lacking[-1]]))
        yield f"Only the owner can repeat the check of the guarantee: it needs {needed}. {VERIFYING}"
    else:
        yield (
            "This command verifies the files and repeats the check of the guarantee. It needs nothing but this folder:\n\n"
            f"{REPEATING}"
        )


def _settings(parameters: dict[str, Any]) -> str:
    """Return parameters in parentheses; nothing if there are none."""
    named = [
        f"{name} = {' + '.join(map(str, value)) if isinstance(value, list | tuple) else figure(value)}"
        for name, value in parameters.items()
    ]
    return f" ({_code(', '.join(named))})" if named else ""


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _code(value: Any) -> str:
    """Return a value as code, whatever characters it holds; a table cell cannot hold a line break or a bar."""
    text = repr(value) if isinstance(value, str) and not value.strip() else figure(value)
    shown = " ".join(text.replace("|", "\\|").splitlines())
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"
