"""Check the guarantees of a joined release again, with or without the private data of the providers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.errors import BadData, Missing
from setveil.presence.catalog import GUARANTEES
from setveil.presence.release.provider_folder import read_provider_folder
from setveil.presence.release.release import stated_guarantees
from setveil.presence.tables.originals import BothGroups, Originals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.base.verdict import Verdict
    from setveil.presence.release.release import OpenedJoined
    from setveil.presence.table_source import TableSource


@dataclass(frozen=True)
class ProviderSide:
    """The private data of a provider after a run, for `check_joined`.

    Parameters
    ----------
    table : TableSource
        The table that the provider used in the run.
    private : str or Path
        The provider's private folder of the run.

    Examples
    --------
    >>> import setveil as sv
    >>> side = sv.ProviderSide(sv.TableSource(place="trial/a.csv"), "joined.private/a")
    >>> side.private
    'joined.private/a'
    """

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
    """Check the guarantees on the card of a joined release, as far as the given data allow.

    Parameters
    ----------
    opened : OpenedJoined
        The release, from `open_joined`.
    population : TableSource, optional
        The ids of all people; required with `a` or `b`.
    a, b : ProviderSide, optional
        The private data of provider A and provider B. With neither, only k-anonymity is checked, as the collector can do. With one, the
        half of that provider is checked too. With both, everything is checked.

    Returns
    -------
    list of Verdict
        One verdict per guarantee that was checked.

    Raises
    ------
    Missing
        `population` is missing, or no guarantee can be checked without the data of a provider.
    BadData
        The card states an unknown guarantee, or a private folder or a table belongs to another run.

    Examples
    --------
    >>> import tempfile
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> originals, keys = sample(people=2000).originals, sv.Keys(b"a" * 16, b"b" * 16)
    >>> method = sv.DummyUsers(max_a="0.95", min_a="0.05", max_b="0.95", min_b="0.05", backend="clear")
    >>> policy = sv.Policy(method, originals.schema, originals.population.sha256)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = sv.publish_trial(policy, originals, keys, f"{folder}/joined")
    ...     [verdict.status for verdict in sv.check_joined(sv.open_joined(f"{folder}/joined"))]
    ['holds']
    """
    originals: Originals | None = None
    groups: BothGroups | None = None
    sides = {role: side for role, side in (("a", a), ("b", b)) if side is not None}
    if sides:
        if population is None:
            raise Missing("`population=` is missing; give the ids of all people, which both providers have")
        originals, groups = _read(opened, population, sides)
    verdicts = []
    for guarantee in stated_guarantees(opened.card, dict(GUARANTEES)):
        if "original" in guarantee.needs and originals is None:
            continue
        with progress.step(f"checking {guarantee.name}"):
            verdicts.append(guarantee.check(opened.table, original=originals, alignment=groups))
    if not verdicts:
        raise Missing(
            "the guarantees on the card cannot be checked on the release alone; give the table and the private folder of a provider "
            "(`a=`, `b=`)"
        )
    return verdicts


def _read(
    opened: OpenedJoined, population: TableSource, sides: Mapping[str, ProviderSide]
) -> tuple[Originals, BothGroups]:
    """Return the tables and groups of the providers; refuse a private folder that belongs to another release or table."""
    people, schema = population.population(), opened.table.schema
    tables, groups = {}, {}
    for role, side in sides.items():
        tables[role] = side.table.table(role, schema, people)
        stored = read_provider_folder(Path(side.private), role, people)
        if stored.run.get("release_sha256") != opened.card.data.sha256:
            raise BadData(
                "belongs to a run that published another table; name the private folder of this release",
                file=str(side.private),
            )
        if stored.run.get("data_sha256") != tables[role].checksum():
            raise BadData(
                "is not the table of the run; name the table that the provider used in the run", file=side.table.place
            )
        groups[role] = stored.groups
    return Originals(schema, people, **tables), BothGroups(**groups)
