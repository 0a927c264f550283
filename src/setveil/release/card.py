"""The public card of a release: a whitelist. A value that is not a field here cannot be published."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from setveil import __version__
from setveil.catalog import FORMS
from setveil.data.forms.base import Counts
from setveil.errors import BadData
from setveil.release import CARD_NAME as CARD_NAME  # noqa: PLC0414 - the modules of releases take it from here

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.attacks.base import Finding
    from setveil.attacks.findings import Findings
    from setveil.base.verdict import Verdict
    from setveil.data.records.transactions import Unit
    from setveil.guarantees.base import Guarantee
    from setveil.methods.base import Method

JOINED: Final = "joined"
"""The form of a joined table of two providers, which has a different card."""
CARD_VERSION: Final = 3
"""Version 1 has no run id, no commitment to the private parameters and no reach; it is still opened and checked by its own rules. Version 3
adds the number of bytes of each file and the documents beside the card."""

_PEOPLE_TEXTS = {
    "person": "protects people: every person has one record",
    "record": "protects records: a person with several records is not covered",
}
_ITEMSET_TEXTS = {
    "person": "protects itemsets, not people; every person has one record",
    "record": "protects itemsets, not people; a person can have several records",
}
_BASELINE_TEXTS = {
    "person": "protects nobody; every person has one record",
    "record": "protects nobody; a person can have several records",
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileBeside(_Part):
    """A further file of the release, beside the data file."""

    file: str
    sha256: str
    bytes: int | None = None
    """None in versions 1 and 2."""

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the entry of a file."""
        return cls(file=path.name, sha256=file_sha256(path), bytes=path.stat().st_size)


class DataFile(_Part):
    """The data file of a release and how to read it."""

    file: str
    sha256: str
    bytes: int | None = None
    """None in versions 1 and 2."""
    format: str
    format_version: int
    layout: dict[str, str | bool]
    ids: Literal["pseudonym", "keep", "drop"]
    beside: tuple[FileBeside, ...] = ()

    @property
    def checksums(self) -> dict[str, str]:
        """The sha256 of the data file and of every file beside it."""
        return {one.file: one.sha256 for one in self.every_file}

    @property
    def every_file(self) -> tuple[FileBeside, ...]:
        """The data file and every file beside it."""
        return (FileBeside(file=self.file, sha256=self.sha256, bytes=self.bytes), *self.beside)


class CardReach(_Part):
    """How many records of the release the guarantee covers (docs/decisions/0022)."""

    covered: int
    total: int
    unit: str


class CardGuarantee(_Part):
    """The guarantee that was checked on the file; `name` is None for a baseline."""

    name: str | None
    parameters: dict[str, Any]
    statement: str
    failures: int
    reach: CardReach | None = None
    """None for a baseline, where the total is private, and in version 1."""
    published_unchanged: int | None = Field(
        None, validation_alias=AliasChoices("published_unchanged", "published_as_they_are")
    )
    """None if the guarantee does not count them; version 1 calls it `published_as_they_are` and counts fewer."""
    attacker: str
    singling_out: str
    linking: str
    inference: str
    not_covered: tuple[str, ...]
    inferable: tuple[str, ...] = ()
    """Private parameters that the release reveals, in whole or in part; version 1 does not name them."""


class Recipe(_Part):
    """The method and its public parameters."""

    name: str
    parameters: dict[str, Any]


class CardAttack(_Part):
    """An attack that was run when the release was published; what it found is private."""

    name: str
    parameters: dict[str, Any]
    targets: int | None
    """Maximum number of guesses; None if the attack makes all guesses that there are."""
    limit: Literal["met", "not met"] | None = None
    """Whether the finding is within the limit of the owner; None if there was no limit."""


