"""The public card of a joined table: a whitelist, as that of other releases. It names two guarantees and who checked them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from setveil import __version__
from setveil.errors import BadData
from setveil.release.card import CARD_NAME, JOINED, FileBeside, Recipe, form_told

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.guarantees.base import Guarantee
    from setveil.presence.methods.base import JoiningMethod
    from setveil.presence.tables.joined_table import JoinedTable

FORM: Final = JOINED
JOINED_CARD_VERSION: Final = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class JoinedCounts(_Part):
    """Counts of the table itself; none of the providers' tables."""

    records: int
    groups: int
    columns: int


class KeptPromise(_Part):
    """A guarantee that was checked, by whom, and what it does and does not cover."""

    name: str
    parameters: dict[str, Any]
    statement: str
    checked_by: str
    attacker: str
    singling_out: str
    linking: str
    inference: str
    not_covered: tuple[str, ...]


class JoinedCard(_Part):
    """What a joined table is, for whoever receives it."""

    card_version: Literal[1]
    setveil_version: str
    form: Literal["joined"]
    data: FileBeside
    beside: tuple[FileBeside, ...]
    counts: JoinedCounts
    method: Recipe
    policy_sha256: str
    guarantees: tuple[KeptPromise, ...]
    secure_computation: str
    truthful: Literal["subset"]
    unit: Literal["person"]
    unit_in_words: str

    @classmethod
    def load(cls, folder: Path) -> JoinedCard:
        """Read the card of a release folder."""
        path = folder / CARD_NAME
        try:
            return cls.model_validate_json(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            raise BadData(f"is not a release folder: it has no {CARD_NAME}", file=str(folder)) from None
        except (OSError, ValidationError) as error:
            if form_told(path) not in (None, FORM):
                raise BadData(
                    "is the card of a release that is no joined table; use setveil check", file=str(path)
                ) from None
            first = str(error).splitlines()[0]
            raise BadData(
                f"is not the card of a joined table that setveil {__version__} reads ({first})", file=str(path)
            ) from None

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def make_joined_card(
    method: JoiningMethod,
    table: JoinedTable,
    *,
    policy_sha256: str,
    data: FileBeside,
    beside: tuple[FileBeside, ...],
    checked_by: dict[str, str],
    secure_computation: str,
) -> JoinedCard:
    """Write the card from public values alone."""
    return JoinedCard(
        card_version=JOINED_CARD_VERSION,
        setveil_version=__version__,
        form=FORM,
        data=data,
        beside=beside,
        counts=JoinedCounts(records=table.records, groups=table.groups, columns=len(table.schema.columns)),
        method=Recipe(name=method.name, parameters=method.public_parameters()),
        policy_sha256=policy_sha256,
        guarantees=tuple(_promise(guarantee, checked_by[guarantee.name]) for guarantee in method.guarantees),
        secure_computation=secure_computation,
        truthful="subset",
        unit="person",
        unit_in_words="protects people: a row is a person who is a customer of both providers",
    )


def _promise(guarantee: Guarantee, checked_by: str) -> KeptPromise:
    coverage = guarantee.coverage
    return KeptPromise(
        name=guarantee.name,
        parameters=guarantee.public_parameters(),
        statement=guarantee.statement,
        checked_by=checked_by,
        attacker=coverage.attacker,
        singling_out=coverage.singling_out,
        linking=coverage.linking,
        inference=coverage.inference,
        not_covered=coverage.not_covered,
    )
