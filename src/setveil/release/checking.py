"""Check a release again, in another process or by another person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base import progress
from setveil.base.verdict import MOST_WITNESSES, Verdict, Witness
from setveil.catalog import GUARANTEES, named
from setveil.data.records.alignment import BATCH_ROWS
from setveil.data.records.look_alikes import LookAlikes
from setveil.data.records.ragged import are_distinct, pieces
from setveil.errors import BadData, Missing
from setveil.parameters.item_names import as_item_names
from setveil.parameters.names_found import SHOWN_IN_ERRORS, NameList, names_found, refuse_look_alikes
from setveil.release.card import CARD_NAME, Card, file_sha256
from setveil.release.inputs import as_opened, original_of, private_of
from setveil.release.provenance import with_draw
from setveil.release.truthfulness import find_untrue, with_truth

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions
    from setveil.guarantees.base import Guarantee
    from setveil.release.dossier import Private
    from setveil.release.inputs import Reading
    from setveil.release.opening import Opened


@dataclass(frozen=True, eq=False)
class Evidence:
    """A release with its private folder and its original, as a check needs them."""

    opened: Opened
    private: Private | None
    original: Any

    @classmethod
    def found(
        cls,
        release: Any,
        kind: type[Guarantee] | None = None,
        *,
        original: Any = None,
        private: str | Path | Private | None = None,
        format: str | None = None,  # noqa: A002 - the word people use
        reading: Reading | None = None,
    ) -> Evidence:
        """Open a release and find its private folder and its original.

        `format` applies to a data file without a card. A form that the guarantee does not cover is refused before anything else.
        """
        takes = {} if kind is None else {"takes": kind.takes}
        opened = as_opened(release, format=format, reading=reading, **takes)
        beside = private_of(opened, private)
        if kind is not None:
            kind.refuse_other_form(opened.data)
        return cls(opened, beside, None if original is None else original_of(original, beside, reading))

    def check(
        self,
        guarantee: Guarantee | None = None,
        *,
        distinct_labels: bool = False,
        names: Mapping[str, str] | str | Path | None = None,
    ) -> Verdict:
        """Check the guarantee on the card, or the given one; witnesses have the names of items that are codes."""
        item_names = as_item_names(names, self.opened.data)
        verdict = check_release(
            self.opened,
            guarantee_of(self.opened, self.private) if guarantee is None else guarantee,
            original=self.original,
            private=self.private,
            distinct_labels=distinct_labels,
        )
        return item_names.in_verdict(verdict)


def check(
    release: Any,
    *,
    guarantee: Guarantee | None = None,
    original: Any = None,
    private: str | Path | Private | None = None,
    release_format: str | None = None,
    reading: Reading | None = None,
    distinct_labels: bool = False,
    names: Mapping[str, str] | str | Path | None = None,
) -> Verdict:
    """Check the guarantee of a release again.

    The check reads the release again. It shares no code with the method and relies on no earlier result.

    Parameters
    ----------
    release
        A release folder, a data file without a card together with `guarantee`, or the result of `open_release`.
    guarantee
        The guarantee to check; by default the one on the card.
    original
        The data that the release was made from, or a path to read them from. A file is read with the options that the dossier holds.
    private
        The private folder; by default `RELEASE.private` beside the release, if it exists.
    release_format
        The format of a data file without a card, if its extension does not determine it.
    reading
        Options of `read` for the files; by default those that the dossier holds.
    distinct_labels
        Treat labels that look alike as different items.
    names
        The names of items that are codes, or a file with them as for `read_names`; the texts of witnesses show them beside the codes.

    Returns
    -------
    Verdict
        Truthy if the guarantee holds. Otherwise it counts the violations and has witnesses.

    Raises
    ------
    Missing
        If the check needs the original, the private folder or `guarantee`, and none is given or found.
    BadData
        If a file cannot be read, is not the one that was published, or belongs to another release.
    BadParameter
        If the guarantee does not apply to the form of the release.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release")
    >>> print(sv.check("release"))
    km-anonymity: holds for 4 of 4 records
    """
    kind = None if guarantee is None else type(guarantee)
    evidence = Evidence.found(release, kind, original=original, private=private, format=release_format, reading=reading)
    return evidence.check(guarantee, distinct_labels=distinct_labels, names=names)


def guarantee_of(opened: Opened, private: Private | None) -> Guarantee:
    """Return the guarantee on the card, with its private parameters from the private folder."""
    if opened.card is None:
        raise Missing(f"{opened.folder} is a bare file without a card; name the guarantee to check with `guarantee=`")
    stated = opened.card.guarantee
    if stated.name is None:
        raise Missing("the card names no guarantee; name one to check with `guarantee=`")
    kind = named("guarantee", GUARANTEES, stated.name)
    hidden = [p.name for p in kind.parameters() if not p.public]
    if hidden and private is None:
        raise Missing(
            f"{kind.name} needs its private parameters ({', '.join(hidden)}): name the private folder with `private=`"
        )
    parameters = dict(stated.parameters)
    if private is not None and hidden:
        noted = private.dossier["guarantee"]
        if noted is None or noted["name"] != kind.name:
            raise BadData("belongs to a release with another guarantee", file=str(private.folder))
        private.refuse_other_run(opened.card)
        parameters |= {name: noted["parameters"][name] for name in hidden}
    guarantee = kind(**parameters)
    if private is None:
        return guarantee
    lists = {name: getattr(guarantee, name) for name in hidden if private.names_occurred(name)}
    occurred = {name: names.known_to_have_occurred() for name, names in lists.items() if isinstance(names, NameList)}
    return guarantee.model_copy(update=occurred)


def check_release(
    opened: Opened,
    guarantee: Guarantee,
    *,
    original: Transactions | None = None,
    private: Private | None = None,
    distinct_labels: bool = False,
) -> Verdict:
    """Check a guarantee on a release folder.

    A label that looks like a named one is refused, unless `distinct_labels` is set here or was set when the release was made, which the
    private folder records.
    """
    guarantee.refuse_other_form(opened.data)
    if "original" in guarantee.needs and original is None:
        raise Missing(f"{guarantee.name} compares the release with its original: name it with `original=`")
    if "alignment" in guarantee.needs and private is None:
        raise Missing(
            f"{guarantee.name} compares rows with their original records: name the private folder with `private=`"
        )
    if private is not None:
        refuse_other_release(opened, private)
    if private is not None and original is not None:
        private.refuse_other_original(original)
    _note_missing_names(guarantee, opened, original)
    if not (distinct_labels or (private is not None and private.distinct_labels)):
        labels = dict.fromkeys(opened.data.labels_shown)
        if original is not None:
            labels |= dict.fromkeys(original.vocabulary)
        refuse_look_alikes(guarantee, LookAlikes.among(labels))
    with progress.step(f"checking {guarantee.name}"):
        verdict = guarantee.check(
            opened.data, original=original, alignment=None if private is None else private.alignment
        )
    if private is None:
        return verdict
    if original is not None:
        verdict = _with_truth(verdict, opened, original, private)
    verdict = _with_names(verdict, opened, original, private)
    return with_draw(verdict, opened, original, private) if guarantee.rests_on_draw else verdict


def _note_missing_names(guarantee: Guarantee, opened: Opened, original: Transactions | None) -> None:
    """Print a note about names that do not occur: they may be misspelt."""
    if original is None:
        where, found = "release", names_found(guarantee, opened.data)
    else:
        where, found = "original", names_found(guarantee, original)
    for one in found:
        if one.missing:
            progress.note(f"{one.sentence(where)}; not there: {one.missing_items(SHOWN_IN_ERRORS)}")


def refuse_other_release(opened: Opened, private: Private) -> None:
    """Refuse a release that the private folder does not belong to: another run, another file or another card.

    `open_release` has already compared the checksums on the card with the files.
    """
    card, noted = opened.card, private.card
    private.refuse_other_run(card or noted)
    published = noted.data.checksums
    if card is None:
        other = None if file_sha256(opened.folder) in published.values() else opened.folder
    else:
        there = card.data.checksums.items()
        other = next((opened.folder / name for name, sha256 in there if published.get(name) != sha256), None)
    if other is not None:
        raise BadData(
            f"is not the file that was published: its sha256 differs from the one in {private.folder}; use the file as it was "
            "published, or name the private folder of this release",
            file=str(other),
        )
    different = [name for name in Card.model_fields if card is not None and getattr(card, name) != getattr(noted, name)]
    if different:
        raise BadData(
            f"differs from the card noted in {private.folder} in: {', '.join(different)}; "
            "it was changed, or the private folder belongs to another release. Use the card as it was published",
            file=str(opened.folder / CARD_NAME),
        )


def _with_truth(verdict: Verdict, opened: Opened, original: Any, private: Private) -> Verdict:
    """Compare the rows with their original records, to the extent that the card states that they are true."""
    truthful = private.card.truthful
    found = find_untrue(opened.data, truthful, original, private.alignment)
    file = opened.folder if opened.card is None else opened.folder / opened.card.data.file
    return with_truth(verdict, found, f"the card states truthful: {truthful} for {file}")


def _with_names(verdict: Verdict, opened: Opened, original: Transactions | None, private: Private) -> Verdict:
    """Check the alignment against the ids of the rows: the seed gives the pseudonym of every record, the original every kept id.

    Without this check, a completely wrong alignment could make an unchanged file pass as hidden.
    """
    rows, ids = private.alignment.rows, private.card.data.ids
    n, data = len(rows), opened.plain
    if data is None or n != data.records or data.ids is None or (n and (rows.min() < 0 or rows.max() >= n)):
        return verdict
    if ids == "pseudonym":
        kind, (names, places) = "not-the-pseudonym", _pseudonyms(private, rows)
    elif ids == "keep" and original is not None and original.ids is not None and original.records == n:
        kind, names, places = "not-the-id", original.ids, rows
    else:
        return verdict
    differs = np.zeros(n, dtype=np.bool_)
    for part in pieces(n, BATCH_ROWS):
        found = pc.not_equal(names.take(pa.array(places[part])), data.ids[part])
        differs[part] = found.to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(differs)
    if not len(wrong):
        return verdict
    detail = f"its {kind.removeprefix('not-the-')} is not that of the record it is aligned with"
    witnesses = tuple(Witness(kind, f"released row {row + 1:,}", detail, int(row)) for row in wrong[:MOST_WITNESSES])
    return verdict.with_violations(kind, len(wrong), witnesses)


def _pseudonyms(private: Private, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    """Return pseudonyms and the place among them of the one that each released row must have.

    A record with several rows has a pseudonym for each, in the order of the rows.
    """
    names = private.pseudonyms(len(rows))
    if are_distinct(rows, len(rows)):
        return names, rows
    order = np.argsort(rows, kind="stable")
    table = pa.table({"record": rows[order], "name": names})
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = pc.sort_indices(table, sort_keys=[("record", "ascending"), ("name", "ascending")])
    return names, place
