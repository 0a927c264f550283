"""`setveil publish`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from setveil.catalog import METHODS, named
from setveil.cli.options import (
    DISTINCT_LABELS,
    FORCE,
    READING,
    REQUIRED,
    THREADS,
    Option,
    argument,
    declared,
    named_in,
    of_declaration,
    read_any,
    read_data,
)
from setveil.cli.show import names_in_words, say, say_json, say_pairs
from setveil.data.disassociated import Disassociated
from setveil.data.formats import FORMATS, Layout
from setveil.data.generalized import Generalized
from setveil.data.packing import plain_suffix
from setveil.data.published import form_in_words
from setveil.data.source import in_words, source_format
from setveil.data.transactions import Transactions
from setveil.engines.local import LocalEngine
from setveil.errors import BadParameter
from setveil.progress import note
from setveil.release.card import CARD_NAME
from setveil.release.dossier import ALIGNMENT_NAME, DOSSIER_NAME, REPORT_NAME
from setveil.release.forms import form_of
from setveil.release.publishing import data_file_name, publish, refuse_format, refuse_targets, resolve_ids
from setveil.release.staging import private_beside

if TYPE_CHECKING:
    from setveil.methods.base import Method
    from setveil.release.form import DataFormat
    from setveil.release.publishing import Release

TEXT = """The release folder --out may be handed over as it is; the private folder beside it never. With --method NAME --help
this page shows that method's options.

Example:
  setveil publish sample:supermarket --method part-swap \\
      --categories sample:supermarket --out release"""


def options(_name: str, arguments: list[str]) -> list[Option]:
    """Return the options, those of the method named among them."""
    method = named_in(arguments, "--method")
    of_method = of_declaration(named("method", METHODS, method)) if method else []
    return [
        argument(
            "data",
            "A file, a database with --query, a sample such as sample:supermarket?records=100000&seed=3, or of methods that take one a "
            "release folder.",
        ),
        Option("method", str, f"How to protect: {' | '.join(METHODS)}.", REQUIRED),
        *of_method,
        Option("out", str, "The release folder to make.", REQUIRED),
        Option("private", str, "The private folder to make (default: OUT.private)."),
        Option("original", str, "Of methods that take a release: the original, to measure against (never published)."),
        Option(
            "ids",
            Literal["pseudonym", "keep", "drop"],
            "Rows under pseudonyms (default if the data has ids and the method is about people), their ids, or none (default else).",
        ),
        Option(
            "seed",
            str,
            "Seed of all randomness, a whole number of 64 bits or more (default: 128 random bits from the system).",
        ),
        Option(
            "experiment",
            bool,
            "Accept a seed below 64 bits. It can be guessed: do not hand over such a release. The card says so.",
            default=False,
        ),
        Option(
            "release_format",
            str,
            f"Format of the release: {' | '.join(FORMATS)}, with an ending where it has several, such as long.parquet "
            "(default: as the data, or long where rows carry ids and that has no place for them). "
            "Grouped and disassociated data have one of their own, the latter also as disassociated.parquet.",
        ),
        Option("release_separator", str, "What separates items or columns in the release (default: as the data)."),
        Option("compress", Literal["gzip", "zstd"], "Compress the data file."),
        Option(
            "allow_failures",
            int,
            "Accept a release in which at most so many records are not protected; the card says how many.",
            0,
        ),
        Option(
            "missing_names",
            Literal["accept", "error"],
            "What to do with named items that do not occur in the data: accept them and list them, or refuse.",
            "accept",
        ),
        DISTINCT_LABELS,
        Option("no_guarantee", bool, "Allow a method that promises nothing.", default=False),
        *READING,
        THREADS,
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Publish."""
    out = Path(given["out"])
    private = Path(given["private"]) if given["private"] else private_beside(out)
    refuse_targets(out, private, force=given["force"])  # before the work, not after it
    kind = named("method", METHODS, given["method"])
    seed = _seed(given["seed"])
    data = _taken(given, kind)
    method = declared(kind, given, data if isinstance(data, Transactions) else None)
    form, extension, layout = _release_format(given, data, kind)
    original = _compared(given, data)
    release = publish(
        data,
        method,
        ids=given["ids"],
        seed=seed,
        experiment=given["experiment"],
        allow_failures=given["allow_failures"],
        no_guarantee=given["no_guarantee"],
        engine=LocalEngine(given["threads"]),
        source=in_words(given["data"]),
        original=original,
        missing_names=given["missing_names"],
        distinct_labels=given["distinct_labels"],
    )
    card = release.save(
        out,
        private=private,
        format=form.name,
        extension=extension,
        layout=layout,
        compress=given["compress"],
        force=given["force"],
    )
    if given["json"]:
        verdict = None if release.verdict is None else release.verdict.to_dict(witnesses=0)
        made = {"verdict": verdict, "summary": release.summary.to_dict(), "card": card.model_dump(mode="json")}
        names = [found.to_dict() for found in release.names]
        say_json({"out": str(out), "private": str(private), "names": names, **made})
        return 0
    say_release(release, out, private, [card.data.file, *(one.file for one in card.data.beside), CARD_NAME])
    return 0


