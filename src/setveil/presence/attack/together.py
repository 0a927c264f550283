"""What parties learn from a run, alone and together, as texts and numbers.

This follows from the messages that each party receives; nothing is guessed. The numbers are those of a trial.
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
    """One fact that a party, or several together, learn."""

    who: Literal["A", "B", "C", "A+C", "B+C", "A+B"]
    what: str
    number: int
    of: str
    """The unit of the number."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fact as plain values."""
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
        """Return the number of groups that a provider finds in the joined table alone; `by_counts`: it knows the counts of its groups."""
        result = self._trial.a if side == "a" else self._trial.b
        return len(linked_rows(result.divided, side, result.table, self.counts if by_counts else None))


def together(trial: Trial, originals: Originals, *, counts_to: Literal["b", "c"], backend: Backend) -> list[Learned]:
    """Return what each party learns with such a policy, beyond its own table and the joined table itself."""
    run = _Run(trial, originals)
    found = [*_provider(run, "a", counts_to), *_provider(run, "b", counts_to)]
    found.append(
        Learned("C", "the joined table, with its groups in an order that reveals nothing", run.groups, "groups")
    )
    if backend == "mpyc":
        found.append(
            Learned(
                "C",
                "how the groups were made, without ids: the sizes of all groups and parts, the owner of each cut and whether it passed, "
                "and which final group each row of counts belongs to",
                run.openings["pass"],
                "divisions",
            )
        )
    found += [*_with_collector(run, "a", backend), *_with_collector(run, "b", backend)]
    if backend == "clear":
        found += [
            Learned("A", f"{_hidden('B')}, and the sensitive values", run.population, "ids"),
            Learned("B", _hidden("A"), run.population, "ids"),
        ]
    found.append(
        Learned(
            "A+B",
            "everything: together they hold both tables, which the protocol hides from each other only",
            run.population,
            "ids",
        )
    )
    return found


def _hidden(other: str) -> str:
    return f"everything that secure computation would hide: the users of {other}, the parts of failed cuts"


def _provider(run: _Run, side: Provider, counts_to: str) -> list[Learned]:
    other = other_than(side)
    who: Literal["A", "B"] = "A" if side == "a" else "B"
    name = other.upper()
    found = [
        Learned(who, f"which ids are in which part, in {name}'s divisions that passed", run.passed[other], "divisions"),
        Learned(who, "whether a division passed, and which provider owned it", run.openings["pass"], "bits of each"),
        Learned(who, "which candidate cut won (score = both)", run.openings["winner"], "winners"),
        Learned(who, "that its own cut failed, whose parts it knows", run.failed[side], "groups"),
    ]
    unforeseen = run.unforeseen[side]
    if unforeseen is not None:
        found.append(
            Learned(
                who,
                f"that another candidate won than it would have chosen, which reveals something about where {name}'s dummies are",
                unforeseen,
                f"of {run.passed[side] + run.failed[side]:,} own cuts",
            )
        )
    knows_counts = side == "b" and counts_to == "b"
    if knows_counts:
        found.append(Learned(who, "the number of common users per sensitive value in each group", run.groups, "groups"))
    found.append(
        Learned(
            who,
            f"which row of the joined table a group is, and so {name}'s intervals{'' if knows_counts else ' and the counts'}: found from "
            "how the groups were made",
            run.linked(side, by_counts=knows_counts),
            "groups or more",
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
            who,
            f"for each user of {side.upper()}, the intervals at {name} if the user is common",
            run.users[side],
            "users",
        ),
    ]
    if side == "a":
        found.append(
            Learned(
                who,
                "the sensitive value of a group's common users, if all have the same",
                run.of_one_value,
                "groups",
            )
        )
    if backend == "mpyc":
        what = f"every secret: two of three shares reveal the users of {name}, the sensitive values and the parts of failed cuts"
        if side == "b":
            what = f"every secret: two of three shares reveal the users of {name} and the parts of failed cuts"
        found.append(Learned(who, what, run.population, "ids"))
    return found
