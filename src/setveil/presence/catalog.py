"""The methods, guarantees and metrics for joined tables, as `setveil.catalog` lists those for records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.catalog import members_of
from setveil.presence import guarantees, methods, metrics

if TYPE_CHECKING:
    from setveil.guarantees.base import Guarantee
    from setveil.metrics.base import Metric
    from setveil.presence.methods.base import JoiningMethod

METHODS: dict[str, type[JoiningMethod]] = members_of(methods)

GUARANTEES: dict[str, type[Guarantee]] = members_of(guarantees)

METRICS: dict[str, type[Metric]] = members_of(metrics)
