"""The experiments of takenouchi2012, section V: Figures 2, 3 and 4, on Adult.

Paper    takenouchi2012 (references.bib). Its figures are drawn without numbers, and it has no table of results: only what the text says of
         them can be compared, as ranges such as "almost 10-25%".
Departs  the score runs as printed (entropy of the parts, divided by the largest of the candidates) and in our way, which needs no secure
         division. Limits are kept for B's sensitive attribute too, as Definition 1 has it, and beside that for quasi-identifiers alone.
         The selectivity of queries is read in two ways (`presence_queries`). Extended Mondrian: absent users have a fixed row; the other
         reading, which drops them, and one that retries stand beside.
         Figure 3: B's users are the 6,000 common ones, and 12,162 people are at neither. MPALM sees the complete table.
         Figure 4: limits that all users as one group break are told, since nothing can be published with them.
         Everything runs with the clear backend, in which bits and winners are those of the two-party one.
         Added: the error of a table of one group, other weights of the score, score = own, more candidates, margins.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from setveil.errors import BadParameter
from setveil.kernels.threads import share, with_threads
from setveil.reproduce import presence_lines
from setveil.reproduce.adult import adult_tables
from setveil.reproduce.figures import Figures
from setveil.reproduce.judging import written
from setveil.reproduce.paper import Column, Paper, Reproduction, circumstances
from setveil.reproduce.presence_claims import judge
from setveil.reproduce.presence_lines import (
    ADULT,
    BANDS,
    DOMAIN,
    EVEN,
    GROUPS,
    INSIDE,
    KINDS,
    ONE_GROUP,
    TITLES,
    Plan,
    at,
    error_of,
    held_by,
)
from setveil.reproduce.presence_measuring import Experiment
from setveil.reproduce.sources import data_folder

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.reproduce.adult import AdultTables

PAPER = Paper(
    reference="takenouchi2012",
    titles=TITLES,
    draws=("pair of keys", "pairs of keys"),
    readings=("qi+sa", "qi"),
    second="by quasi-identifiers",
    full="",
    columns=(
        Column("error (domain)", error_of(DOMAIN), by_support=True),
        Column("error (even)", error_of(EVEN), by_support=True),
        Column("groups", GROUPS, form="count"),
    ),
    shown=tuple(at(theta) for theta in Plan((), ()).thetas),
    counted=(("records", "people"), ("users_a", "at A"), ("users_b", "at B"), ("common", "at both")),
)


@with_threads
def reproduce(
    data: str | Path | None = None,
    *,
    full: bool = True,
    seeds: tuple[int, ...] | None = None,
    threads: int | None = None,  # noqa: ARG001 - read by with_threads
    plan: Plan | None = None,
) -> Reproduction:
    """Run the experiments and judge the claims; `full` says whether all limits of Figure 4 with several keys, or a few with one.

    >>> reproduce("../shared/data", full=False).figures.spread("Adult", "mpalm", "groups").mean     # doctest: +SKIP
    2522.0
    """
    chosen = plan or (presence_lines.FULL if full else presence_lines.QUICK)
    if seeds is not None:
        chosen = replace(chosen, seeds=seeds, seeds_of_figure_4=seeds)
    if not chosen.seeds or min(chosen.seeds) < 0:
        raise BadParameter("at least one seed is needed, each a whole number from 0 on")
    started = time.monotonic()
    tables = read_tables(data, chosen)
    jobs = Experiment(tables, chosen).jobs()
    found = share("reproducing", jobs, lambda job, control: job(control), total=len(jobs))
    figures = Figures((figure for part in found for figure in part), seed_column="keys", setting_column="setting")
    records = {name: len(one.originals.population) for name, one in tables.items()}
    verdicts = judge(figures, {"paper": [*tables], "full": []}, records, TITLES)
    held = {
        kind: [figures.spread(ADULT, ONE_GROUP, held_by(kind), at(one)).mean for one in chosen.thetas] for kind in KINDS
    }
    told = {f"held_{kind}": ", ".join(written(share, "share") for share in shares) for kind, shares in held.items()}
    thetas = ", ".join(chosen.thetas)
    about = circumstances(
        chosen.seeds,
        started,
        quick=not full,
        queries=chosen.queries,
        thetas=thetas,
        keys_of_figure_4=len(chosen.seeds_of_figure_4),
        **told,
    )
    more = {"limits": {"least": [*chosen.least], "largest": [*chosen.largest]}, "bands": [*BANDS]}
    return Reproduction(PAPER, [described(name, one) for name, one in tables.items()], figures, verdicts, about, more)


def read_tables(folder: str | Path | None, plan: Plan) -> dict[str, AdultTables]:
    """Deal out Adult as for Figures 2 and 4, and as for Figure 3."""
    place = data_folder(folder)
    deal = partial(adult_tables, place, common=plan.common, only_a=plan.only_a)
    return {ADULT: deal(only_b=plan.only_b), INSIDE: deal(only_b=0)}


def described(name: str, tables: AdultTables) -> dict[str, Any]:
    """Return how many people are where, as plain values."""
    one = tables.originals
    at_a, at_b = one.existing("a"), one.existing("b")
    figure = {ADULT: "Figures 2 and 4", INSIDE: "Figure 3"}[name]
    return {
        "name": name,
        "size": "paper",
        "what": f"census records (UCI Adult) dealt out to two providers, for {figure}",
        "records": len(at_a),
        "users_a": int(at_a.sum()),
        "users_b": int(at_b.sum()),
        "common": int((at_a & at_b).sum()),
        "neither": int((~(at_a | at_b)).sum()),
        "printed": None,
    }
