"""The methods, guarantees and metrics for joined tables, as `setveil.catalog` lists those for records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.catalog import Table
from setveil.presence import guarantees, methods, metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.guarantees.base import Guarantee
    from setveil.metrics.base import Metric
    from setveil.presence.methods.base import JoiningMethod

METHODS: Mapping[str, type[JoiningMethod]] = Table.of(methods)

GUARANTEES: Mapping[str, type[Guarantee]] = Table.of(guarantees)

METRICS: Mapping[str, type[Metric]] = Table.of(metrics)
