"""The protocol beside the methods it is compared with, in a trial; nothing is published."""

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
    """What came of one method."""

    name: str
    groups: int | None = None
    """None where the method could not keep what it promises."""
    errors: list[float | None]
    """One figure per metric."""
    promises: str = ""
    """Each guarantee with the verdict."""
    seconds: float = 0.0
    reason: str = ""
    """Why there is no table."""

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
    """Run methods with the limits of a policy, check what each promises, and measure."""
    methods = [_with_limits(kind, policy) for kind in kinds]
    return [_compared(method, originals, keys, metrics) for method in methods]


def _with_limits(kind: type[JoiningMethod], policy: Policy) -> JoiningMethod:
    """Make a method with those limits of the policy that it knows; the protocol in the clear, whose groups are the same."""
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
