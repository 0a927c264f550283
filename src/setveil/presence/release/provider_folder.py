"""The private folder of a provider after a joint run: groups, openings and costs. Never share it.

::

    run.json          role, hashes, versions, verdicts of the checks that the provider can make alone, costs
    groups.parquet    id -> group, and its part in the failed cut of the group if the provider owned that cut
    boxes.parquet     group -> path from the root, intervals of the provider's own attributes
    openings.jsonl    everything that the secure computation revealed
    report.html       a report with the same content, after a run over a network
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from setveil import __version__
from setveil.errors import BadData
from setveil.presence.tables.originals import SideGroups
from setveil.release.dossier import REPORT_NAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.parties import ProviderResult
    from setveil.presence.policy import Policy
    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable

RUN_NAME = "run.json"
GROUPS_NAME = "groups.parquet"
BOXES_NAME = "boxes.parquet"
OPENINGS_NAME = "openings.jsonl"
NAMES = frozenset({RUN_NAME, GROUPS_NAME, BOXES_NAME, OPENINGS_NAME, REPORT_NAME})
"""The names of all files in such a folder."""


@dataclass(frozen=True, eq=False, repr=False)
class ProviderFolder:
    """The content of a provider's private folder."""

    run: dict[str, Any]
    groups: SideGroups
    ways: tuple[str, ...]
    failed_lower: NDArray[np.int8]
    openings: tuple[dict[str, Any], ...]


def run_record(
    role: str, policy: Policy, table: ProviderTable, population: Population, result: ProviderResult
) -> dict[str, Any]:
    """Return the content of `run.json`."""
    return {
        "run_version": 1,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "setveil": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "cryptography", "pynacl")},
        },
        "role": role,
        "policy_sha256": policy.sha256,
        "population_sha256": population.sha256,
        "population": len(population),
        "data_sha256": table.checksum(),
        "users": len(table),
        "release_sha256": result.sha256,
        "method": policy.method.model_dump(mode="json"),
        "verdicts": [verdict.to_dict() for verdict in result.verdicts],
        "openings": result.divided.openings.counts(),
        "costs": result.costs.to_dict(),
    }


def write_provider_folder(
    folder: Path, role: str, policy: Policy, table: ProviderTable, population: Population, result: ProviderResult
) -> dict[str, Any]:
    """Write all files into an existing empty folder; return the content of `run.json`."""
    divided = result.divided
    failed = pa.array(divided.failed_lower == 1, mask=divided.failed_lower < 0)
    pq.write_table(
        pa.table({"id": population.ids, "group": divided.groups.group_of, "failed_lower": failed}), folder / GROUPS_NAME
    )
    boxes = {
        "group": np.arange(divided.groups.groups),
        "way": [way.decode() for way in divided.ways],
        "lows": list(divided.groups.lows),
        "highs": list(divided.groups.highs),
    }
    pq.write_table(pa.table(boxes), folder / BOXES_NAME)
    divided.openings.save(folder / OPENINGS_NAME)
    record = run_record(role, policy, table, population, result)
    (folder / RUN_NAME).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def _reason(error: Exception) -> str:
    """Return what is wrong with a folder, without any value of the data."""
    if isinstance(error, OSError):
        return (
            f"{Path(error.filename).name}: {error.strerror}"
            if error.filename and error.strerror
            else "a file cannot be read"
        )
    return "one of its files is damaged"


def read_provider_folder(folder: Path, role: str, population: Population) -> ProviderFolder:
    """Read a private folder; refuse one of another role or population."""
    try:
        run = json.loads((folder / RUN_NAME).read_text(encoding="utf-8"))
        stored = run["role"], run["population_sha256"]
        groups = pq.read_table(folder / GROUPS_NAME)
        boxes = pq.read_table(folder / BOXES_NAME)
        failed = groups.column("failed_lower").combine_chunks().cast(pa.bool_())
        side = SideGroups(
            groups.column("group").combine_chunks().cast(pa.int64()).to_numpy(),
            np.array(boxes.column("lows").to_pylist(), dtype=np.int32),
            np.array(boxes.column("highs").to_pylist(), dtype=np.int32),
        )
        ways = tuple(boxes.column("way").to_pylist())
        with (folder / OPENINGS_NAME).open(encoding="utf-8") as file:
            openings = tuple(json.loads(line) for line in file)
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise BadData(
            f"is not the private folder of a provider after a run ({_reason(error)})", file=str(folder)
        ) from None
    if stored[0] != role:
        raise BadData(
            f"is the private folder of provider {str(stored[0]).upper()}; expected that of provider {role.upper()}",
            file=str(folder),
        )
    if stored[1] != population.sha256 or len(side.group_of) != len(population):
        raise BadData("belongs to a run with another population; name the population of that run", file=str(folder))
    if len(side.group_of) and not -1 <= int(side.group_of.min()) <= int(side.group_of.max()) < side.groups:
        raise BadData(
            f"contains an id whose group does not exist; {GROUPS_NAME} and {BOXES_NAME} are from different runs",
            file=str(folder),
        )
    lower = np.full(len(population), -1, dtype=np.int8)
    known = failed.is_valid().to_numpy(zero_copy_only=False)
    lower[known] = failed.drop_null().to_numpy(zero_copy_only=False)
    return ProviderFolder(run, side, ways, lower, openings)
