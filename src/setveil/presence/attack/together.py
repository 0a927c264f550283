"""What parties learn alone and together from a run, in words and numbers.

It follows from who is sent what; nothing is guessed here. The numbers are those of a trial.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from setveil.presence.attack.linking import linked_rows
from setveil.presence.attack.view import other_than, owners

if TYPE_CHECKING:
    from setveil.presence.methods.dummy_users import Backend
    from setveil.presence.secure.base import Provider
    from setveil.presence.tables.originals import Originals
    from setveil.presence.trial import Trial


@dataclass(frozen=True)
class Learned:
    """One thing that parties learn."""

    who: Literal["A", "B", "C", "A+C", "B+C", "A+B"]
    what: str
    number: int
    of: str
    """What was counted."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


class _Run:
    """The numbers of a run."""

    def __init__(self, trial: Trial, originals: Originals) -> None:
        divided = trial.a.divided
        groups = divided.groups.groups
        values = originals.schema.sensitive.cells
        self.population = len(originals.population)
        self.users = {side: len(originals.table(side)) for side in ("a", "b")}
        self.groups = groups
        self.openings = divided.openings.counts()
        final = {way.decode() for way in divided.ways}
        self.passed = {"a": 0, "b": 0}
        self.failed = {"a": 0, "b": 0}
        for way, owner in owners(divided).items():
            (self.failed if way in final else self.passed)[owner] += 1
        common = originals.existing("a") & originals.existing("b")
        cell = divided.groups.group_of[common] * values + originals.sensitive()[common]
        self.counts = np.bincount(cell, minlength=groups * values).reshape(groups, values)
        self.unforeseen = {"a": trial.a.divided.unforeseen, "b": trial.b.divided.unforeseen}
        self._trial = trial
        self.of_one_value = int(((self.counts > 0).sum(axis=1) == 1).sum())

    def linked(self, side: Provider, *, by_counts: bool) -> int:
        """Return how many groups a provider finds in the joined table without help, perhaps with the counts of its groups."""
        result = self._trial.a if side == "a" else self._trial.b
        return len(linked_rows(result.divided, side, result.table, self.counts if by_counts else None))


def together(trial: Trial, originals: Originals, *, counts_to: Literal["b", "c"], backend: Backend) -> list[Learned]:
    """Return who learns what, with such a policy, beyond its own table and the joined table itself."""
    run = _Run(trial, originals)
    found = [*_provider(run, "a", counts_to), *_provider(run, "b", counts_to)]
    found.append(Learned("C", "the joined table, its groups in an order that tells nothing", run.groups, "groups"))
    if backend == "mpyc":
        found.append(
            Learned(
                "C",
                "how the groups came about, without ids: the sizes of all groups and parts, whose each cut was and whether it passed, and "
                "which final group each line of counts belongs to",
                run.openings["pass"],
                "divisions",
            )
        )
    found += [*_with_collector(run, "a", backend), *_with_collector(run, "b", backend)]
    if backend == "clear":
        hidden = "all that secure computation hides: who exists at the other, the parts of failed cuts"
        found += [
            Learned("A", f"{hidden}, sensitive values", run.population, "ids"),
            Learned("B", hidden, run.population, "ids"),
        ]
    found.append(
        Learned(
            "A+B",
            "everything: they hold both tables, and the protocol hides them from each other only",
            run.population,
            "ids",
        )
    )
    return found


def _provider(run: _Run, side: Provider, counts_to: str) -> list[Learned]:
    other = other_than(side)
    who: Literal["A", "B"] = "A" if side == "a" else "B"
    name = other.upper()
    found = [
        Learned(who, f"who went into which part of {name}'s divisions that passed", run.passed[other], "divisions"),
        Learned(who, "whether a division passed, and whose it was", run.openings["pass"], "bits of each"),
        Learned(who, "which candidate cut won (score = both)", run.openings["winner"], "winners"),
        Learned(who, "that an own cut failed, of which it knows the parts", run.failed[side], "groups"),
    ]
    unforeseen = run.unforeseen[side]
    if unforeseen is not None:
        found.append(
            Learned(
                who,
                f"that of an own cut another candidate won than it would have taken, and so something of where {name}'s dummies are",
                unforeseen,
                f"of {run.passed[side] + run.failed[side]:,} own cuts",
            )
        )
    knows_counts = side == "b" and counts_to == "b"
    if knows_counts:
        found.append(Learned(who, "how many common users of each sensitive value a group has", run.groups, "groups"))
    found.append(
        Learned(
            who,
            f"which row of the joined table a group is, and so {name}'s intervals{'' if knows_counts else ' and the counts'}: it is found "
            "from how groups came about",
            run.linked(side, by_counts=knows_counts),
            "groups at least",
        )
    )
    return found


def _with_collector(run: _Run, side: Provider, backend: str) -> list[Learned]:
    who: Literal["A+C", "B+C"] = "A+C" if side == "a" else "B+C"
    name = other_than(side).upper()
    found = [
        Learned(
            who,
            f"{name}'s intervals of every group of ids, and the counts of its sensitive values",
            run.groups,
            "groups",
        ),
        Learned(
            who, f"of each user of {side.upper()} the intervals at {name} if it is common", run.users[side], "users"
        ),
    ]
    if side == "a":
        found.append(
            Learned(
                who,
                "the sensitive value of a group's common users, where all have the same",
                run.of_one_value,
                "groups",
            )
        )
    if backend == "mpyc":
        what = f"every secret: two of three shares rebuild who exists at {name}, its sensitive values and the parts of failed cuts"
        if side == "b":
            what = f"every secret: two of three shares rebuild who exists at {name} and the parts of failed cuts"
        found.append(Learned(who, what, run.population, "ids"))
    return found
