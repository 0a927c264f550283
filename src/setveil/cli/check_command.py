"""`setveil check`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from setveil.base.verdict import Verdict
from setveil.catalog import GUARANTEES, named
from setveil.cli.options import (
    Declared,
    DistinctLabelsOption,
    OutputOptions,
    ReadingOptions,
    Value,
    about,
    declared,
    refuse_negative,
)
from setveil.cli.show import say, say_counts, say_json
from setveil.errors import ExitCode
from setveil.release.checking import Evidence


def check(
    release: Annotated[str, about("A release folder, or a bare data file together with --guarantee.")],
    /,
    *,
    guarantee: Annotated[
        str | None, about(f"Check another guarantee than the card's: {' | '.join(GUARANTEES)}.")
    ] = None,
    original: Annotated[
        str | None,
        about("The data that the release was made from; of re-associated data the disassociated release."),
    ] = None,
    private: Annotated[
        str | None, about("The private folder of the release (default: RELEASE.private, if it is there).")
    ] = None,
    allow_failures: Annotated[int, about("Accept at most this number of unprotected records.")] = 0,
    witnesses: Annotated[int, about("Show at most this number of violations, with values from the data.")] = 0,
    release_format: Annotated[
        str | None, about("Format of a bare data file, if the extension does not determine it.")
    ] = None,
    distinct_labels: DistinctLabelsOption = False,
    source: ReadingOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(GUARANTEES, after="guarantee")],
) -> ExitCode:
    """Check the guarantee of a release again.

    Ends with 0 if the guarantee holds, with 3 if it does not or could not be decided. Reads the release again and trusts nothing that was
    said when it was made. With the private folder, ends with 2 if a file is not the one that was published. The reading options are those
    of --original; without any, it is read as it was for publish, if the private folder is there.

    Example:
      setveil check release --original sample:supermarket
    """
    refuse_negative(allow_failures=allow_failures, witnesses=witnesses)
    kind = named("guarantee", GUARANTEES, guarantee) if guarantee else None
    evidence = Evidence.found(
        release, kind, original=original, private=private, format=release_format, reading=source.given()
    )
    places = {"release": release, "original": original, "release_format": release_format}
    given = {**asdict(source), **places, **parameters}
    asked = None if kind is None else declared(kind, given, evidence.original)
    verdict = evidence.check(asked, distinct_labels=distinct_labels)
    accepted = verdict.acceptable(allow_failures)
    if output.json:
        say_json({**verdict.to_dict(witnesses=witnesses), "accepted": accepted})
    else:
        _show(verdict, allow_failures=allow_failures, witnesses=witnesses)
    return ExitCode.OK if accepted else ExitCode.VIOLATED


def _show(verdict: Verdict, *, allow_failures: int, witnesses: int) -> None:
    accepted = verdict.acceptable(allow_failures)
    say(str(verdict))
    if accepted and not verdict:
        say(f"accepted: {verdict.failures:,} failures, at most {allow_failures:,} allowed")
    say_counts(verdict, witnesses)
    hidden = sum(verdict.violations.values()) - len(verdict.witnesses[:witnesses])
    if hidden > 0 and not accepted:
        say(f"{hidden:,} cases not shown; see some with --witnesses 10")
