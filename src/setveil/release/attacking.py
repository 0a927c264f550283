"""`attack`: run attacks against a release, and store what they find in its private folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.attacks.findings import Findings
from setveil.catalog import ATTACKS, METHODS, named
from setveil.errors import BadData, BadParameter, Missing
from setveil.kernels.threads import with_threads
from setveil.methods.base import Method
from setveil.release.attack_runs import (
    MADE_FROM_A_RELEASE,
    TARGETS,
    Case,
    as_attacks,
    as_limit,
    chosen_attacks,
    run_attacks,
)
from setveil.release.dossier import attack_notes
from setveil.release.inputs import as_records, original_of
from setveil.release.reporting import findings_in, rewritten, with_private_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from setveil.attacks.base import Attack, Finding
    from setveil.release.dossier import Private
    from setveil.release.inputs import Reading
    from setveil.release.opening import Opened

LEAST_TARGETS, MOST_TARGETS = 10, 1_000_000


@with_threads
def attack(
    release: Any,
    original: Any = None,
    attacks: str | Attack | Iterable[str | Attack] | None = None,
    *,
    control: Any = None,
    limit: float | str | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    private: str | Path | Private | None = None,
    reading: Reading | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Findings:
    """Try out what an attacker can still find out from a release.

    Each attack guesses something about people in the release and counts how often it is right. For comparison, it counts how often the same
    guesses are right without the release and, where this makes sense, for people who are not in it. An attack that finds little does not
    show that a release is safe. The findings are private: for a release folder they are added to its dossier and its report.

    Parameters
    ----------
    release
        A `Release`, a release folder, or the result of `open_release`. A folder needs its private folder.
    original
        The data that the release was made from, or a path to read them from. By default, the place that the private folder names.
    attacks
        Attacks such as ``FindRecord(known=2)``, texts `NAME[:param=value,...]`, or a level (`quick` or `full`); by default `full`, which is
        all attacks that apply. `quick` runs those that `publish` runs: they fit the guarantee and need no shadow release.
    control
        Records of people who are not in the release, as data or as a path. Without it, attacks that need them run against a shadow release:
        the same recipe on 80 % of the records (`learned`: on half of them), with the others as the control.
    limit
        The highest excess over the control that you accept, such as 0.05 or "5%". `Findings.above_limit` lists the attacks whose interval
        ends above it.
    targets
        Maximum number of guesses of each attack.
    seed
        Determines which people are attacked.
    private
        The private folder; by default `RELEASE.private` beside the release folder.
    reading
        Options of `read` for the files; by default those that the dossier holds.
    threads
        Number of threads; by default one per core. The result does not depend on it.

    Returns
    -------
    Findings
        A list with one finding per attack and setting. It prints as a table and finds a finding by the name of its attack.

    Raises
    ------
    Missing
        If the private folder or the original cannot be found.
    BadParameter, UnknownName
        If an attack or a parameter is wrong.
    BadData
        If a file cannot be read, or the original is not the data that the release was made from.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.read("sample:supermarket?records=1000")
    >>> release = sv.publish(data, sv.Disassociation(k=5, m=2))
    >>> found = sv.attack(release, attacks="find-record:known=2")
    >>> found[0].main.rate < found[0].details["in-the-original"]["right"]
    True
    """
    for name, value, least, most in (("targets", targets, LEAST_TARGETS, MOST_TARGETS), ("seed", seed, 0, 2**63 - 1)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise BadParameter(f"`{name}=` is {value!r}; allowed is a whole number from {least:,} to {most:,}")
    accepted, asked = as_limit(limit, "limit"), as_attacks("full" if attacks is None else attacks)

    def found(case: Case, reading: Reading | None = None) -> Findings:
        others = None if control is None else as_records(control, reading)
        if others is not None and others.checksum() == case.original.checksum():
            raise BadData("the control is the original; give records of people who are not in the release")
        occurrences = case.original.occurrences
        chosen = chosen_attacks(asked, type(case.published), case.guarantee, occurrences=occurrences)
        return run_attacks(case, chosen, case.target(others, targets, seed), limit=accepted)

    if isinstance(getattr(release, "method", None), Method):
        return found(_case_of(release, original))
    opened, folder = with_private_folder(release, private, "says which row is whose")
    case = case_in(opened, folder, original, reading)
    with rewritten(opened, folder) as dossier:
        result = found(case, reading or folder.reading)
        every = merged(findings_in(dossier), result)
        dossier.update(attacks=every.to_dict(), attack_notes=attack_notes(every))
    return result


def _case_of(release: Any, original: Any) -> Case:
    """Return a `Release` in memory as attacks need it."""
    compared = release.compared if original is None else as_records(original)
    if release.data.made_from is not None or compared is None:
        raise BadParameter(MADE_FROM_A_RELEASE)
    if compared is not release.compared and compared.checksum() != release.randomness.checksum:
        raise BadData(
            "the original is not the data that this release was made from: its checksum differs; name the data that were published"
        )
    guarantee = None if release.method.guarantee is None else release.method.guarantee.name
    return Case(release.data, release.alignment, compared, release.method, guarantee, release.randomness)


def case_in(opened: Opened, private: Private, original: Any, reading: Reading | None) -> Case:
    """Return a release folder as attacks need it."""
    if opened.data.made_from is not None:
        raise BadParameter(MADE_FROM_A_RELEASE)
    source = private.dossier["input"].get("source") if original is None else original
    if original is None and not source:
        raise Missing("attacks compare guesses with the original: name it with `original=`")
    records = as_records(original_of(source, private, reading))
    private.refuse_other_original(records)
    kind = named("method", METHODS, private.dossier["method"]["name"])
    method = kind(**kind.with_current_names(private.known_parameters()))
    return Case(opened.data, private.alignment, records, method, private.card.guarantee.name, private.randomness)


def merged(earlier: Findings, new: Findings) -> Findings:
    """Return the findings of both, in the order of the catalog and of the default settings, those that were run first.

    A new finding replaces the earlier one with the same settings, unless it was not run. Without a new limit, the earlier one stays.
    """
    run = {one.title: one for one in (*earlier, *new) if one.was_run}
    others = {one.title: one for one in (*earlier, *new) if one.title not in run}
    found = [*sorted(run.values(), key=_place), *sorted(others.values(), key=_place)]
    return Findings(found, limit=earlier.limit if new.limit is None else new.limit)


def _place(found: Finding) -> tuple[int, int]:
    """Return the place of a finding in a list of all attacks with their default settings; other settings come last."""
    if found.name not in ATTACKS:  # found by another version
        return len(ATTACKS), 0
    defaults = ATTACKS[found.name].variants
    fits = (place for place, one in enumerate(defaults) if one.items() <= found.parameters.items())
    return [*ATTACKS].index(found.name), next(fits, len(defaults))
