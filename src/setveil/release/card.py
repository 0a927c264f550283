"""The public card of a release: a whitelist. What is not a field here cannot be handed over."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from setveil import __version__
from setveil.catalog import FORMS
from setveil.data.forms.base import Counts
from setveil.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.base.verdict import Verdict
    from setveil.data.records.transactions import Unit
    from setveil.guarantees.base import Guarantee
    from setveil.methods.base import Method

CARD_NAME = "card.json"
JOINED: Final = "joined"
"""The form of a table that two providers joined, whose card is another."""
CARD_VERSION: Final = 2
"""Version 1 has no run, no commitment to the private parameters and no reach; it opens and checks with its own meaning."""

UNIT_IN_WORDS = {
    "person": "protects people: every person has one record",
    "record": "protects records: a person with several records is not covered",
}
ITEMSETS_IN_WORDS = {
    "person": "protects itemsets, not people; every person has one record",
    "record": "protects itemsets, not people; a person may have several records",
}
UNPROTECTED_IN_WORDS = {
    "person": "protects nobody; every person has one record",
    "record": "protects nobody; a person may have several records",
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileBeside(_Part):
    """A file that stands beside the data file."""

    file: str
    sha256: str


class DataFile(_Part):
    """The file of the release and how it is read."""

    file: str
    sha256: str
    format: str
    format_version: int
    layout: dict[str, str | bool]
    ids: Literal["pseudonym", "keep", "drop"]
    beside: tuple[FileBeside, ...] = ()

    @property
    def checksums(self) -> dict[str, str]:
        """The sha256 of the data file and of every file beside it."""
        return {self.file: self.sha256} | {one.file: one.sha256 for one in self.beside}


class CardReach(_Part):
    """How many records of the release the guarantee covers (docs/decisions/0022)."""

    covered: int
    total: int
    unit: str


class Promise(_Part):
    """What was checked on the file; `name` is None where nothing is promised."""

    name: str | None
    parameters: dict[str, Any]
    statement: str
    failures: int
    reach: CardReach | None = None
    """None where nothing is promised, where the total is private, and in version 1."""
    published_unchanged: int | None = Field(
        None, validation_alias=AliasChoices("published_unchanged", "published_as_they_are")
    )
    """None where the guarantee does not count them; version 1 calls it `published_as_they_are` and counts fewer."""
    attacker: str
    singling_out: str
    linking: str
    inference: str
    not_covered: tuple[str, ...]
    inferable: tuple[str, ...] = ()
    """Private parameters that the release itself shows, in whole or in part; version 1 does not name them."""


class Recipe(_Part):
    """The method and its public parameters."""

    name: str
    parameters: dict[str, Any]


class Card(_Part):
    """What a release is, for whoever receives it."""

    card_version: Literal[1, 2]
    run: str | None = None
    """Names the run that made the release, as the dossier does; None in version 1."""
    private_sha256: str | None = None
    """A salted checksum of all private parameters, whose salt is in the dossier; None in version 1."""
    experiment: bool = False
    """Whether the seed is short enough to be guessed: good for experiments, not for a release."""
    setveil_version: str
    form: str
    data: DataFile
    counts: Counts
    method: Recipe
    guarantee: Promise
    truthful: Literal["yes", "subset", "no"]
    unit: Literal["person", "record"]
    unit_in_words: str

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """Refuse a card of version 2 without its run or its commitment, which would switch off the comparison with the dossier."""
        if (self.card_version == 1) != (self.run is None) or (self.run is None) != (self.private_sha256 is None):
            raise ValueError("a card of version 2 has run and private_sha256, and a card of version 1 has neither")
        return self

    @classmethod
    def load(cls, folder: Path) -> Card:
        """Read the card of a release folder."""
        path = folder / CARD_NAME
        try:
            return cls.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            raise BadData(f"is not a release folder: it has no {CARD_NAME}", file=str(folder)) from None
        except (OSError, ValidationError) as error:
            if form_told(path) == JOINED:
                raise BadData(
                    "is the card of a joined table; use setveil presence check or setveil presence measure",
                    file=str(path),
                ) from None
            first = str(error).splitlines()[0]
            raise BadData(f"is not a card that setveil {__version__} reads ({first})", file=str(path)) from None

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


class Run(NamedTuple):
    """What the card says of the run that made the release."""

    id: str
    experiment: bool
    private_sha256: str | None = None


def form_told(card: Path) -> str | None:
    """Return the form that a card tells, of whatever kind of release it is."""
    try:
        told = json.loads(card.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    form = told.get("form") if isinstance(told, dict) else None
    return form if isinstance(form, str) else None


def file_sha256(path: Path) -> str:
    """Return the checksum of a data file, as the card holds it."""
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
) -> Card:
    """Write the card from public values alone."""
    guarantee = method.guarantee
    if guarantee is None or verdict is None:
        nothing = "not bounded"
        promise = Promise(
            name=None,
            parameters={},
            statement="no guarantee: this method promises nothing",
            failures=0,
            attacker="is not held off by anything",
            singling_out=nothing,
            linking=nothing,
            inference=nothing,
            not_covered=("everything",),
        )
    else:
        coverage = guarantee.coverage_for(FORMS[form])
        promise = Promise(
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
        guarantee=promise,
        truthful=method.truthful,
        unit=unit,
        unit_in_words=_in_words(guarantee)[unit],
    )


def _public_reach(guarantee: Guarantee, verdict: Verdict) -> CardReach | None:
    """Return the reach if it counts what the release itself shows: how many itemsets the owner named stays private."""
    reach = verdict.reach
    if reach is None or guarantee.protects != "people":
        return None
    return CardReach(covered=reach.covered, total=reach.total, unit=reach.unit)


def _in_words(guarantee: Guarantee | None) -> dict[str, str]:
    if guarantee is None:
        return UNPROTECTED_IN_WORDS
    return UNIT_IN_WORDS if guarantee.protects == "people" else ITEMSETS_IN_WORDS
