"""Choose attacks, and run them against a release and the records that it was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.findings import Findings
from setveil.attacks.target import Target
from setveil.base import progress
from setveil.base.display import quantity, size_text
from setveil.catalog import ATTACKS, named
from setveil.errors import BadParameter, GuaranteeViolated, InputError, Missing
from setveil.parameters.shares import MaxConfidence
from setveil.parameters.texts import settings_in
from setveil.release.provenance import draw_again

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions
    from setveil.methods.base import Method
    from setveil.metrics.pair import Pair
    from setveil.release.seed import Randomness

LEVELS = ("none", "quick", "full")
"""Names for sets of attacks: none; those that fit the guarantee and need no shadow release; all that apply."""
TARGETS = 2000
"""Default maximum number of guesses of each attack."""
QUICK_TARGETS = 500
"""The same for `quick` when a release is published: its attacks take at most about twice as long as the method."""

MOST_BYTES = 3_000_000_000
"""Attacks that need more memory are run only if they are named."""

MADE_FROM_A_RELEASE = (
    "the rows of re-associated data come from no single record; attack the release that they were made from"
)

Chosen = list[Attack | Finding]
"""Attacks to run, and for each one that does not apply a finding that states why."""


@dataclass(frozen=True, eq=False)
class Case:
    """A release, the records that it was made from, and how it was made."""

    published: Published
    alignment: Alignment
    original: Transactions
    method: Method
    guarantee: str | None
    """The name of the guarantee; None for a baseline."""
    randomness: Randomness | None
    measured: Pair | None = None
    """What metrics share, if they have measured the release."""

    def target(self, control: Transactions | None = None, targets: int = TARGETS, seed: int = 0) -> Target:
        """Return the release as attacks see it."""
        known = {name: getattr(self.method, name) for name in type(self.method).model_fields}
        return Target(
            self.original,
            self.published,
            self.alignment,
            known,
            control,
            targets,
            seed,
            measured=self.measured,
            again=self.again,
        )

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
        number = round(share * records)
        if not 0 < number < records:
            raise Missing(f"{quantity(records, 'record')} cannot be divided into people who are in it and others")
        inside = np.zeros(records, np.bool_)
        inside[target.rng("shadow").choice(records, number, replace=False)] = True
        part, outside = (self.original.take(np.flatnonzero(chosen)) for chosen in (inside, ~inside))
        with progress.step("making a shadow release"):
            published, alignment = target.again(part)
        return replace(
            target,
            original=part,
            published=published,
            alignment=alignment,
            control=outside,
            shadow=True,
            measured=None,
            _made={},
        )


def run_attacks(case: Case, chosen: Chosen, target: Target, *, limit: float | None = None) -> Findings:
    """Run the chosen attacks; one that cannot be run states why."""
    shadows: dict[float, Target | str] = {}
    found = Findings(limit=limit)
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
                found.append(one.impossible(attacked) if isinstance(attacked, str) else _one(one, attacked))
            advance(done + 1)
    return found


def _one(one: Attack, target: Target) -> Finding:
    try:
        finding = one.run(target)
    except InputError as error:
        finding = one.impossible(str(error))
    return replace(finding, shadow=target.shadow, targets=None if one.guesses_all else target.targets)


def _shadow_or_reason(case: Case, target: Target, share: float) -> Target | str:
    try:
        return case.shadow(target, share)
    except (InputError, GuaranteeViolated) as error:
        return f"no shadow release could be made: {error}"


def as_attacks(given: str | Attack | Iterable[str | Attack]) -> list[str | Attack]:
    """Return the attacks and levels that were given as a list; refuse everything else."""
    listed = [given] if isinstance(given, str | Attack) or not isinstance(given, Iterable) else list(given)
    for one in listed:
        if not isinstance(one, str | Attack):
            raise BadParameter(
                f"attacks: {one!r} is neither an attack, such as FindRecord(), nor the name of one, nor a level: {' | '.join(LEVELS)}"
            )
    return listed


def chosen_attacks(
    listed: Sequence[str | Attack], form: type[Published], guarantee: str | None, *, occurrences: int
) -> Chosen:
    """Return the chosen attacks on a form with a guarantee, and a finding that states why for each one that does not apply.

    An attack that needs much memory for data with this number of occurrences is run only if it is named.
    """
    found: list[Attack] = []
    for one in listed:
        if isinstance(one, Attack):
            found.append(one)
        elif one in LEVELS:
            for kind in ATTACKS.values():
                if one == "full":
                    found += [kind(**variant) for variant in kind.variants]
                elif one == "quick" and _is_quick(kind, guarantee):
                    found += [kind(**variant) for variant in kind.quick_variants or kind.variants]
        else:
            found += attacks_of(one)
    why = MADE_FROM_A_RELEASE if form.made_from is not None else f"does not apply to {form.form_title}"
    named = {one.name if isinstance(one, Attack) else settings_in(one)[0] for one in listed}

    def applied(one: Attack) -> Attack | Finding:
        needed = one.bytes_per_occurrence * occurrences
        if not one.applies_to(form):
            return one.not_run(why)
        if needed > MOST_BYTES and one.name not in named:
            return one.not_run(f"needs about {size_text(needed)} of memory for these data; name the attack to run it")
        return one

    return list(_once(map(applied, found)))


def _once(found: Iterable[Attack | Finding]) -> Iterable[Attack | Finding]:
    """Yield each attack once, and each kind that does not apply once."""
    done: Chosen = []
    for one in found:
        if one not in done:
            done.append(one)
            yield one


def _is_quick(kind: type[Attack], guarantee: str | None) -> bool:
    return "control" not in kind.needs and (not kind.fits or guarantee in kind.fits)


def attacks_of(text: str) -> list[Attack]:
    """Create attacks from `NAME[:param=value,...]`; a name alone stands for its default settings."""
    name, texts = settings_in(text)
    kind = named("attack", ATTACKS, name, levels=LEVELS)
    given: dict[str, Any] = {**texts}
    return [kind(**given)] if given else [kind(**variant) for variant in kind.variants]


def as_limit(given: float | str | None, name: str) -> float | None:
    """Return a limit of an excess as a number; None if there is none. `name` is that of the parameter."""
    if given is None:
        return None
    try:
        return float(MaxConfidence.validated(given).share)
    except ValueError as error:
        raise BadParameter(f"`{name}=` is {given!r}: {error}") from None
