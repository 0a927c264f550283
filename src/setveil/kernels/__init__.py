"""Compiled loops that several parts of the package share, and the one place that compiles."""
