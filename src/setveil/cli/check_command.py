"""`setveil check`."""

from __future__ import annotations

from typing import Any

from setveil.catalog import GUARANTEES, named
from setveil.cli.options import (
    DISTINCT_LABELS,
    READING,
    Option,
    argument,
    declared,
    named_in,
    of_declaration,
    reading_of,
)
from setveil.cli.show import say, say_json, say_table
from setveil.errors import BadParameter
from setveil.release.checking import check
from setveil.release.inputs import as_opened, original_of, private_of

TEXT = """Ends with 0 if the guarantee holds, with 3 if it does not or could not be decided. Reads the release again and trusts nothing
that was said when it was made. With the private folder, ends with 2 if a file is not the one that was published. The reading options are
those of --original; without any, it is read as it was for publish, if the private folder is there.

Example:
  setveil check release --original sample:supermarket"""


def options(_name: str, arguments: list[str]) -> list[Option]:
    """Return the options, those of the guarantee named among them."""
    guarantee = named_in(arguments, "--guarantee")
    of_guarantee = of_declaration(named("guarantee", GUARANTEES, guarantee)) if guarantee else []
    return [
        argument("release", "A release folder, or a bare data file together with --guarantee."),
        Option("guarantee", str, f"Check another guarantee than the card's: {' | '.join(GUARANTEES)}."),
        *of_guarantee,
        Option(
            "original", str, "The data that the release was made from; of re-associated data the disassociated release."
        ),
        Option("private", str, "The private folder of the release (default: RELEASE.private, if it is there)."),
        Option("allow_failures", int, "Accept at most so many records that are not protected.", 0),
        Option("witnesses", int, "Show so many cases of what is broken, with values from the data.", 0),
        Option("release_format", str, "Format of a bare data file, where the extension does not tell."),
        DISTINCT_LABELS,
        *READING,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Check."""
    for name in ("allow_failures", "witnesses"):
        if given[name] < 0:
            raise BadParameter(f"{name.replace('_', '-')} is {given[name]}; allowed is a whole number from 0 on")
    kind = named("guarantee", GUARANTEES, given["guarantee"]) if given["guarantee"] else None
    takes = {} if kind is None else {"takes": kind.takes}
    reading = reading_of(given)
    opened = as_opened(given["release"], format=given["release_format"], reading=reading, **takes)
    private = private_of(opened, given["private"])
    if kind is not None:
        kind.refuse_other_form(opened.data)  # before other things that it may lack
    original: Any = original_of(given["original"], private, reading) if given["original"] else None
    verdict = check(
        opened,
        guarantee=None if kind is None else declared(kind, given, original),
        original=original,
        private=private,
        distinct_labels=given["distinct_labels"],
    )
    accepted = verdict.acceptable(given["allow_failures"])
    if given["json"]:
        say_json({**verdict.to_dict(witnesses=given["witnesses"]), "accepted": accepted})
        return 0 if accepted else 3
    say(str(verdict))
    if accepted and not verdict:
        say(f"accepted: {verdict.failures:,} failures, at most {given['allow_failures']:,} allowed")
    say_table(["", "number"], [[key.replace("-", " "), value] for key, value in verdict.counts.items()])
    shown = verdict.witnesses[: given["witnesses"]]
    for witness in shown:
        say(f"{witness.kind}: {witness.place}: {witness.detail}")
    hidden = sum(verdict.violations.values()) - len(shown)
    if hidden > 0 and not accepted:
        say(f"{hidden:,} cases not shown; see some with --witnesses 10")
    return 0 if accepted else 3
