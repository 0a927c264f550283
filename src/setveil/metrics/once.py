"""Results that several metrics need, each computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class Once:
    """Remembers the results of functions of itself."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}

    def once(self, work: Callable[..., Result], *given: Any) -> Result:
        """Return `work(self, *given)`, computed at the first call."""
        key = (work, *given)
        if key not in self._made:
            self._made[key] = work(self, *given)
        result: Result = self._made[key]
        return result
