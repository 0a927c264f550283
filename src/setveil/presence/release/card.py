"""The public card of a joined table: a fixed list of public fields. It states the guarantees and how each was checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from setveil import __version__
from setveil.errors import BadData
from setveil.release.card import CARD_NAME, JOINED, FileBeside, Recipe, read_form

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
    """Counts of the joined table; no counts of the providers' tables."""

    records: int
    groups: int
    columns: int


class CheckedGuarantee(_Part):
    """A guarantee that was checked: by which party, and what it does and does not cover."""

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
    """The description of a joined table for its recipients."""

    card_version: Literal[1]
    setveil_version: str
    form: Literal["joined"]
    data: FileBeside
    beside: tuple[FileBeside, ...]
    counts: JoinedCounts
    method: Recipe
    policy_sha256: str
    guarantees: tuple[CheckedGuarantee, ...]
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
            raise BadData(
                f"is not a release folder: it has no {CARD_NAME}; name the folder of a joined table", file=str(folder)
            ) from None
        except (OSError, ValidationError) as error:
            if read_form(path) not in (None, FORM):
                raise BadData(
                    "is the card of a release that is not a joined table; use setveil check", file=str(path)
                ) from None
            first = str(error).splitlines()[0]
            raise BadData(
                f"is not the card of a joined table that setveil {__version__} can read ({first}); "
                "get the release again from its collector",
                file=str(path),
            ) from None

    def to_json(self) -> str:
        """Return the content of `card.json`."""
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
    """Return the card, made from public values only."""
    return JoinedCard(
        card_version=JOINED_CARD_VERSION,
        setveil_version=__version__,
        form=FORM,
        data=data,
        beside=beside,
        counts=JoinedCounts(records=table.records, groups=table.groups, columns=len(table.schema.columns)),
        method=Recipe(name=method.name, parameters=method.public_parameters()),
        policy_sha256=policy_sha256,
        guarantees=tuple(_checked_guarantee(guarantee, checked_by[guarantee.name]) for guarantee in method.guarantees),
        secure_computation=secure_computation,
        truthful="subset",
        unit="person",
        unit_in_words="protects people: each row is a person who is a customer of both providers",
    )


def _checked_guarantee(guarantee: Guarantee, checked_by: str) -> CheckedGuarantee:
    coverage = guarantee.coverage
    return CheckedGuarantee(
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
