"""Repeat a release from the job in its dossier: the same data and settings, or a refusal that says what changed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import note
from setveil.errors import BadData
from setveil.release.dossier import program_versions
from setveil.release.provenance import DECIDING
from setveil.release.seed import canonical_json

if TYPE_CHECKING:
    from setveil.release.card import Card
    from setveil.release.seed import Randomness

_OTHERWISE = "or make a new release with `seed='from-system'`"


@dataclass(frozen=True, eq=False)
class Repeated:
    """The release that a job must give again, as its dossier describes it."""

    file: str
    """The dossier, for messages."""
    dossier: dict[str, Any]

    def refuse_other(self, randomness: Randomness) -> None:
        """Refuse a run that would give another release, before the work starts."""
        noted = self.dossier
        if randomness.checksum != noted["input"]["checksum"]:
            raise self._refusal("the data changed", f"restore the data, {_OTHERWISE}")
        recipe = noted["randomness"]["recipe"]
        if randomness.recipe != canonical_json(recipe):
            here = json.loads(randomness.recipe)
            then, now = ({**one, **one["parameters"]} for one in (recipe, here))
            names = ", ".join(name for name in now if name != "parameters" and now[name] != then.get(name))
            raise self._refusal(
                f"{names or 'the method'} changed", f"restore the files that the job names, {_OTHERWISE}"
            )
        if randomness.seed.value != int(noted["seed"]):
            raise self._refusal("the register gives another seed", "restore the register that the job names")

    def _refusal(self, changed: str, advice: str) -> BadData:
        return BadData(
            f"the release cannot be repeated, because {changed} since it was made; nothing was written. To go on, {advice}",
            file=self.file,
        )

    def compare(self, card: Card) -> None:
        """Note if the written release is not the same, which only other versions of the programs can cause."""
        if card.model_dump(mode="json") == self.dossier["card"]:
            return
        made, here = self.dossier.get("versions", {}), program_versions()
        other = [f"{name} {made.get(name)} (here {here[name]})" for name in DECIDING if made.get(name) != here[name]]
        versions = f": that one was made with {' and '.join(other)}" if other else ""
        note(f"this release differs from the one that {self.file} describes{versions}")
