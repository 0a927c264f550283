"""What the studio refuses, with the status of the response."""

from __future__ import annotations

from typing import ClassVar

from setveil.errors import ExitCode, SetveilError


class Refusal(SetveilError):
    """A request is refused; nothing was changed."""

    exit_code = ExitCode.UNUSABLE
    status: ClassVar[int] = 400


class BadRequest(Refusal):
    """The content of a request is not what is expected."""


class NoToken(Refusal):
    """The request carries no token, or a wrong one."""

    status = 401


class NotAllowed(Refusal):
    """The role does not allow this, or the request comes from another site."""

    status = 403


class NotFound(Refusal):
    """There is no such thing, or it belongs to another user."""

    status = 404


class WrongMethod(Refusal):
    """The address does not take requests of this kind."""

    status = 405


class TooSlow(Refusal):
    """The request did not arrive in time."""

    status = 408


class WrongState(Refusal):
    """What is asked for is not possible now, such as the result of a job that runs."""

    status = 409


class TooLarge(Refusal):
    """The request is too large, or all uploads together would be."""

    status = 413


class WrongHost(Refusal):
    """The header Host is not a name of this studio."""

    status = 421


class NoSpace(Refusal):
    """The disk of the studio is full."""

    status = 507
