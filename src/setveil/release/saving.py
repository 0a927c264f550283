"""Choose where a release is written and in which format, before the work starts."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from setveil.base.atomic import make_folder_beside_copy, make_two_folders, refuse_two_folders
from setveil.base.progress import note
from setveil.data.files.packing import PACKINGS
from setveil.data.formats import Layout
from setveil.data.formats.record_tables import RecordTable
from setveil.errors import BadData, BadParameter, OutputRefused
from setveil.parameters.hierarchy import Hierarchy
from setveil.release.card import CARD_NAME
from setveil.release.dossier import DOSSIER_NAME, private_beside
from setveil.release.object_store import StoredFolder, is_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from setveil.data.forms.base import Ids, Published
    from setveil.data.forms.own_format import DataFormat
    from setveil.methods.base import Method

Packing = Literal["gzip", "zstd"]


@dataclass(frozen=True)
class DataFileFormat:
    """How the data file of a release is written."""

    form: DataFormat
    extension: str
    layout: Layout
    compress: Packing | None = None
    file_records: int | None = None
    """The largest number of records in a file; None for one file."""

    def __post_init__(self) -> None:
        form, ending = self.form, self.extension
        if ending not in form.extensions:
            raise BadParameter(
                f"the extension is {ending!r}; allowed for the format {form.name!r} is {' | '.join(form.extensions)}"
            )
        if self.compress is not None and self.compress not in PACKINGS.values():
            raise BadParameter.not_among("compress", self.compress, PACKINGS.values())
        if self.compress is not None and not form.packable(ending):
            raise BadParameter(f"a {ending} file is compressed internally; remove `compress={self.compress!r}`")
        if self.file_records is not None and self.file_records < 1:
            raise BadParameter(f"`file_records=` is {self.file_records}; allowed is a whole number of at least 1")
        if self.file_records is not None and not form.can_be_divided:
            raise BadParameter(
                f"data of the format {form.name!r} are one file; remove `file_records=`, or choose another format"
            )

    @property
    def file_name(self) -> str:
        """The name of the data file, if it is not divided."""
        packed = {kind: suffix for suffix, kind in PACKINGS.items()}
        return "data" + self.extension + (packed[self.compress] if self.compress else "")

    def refuse_unfit(self, empty_records: int, ids: Ids) -> None:
        """Refuse a format that cannot hold the release."""
        name = self.form.name
        if ids != "drop" and not self.form.holds_ids(self.layout):
            raise BadParameter(f"the format {name!r} has no column for ids; choose another format, or `ids='drop'`")
        if ids == "drop" and self.form.ids == "required":
            raise BadParameter(f"the format {name!r} needs an id per row; choose another format, or `ids='pseudonym'`")
        if empty_records and not self.form.holds_empty_records:
            raise BadData(
                f"the format {name!r} cannot hold the {empty_records:,} empty records; read the data with `empty='drop'`"
            )


@dataclass(frozen=True)
class Target:
    """Where to write a release, and the options of its format."""

    out: Path
    private: Path
    format: str | None = None
    """A format, with an extension if it has several, such as `long.parquet`; by default the format of the data."""
    separator: str | None = None
    compress: Packing | None = None
    file_records: int | None = None
    force: bool = False
    address: str = ""
    """Where the release is copied to, for an object store; `out` is then a folder that is never made."""

    @classmethod
    def of(cls, out: str | Path, private: str | Path | None = None, **options: object) -> Target:
        """Return a target; its private folder is beside the release folder by default."""
        if is_address(out):
            if private is None or is_address(private):
                raise BadParameter(
                    f"`out={str(out)!r}` is in an object store; name a folder of this machine for the private folder with `private=`"
                )
            kept = Path(private)
            never = kept.with_name(f".{kept.name}.setveil-{secrets.token_hex(6)}")
            return cls(never, kept, address=str(out), **options)  # type: ignore[arg-type]
        place = Path(out)
        return cls(place, Path(private) if private is not None else private_beside(place), **options)  # type: ignore[arg-type]

    def refuse(self) -> None:
        """Refuse existing folders; `force` allows replacing the folders of a release only."""
        refuse_targets(self.out, self.private, force=self.force)
        if self.address:
            StoredFolder(self.address).refuse(force=self.force)

    def refuse_scratch(self, scratch: str | Path | None) -> None:
        """Refuse a scratch folder in a folder of the release: original data of a run that was killed would remain beside the release."""
        place = None if scratch is None else Path(scratch).resolve()
        for folder in (self.out, self.private):
            if place is not None and (folder.resolve() == place or folder.resolve() in place.parents):
                raise OutputRefused(
                    f"the scratch folder {scratch} is in {folder}, a folder of the release; choose another one with `scratch=`"
                )

    @property
    def shown(self) -> str:
        """The release folder, as the user named it."""
        return self.address or str(self.out)

    @contextmanager
    def folders(self, recording: Callable[[], AbstractContextManager[None]]) -> Iterator[tuple[Path, Path]]:
        """Yield hidden folders for the release and the private folder; let both appear after the block, inside `recording`, or none."""
        if not self.address:
            with make_two_folders(self.out, self.private, force=self.force, recording=recording) as made:
                yield made
            return
        store = StoredFolder(self.address)
        with (
            store.discarding(),
            make_folder_beside_copy(
                self.private, force=self.force, recording=recording, finishing=store.complete
            ) as made,
        ):
            yield made
            store.upload(made[0])

    def data_format(self, method: Method, data: Published, ids: Ids) -> DataFileFormat:
        """Return the format of the data file: the chosen one, the format of the data, or one that can hold the ids and all labels."""
        form = method.form
        source = getattr(data, "source", None)
        layout = Layout() if source is None else source.layout
        extension: str | None = None
        if self.format:
            name, dot, ending = self.format.partition(".")
            chosen, extension = form.format_named(name), dot + ending or None
        elif source is None or source.format.name not in form.formats() or not source.format.holds_any_items:
            chosen = form.format_named(_default_format(method, data, ids))
        else:
            chosen, extension = source.format, source.extension
            fits = chosen.holds_ids(layout) if ids != "drop" else chosen.ids != "required"
            if not fits:
                needed = _default_format(method, data, ids)
                note(f"the format {chosen.name!r} does not support `ids={ids!r}`; the release is written as {needed!r}")
                chosen = form.format_named(needed)
            elif self.separator is None and any(chosen.why_unwritable(label, layout) for label in _nodes(method)):
                needed = "list" if ids == "drop" else "long"
                note(
                    f"the format {chosen.name!r} cannot hold the names of all groups; the release is written as {needed!r}"
                )
                chosen = form.format_named(needed)
            if extension not in chosen.extensions:
                extension = None
        if source is None or chosen is not source.format:
            # The separator of items in one format can be the separator of columns in another.
            columns = None if source is None or isinstance(source.format, RecordTable) else layout.items
            layout = replace(layout, separator=None, ragged=False, no_header=False, items=columns)
        if ids == "drop":
            layout = replace(layout, id=None)  # a reader would look for the column
        if self.separator is not None:
            layout = replace(layout, separator=self.separator)
        if self.file_records is not None and not form.can_be_divided:
            raise BadParameter(f"the rows of {form.form_title} are not divided into files; remove `file_records=`")
        found = DataFileFormat(
            chosen, extension or chosen.extensions[0], layout, self.compress, file_records=self.file_records
        )
        found.refuse_unfit(data.empty_records, ids)
        return found


def _default_format(method: Method, data: Published, ids: Ids) -> str:
    """Return the name of the default format of a release."""
    name = method.form.default_format(ids)
    labels = (*data.vocabulary, *_nodes(method))
    has_blanks = name == "basket" and any(len(label.split()) > 1 for label in labels)
    return "list" if has_blanks else name  # a basket file separates items by blanks


def _nodes(method: Method) -> Iterator[str]:
    """Yield the names that a release can hold beside those of the data: the nodes of the hierarchies of a method."""
    for name in type(method).model_fields:
        if isinstance(value := getattr(method, name), Hierarchy):
            yield from value.nodes


def refuse_targets(out: Path, private: Path, *, force: bool) -> None:
    """Refuse existing folders before the work starts; `force` allows replacing the folders of a release only."""
    refuse_two_folders(out, private, force=force)
    for folder, mark in ((out, CARD_NAME), (private, DOSSIER_NAME)):
        if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
            raise OutputRefused(
                f"{folder} is not a folder of a release (it has no {mark}) and is not replaced; choose another folder"
            )
