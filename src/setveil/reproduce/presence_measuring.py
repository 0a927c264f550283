"""What is measured of every joined table: its groups, and the error of random queries."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base import progress
from setveil.errors import GuaranteeViolated
from setveil.kernels.control import DONE, STOP
from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.methods.extended_mondrian import ExtendedMondrian
from setveil.presence.methods.mpalm import Mpalm
from setveil.presence.tables.joined_table import JoinedTable
from setveil.reproduce.figures import Figure
from setveil.reproduce.presence_lines import (
    ADULT,
    BASE_MAX,
    BASE_MIN,
    DEFAULT,
    DEFAULT_QI,
    DROPPED,
    EXTENDED,
    EXTENDED_QI,
    GROUPS,
    INSIDE,
    KINDS,
    MPALM,
    MPALM_FIXED,
    ONE_GROUP,
    PROTOCOL,
    PROTOCOL_QI,
    RETRYING,
    RETRYING_QI,
    THETA_OF_FIGURE_4,
    VARIANTS,
    Plan,
    at,
    error_of,
    held_by,
    within,
)
from setveil.reproduce.presence_queries import questions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from setveil.presence.methods.base import JoiningMethod
    from setveil.reproduce.adult import AdultTables

    Job = Callable[[Any], list[Figure]]

NOTHING = "nothing can be published: all users as one group break the limits"
AS_PRINTED = {"entropy": "child", "normalise": "max"}
LINES: dict[str, tuple[type[Any], dict[str, Any]]] = {
    PROTOCOL: (DummyUsers, {**AS_PRINTED, "backend": "clear"}),
    PROTOCOL_QI: (DummyUsers, {**AS_PRINTED, "backend": "clear", "scope": "qi"}),
    DEFAULT: (DummyUsers, {"backend": "clear"}),
    DEFAULT_QI: (DummyUsers, {"backend": "clear", "scope": "qi"}),
    EXTENDED: (ExtendedMondrian, {}),
    EXTENDED_QI: (ExtendedMondrian, {"scope": "qi"}),
    RETRYING: (ExtendedMondrian, {"retry": "attributes"}),
    RETRYING_QI: (ExtendedMondrian, {"retry": "attributes", "scope": "qi"}),
    DROPPED: (ExtendedMondrian, {"absent": "dropped"}),
    MPALM: (Mpalm, {}),
    MPALM_FIXED: (Mpalm, {}),
}
"""The clear backend takes the very steps of the two-party one, whose bits are the same; the score as printed runs in it alone."""
LINES_OF_FIGURE_2 = (PROTOCOL, PROTOCOL_QI, DEFAULT, DEFAULT_QI, EXTENDED, EXTENDED_QI, RETRYING, RETRYING_QI)
LINES_OF_FIGURE_3 = (PROTOCOL, DEFAULT, MPALM_FIXED)
"""B has no limits there, so that both scopes are the same."""
LINES_OF_FIGURE_4 = (PROTOCOL, PROTOCOL_QI)


class Experiment:
    """All that is run on the two ways to deal out Adult. Jobs may run beside each other, and each returns its figures."""

    def __init__(self, tables: Mapping[str, AdultTables], plan: Plan) -> None:
        self.tables, self.plan = tables, plan
        # The common users of both ways to deal out are the same, and so are the questions and their answers.
        self.questions = questions_of(tables[ADULT].originals, KINDS, plan.thetas, plan.queries)

    def jobs(self) -> list[Job]:
        """Return all that is run, piece by piece."""
        plan = self.plan
        both = {f"{bound}_{side}": limit for bound, limit in (("max", BASE_MAX), ("min", BASE_MIN)) for side in "ab"}
        of_a = {**both, "max_b": "1", "min_b": "0"}
        jobs: list[Job] = [
            self._one_group,
            self._job(ADULT, DROPPED, None, both, plan.thetas),
            self._job(INSIDE, MPALM, None, of_a, plan.thetas),
        ]
        for seed in plan.seeds:
            jobs += [self._job(ADULT, line, seed, both, plan.thetas) for line in LINES_OF_FIGURE_2]
            jobs += [self._job(INSIDE, line, seed, of_a, plan.thetas) for line in LINES_OF_FIGURE_3]
            jobs += [
                self._job(ADULT, line, seed, {**both, **VARIANTS[name]}, (THETA_OF_FIGURE_4,), setting=name)
                for line in (DEFAULT, DEFAULT_QI)
                for name in plan.variants
            ]
        for seed in plan.seeds_of_figure_4:
            for side in "ab":
                for least, most in plan.pairs:
                    limits = {**both, f"max_{side}": most, f"min_{side}": least}
                    setting = within(side, least, most)
                    jobs += [
                        self._job(ADULT, line, seed, limits, (THETA_OF_FIGURE_4,), setting=setting)
                        for line in LINES_OF_FIGURE_4
                    ]
        return jobs

    def _job(
        self,
        dataset: str,
        line: str,
        seed: int | None,
        limits: Mapping[str, Any],
        thetas: tuple[str, ...],
        *,
        setting: str = "",
    ) -> Job:
        kind, how = LINES[line]
        method = kind(**{**how, **limits})

        def work(control: Any) -> list[Figure]:
            with progress.reporting(progress.Silent()):  # the steps of single runs would only flicker
                found = self._measured(dataset, line, seed, method, thetas, setting, control)
            control[DONE] += 1
            return found

        return work

    def _measured(
        self,
        dataset: str,
        line: str,
        seed: int | None,
        method: JoiningMethod,
        thetas: tuple[str, ...],
        setting: str,
        control: Any,
    ) -> list[Figure]:
        """Make a table and ask it; where there is none, the figures say so."""
        tables = self.tables[dataset]
        # Where no seed is told the method draws nothing, and any keys do.
        more = {"complete": tables.complete} if line == MPALM else {}
        try:
            made = method.apply(tables.originals, keys=keys_of(seed or 0), **more)
        except GuaranteeViolated:
            metrics = [GROUPS, *(error_of(kind) for kind in KINDS)]
            return [Figure(dataset, line, seed, setting, metric, None, NOTHING) for metric in metrics]
        found = [Figure(dataset, line, seed, setting, GROUPS, float(made.account["groups"]))]
        return found + self._errors(dataset, line, seed, made.table, thetas, setting, control)

    def _errors(
        self,
        dataset: str,
        line: str,
        seed: int | None,
        table: JoinedTable,
        thetas: tuple[str, ...],
        setting: str,
        control: Any,
    ) -> list[Figure]:
        found: list[Figure] = []
        for kind in KINDS:
            for theta in thetas:
                if control[STOP]:
                    return found
                error = self.questions[kind, theta].error(table)
                found.append(Figure(dataset, line, seed, setting or at(theta), error_of(kind), error))
        return found

    def _one_group(self, control: Any) -> list[Figure]:
        """Ask the table that shows nothing but the sensitive values: what any other has to beat."""
        originals = self.tables[ADULT].originals
        table = one_group(originals)
        found = []
        for dataset in self.tables:
            found.append(Figure(dataset, ONE_GROUP, None, "", GROUPS, 1.0))
            found += self._errors(dataset, ONE_GROUP, None, table, self.plan.thetas, "", control)
        for (kind, theta), asked in self.questions.items():
            found.append(Figure(ADULT, ONE_GROUP, None, at(theta), held_by(kind), asked.held))
        control[DONE] += 1
        return found


def one_group(originals: Any) -> JoinedTable:
    """Return the joined table of all common users as one group."""
    schema = originals.schema
    common = originals.existing("a") & originals.existing("b")
    cells = np.array([[one.cells for one in schema.attributes]], dtype=np.int32)
    counts = np.bincount(originals.sensitive()[common], minlength=schema.sensitive.cells).astype(np.int64)
    return JoinedTable(schema, np.zeros_like(cells), cells, counts[None])


def keys_of(seed: int) -> Keys:
    """Return the keys of both providers' dummy streams that a seed stands for."""
    a, b = (hashlib.sha256(f"setveil reproduce site-presence {side} {seed}".encode()).digest() for side in "ab")
    return Keys(a, b)
