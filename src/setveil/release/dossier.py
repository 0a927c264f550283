"""The private folder of a release: its dossier, alignment and report. It is never published."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from setveil import __version__
from setveil.base import progress
from setveil.catalog import ATTACKS, METRICS
from setveil.data.records.alignment import Alignment
from setveil.errors import BadData
from setveil.parameters import ParameterKind
from setveil.release.card import Card
from setveil.release.example_records import example_records
from setveil.release.report_data import pictures
from setveil.release.seed import SCHEME_VERSION, Randomness, Seed, canonical_json, pseudonyms_of_scheme_1

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from setveil.attacks.base import Finding
    from setveil.base.declaration import Declaration
    from setveil.base.verdict import Verdict
    from setveil.data.forms.base import Published
    from setveil.metrics.base import Measurement
    from setveil.parameters.item_names import ItemNames
    from setveil.release.release import Release

DOSSIER_NAME = "dossier.json"
ALIGNMENT_NAME = "alignment.parquet"
REPORT_NAME = "report.html"
DOSSIER_VERSION: Final = 5
"""Version 2 adds `pictures` and `metric_notes`; a dossier without them is still read, and its report has fewer charts. Version 3 renames
the status `broken` to `violated` and `breaches` to `violations`, and adds the reach. It also adds `run`, `private_salt` and `randomness`,
which describes how all random values were derived; earlier dossiers use scheme 1. Version 4 adds `attacks`, `attack_notes` and `register`:
what the register records besides. Version 5 adds `job`, which repeats the release, `comparison`, `item_names`,
`side_files`, `examples` and `context`."""


def private_beside(out: Path) -> Path:
    """Return the default private folder of a release folder."""
    return out.parent / f"{out.name}.private"


def program_versions() -> dict[str, str]:
    """Return the versions of setveil, Python and the libraries that make a release."""
    libraries = {name: version(name) for name in ("numpy", "numba", "pyarrow")}
    return {"setveil": __version__, "python": platform.python_version(), **libraries}


def make_dossier(
    release: Release,
    card: Card,
    verdict: Verdict | None,
    seconds: dict[str, float],
    registered: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Collect all facts about a release as plain values; `registered` are those about its entry in a register."""
    original, compared, guarantee = release.original, release.compared, release.method.guarantee
    randomness = release.randomness
    made = {
        "dossier_version": DOSSIER_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": program_versions(),
        "run": randomness.run,
        "seed": str(randomness.seed.value),
        "seed_given": randomness.seed.given,
        "experiment": randomness.seed.weak,
        "register": registered,
        "comparison": release.tried,
        "randomness": {
            "scheme": SCHEME_VERSION,
            "block": randomness.block,
            "recipe": json.loads(randomness.recipe),
        },
        "private_salt": randomness.salt.hex(),
        "input": {
            "source": release.source,
            "reading": release.reading,
            "checksum": randomness.checksum,
            "records": original.records,
            "items": len(original.vocabulary),
            "occurrences": original.occurrences,
            "empty_records": original.empty_records,
        },
        "compared": None if compared is None else randomness.checksum if compared is original else compared.checksum(),
        "form": {"in_words": release.data.form_title, "about": release.data.about_form},
        "ids": release.terms.ids,
        "allow_failures": release.terms.allow_failures,
        "distinct_labels": release.terms.distinct_labels,
        "context": None if release.context is None else release.context.to_dict(),
        "names": [found.to_dict() for found in release.names],
        "side_files": side_files(release.method),
        "method": {"name": release.method.name, "parameters": release.method.model_dump(mode="json")},
        "guarantee": None
        if guarantee is None
        else {"name": guarantee.name, "parameters": guarantee.model_dump(mode="json")},
        "verdict": None if verdict is None else verdict.to_dict(),
        "before": None if release.before is None else release.before.to_dict(),
        "summary": release.summary.to_dict(),
        "singled_out": release.singled_out,
        "account": release.account,
        "advice": release.advice,
        "metrics": [m.to_dict() for m in release.measurements],
        "metric_notes": metric_notes(release.measurements),
        "attacks": release.findings.to_dict(),
        "attack_notes": attack_notes(release.findings),
        "pictures": {} if compared is None else pictures(compared, release.data),
        "examples": [] if compared is None else example_records(compared, release.data, release.alignment),
        "seconds": {step: round(value, 3) for step, value in seconds.items()},
        "card": card.model_dump(mode="json"),
    }
    return made | {"item_names": item_names_in(made, release.item_names)}


