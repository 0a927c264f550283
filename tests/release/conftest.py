"""Fixtures of tests of releases."""

from changed_releases import folder, made  # noqa: F401 - pytest finds fixtures by their names
