"""The facts about a comparison: the data, the division of the people, the task and everything else that is measured."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from setveil.catalog import METRICS, named
from setveil.errors import BadParameter
from setveil.metrics.base import Metric
from setveil.parameters.texts import settings_in
from setveil.release.dossier import program_versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.base.declaration import Declaration
    from setveil.comparison.trials import Asked, Bench
    from setveil.data.records.transactions import Transactions

COMPARISON_VERSION: Final = 1


def facts_of(
    data: Transactions, source: str, bench: Bench, task: str | Metric, measured: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the facts about a comparison as plain values; `measured` is what results of other runs must have in common."""
    kind = _metric_kind(task)
    return {
        "comparison_version": COMPARISON_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": program_versions(),
        "data": {
            "source": source,
            "checksum": data.checksum(),
            "records": data.records,
            "unit": data.unit,
            "used": bench.train.records,
            "held_out": 0 if bench.held_out is None else bench.held_out.records,
        },
        "measured": dict(measured),
        "task": {"name": kind.name, **{name: getattr(kind, name) for name in ("title", "unit", "better", "formula")}},
    }


def described(asked: Asked) -> dict[str, Any]:
    """Return the task, the metrics and the attacks as plain values, with the content of the files that they name."""
    return {
        "task": _described(asked.task),
        "metrics": [_described(one) for one in asked.metrics],
        "attacks": [_described(one) for one in asked.attacks],
        "targets": asked.targets,
    }


def _described(one: str | Declaration) -> Any:
    return one if isinstance(one, str) else {"name": one.name, **one.model_dump(mode="json")}


def higher_is_better(task: str | Metric) -> bool:
    """Return whether a higher figure of the task is better."""
    return _metric_kind(task).better == "higher"


def refuse_undirected(task: str | Metric) -> None:
    """Refuse a task of which neither a higher nor a lower figure is better."""
    kind = _metric_kind(task)
    if kind.better == "like the original":
        raise BadParameter(
            f"the task is {kind.name}, of which neither more nor less is better; choose another metric, such as ease"
        )


def _metric_kind(task: str | Metric) -> type[Metric]:
    return type(task) if isinstance(task, Metric) else named("metric", METRICS, settings_in(task)[0])
