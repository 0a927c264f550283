"""A comparison of the protocol with other methods in a trial; nothing is published."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.errors import GuaranteeViolated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setveil.metrics.base import Metric
    from setveil.presence.methods.base import JoiningMethod, Keys
    from setveil.presence.policy import Policy
    from setveil.presence.tables.originals import Originals


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The result of one method."""

    name: str
    groups: int | None = None
    """None if the method could not reach its guarantees."""
    errors: list[float | None]
    """One value per metric."""
    promises: str = ""
    """Each guarantee with its verdict, as text."""
    seconds: float = 0.0
    reason: str = ""
    """Why the method made no table, if it made none."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def compare_methods(
    kinds: Iterable[type[JoiningMethod]],
    policy: Policy,
    originals: Originals,
    keys: Keys,
    metrics: Sequence[Metric],
) -> list[Compared]:
    """Run methods with the limits of a policy, check the guarantees of each, and measure its table."""
    methods = [_with_limits(kind, policy) for kind in kinds]
    return [_compared(method, originals, keys, metrics) for method in methods]


def _with_limits(kind: type[JoiningMethod], policy: Policy) -> JoiningMethod:
    """Return a method with the limits of the policy that it declares; the protocol runs in the clear, which gives the same groups."""
    limits = policy.changed(backend="clear").method.model_dump(mode="json")
    return kind(**{p.name: limits[p.name] for p in kind.parameters() if p.name in limits})


def _compared(method: JoiningMethod, originals: Originals, keys: Keys, metrics: Sequence[Metric]) -> Compared:
    began = time.perf_counter()
    with progress.step(f"running {method.name}"):
        try:
            outcome = method.apply(originals, keys=keys)
        except GuaranteeViolated as error:
            return Compared(name=method.name, errors=[None] * len(metrics), reason=str(error))
    seconds = time.perf_counter() - began
    verdicts = [one.check(outcome.table, original=originals, alignment=outcome.groups) for one in method.guarantees]
    with progress.step(f"measuring {method.name}"):
        errors = [metric(originals, outcome.table).value for metric in metrics]
    return Compared(
        name=method.name,
        groups=outcome.table.groups,
        errors=errors,
        promises=", ".join(f"{one.guarantee} {one.status}" for one in verdicts),
        seconds=seconds,
    )
