"""The backends by name; each is imported only when it is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.presence.libraries import curve, require_mpyc

if TYPE_CHECKING:
    from setveil.presence.channel import Channel
    from setveil.presence.secure.base import CollectorSide, Provider, Session
    from setveil.presence.secure.rules import Rules

EXPERIMENTAL = "experimental cryptography: no outside review"
"""The warning about the two-party core, on the card and in messages."""


def open_session(name: str, role: Provider, rules: Rules, peer: Channel, collector: Channel) -> Session:
    """Return a provider's end of the secure computation."""
    if name == "clear":
        from setveil.presence.secure.clear import ClearSession  # noqa: PLC0415 - only the one that is chosen

        return ClearSession(role, rules, peer, collector)
    if name == "mpyc":
        from setveil.presence.secure.mpyc_session import MpycSession  # noqa: PLC0415 - the same

        return MpycSession(role, rules, peer, collector)
    from setveil.presence.secure.two_party.session import TwoPartySession  # noqa: PLC0415 - the same

    return TwoPartySession(role, rules, peer, collector)


def open_collector_side(name: str, rules: Rules | None, a: Channel, b: Channel) -> CollectorSide:
    """Return the collector's end of the secure computation; it knows `rules` only if it takes part in the computation."""
    if name == "clear":
        from setveil.presence.secure.clear import ClearCollectorSide  # noqa: PLC0415 - only the one that is chosen

        return ClearCollectorSide(a, b)
    if name == "mpyc":
        from setveil.presence.secure.mpyc_session import MpycCollectorSide  # noqa: PLC0415 - the same

        assert rules is not None
        return MpycCollectorSide(a, b, rules)
    from setveil.presence.secure.two_party.collector import TwoPartyCollectorSide  # noqa: PLC0415 - the same

    return TwoPartyCollectorSide(a, b)


def require_backend(name: str) -> None:
    """Raise `Missing` if the libraries of a backend are not installed, before any connection is made."""
    if name == "mpyc":
        require_mpyc()
    elif name == "two-party":
        curve()


def computes_along(name: str) -> bool:
    """Return whether the collector takes part in the computation, and so learns sizes that it does not learn otherwise."""
    return name == "mpyc"
