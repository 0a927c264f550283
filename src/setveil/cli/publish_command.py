"""`setveil publish`."""

from __future__ import annotations

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
    reading_of,
)
from setveil.cli.show import names_in_words, say, say_json, say_pairs
from setveil.data.formats import FORMATS
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter
from setveil.release.card import CARD_NAME, Card
from setveil.release.dossier import ALIGNMENT_NAME, DOSSIER_NAME, REPORT_NAME
from setveil.release.inputs import as_published, as_records
from setveil.release.publishing import publish
from setveil.release.saving import Target

if TYPE_CHECKING:
    from setveil.methods.base import Method
    from setveil.release.release import Release

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
    target = Target.of(given["out"], given["private"], force=given["force"])
    target.refuse()  # before the data are read
    kind = named("method", METHODS, given["method"])
    seed = _seed(given["seed"])
    data = _data(given, kind)
    release = publish(
        data,
        declared(kind, given, getattr(data, "plain", None)),
        out=target.out,
        private=target.private,
        format=given["release_format"],
        separator=given["release_separator"],
        compress=given["compress"],
        force=given["force"],
        ids=given["ids"],
        seed=seed,
        experiment=given["experiment"],
        allow_failures=given["allow_failures"],
        no_guarantee=given["no_guarantee"],
        threads=given["threads"],
        original=as_records(given["original"], reading_of(given)) if given["original"] else None,
        missing_names=given["missing_names"],
        distinct_labels=given["distinct_labels"],
    )
    card = Card.load(target.out)
    if given["json"]:
        verdict = None if release.verdict is None else release.verdict.to_dict(witnesses=0)
        made = {"verdict": verdict, "summary": release.summary.to_dict(), "card": card.model_dump(mode="json")}
        names = [found.to_dict() for found in release.names]
        say_json({"out": str(target.out), "private": str(target.private), "names": names, **made})
        return 0
    files = [card.data.file, *(one.file for one in card.data.beside), CARD_NAME]
    say_release(release, target.out, target.private, files)
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


def _data(given: dict[str, Any], method: type[Method]) -> Any:
    """Read data with the reading options; a release says itself how it is read."""
    is_release = Transactions not in method.accepts or (Path(given["data"]) / CARD_NAME).is_file()
    return given["data"] if is_release else as_published(given["data"], reading_of(given))