def say_release(release: Release, out: Path, private: Path, files: list[str]) -> None:
    """Print what was published: three lines about it, and which folder is for whom."""
    checked = "" if release.verdict is None else "; checked on the written file"
    say(f"Published {out}/ with {release.method.name}{checked}.\n")
    say_pairs([*release.summary.lines(), *(("Names", names_in_words(found)) for found in release.names)])
    say()
    say_pairs([
        (f"{out}/", f"{release.sharing}: {', '.join(files)}"),
        (f"{private}/", f"keep it: {REPORT_NAME}, {DOSSIER_NAME}, {ALIGNMENT_NAME}"),
    ])  # fmt: skip


def _seed(text: str | None) -> int | None:
    if text is None or text == "from-system":
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise BadParameter(
            f"the seed is {text!r}; allowed is a whole number of 64 bits or more, or from-system"
        ) from None


def _taken(given: dict[str, Any], method: type[Method]) -> Transactions | Disassociated:
    """Read what the method takes: data, or a disassociated release."""
    if Transactions in method.accepts and not (Path(given["data"]) / CARD_NAME).is_file():
        return read_data(given["data"], given)
    found = read_any(given["data"], given)
    records = found.records if isinstance(found, Generalized) else found
    if not isinstance(records, method.accepts):
        taken = " or ".join(form_in_words(kind) for kind in method.accepts)
        raise BadParameter(f"{method.name} takes {taken}, and {given['data']} is {found.form_in_words}")
    assert isinstance(records, Transactions | Disassociated)
    return records


def _compared(given: dict[str, Any], data: Transactions | Disassociated) -> Transactions | None:
    """Read the original of disassociated data, to measure against."""
    if given["original"] is None:
        return None
    if isinstance(data, Transactions):
        raise BadParameter("--original goes with a method that takes a release; here the data are the original")
    return read_data(given["original"], given)


def _release_format(
    given: dict[str, Any], data: Transactions | Disassociated, method: type[Method]
) -> tuple[DataFormat, str, Layout]:
    """Return format, ending and layout of the release: as asked, as the input, or what can hold ids."""
    ids = resolve_ids(data, given["ids"], method)
    published = form_of(method.form)
    layout = Layout.chosen(given)
    source = None if isinstance(data, Disassociated) else source_format(given["data"], given["format"], layout)
    extension: str | None
    form: DataFormat
    if given["release_format"]:
        name, dot, ending = given["release_format"].partition(".")
        form, extension = published.format_named(name), dot + ending or None
    elif source is None or source.name not in published.formats:
        name = published.default_format(ids)
        if name == "basket" and any(len(label.split()) > 1 for label in data.vocabulary):
            name = "list"  # a basket file tells items apart by blanks
        form, extension = published.format_named(name), None
    else:
        form = source
        extension = plain_suffix(Path(given["data"]))
        fits = form.holds_ids(layout) if ids != "drop" else form.ids != "required"
        if not fits:
            needed = published.default_format(ids)
            note(f"the format {form.name!r} does not go with --ids {ids}; the release is written as {needed!r}")
            form = published.format_named(needed)
        if extension not in form.extensions:
            extension = None
    if form is not source:  # what separates items in one format may separate columns in another
        layout = replace(layout, separator=None, ragged=False)
    if given["release_separator"] is not None:
        layout = replace(layout, separator=given["release_separator"])
    refuse_format(form, layout, data.empty_records, ids)
    data_file_name(form, extension, given["compress"])
    return form, extension or form.extensions[0], layout
