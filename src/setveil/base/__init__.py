"""Shared foundations: declarations, argument checks, verdicts, progress, display tables and atomic files."""
