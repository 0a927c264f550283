"""Checking a joined table again, alone or with what the providers kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.errors import BadData, Missing
from setveil.presence.catalog import GUARANTEES
from setveil.presence.release.provider_folder import read_provider_folder
from setveil.presence.release.release import promised
from setveil.presence.tables.originals import BothGroups, Originals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.base.verdict import Verdict
    from setveil.presence.release.release import OpenedJoined
    from setveil.presence.table_source import TableSource


@dataclass(frozen=True)
class ProviderSide:
    """What a provider has after a run: its table, and the private folder of the run."""

    table: TableSource
    private: str | Path


@check_arguments
def check_joined(
    opened: OpenedJoined,
    *,
    population: TableSource | None = None,
    a: ProviderSide | None = None,
    b: ProviderSide | None = None,
) -> list[Verdict]:
    """Check what the card of a joined release promises, as far as what is at hand allows.

    Parameters
    ----------
    opened
        What `open_joined` returned.
    population
        The ids of all people, which goes with what providers kept.
    a, b
        What the providers kept, one of them or both. Without them k-anonymity is checked alone, as the collector can.

    Examples
    --------
    >>> sv.check_joined(sv.open_joined("joined"))  # doctest: +SKIP
    """
    originals: Originals | None = None
    groups: BothGroups | None = None
    sides = {role: side for role, side in (("a", a), ("b", b)) if side is not None}
    if sides:
        if population is None:
            raise Missing("`population=` is missing: the ids of all people, which both providers know")
        originals, groups = _read(opened, population, sides)
    verdicts = []
    for guarantee in promised(opened.card, dict(GUARANTEES)):
        if "original" in guarantee.needs and originals is None:
            continue
        with progress.step(f"checking {guarantee.name}"):
            verdicts.append(guarantee.check(opened.table, original=originals, alignment=groups))
    if not verdicts:
        raise Missing(
            "what the card promises needs the table and the private folder of a provider, or of both, to be checked"
        )
    return verdicts


def _read(
    opened: OpenedJoined, population: TableSource, sides: Mapping[str, ProviderSide]
) -> tuple[Originals, BothGroups]:
    """Read tables and groups; a private folder must be of this release and of this table."""
    people, schema = population.population(), opened.table.schema
    tables, groups = {}, {}
    for role, side in sides.items():
        tables[role] = side.table.table(role, schema, people)
        kept = read_provider_folder(Path(side.private), role, people)
        if kept.run.get("release_sha256") != opened.card.data.sha256:
            raise BadData("is of a run that published another table", file=str(side.private))
        if kept.run.get("data_sha256") != tables[role].checksum():
            raise BadData("is not the table that the run was made from", file=side.table.place)
        groups[role] = kept.groups
    return Originals(schema, people, **tables), BothGroups(**groups)