class Card(_Part):
    """The description of a release for its recipients."""

    card_version: Literal[1, 2, 3]
    run: str | None = None
    """The id of the run that made the release, also stored in the dossier; None in version 1."""
    private_sha256: str | None = None
    """A salted checksum of all private parameters; the dossier holds the salt. None in version 1."""
    experiment: bool = False
    """Whether the seed is so short that it can be guessed: for experiments only."""
    setveil_version: str
    form: str
    data: DataFile
    documents: tuple[FileBeside, ...] = ()
    """The files that state the card for people and for other programs; empty in versions 1 and 2."""
    counts: Counts
    method: Recipe
    guarantee: CardGuarantee
    attacks: tuple[CardAttack, ...] = ()
    """The attacks that were run; earlier cards have none."""
    attack_limit: float | None = None
    """The highest excess of an attack over its control that the owner accepts; None if there is no limit."""
    truthful: Literal["yes", "subset", "no"]
    unit: Literal["person", "record"]
    unit_in_words: str

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """Refuse a card since version 2 without its run id or its commitment: both are compared with the dossier."""
        if (self.card_version == 1) != (self.run is None) or (self.run is None) != (self.private_sha256 is None):
            raise ValueError("a card since version 2 has run and private_sha256, and a card of version 1 has neither")
        return self

    @classmethod
    def load(cls, folder: Path) -> Card:
        """Read the card of a release folder.

        Parameters
        ----------
        folder
            The release folder.

        Returns
        -------
        Card
            The card.

        Raises
        ------
        BadData
            If the folder has no card, or one that this version cannot read.
        """
        path = folder / CARD_NAME
        try:
            return cls.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            raise BadData(f"is not a release folder: it has no {CARD_NAME}", file=str(folder)) from None
        except (OSError, ValidationError) as error:
            if read_form(path) == JOINED:
                raise BadData(
                    "is the card of a joined table; use setveil presence check or setveil presence measure",
                    file=str(path),
                ) from None
            first = str(error).splitlines()[0]
            raise BadData(f"is not a card that setveil {__version__} reads ({first})", file=str(path)) from None

    def to_json(self) -> str:
        """Return the card as JSON text."""
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


class Run(NamedTuple):
    """The facts about a run that its card holds."""

    id: str
    experiment: bool
    private_sha256: str | None = None


def read_form(card: Path) -> str | None:
    """Return the form that a card names, for any kind of release; None if it cannot be read."""
    try:
        fields = json.loads(card.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    form = fields.get("form") if isinstance(fields, dict) else None
    return form if isinstance(form, str) else None


def file_sha256(path: Path) -> str:
    """Return the checksum of a file, as the card holds it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_card(
    method: Method,
    verdict: Verdict | None,
    *,
    form: str,
    data: DataFile,
    counts: Counts,
    unit: Unit,
    run: Run,
    findings: Findings,
) -> Card:
    """Create the card from public values only."""
    guarantee = method.guarantee
    if guarantee is None or verdict is None:
        nothing = "not bounded"
        stated = CardGuarantee(
            name=None,
            parameters={},
            statement="no guarantee: this method is a baseline",
            failures=0,
            attacker="can have any background knowledge and is not limited",
            singling_out=nothing,
            linking=nothing,
            inference=nothing,
            not_covered=("everything",),
        )
    else:
        coverage = guarantee.coverage_for(FORMS[form])
        stated = CardGuarantee(
            name=guarantee.name,
            parameters=guarantee.public_parameters(),
            statement=guarantee.statement_for(FORMS[form]),
            failures=verdict.failures,
            reach=_public_reach(guarantee, verdict),
            published_unchanged=verdict.counts.get("published-unchanged"),
            attacker=coverage.attacker,
            singling_out=coverage.singling_out,
            linking=coverage.linking,
            inference=coverage.inference,
            not_covered=coverage.not_covered,
            inferable=method.inferable_parameters(),
        )
    return Card(
        card_version=CARD_VERSION,
        run=run.id,
        private_sha256=run.private_sha256,
        experiment=run.experiment,
        setveil_version=__version__,
        form=form,
        data=data,
        counts=counts,
        method=Recipe(name=method.name, parameters=method.public_parameters()),
        guarantee=stated,
        attacks=tuple(_public_attack(one, findings.limit) for one in findings if one.was_run),
        attack_limit=findings.limit,
        truthful=method.truthful,
        unit=unit,
        unit_in_words=_unit_texts(guarantee)[unit],
    )


def _public_reach(guarantee: Guarantee, verdict: Verdict) -> CardReach | None:
    """Return the reach if it counts records, which the release shows; the number of named itemsets stays private."""
    reach = verdict.reach
    if reach is None or guarantee.protects != "people":
        return None
    return CardReach(covered=reach.covered, total=reach.total, unit=reach.unit)


def _public_attack(found: Finding, limit: float | None) -> CardAttack:
    """Return which attack was run and whether its limit is met, without a figure; an attack without a result does not meet a limit."""
    met = None if limit is None else "not met" if found.main is None or found.exceeds(limit) else "met"
    return CardAttack(name=found.name, parameters=found.parameters, targets=found.targets, limit=met)


def _unit_texts(guarantee: Guarantee | None) -> dict[str, str]:
    """Return the texts about what a release protects, by the unit of its data."""
    if guarantee is None:
        return _BASELINE_TEXTS
    return _PEOPLE_TEXTS if guarantee.protects == "people" else _ITEMSET_TEXTS
