"""Releases whose rows are true: the rows of a record show together all that any of them shows.

The joint view has one row per original record: the union of the labels in its rows. Of nodes of a hierarchy only the lowest are kept: a
node says nothing more once an item below it is shown. The view must satisfy every guarantee with its own parameters, by the same check as
for one release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.data.records.ragged import among, distinct, owner_of, starts_of
from setveil.data.records.transactions import Transactions
from setveil.guarantees.km_anonymity import KmAnonymity
from setveil.guarantees.rho_uncertainty import RhoUncertainty
from setveil.guarantees.together.base import JointDefinition, Linked, different_guarantees, stated_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.base.verdict import Verdict
    from setveil.parameters.hierarchy import Hierarchy


class JointRows(JointDefinition):
    """The joint view of true rows satisfies the guarantee of each release."""

    title = "joint view of rows"
    statement = (
        "Each record shows what any of its rows shows, and of nodes only the lowest; these joint rows must satisfy the guarantee of "
        "every release."
    )
    kinds: ClassVar[tuple[type[Any], ...]] = (KmAnonymity, RhoUncertainty)

    @classmethod
    def covers(cls, release: Linked) -> bool:
        """Return whether the rows are true records and the guarantee is checked on rows."""
        return isinstance(release.guarantee, cls.kinds) and release.data.rows_are_records and release.truthful != "no"

    @classmethod
    def groups(cls, releases: Sequence[Linked]) -> Iterator[tuple[Linked, ...]]:
        """Yield the releases with the same hierarchy, each time with those without one."""
        trees = [tree_of(release) for release in releases]
        plain = [release for release, tree in zip(releases, trees, strict=True) if tree is None]
        different: list[Hierarchy | None] = []
        for tree in trees:
            if tree is not None and tree not in different:
                different.append(tree)
        for chosen in different or [None]:
            same = [one for one, tree in zip(releases, trees, strict=True) if tree is not None and tree == chosen]
            if len(same) + len(plain) > 1:
                yield tuple(release for release in releases if release in same or release in plain)

    @classmethod
    def check(cls, releases: Sequence[Linked], original: Transactions) -> Iterator[Verdict]:
        """Check each different guarantee on the joint view."""
        view: Any = joint_view(releases, original.records)
        for guarantee in different_guarantees(releases, *cls.kinds):
            yield stated_by(guarantee.check(view, original=original), guarantee, releases)


def tree_of(release: Linked) -> Hierarchy | None:
    """Return the hierarchy of a release; None if it has none."""
    tree: Hierarchy | None = getattr(release.data, "tree", None)
    return tree


def joint_view(releases: Sequence[Linked], records: int) -> Any:
    """Return one row per original record with all that its rows show, in the form of the releases."""
    labels = tuple(dict.fromkeys(label for release in releases for label in release.data.as_records().vocabulary))
    code_of = {label: code for code, label in enumerate(labels)}
    width = max(len(labels), 1)
    shown = distinct(
        np.concatenate([_keys(release.data.as_records(), release.rows, code_of, width) for release in releases])
    )
    form = next((release for release in releases if tree_of(release) is not None), releases[0])
    tree = tree_of(form)
    if tree is not None:
        shown = _lowest(shown, labels, width, tree)
    view = Transactions.from_codes(
        starts_of(shown // width, records), (shown % width).astype(np.int64), labels, unit=form.data.unit
    )
    with_rows: Any = form.data
    return with_rows.with_rows(view)


def _keys(rows: Transactions, record: NDArray[np.int64], code_of: dict[str, int], width: int) -> NDArray[np.int64]:
    """Return the record and the code of each label in the rows, as one number."""
    code = np.array([code_of[label] for label in rows.vocabulary], dtype=np.int64)
    return record[owner_of(rows.offsets)] * width + code[rows.items] if rows.occurrences else np.empty(0, np.int64)


def _lowest(shown: NDArray[np.int64], labels: tuple[str, ...], width: int, tree: Hierarchy) -> NDArray[np.int64]:
    """Return the keys without those of nodes above another label of the same record."""
    number_of = {node: number for number, node in enumerate(tree.nodes)}
    number = np.array([number_of.get(label, -1) for label in labels], dtype=np.int64)
    code_of_node = np.full(len(tree.nodes), -1, dtype=np.int64)
    code_of_node[number[number >= 0]] = np.flatnonzero(number >= 0)
    parents = np.asarray(tree.parents, dtype=np.int64)
    record, at = shown // width, number[shown % width]
    above = [np.empty(0, np.int64)]
    while len(at):
        at = np.where(at >= 0, parents[at], -1)
        record, at = record[at >= 0], at[at >= 0]
        known = code_of_node[at] >= 0
        above.append(record[known] * width + code_of_node[at[known]])
    return shown[~among(shown, distinct(np.concatenate(above)))]