def item_names_in(dossier: dict[str, Any], names: ItemNames) -> dict[str, str]:
    """Return the names of the labels that occur in a dossier."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for name, part in value.items():
                yield name
                yield from texts(part)
        elif isinstance(value, list | tuple):
            for part in value:
                yield from texts(part)

    return names.among(texts(dossier))


def side_files(declaration: Declaration) -> list[dict[str, Any]]:
    """Return from where the parameters of a method were read, with a sentence about what was found there."""
    given = {one.name: getattr(declaration, one.name) for one in declaration.parameters()}
    origins = {name: value.origin for name, value in given.items() if isinstance(value, ParameterKind)}
    return [
        {"parameter": name, "source": origin.source, "options": dict(origin.options), "found": origin.found}
        for name, origin in origins.items()
        if origin is not None
    ]


def metric_notes(measurements: Iterable[Measurement]) -> dict[str, dict[str, str]]:
    """Return the texts that explain each metric that was measured."""
    kinds = {m.name: METRICS[m.name] for m in measurements if m.name in METRICS}
    return {
        name: {"title": kind.title, "about": kind.about, "summary": kind.summary(), "blind_to": kind.blind_to}
        for name, kind in kinds.items()
    }


def attack_notes(findings: Iterable[Finding]) -> dict[str, dict[str, str]]:
    """Return the texts that explain each attack that was run."""
    kinds = {one.name: ATTACKS[one.name] for one in findings if one.name in ATTACKS}
    texts = ("title", "knows", "statistic", "base_rate", "blind_to")
    return {name: {text: getattr(kind, text) for text in texts} for name, kind in kinds.items()}


def commitment(method: dict[str, Any], guarantee: dict[str, Any], salt: bytes) -> str:
    """Return the salted checksum of all private parameters, which the card carries; without the salt it reveals nothing about them."""
    parameters = canonical_json({"method": method, "guarantee": guarantee})
    return hashlib.sha256(salt + parameters.encode()).hexdigest()


def report_text(dossier: dict[str, Any]) -> str:
    """Return the report as HTML; it depends on the dossier only."""
    with progress.step("writing the report"):
        from setveil.report.page import render  # noqa: PLC0415 - only when a report is made

        return render(dossier)


def dossier_text(dossier: dict[str, Any]) -> str:
    """Return the dossier as JSON text."""
    return json.dumps(dossier, indent=2, ensure_ascii=False) + "\n"


def _has(value: Any, **kinds: type) -> bool:
    """Return whether a value is an object with entries of these types."""
    return isinstance(value, dict) and all(isinstance(value.get(key), kind) for key, kind in kinds.items())


def is_dossier(value: Any) -> bool:
    """Return whether a value has the entries of a dossier that a check uses."""
    if not _has(value, dossier_version=int, seed=str, ids=str, method=dict, input=dict, card=dict):
        return False
    if not value["seed"].isdecimal() or not isinstance(value.get("guarantee"), dict | None):
        return False
    if value["dossier_version"] < 3:
        return True
    noted = value.get("randomness")
    if not _has(value, run=str, private_salt=str) or not _has(noted, scheme=int):
        return False
    recipe = {"ids": str, "method": str, "parameters": dict}
    if noted["scheme"] != SCHEME_VERSION:
        return True
    if not (_has(noted, block=int) and _has(noted.get("recipe"), **recipe)):
        return False
    size = noted["recipe"].get("block_records", 1)
    return isinstance(size, int) and size > 0


def _with_current_keys(dossier: dict[str, Any]) -> dict[str, Any]:
    """Return a dossier of any version with the keys and statuses of this version in its verdicts."""
    current = dict(dossier)
    for name in ("verdict", "before"):
        verdict = current.get(name)
        if isinstance(verdict, dict) and "breaches" in verdict:
            renamed = {("violations" if key == "breaches" else key): value for key, value in verdict.items()}
            if verdict.get("status") == "broken":
                renamed["status"] = "violated"
            current[name] = renamed
    return current


@dataclass(frozen=True, eq=False)
class Private:
    """The content of a private folder."""

    folder: Path
    dossier: dict[str, Any]
    card: Card
    """The card as it was published."""
    alignment: Alignment

    @classmethod
    def load(cls, folder: Path) -> Private:
        """Read the dossier and the alignment."""
        path = folder / DOSSIER_NAME
        try:
            dossier = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BadData(f"is not a private folder: it has no {DOSSIER_NAME}", file=str(folder)) from None
        except (OSError, ValueError) as error:
            raise BadData(f"cannot be read ({error})", file=str(path)) from None
        other = BadData("is not a dossier of a release", file=str(path))
        if not is_dossier(dossier):
            raise other
        dossier = _with_current_keys(dossier)
        try:
            card = Card.model_validate(dossier["card"])
        except ValidationError:
            raise other from None
        return cls(folder, dossier, card, Alignment.load(folder / ALIGNMENT_NAME))

    def refuse_other_original(self, original: Published) -> None:
        """Refuse data other than those that the release was made from."""
        if original.checksum() != self.dossier["input"]["checksum"]:
            raise BadData(
                "the original is not the data that this release was made from: its checksum differs from the one in the dossier; name the "
                "data that were published, or for re-associated data the disassociated release"
            )

    def refuse_other_run(self, card: Card) -> None:
        """Refuse the card of another run, and parameters that were changed since the card was written."""
        if {self.card.run, self.dossier.get("run")} != {card.run}:
            raise BadData(
                "belongs to another run than the release: its run id is not that of the card; name the private folder that was made with "
                "this release",
                file=str(self.folder),
            )
        randomness = self.randomness
        if randomness is not None and (randomness.run, randomness.salt.hex()) != (
            card.run,
            self.dossier.get("private_salt"),
        ):
            raise BadData(
                "notes a seed or a recipe that does not give its run id and salt: it was changed; restore the dossier as publish wrote it",
                file=str(self.folder / DOSSIER_NAME),
            )
        if card.private_sha256 not in (None, self._commitment()):
            raise BadData(
                "holds other private parameters than the release was made with: their salted sha256 is not the private_sha256 of the "
                "card; restore the dossier as publish wrote it",
                file=str(self.folder / DOSSIER_NAME),
            )

    def _commitment(self) -> str | None:
        """Return the salted checksum of the parameters that are not on the card; None if the dossier does not hold them."""

        def hidden(noted: dict[str, Any] | None, public: dict[str, Any]) -> dict[str, Any]:
            return {
                name: value for name, value in (noted or {"parameters": {}})["parameters"].items() if name not in public
            }

        try:
            method = hidden(self.dossier["method"], self.card.method.parameters)
            guarantee = hidden(self.dossier["guarantee"], self.card.guarantee.parameters)
            return commitment(method, guarantee, bytes.fromhex(self.dossier["private_salt"]))
        except (KeyError, AttributeError, TypeError, ValueError):
            return None

    @property
    def randomness(self) -> Randomness | None:
        """The randomness of the run, derived again; None if it was derived by another scheme."""
        noted = self.dossier.get("randomness", {})
        if noted.get("scheme") != SCHEME_VERSION:
            return None
        seed, recipe = Seed(int(self.dossier["seed"]), given=True), canonical_json(noted["recipe"])
        size = noted["recipe"].get("block_records")
        return Randomness(seed, self.dossier["input"]["checksum"], recipe, noted["block"], size)

    def pseudonyms(self, records: int) -> Any:
        """Return the pseudonyms that the run gave to this number of records."""
        if self.randomness is not None:
            return self.randomness.pseudonyms(records)
        if "randomness" not in self.dossier:
            return pseudonyms_of_scheme_1(Seed(int(self.dossier["seed"]), given=True), records)
        raise BadData(
            f"derives its pseudonyms by a scheme that setveil {__version__} does not know; known are the schemes 1 and {SCHEME_VERSION}. "
            "Check the release with the version of setveil that made it",
            file=str(self.folder / DOSSIER_NAME),
        )

    @property
    def reading(self) -> dict[str, Any]:
        """The options of `read` for the original, by name."""
        noted = self.dossier["input"].get("reading", {})
        return noted if isinstance(noted, dict) else {}

    @property
    def distinct_labels(self) -> bool:
        """Whether the owner declared labels that look alike to be different items; version 1 had no such option."""
        return bool(self.dossier.get("distinct_labels", self.card.card_version == 1))

    def names_occurred(self, parameter: str) -> bool:
        """Return whether at least one name of a list occurred in the original.

        A dossier without `names` comes from a version that refused a list if any of its names did not occur.
        """
        noted = self.dossier.get("names")
        if not isinstance(noted, list):
            return True
        return any(isinstance(one, dict) and one.get("parameter") == parameter and one.get("occur") for one in noted)

    def known_parameters(self) -> dict[str, Any]:
        """Return all parameters of the method, including private ones, for metrics that need them."""
        parameters: dict[str, Any] = self.dossier["method"]["parameters"]
        return parameters
