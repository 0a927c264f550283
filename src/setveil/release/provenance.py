"""Repeat the run of a release from the seed in its private folder, and compare the result (docs/decisions/0024).

Some guarantees depend on a random draw, and the file does not show whether it was made. This check uses the code of the method, so it
supplements the check of the guarantee and never replaces it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil import __version__
from setveil.base import progress
from setveil.base.display import quantity
from setveil.base.verdict import Status, Verdict, Witness
from setveil.catalog import METHODS, named
from setveil.engines.blocks import current_engine, using_engine
from setveil.engines.local import LocalEngine
from setveil.errors import InputError
from setveil.release.dossier import ALIGNMENT_NAME, DOSSIER_NAME, program_versions
from setveil.release.drawing import draw
from setveil.release.seed import SCHEME_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.release.dossier import Private
    from setveil.release.opening import Opened
    from setveil.release.seed import Randomness

NOT_THE_DRAW = "not-the-noted-draw"
NOT_CHECKED = "draw not checked"
DECIDING = ("setveil", "numpy")
"""The programs whose version determines what a seed gives."""


def with_draw(verdict: Verdict, opened: Opened, original: Any, private: Private) -> Verdict:
    """Repeat the random draw that a guarantee depends on, compare it with the release, and return the verdict."""
    randomness = private.randomness
    if randomness is None and opened.card is not None and opened.card.card_version == 1:
        return replace(verdict, reason=f"{NOT_CHECKED}: releases of card version 1 do not record how they were drawn")
    if randomness is None:
        scheme = private.dossier.get("randomness", {}).get("scheme", "none")
        known = (
            f"the dossier names the scheme {scheme}, but setveil {__version__} can repeat scheme {SCHEME_VERSION} only"
        )
        return _undecided(verdict, f"{known}; check with the version of setveil that made the release")
    try:
        with progress.step("drawing the release again"):
            again = draw_again(randomness, original)
    except InputError as error:
        return _undecided(verdict, str(error))
    witnesses = tuple(_differences(opened, private, again))
    if not witnesses:
        return verdict
    made, here = private.dossier.get("versions", {}), program_versions()
    other = [f"{name} {made.get(name)} (here {here[name]})" for name in DECIDING if made.get(name) != here[name]]
    if other:
        versions = f"the release was made with {' and '.join(other)}, and the draw here differs"
        return _undecided(verdict, f"{versions}; check with the versions that made it")
    return verdict.with_violations(NOT_THE_DRAW, len(witnesses), witnesses)


def draw_again(randomness: Randomness, original: Any) -> tuple[Published, Alignment]:
    """Repeat the run that a randomness was derived for, with any method, and return the published data and the alignment."""
    recipe = json.loads(randomness.recipe)
    kind = named("method", METHODS, recipe["method"])
    method = kind(**kind.with_current_names(recipe["parameters"]))
    rng = randomness.generator()
    bound = method.bind(original, linked=recipe["ids"] != "drop", rng=rng)
    lacks_ids = recipe["ids"] == "keep" and getattr(original, "ids", None) is None  # data of other people
    engine, size = current_engine(), randomness.block_records
    with using_engine(engine if size is None or size == engine.block_records else LocalEngine(size)):
        drawn = draw(bound, original, "pseudonym" if lacks_ids else recipe["ids"], randomness, rng)
    return drawn.published, drawn.alignment


def _undecided(verdict: Verdict, reason: str) -> Verdict:
    """Return the verdict as undecided, unless it is already violated."""
    status: Status = "undecided" if verdict else verdict.status
    reach = verdict.reach and replace(verdict.reach, covered=0)
    return replace(verdict, status=status, reason=f"{NOT_CHECKED}: {reason}", reach=reach)


def _differences(opened: Opened, private: Private, again: tuple[Published, Alignment]) -> Iterator[Witness]:
    """Yield one witness per file that differs from the repeated run."""
    noted = f"the seed and the recipe in {private.folder / DOSSIER_NAME}"
    published, alignment = again
    there, drawn = opened.data.sets, published.sets
    if len(there) != len(drawn):
        detail = f"it has {quantity(len(there), 'data file')}, but {noted} give {len(drawn):,}"
        yield Witness(NOT_THE_DRAW, str(opened.folder), detail)
    files = [""] if opened.card is None else [opened.card.data.file, *(one.file for one in opened.card.data.beside)]
    for file, one, other in zip(files, there, drawn, strict=False):
        if one != other:
            yield Witness(NOT_THE_DRAW, str(opened.folder / file), f"it does not hold what {noted} give")
    if not np.array_equal(private.alignment.rows, alignment.rows):
        path = private.folder / ALIGNMENT_NAME
        yield Witness(NOT_THE_DRAW, str(path), f"it does not align the rows as {noted} do")
