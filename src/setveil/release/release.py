"""A release: checked data to share, and the private facts about them. `Release.save` is the only way to write one.

`save` writes both folders to a temporary place, reads the files again and checks the guarantee on them. Only then do the folders appear
under their names. If the check fails, it raises and nothing is written.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.attacks.findings import Findings
from setveil.base import progress
from setveil.base.display import ShownTable, quantity, to_html
from setveil.base.verdict import Verdict
from setveil.data.forms.base import DataPlace, Ids
from setveil.data.records.alignment import Alignment
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter, GuaranteeViolated, Missing, OutputRefused
from setveil.parameters.item_names import NO_NAMES, ItemNames
from setveil.parameters.names_found import NamesFound
from setveil.release.card import Card, DataFile, FileBeside, Run, make_card
from setveil.release.documents import write_card
from setveil.release.dossier import (
    ALIGNMENT_NAME,
    DOSSIER_NAME,
    REPORT_NAME,
    commitment,
    dossier_text,
    make_dossier,
    report_text,
)
from setveil.release.kept import Kept, kept
from setveil.release.recounting import RECOUNT_NAME, recount_text
from setveil.release.saving import DataFileFormat, Packing, Target
from setveil.release.seed import Randomness
from setveil.release.summary import Summary, singled_out
from setveil.release.truthfulness import find_untrue, with_truth

if TYPE_CHECKING:
    from setveil.base.advice import Advice
    from setveil.data.forms.base import Published
    from setveil.data.forms.disassociated import Disassociated
    from setveil.methods.base import Method
    from setveil.metrics.base import Measurement
    from setveil.release.context import Context
    from setveil.release.job import Job
    from setveil.release.publication import Publication
    from setveil.release.register import RegisteredRelease
from setveil.release.registrar import Registrar


@dataclass(frozen=True)
class Terms:
    """The conditions of a release besides its method."""

    ids: Ids
    allow_failures: int = 0
    distinct_labels: bool = False
    """Whether labels that look alike are different items."""


@dataclass(frozen=True, eq=False)
class Release:
    """Checked data to share, and the private facts about them; `publish` returns it.

    Attributes
    ----------
    data
        The released data, in their published form.
    verdict
        The result of the check; None for a baseline.
    method
        The method, with its parameters as they were used.
    terms
        What was done with ids, and how many failures are allowed.
    original
        The data that the release was made from. Private.
    alignment
        The original record of each released row. Private.
    randomness
        The seed and everything derived from it. Private.
    account, advice
        The method's own report, and what it suggests if a guarantee was not reached. Private.
    seconds
        The duration of each step.
    before
        The verdict of the same guarantee on the original, if it is meaningful. Private.
    measurements
        What the metrics found. Private.
    source, reading
        Where the data were read from, and with which options. Private.
    compared
        The data that the metrics compare with; None if a release was made from a release without its original. Private.
    findings
        What attacks found. Private.
    names
        For each list of items or itemsets that the method was given: how many of them occur in the original. Private.
    item_names
        The names of items that are codes, for the report. Private.
    context
        Who gets the release and what it is for, if the caller said so. Private.
    registrar
        Records the release in a register when it is saved; None without a register. Private.
    tried
        How many set-ups a comparison tried before this one was chosen; None if none was named. Private.
    asked
        The arguments of `publish`. Private.
    target
        Where the release is written, once it is; None before.
    card
        The public card, once the release is written; None before.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1))
    >>> release.verdict.status
    'holds'
    >>> release.sharing
    'may be shared'
    >>> card = release.save("release")
    >>> card.guarantee.statement == release.method.guarantee.statement_for(type(release.data))
    True
    """

    data: Published
    verdict: Verdict | None
    method: Method
    terms: Terms
    original: Transactions | Disassociated = field(repr=False)
    alignment: Alignment = field(repr=False)
    randomness: Randomness = field(repr=False)
    account: dict[str, Any] = field(repr=False)
    advice: Advice = field(repr=False)
    seconds: dict[str, float] = field(repr=False)
    before: Verdict | None = field(default=None, repr=False)
    measurements: list[Measurement] = field(default_factory=list, repr=False)
    findings: Findings = field(default_factory=Findings, repr=False)
    source: str = field(default="", repr=False)
    reading: dict[str, Any] = field(default_factory=dict, repr=False)
    compared: Transactions | None = field(default=None, repr=False)
    names: tuple[NamesFound, ...] = field(default=(), repr=False)
    item_names: ItemNames = field(default=NO_NAMES, repr=False)
    context: Context | None = field(default=None, repr=False)
    registrar: Registrar | None = field(default=None, repr=False)
    tried: dict[str, Any] | None = field(default=None, repr=False)
    asked: Publication = field(kw_only=True, repr=False)
    target: Target | None = field(default=None, init=False, repr=False)
    card: Card | None = field(default=None, init=False, repr=False)

    @cached_property
    def kept(self) -> Kept:
        """What the release keeps of its original, or of the release that it was made from if the original is not given."""
        against = self.original if self.compared is None else self.compared
        return kept(against, self.data, self.alignment, getattr(self.method, "sensitive", None))

    @cached_property
    def singled_out(self) -> dict[str, Any] | None:
        """The shares of records that two known items single out, before and after; None if the form has no whole records."""
        return singled_out(self.data.plain, self.original.plain)

    @cached_property
    def summary(self) -> Summary:
        """Three lines: what holds and for how many records, what it costs, and what is not protected."""
        return Summary.of(self)

    def _repr_html_(self) -> str:
        """Show only what is published, nothing from the original or the private folder."""
        counts = self.data.totals()
        settings = [f"{name}={value}" for name, value in self.method.public_parameters().items()]
        rows = [
            ("form", self.data.form_title),
            ("records", counts.records),
            ("items", counts.items),
            ("occurrences", counts.occurrences),
            ("ids", self.terms.ids),
            ("settings", ", ".join(settings) or "none"),
            ("guarantee", "none" if self.verdict is None else str(self.verdict)),
            ("sharing", self.sharing),
        ]
        return to_html(ShownTable(rows, title=f"Release by {self.method.name}", note="release.save(FOLDER) writes it."))

    @property
    def registered(self) -> RegisteredRelease | None:
        """The entry in the register, once the release is saved; None without a register."""
        return None if self.registrar is None else self.registrar.recorded

    @property
    def sharing(self) -> str:
        """A short text on whether the release folder may be shared."""
        if self.verdict is None:
            return "no guarantee: do not share it as protected data"
        return "an experiment: do not share it" if self.randomness.seed.weak else "may be shared"

    @property
    def job(self) -> Job:
        """What makes this release again, as a job file holds it; the seed is in it only if you gave one.

        Raises `Missing` if the data were given in Python and not read from a file.
        """
        from setveil.release.job import Job  # noqa: PLC0415 - only for jobs

        return Job.of_release(self)

    def save_job(self, file: str | Path, *, force: bool = False) -> None:
        """Write the job of this release to a file, which `run` runs again. It can hold a seed and sensitive names: keep it private.

        Parameters
        ----------
        file
            The file to write, such as `job.toml`. Relative paths in it start from its folder.
        force
            Replace an existing file.

        Raises
        ------
        Missing
            If the data were given in Python and not read from a file.
        OutputRefused
            If the file exists and `force` is not set, or cannot be written.
        """
        self.job.save(file, force=force)

    @property
    def rows(self) -> Transactions:
        """The released rows as plain records; raises `BadParameter` if the form has none."""
        if self.data.plain is None:
            raise BadParameter(
                f"this release is {self.data.form_title}, whose rows are not whole records; use `release.data`"
            )
        return self.data.plain

    def save(
        self,
        out: str | Path,
        *,
        private: str | Path | None = None,
        format: str | None = None,  # noqa: A002 - the word people use
        separator: str | None = None,
        compress: Packing | None = None,
        file_records: int | None = None,
        force: bool = False,
    ) -> Card:
        """Write the release folder and the private folder; the guarantee is checked again on the written files.

        Parameters
        ----------
        out, private
            The folders to write; the private folder is `OUT.private` by default.
        format
            The format of the data file, with an extension if it has several, such as `long.parquet`; by default the format of the data, or
            one that can hold ids.
        separator
            What separates items or columns in the data file.
        compress
            `gzip` or `zstd`.
        file_records
            Write files of at most this number of records each, `data-00001` and so on, if there are more; by default one file.
        force
            Replace the folders of an earlier release.

        Returns
        -------
        Card
            The public card, as it was written.

        Raises
        ------
        GuaranteeViolated
            If the guarantee does not hold on the written files, or not together with other releases in the register. Nothing is left
            behind.
        OutputRefused
            If a folder exists and `force` is not set, or cannot be written.
        BadParameter
            If the format cannot hold the release.
        """
        chosen = {"format": format, "separator": separator, "compress": compress, "file_records": file_records}
        target = Target.of(out, private, **chosen, force=force)
        target.refuse()
        return self.save_as(target, target.data_format(self.method, self.original, self.terms.ids))

    def save_as(self, target: Target, written: DataFileFormat) -> Card:
        """Save the release with a target and a format that were chosen before the work started."""
        written.refuse_unfit(self.data.totals().empty_records, self.terms.ids)
        form, (file, *further) = written.form, self.data.files(written.file_name, written.file_records)
        with (
            nullcontext() if self.registrar is None else self.registrar.entering(self, target) as entry,
            target.folders(nullcontext if entry is None else entry.recording) as (public_folder, private_folder),
        ):
            started = time.perf_counter()
            place = DataPlace(public_folder, file, form, written.layout, tuple(further))
            with progress.step("writing"):
                self.data.write_to(place)
                self.alignment.save(private_folder / ALIGNMENT_NAME)
            reread = type(self.data).read_from(place, self.data.unit)
            realigned = Alignment.load(private_folder / ALIGNMENT_NAME)
            if reread != self.data:
                raise OutputRefused(
                    f"the written file does not read back as the same data. This is a bug in the format {form.name!r}: report it, and "
                    "choose another format"
                )
            verdict = judge(reread, self.original, realigned, self.method, self.terms, self.account, self.advice)
            stated = make_card(
                self.method,
                verdict,
                form=reread.form_name,
                data=DataFile(
                    **FileBeside.of(public_folder / file).model_dump(),
                    format=form.name,
                    format_version=form.version,
                    layout=reread.public_layout(place),
                    ids=self.terms.ids,
                    beside=tuple(FileBeside.of(public_folder / name) for name in further),
                ),
                counts=reread.totals(),
                unit=reread.unit,
                run=Run(self.randomness.run, self.randomness.seed.weak, self._private_sha256()),
                findings=self.findings,
            )
            card = write_card(stated, public_folder)
            registered = None if entry is None else entry.noted(card)
            seconds = self.seconds | {"writing and checking": time.perf_counter() - started}
            dossier = make_dossier(self, card, verdict, seconds, registered) | {"job": self._job_for_repeating(target)}
            (private_folder / DOSSIER_NAME).write_text(dossier_text(dossier), encoding="utf-8")
            (private_folder / REPORT_NAME).write_text(report_text(dossier), encoding="utf-8")
            recount = recount_text(self, reread, target, written, file)
            (private_folder / RECOUNT_NAME).write_text(recount, encoding="utf-8")
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "card", card)
        return card

    def _job_for_repeating(self, target: Target) -> dict[str, Any] | None:
        """Return the job with the seed of this run and absolute paths; None if the data were not read from a file."""
        from setveil.release.job import Job  # noqa: PLC0415 - it imports what writes a release

        try:
            job = Job.of_release(self, target).with_seed(self.randomness.seed.value)
        except Missing:
            return None
        return job.with_paths(lambda place: str(Path(place).absolute())).to_dict()

    def _private_sha256(self) -> str:
        """Return the commitment on the card, so that the parameters of the guarantee cannot be changed later."""
        guarantee = self.method.guarantee
        of_guarantee = {} if guarantee is None else guarantee.private_parameters()
        return commitment(self.method.private_parameters(), of_guarantee, self.randomness.salt)


def judge(
    published: Published,
    original: Transactions | Disassociated,
    alignment: Alignment,
    method: Method,
    terms: Terms,
    account: dict[str, Any],
    advice: Advice,
) -> Verdict | None:
    """Check the guarantee, and whether the release is as true as its card states.

    Raises `GuaranteeViolated` unless both hold, or the guarantee fails for no more records than allowed.
    """
    guarantee = method.guarantee
    made_from: Any = original  # the guarantee checks the form itself
    verdict = None
    if guarantee is not None:
        with progress.step(f"checking {guarantee.name}"):
            verdict = guarantee.check(published, original=made_from, alignment=alignment)
        if not verdict.acceptable(terms.allow_failures):
            message = f"{guarantee.name} is {verdict.status}; nothing was written. {advice or verdict}"
            raise GuaranteeViolated(message, verdict=verdict, account=account, advice=advice)
    found = find_untrue(published, method.truthful, made_from, alignment)
    if found.cases:
        statement = f"{method.name} states that its releases are truthful: {method.truthful}"
        message = (
            f"{statement}, which is wrong in {quantity(found.cases, 'case')}, the first at {found.witnesses[0].place}; nothing was "
            "written. This is a bug in the method: report it, and choose another method"
        )
        judged = with_truth(verdict or Verdict("holds", "no guarantee", {}), found, statement)
        raise GuaranteeViolated(message, verdict=judged, account=account)
    return verdict
