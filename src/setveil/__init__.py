"""Publish set-valued data so that people stay protected and the data stays useful."""

from __future__ import annotations

__version__ = "0.1.0"
