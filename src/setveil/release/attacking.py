"""`attack`: run attacks against a release, and store what they find in its private folder."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.findings import Findings
from setveil.attacks.target import Target
from setveil.base import progress
from setveil.base.atomic import make_files
from setveil.catalog import ATTACKS, METHODS, named
from setveil.errors import BadParameter, GuaranteeViolated, InputError, Missing
from setveil.kernels.threads import with_threads
from setveil.methods.base import Method
from setveil.parameters.shares import MaxConfidence
from setveil.release.checking import refuse_other_release
from setveil.release.inputs import as_opened, as_records, original_of, private_of
from setveil.release.provenance import draw_again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions
    from setveil.release.dossier import Private
    from setveil.release.inputs import Reading
    from setveil.release.seed import Randomness

ATTACKS_NAME = "attacks.json"
LEVELS = ("quick", "full")
"""Names for sets of attacks: those that fit the guarantee and need no shadow release; all that apply."""
LEAST_TARGETS, MOST_TARGETS = 10, 1_000_000


@with_threads
def attack(
    release: Any,
    original: Any = None,
    attacks: str | Attack | Iterable[str | Attack] | None = None,
    *,
    control: Any = None,
    limit: float | str | None = None,
    targets: int = 2000,
    seed: int = 0,
    private: str | Path | Private | None = None,
    reading: Reading | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
) -> Findings:
    """Try out what an attacker can still find out from a release.

    Each attack guesses something about people in the release and counts how often it is right. For comparison, it counts how often the same
    guesses are right without the release and, where this makes sense, for people who are not in it. An attack that finds little does not
    show that a release is safe. The findings are private: for a release folder they are stored in the private folder as attacks.json.

    Parameters
    ----------
    release
        A `Release`, a release folder, or the result of `open_release`. A folder needs its private folder.
    original
        The data that the release was made from, or a path to read them from. By default, the place that the private folder names.
    attacks
        Attacks such as ``FindRecord(known=2)``, texts `NAME[:param=value,...]`, or a level (`quick` or `full`); by default `full`, which is
        all attacks that apply. `quick` runs those that fit the guarantee and need no shadow release.
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
    accepted = None if limit is None else float(_limit(limit))
    case = _Case.of(release, original, private, reading)
    others = None if control is None else as_records(control, reading or case.reading)
    target = Target(case.original, case.published, case.alignment, case.known, others, targets, seed, again=case.again)
    found = Findings(_run(case, target, attacks), limit=accepted)
    if case.private is not None:
        with make_files(case.private / ATTACKS_NAME, force=True) as files:
            files[0].write_text(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return found


class _Case:
    """Everything about a release that attacks need."""

    def __init__(self, published: Any, alignment: Any, original: Transactions, known: dict[str, Any]) -> None:
        self.published = published
        self.alignment = alignment
        self.original = original
        self.known = known
        self.guarantee: str | None = None
        self.randomness: Randomness | None = None
        self.private: Path | None = None
        self.reading: Reading | None = None

    @classmethod
    def of(cls, release: Any, original: Any, private: Any, reading: Reading | None) -> _Case:
        method = getattr(release, "method", None)
        if isinstance(method, Method):  # a `Release`
            compared = release.compared if original is None else as_records(original)
            if release.data.made_from is not None or compared is None:
                raise BadParameter(_OTHER_FORM.format(release.data.form_title))
            case = cls(release.data, release.alignment, compared, _parameters(method))
            case.guarantee = None if method.guarantee is None else method.guarantee.name
            case.randomness = release.randomness
            return case
        opened = as_opened(release)
        if opened.card is None:
            raise BadParameter(f"{opened.folder} is a data file without a card; give the release folder")
        found = private_of(opened, private)
        if found is None:
            raise Missing(
                f"{opened.folder} has no private folder beside it, which says which row is whose; name it with `private=`"
            )
        refuse_other_release(opened, found)
        if opened.data.made_from is not None:
            raise BadParameter(_OTHER_FORM.format(opened.data.form_title))
        source = found.dossier["input"].get("source") if original is None else original
        if not isinstance(source, str) and original is None:
            raise Missing("attacks compare guesses with the original: name it with `original=`")
        records = as_records(original_of(source, found, reading))
        found.refuse_other_original(records)
        kind = named("method", METHODS, found.dossier["method"]["name"])
        method = kind(**kind.with_current_names(found.known_parameters()))
        case = cls(opened.data, found.alignment, records, _parameters(method))
        case.guarantee = found.card.guarantee.name
        case.randomness = found.randomness
        case.private, case.reading = found.folder, found.reading
        return case

    @property
    def again(self) -> Callable[[Transactions], tuple[Published, Alignment]] | None:
        """Return what runs the method on other records, with random draws of their own; None if the recipe is not known."""
        randomness = self.randomness
        if randomness is None:
            return None
        return lambda records: draw_again(replace(randomness, checksum=records.checksum()), records)

    def shadow(self, target: Target, share: float) -> Target:
        """Make a release of a share of the records with the same recipe; the other records are the control."""
        if target.again is None:
            raise Missing(
                "the dossier does not record the recipe, so no shadow release can be made; give people as the control"
            )
        records = self.original.records
        inside = np.zeros(records, np.bool_)
        inside[target.rng("shadow").choice(records, round(share * records), replace=False)] = True
        part, outside = (self.original.take(np.flatnonzero(chosen)) for chosen in (inside, ~inside))
        with progress.step("making a shadow release"):
            published, alignment = target.again(part)
        return replace(
            target, original=part, published=published, alignment=alignment, control=outside, shadow=True, _made={}
        )


def _parameters(method: Method) -> dict[str, Any]:
    return {name: getattr(method, name) for name in type(method).model_fields}


_OTHER_FORM = "this release is {}, whose rows come from no single record; attack the release that it was made from"


def _run(case: _Case, target: Target, given: Any) -> list[Finding]:
    """Run the chosen attacks; one that cannot be run states why."""
    shadows: dict[float, Target | str] = {}
    found: list[Finding] = []
    chosen = chosen_attacks(given, case)
    with progress.step("attacking", len(chosen)) as advance:
        for done, one in enumerate(chosen):
            if isinstance(one, Finding):
                found.append(one)
            else:
                attacked: Target | str = target
                if "control" in one.needs and target.control is None:
                    if one.shadow_share not in shadows:
                        shadows[one.shadow_share] = _shadow_or_reason(case, target, one.shadow_share)
                    attacked = shadows[one.shadow_share]
                found.append(one.without_result(attacked) if isinstance(attacked, str) else _one(one, attacked))
            advance(done + 1)
    return found


def _one(one: Attack, target: Target) -> Finding:
    try:
        finding = one.run(target)
    except InputError as error:
        return one.without_result(str(error))
    return replace(finding, shadow=target.shadow)


def _shadow_or_reason(case: _Case, target: Target, share: float) -> Target | str:
    try:
        return case.shadow(target, share)
    except (InputError, GuaranteeViolated) as error:
        return f"no shadow release could be made: {error}"


def chosen_attacks(given: str | Attack | Iterable[str | Attack] | None, case: Any) -> list[Attack | Finding]:
    """Return the chosen attacks in the order of the catalog, or for each one that does not apply a finding that states why."""
    listed: list[Any] = ["full"] if given is None else [given] if isinstance(given, str | Attack) else list(given)
    found: list[Attack | Finding] = []
    for one in listed:
        if isinstance(one, Attack):
            found.append(one)
        elif not isinstance(one, str):
            raise BadParameter(
                f"attacks: {one!r} is neither an attack, such as FindRecord(), nor the name of one, nor a level: {' | '.join(LEVELS)}"
            )
        elif one in LEVELS:
            for kind in ATTACKS.values():
                if one == "full" or _is_quick(kind, case):
                    found += [kind(**variant) for variant in kind.variants]
        else:
            found += attacks_of(one)
    return [
        one
        if isinstance(one, Finding) or one.applies_to(type(case.published))
        else one.not_run(f"does not apply to {case.published.form_title}")
        for one in _once(found)
    ]


def _once(found: list[Attack | Finding]) -> Iterable[Attack | Finding]:
    """Yield each attack once, and each kind that does not apply once."""
    done: list[Any] = []
    for one in found:
        if one not in done:
            done.append(one)
            yield one


def _is_quick(kind: type[Attack], case: Any) -> bool:
    return "control" not in kind.needs and (not kind.fits or case.guarantee in kind.fits)


def attacks_of(text: str) -> list[Attack | Finding]:
    """Create attacks from `NAME[:param=value,...]`; a name alone stands for its default settings."""
    name, _, rest = text.partition(":")
    kind = named("attack", ATTACKS, name)
    if not rest:
        return [kind(**variant) for variant in kind.variants]
    given: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise BadParameter(f"{text!r}: {part!r} is not of the form parameter=value")
        given[key.strip().replace("-", "_")] = value.strip()
    return [kind(**given)]


def _limit(given: float | str) -> Any:
    try:
        return MaxConfidence.validated(given).share
    except ValueError as error:
        raise BadParameter(f"`limit=` is {given!r}: {error}") from None
