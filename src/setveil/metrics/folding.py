"""Figures that are the same: of one metric in several settings, or of several metrics that measure the same on these data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.metrics.base import Measurement


class SameFigures(list["Measurement"]):
    """Measurements with the same value and unit, of which no detail differs."""

    @property
    def title(self) -> str:
        """The titles of the measurements; settings of the same metric are listed behind its name."""
        settings: dict[str, list[str]] = {}
        for one in self:
            settings.setdefault(one.name, []).append(one.settings)
        return ", ".join(
            f"{name} ({' and '.join(filter(None, listed))})" if any(listed) else name
            for name, listed in settings.items()
        )

    @property
    def details(self) -> dict[str, Any]:
        """The details of all measurements."""
        return {name: value for one in self for name, value in one.details.items()}

    def take(self, other: Measurement) -> bool:
        """Add a measurement that shows the same figure; return whether it does."""
        first, known = self[0], self.details
        same = (other.value, other.unit, other.remark) == (first.value, first.unit, first.remark)
        if not same or any(known.get(name, value) != value for name, value in other.details.items()):
            return False
        self.append(other)
        return True


def folded(measurements: Iterable[Measurement]) -> list[SameFigures]:
    """Return the figures of measurements, each once; measurements without a value are omitted.

    Examples
    --------
    >>> from setveil.metrics.base import Measurement
    >>> measured = [Measurement("kl", 0.5, "nats", "lower"), Measurement("symmetric-kl", 0.5, "nats", "lower")]
    >>> [one.title for one in folded(measured)]
    ['kl, symmetric-kl']
    """
    found: list[SameFigures] = []
    for one in measurements:
        if one.value is not None and not any(same.take(one) for same in found):
            found.append(SameFigures([one]))
    return found
