"""`publish()`: the only door out.

It binds the method, runs it, stages both folders, reads the staged files again, checks the guarantee on what it read, and only then lets
the folders appear. Or it raises and leaves nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from setveil import progress
from setveil.data.alignment import Alignment
from setveil.data.formats import Layout
from setveil.data.look_alikes import LookAlikes, refuse_look_alikes
from setveil.data.names_found import MissingNames, NamesFound, names_found
from setveil.data.packing import PACKINGS
from setveil.data.published import form_in_words
from setveil.data.transactions import Transactions
from setveil.engines.local import LocalEngine
from setveil.errors import BadData, BadParameter, GuaranteeViolated, OutputRefused
from setveil.guarantees.base import Verdict
from setveil.release.card import CARD_NAME, Card, DataFile, FileBeside, Run, file_sha256, make_card
from setveil.release.dossier import ALIGNMENT_NAME, DOSSIER_NAME, REPORT_NAME, commitment, dossier_text, make_dossier
from setveil.release.form import DataFormat, Form, Ids
from setveil.release.forms import form_of
from setveil.release.kept import Kept, kept
from setveil.release.measuring import chosen_metrics, measure_all
from setveil.release.seed import Randomness, Seed
from setveil.release.staging import private_beside, refuse_taken, staged
from setveil.release.summary import Summary
from setveil.release.truthfulness import find_untrue, with_truth

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.disassociated import Disassociated
    from setveil.data.published import Published
    from setveil.engines.base import Engine
    from setveil.methods.base import Method, Outcome
    from setveil.metrics.base import Measurement

Packing = Literal["gzip", "zstd"]


@dataclass(frozen=True)
class Terms:
    """On which terms a release is made, beside the method."""

    ids: Ids
    allow_failures: int = 0
    distinct_labels: bool = False
    """Whether labels that look alike are different items."""


@dataclass(frozen=True, eq=False)
class Release:
    """Data that may be handed over, checked, and apart from it what stays private."""

    data: Published
    verdict: Verdict | None
    """The outcome of the check; None where the method promises nothing."""
    method: Method
    terms: Terms
    original: Transactions | Disassociated = field(repr=False)
    """What it was made from."""
    alignment: Alignment = field(repr=False)
    randomness: Randomness = field(repr=False)
    account: dict[str, Any] = field(repr=False)
    advice: str = field(repr=False)
    seconds: dict[str, float] = field(repr=False)
    before: Verdict | None = field(default=None, repr=False)
    """How the guarantee stood with the original, where that says something."""
    measurements: list[Measurement] = field(default_factory=list, repr=False)
    source: str = field(default="", repr=False)
    compared: Transactions | None = field(default=None, repr=False)
    """What it was measured against, where that is not what it was made from."""
    names: tuple[NamesFound, ...] = field(default=(), repr=False)
    """Of each list of items or itemsets that the method was given, how much of it occurs in the original."""

    @property
    def form(self) -> Form:
        """The form in which the data are published."""
        return form_of(type(self.data))

    @cached_property
    def kept(self) -> Kept:
        """What it keeps of the original, or of the release that it was made from if the original is not given."""
        against = self.original if self.compared is None else self.compared
        return kept(against, self.data, self.alignment, getattr(self.method, "sensitive", None))

    @cached_property
    def summary(self) -> Summary:
        """Three lines: what holds and for how many records, what it cost, what is not protected."""
        return Summary.of(self)

    @property
    def sharing(self) -> str:
        """Whether the release folder may be shared, in a few words."""
        if self.verdict is None:
            return "no guarantee: do not share it as protected data"
        return "an experiment: do not share it" if self.randomness.seed.weak else "may be shared"

    @property
    def rows(self) -> Transactions:
        """The released rows as plain records, of a form that has such."""
        plain = self.form.plain(self.data)
        if plain is None:
            raise BadParameter(f"this release is {self.data.form_in_words}, whose rows are no whole records")
        return plain

    def save(
        self,
        out: str | Path,
        *,
        private: str | Path | None = None,
        format: str | None = None,  # noqa: A002 - the word people use
        layout: Layout | None = None,
        extension: str | None = None,
        compress: Packing | None = None,
        force: bool = False,
    ) -> Card:
        """Write the release folder and the private folder; the guarantee is checked again on the staged files."""
        target = Path(out)
        private_target = Path(private) if private is not None else private_beside(target)
        refuse_targets(target, private_target, force=force)
        kind = self.form
        form = kind.format_named(format or kind.default_format(self.terms.ids))
        layout = layout or Layout()
        refuse_format(form, layout, kind.counts(self.data).empty_records, self.terms.ids)
        file = kind.first_file(data_file_name(form, extension, compress))
        with staged(target, private_target, force=force) as (public_folder, private_folder):
            started = time.perf_counter()
            with progress.step("writing"):
                kind.write(self.data, public_folder, file, form, layout)
                self.alignment.save(private_folder / ALIGNMENT_NAME)
            reread = kind.read(public_folder, file, form, layout, kind.countable(self.data).unit)
            realigned = Alignment.load(private_folder / ALIGNMENT_NAME)
            if reread != self.data:
                raise OutputRefused(
                    f"the written file does not read back as the same data: a fault of the format {form.name!r}"
                )
            verdict = judge(reread, self.original, realigned, self.method, self.terms, self.account, self.advice)
            card = make_card(
                self.method,
                verdict,
                form=kind.name,
                data=DataFile(
                    file=file,
                    sha256=file_sha256(public_folder / file),
                    format=form.name,
                    format_version=form.version,
                    layout=form.public_layout(kind.countable(reread), layout),
                    ids=self.terms.ids,
                    beside=tuple(
                        FileBeside(file=name, sha256=file_sha256(public_folder / name))
                        for name in kind.files_beside(reread, file)
                    ),
                ),
                counts=kind.counts(reread),
                unit=kind.countable(reread).unit,
                run=Run(self.randomness.run, self.randomness.seed.weak, self._private_sha256()),
            )
            (public_folder / CARD_NAME).write_text(card.to_json(), encoding="utf-8")
            seconds = self.seconds | {"writing and checking": time.perf_counter() - started}
            dossier = make_dossier(self, card, verdict, seconds)
            (private_folder / DOSSIER_NAME).write_text(dossier_text(dossier), encoding="utf-8")
            with progress.step("writing the report"):
                from setveil.report.page import render  # noqa: PLC0415 - only when a report is made

                (private_folder / REPORT_NAME).write_text(render(dossier), encoding="utf-8")
        return card

    def _private_sha256(self) -> str:
        """Return what the card commits to, so that nobody can claim another promise later."""
        guarantee = self.method.guarantee
        of_guarantee = {} if guarantee is None else guarantee.private_parameters()
        return commitment(self.method.private_parameters(), of_guarantee, self.randomness.salt)


def publish(
    data: Transactions | Disassociated | Release,
    method: Method,
    *,
    ids: Ids | None = None,
    seed: int | None = None,
    experiment: bool = False,
    allow_failures: int = 0,
    no_guarantee: bool = False,
    engine: Engine | None = None,
    metrics: Iterable[str] | None = None,
    source: str = "",
    original: Transactions | None = None,
    missing_names: MissingNames = "accept",
    distinct_labels: bool = False,
) -> Release:
    """Make a release and check its guarantee, or raise GuaranteeViolated with the verdict.

    It is measured with all metrics, or with those named as `NAME[:param=value,...]`; with an empty list not at all, which saves time
    where nobody reads the report. A release made from disassociated data is measured against `original`, if that is given. Nothing is
    written: `Release.save` does, through the same check on the staged files.

    The same data, method, ids and seed give the same release. A seed below 64 bits can be guessed: it is refused unless `experiment` is
    set, and then the card says so.

    A list of sensitive items, itemsets or rules of which nothing occurs in the data is refused. Where only some of it occurs, the others
    are accepted and stand in `Release.names`; `missing_names="error"` refuses them. A label of the data that looks like a named one, or two
    that look alike and have different categories, are refused unless `distinct_labels` says that they are different items.
    """
    if isinstance(data, Release):  # as its own data can be published again, so can it
        data = cast("Transactions | Disassociated", data.data)
    terms = Terms(resolve_ids(data, ids, type(method)), allow_failures, distinct_labels)
    if not data.records:
        raise BadData("the data has no records: there is nothing to publish")
    if not isinstance(data, method.accepts):
        raise BadParameter(
            f"{method.name} takes {' or '.join(map(form_in_words, method.accepts))}, not {data.form_in_words}"
        )
    if allow_failures < 0:
        raise BadParameter(f"allow-failures is {allow_failures}; allowed is a whole number from 0 on")
    if original is not None and not original.code_of.keys() >= set(data.vocabulary):
        raise BadData(
            "the original lacks items of the release, so the release was not made from it; give the data that it was made from"
        )
    if isinstance(data, Transactions) and not distinct_labels:
        refuse_look_alikes(method, LookAlikes.of(data))
    names = names_found(method, data)
    for found in names:
        found.refuse(missing_names)
    randomness = Randomness.of_run(Seed.of(seed, experiment=experiment), data.checksum(), method, terms.ids)
    rng = randomness.generator()
    taken: Any = data  # a method looks itself at what it accepts
    bound = method.bind(taken, linked=terms.ids != "drop", rng=rng)
    if bound.guarantee is None and not no_guarantee:
        raise BadParameter(f"{method.name} promises nothing; say --no-guarantee if that is what you want")
    if randomness.seed.weak:
        progress.note("the seed has fewer than 64 bits and can be guessed: good for experiments, not for a release")
    started = time.perf_counter()
    outcome = bound.apply(taken, rng=rng, engine=engine or LocalEngine())
    applied = time.perf_counter()
    published, alignment = arrange(taken, outcome, terms.ids, randomness)
    verdict = judge(published, data, alignment, bound, terms, outcome.account, outcome.advice)
    checked = time.perf_counter()
    known = {name: getattr(bound, name) for name in type(bound).model_fields}
    chosen, lacking = chosen_metrics(metrics, known, method.form)
    compared = data if isinstance(data, Transactions) else original
    if compared is None:
        lacking += [type(one).not_computed("needs the original: name it with --original") for one in chosen]
        measurements = lacking
    else:
        measurements = measure_all(compared, published, alignment, chosen) + lacking
    before = None
    if bound.guarantee is not None and metrics is None and isinstance(data, Transactions):
        with progress.step(f"checking {bound.guarantee.name} of the original"):
            before = bound.guarantee.before(data)
    seconds = {
        "method": applied - started,
        "arranging and checking": checked - applied,
        "measuring": time.perf_counter() - checked,
    }
    return Release(
        data=published,
        verdict=verdict,
        method=bound,
        terms=terms,
        original=data,
        alignment=alignment,
        randomness=randomness,
        account=outcome.account,
        advice=outcome.advice,
        seconds=seconds,
        before=before,
        measurements=measurements,
        source=source,
        compared=compared,
        names=names,
    )


def refuse_targets(out: Path, private: Path, *, force: bool) -> None:
    """Refuse targets that exist, before any work is done; with `force` only what a release left may be replaced."""
    refuse_taken(out, private, force=force)
    for folder, mark in ((out, CARD_NAME), (private, DOSSIER_NAME)):
        if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).is_file():
            raise OutputRefused(
                f"{folder} is not what a release left (it has no {mark}), and is not replaced; name another place"
            )


def resolve_ids(data: Transactions | Disassociated, ids: Ids | None, method: type[Method]) -> Ids:
    """Return what happens to ids: pseudonyms where the data has ids and the method is about people, else none, unless said otherwise."""
    has_ids = isinstance(data, Transactions) and data.ids is not None
    if ids is None:
        return "pseudonym" if has_ids and method.about_people else "drop"
    if ids not in ("pseudonym", "keep", "drop"):
        raise BadParameter(f"ids is {ids!r}; allowed is pseudonym | keep | drop")
    form_of(method.form).refuse_ids(ids)
    if ids == "keep" and not has_ids:
        raise BadParameter("the data has no ids to keep; allowed is pseudonym (by record number) or drop")
    return ids


def data_file_name(form: DataFormat, extension: str | None, compress: Packing | None) -> str:
    """Return the name of the data file of a release."""
    ending = extension or form.extensions[0]
    if ending not in form.extensions:
        raise BadParameter(
            f"the ending is {ending!r}; files of the format {form.name!r} end in {' | '.join(form.extensions)}"
        )
    if compress is None:
        return "data" + ending
    packed = {kind: suffix for suffix, kind in PACKINGS.items()}
    if compress not in packed:
        raise BadParameter(f"compress is {compress!r}; allowed is {' | '.join(packed)}")
    if not form.packable(ending):
        raise BadParameter(f"a {ending} file is packed inside; leave out --compress")
    return "data" + ending + packed[compress]


def refuse_format(form: DataFormat, layout: Layout, empty_records: int, ids: Ids) -> None:
    """Refuse a format that cannot hold the release, before any work is done."""
    if ids != "drop" and not form.holds_ids(layout):
        raise BadParameter(
            f"the format {form.name!r} has no column for ids; choose another --release-format, or --ids drop"
        )
    if ids == "drop" and form.ids == "required":
        raise BadParameter(
            f"the format {form.name!r} needs an id a row; choose another --release-format, or --ids pseudonym"
        )
    if empty_records and not form.holds_empty_records:
        raise BadData(
            f"the format {form.name!r} cannot hold the {empty_records:,} empty records; leave them out with --empty drop"
        )


def arrange(data: Transactions, outcome: Outcome, ids: Ids, randomness: Randomness) -> tuple[Published, Alignment]:
    """Put the rows in an order that tells nothing, under the names they will carry, and note where each came from."""
    return form_of(type(outcome.published)).arrange(data, outcome, ids, randomness)


def judge(
    published: Published,
    original: Transactions | Disassociated,
    alignment: Alignment,
    method: Method,
    terms: Terms,
    account: dict[str, Any],
    advice: str,
) -> Verdict | None:
    """Check the guarantee, and whether the release is as true as its card says.

    Raises unless both hold, or the guarantee fails only in as many records as were allowed.
    """
    guarantee = method.guarantee
    made_from: Any = original  # a guarantee looks itself at what it compares with
    verdict = None
    if guarantee is not None:
        with progress.step(f"checking {guarantee.name}"):
            verdict = guarantee.check(published, original=made_from, alignment=alignment)
        if not verdict.acceptable(terms.allow_failures):
            state = "not decided" if verdict.status == "undecided" else "not kept"
            message = f"{guarantee.name} is {state}; nothing was written. {advice or verdict}"
            raise GuaranteeViolated(message, verdict=verdict, account=account)
    found = find_untrue(form_of(type(published)), published, method.truthful, made_from, alignment)
    if found.cases:
        statement = f"{method.name} says that its releases are truthful: {method.truthful}"
        message = (
            f"{statement}, and that is not so in {found.cases:,} cases, the first at {found.witnesses[0].place}; nothing was written. "
            "This is a fault of the method: report it, and choose another one"
        )
        judged = with_truth(verdict or Verdict("holds", "no guarantee", {}), found, statement)
        raise GuaranteeViolated(message, verdict=judged, account=account)
    return verdict
