"""What pages and the API take from a request."""

from __future__ import annotations

from starlette.requests import Request

from setveil.studio.studio import Studio
from setveil.studio.users import User


def studio_of(request: Request) -> Studio:
    """Return the studio."""
    studio: Studio = request.app.state.studio
    return studio


def user_of(request: Request) -> User:
    """Return who asks; the guard has refused requests of others."""
    user: User = request.state.user
    return user


def is_closing(request: Request) -> bool:
    """Return whether the server stops."""
    return bool(request.app.state.is_closing())
