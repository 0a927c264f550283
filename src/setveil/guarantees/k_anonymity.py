"""k-anonymity of a joined table: nobody's quasi-identifiers are shown by fewer than k records."""

from __future__ import annotations

from setveil.declaration import Declaration, parameter


class GroupLimit(Declaration):
    """How large and how mixed a group is at least."""

    k: int = parameter(2, ge=1, le=1_000_000, public=True, description="Records of a group at least.")
    l: int = parameter(  # noqa: E741 - what l-diversity calls it
        1, ge=1, le=1_000, public=True, description="Different sensitive values among the records of a group at least."
    )
