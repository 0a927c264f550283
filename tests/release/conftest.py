"""Fixtures of tests of releases."""

from support.changed_releases import folder, made  # noqa: F401 - pytest finds fixtures by their names
