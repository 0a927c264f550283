"""Papers whose experiments can be run again: one module a paper, its tables and figures beside ours."""

from __future__ import annotations

PAPERS = {
    "tendency-swapping": "gunawan2019: hiding what a person leans to by swapping items. Figures 3 to 6, and a verdict on each claim.",
}
"""The name of each paper on the command line, and a line about it."""
