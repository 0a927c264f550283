"""`setveil check`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from setveil.base.display import quantity
from setveil.base.translation import option_of
from setveil.base.verdict import Verdict
from setveil.catalog import GUARANTEES, named
from setveil.cli.options import (
    Declared,
    DistinctLabelsOption,
    NamesOption,
    OutputOptions,
    ReadingOptions,
    Value,
    about,
    declared,
    refuse_negative,
)
from setveil.cli.show import colour_status, say, say_counts, say_hidden_witnesses, say_json, say_verdict
from setveil.errors import BadParameter, ExitCode
from setveil.release.checking import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.release.together import Together


def check(
    release: Annotated[
        list[str],
        about(
            "A release folder, or a data file without a card together with --guarantee; several folders with --together."
        ),
    ],
    /,
    *,
    guarantee: Annotated[
        str | None, about(f"Check this guarantee instead of the one on the card: {' | '.join(GUARANTEES)}.")
    ] = None,
    together: Annotated[
        bool, about("Check what several releases of the same data reveal together; requires --original.")
    ] = False,
    original: Annotated[
        str | None,
        about("The data that the release was made from. For re-associated data: the disassociated release."),
    ] = None,
    private: Annotated[
        str | None, about("The private folder of the release (default: RELEASE.private, if it exists).")
    ] = None,
    allow_failures: Annotated[int, about("Accept at most this number of unprotected records.")] = 0,
    witnesses: Annotated[int, about("Show at most this number of violations, with values from the data.")] = 0,
    release_format: Annotated[
        str | None, about("Format of a data file without a card, if the extension does not determine it.")
    ] = None,
    distinct_labels: DistinctLabelsOption = False,
    names: NamesOption = None,
    source: ReadingOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(GUARANTEES, after="guarantee")],
) -> ExitCode:
    """Check the guarantee of a release again.

    The exit code is 0 if the guarantee holds, and 3 if it is violated or undecided. The check reads the release again and relies on no
    earlier result. With the private folder, the exit code is 2 if a file is not the one that was published. The reading options apply to
    --original. Without them, the original is read as for publish, if the private folder exists. With --together, give several releases
    whose private folders are beside them.

    Example:
      setveil check release --original sample:supermarket
    """
    refuse_negative(allow_failures=allow_failures, witnesses=witnesses)
    if together:
        of_one = {
            "guarantee": guarantee,
            "private": private,
            "allow_failures": allow_failures,
            "release_format": release_format,
            "distinct_labels": distinct_labels,
            "names": names,
        }
        _refuse_given(of_one)
        return _check_together(release, original, source, output, witnesses)
    if len(release) != 1:
        raise BadParameter(f"{quantity(len(release), 'release')} given; expected one, or several with `together=True`")
    kind = named("guarantee", GUARANTEES, guarantee) if guarantee else None
    evidence = Evidence.found(
        release[0], kind, original=original, private=private, format=release_format, reading=source.given()
    )
    places = {"release": release[0], "original": original, "release_format": release_format}
    given = {**asdict(source), **places, **parameters}
    asked = None if kind is None else declared(kind, given, evidence.original)
    verdict = evidence.check(asked, distinct_labels=distinct_labels, names=names)
    accepted = verdict.acceptable(allow_failures)
    if output.json:
        say_json({**verdict.to_dict(witnesses=witnesses), "accepted": accepted})
    else:
        _show(verdict, allow_failures=allow_failures, witnesses=witnesses)
    return ExitCode.OK if accepted else ExitCode.VIOLATED


def _show(verdict: Verdict, *, allow_failures: int, witnesses: int) -> None:
    accepted = verdict.acceptable(allow_failures)
    say_verdict(verdict)
    if accepted and not verdict:
        say(f"accepted: {quantity(verdict.failures, 'failure')}, at most {allow_failures:,} allowed")
    say_counts(verdict, witnesses)
    if not accepted:
        say_hidden_witnesses(verdict, witnesses)


def _refuse_given(options: Mapping[str, object]) -> None:
    """Refuse options that apply to one release only."""
    for name, value in options.items():
        if value:
            raise BadParameter(
                f"{option_of(name)} applies to one release only; remove it, or check that release by itself"
            )


def _check_together(
    releases: list[str], original: str | None, source: ReadingOptions, output: OutputOptions, witnesses: int
) -> ExitCode:
    from setveil.release.together import check_together  # noqa: PLC0415 - a check of one release does not need it

    result = check_together(releases, original=original, reading=source.given())
    if output.json:
        say_json(result.to_dict(witnesses=witnesses))
    else:
        _show_together(result, witnesses)
    return ExitCode.OK if result else ExitCode.VIOLATED


def _show_together(result: Together, witnesses: int) -> None:
    say(colour_status(f"together: {result.status}", result.status))
    for part in result.parts:
        say()
        say_verdict(part.verdict, str(part))
        if part.definition:
            say(part.definition)
        if part.verdict.counts:
            say_counts(part.verdict, witnesses)
        say_hidden_witnesses(part.verdict, witnesses)
    for note in result.notes:
        say(f"\n{note}")
