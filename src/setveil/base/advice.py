"""Why a method did not reach its guarantee, and what to do: a text for people, with its parts for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Advice(str):
    """A text that is also available in parts; empty if there is nothing to say.

    Attributes
    ----------
    reason : str
        Why the guarantee was not reached.
    remedies : tuple of str
        What to do; each of them may help. Python arguments are in backticks.
    bounds : dict
        The bounds that were computed, by name.

    Examples
    --------
    >>> advice = Advice("The item is too frequent.", ["choose a smaller p", "name fewer items"], {"largest-p": 3})
    >>> print(advice)
    The item is too frequent. Choose a smaller p, or name fewer items.
    >>> advice.remedies
    ('choose a smaller p', 'name fewer items')
    """

    __slots__ = ("bounds", "reason", "remedies")
    reason: str
    remedies: tuple[str, ...]
    bounds: dict[str, Any]

    def __new__(cls, reason: str = "", remedies: Sequence[str] = (), bounds: Mapping[str, Any] | None = None) -> Self:
        """Join the parts to a text."""
        advice = super().__new__(cls, " ".join(filter(None, [reason, _sentence(remedies)])))
        advice.reason, advice.remedies, advice.bounds = reason, tuple(remedies), dict(bounds or {})
        return advice


def _sentence(remedies: Sequence[str]) -> str:
    """Return the remedies as one sentence: do this, do that, or do something else."""
    if not remedies:
        return ""
    *others, last = remedies
    text = f"{', '.join(others)}, or {last}" if others else last
    return f"{text[0].upper()}{text[1:]}."
