"""Publish random data with all methods and let the oracles judge: `python tests/fuzz/fuzz_publications.py --times 1000`.

Nothing of setveil decides whether a release keeps its guarantee. Prints one line per method and ends with 1 if a release violates its
guarantee or covers another number of records than the oracle counts. `tests/contract` does the same with fewer examples.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import setveil as sv
from setveil.catalog import METHODS

from contract.filling import filled, oracle_reach, oracle_violations, ways
from contract.forms import made_from
from support.random_data import make

KNOWN = {
    "k": lambda rng: int(rng.integers(2, 5)),
    "m": lambda rng: int(rng.integers(1, 4)),
    "p": lambda rng: int(rng.integers(2, 4)),
    "rho": lambda rng: str(rng.choice(["1/5", "1/3", "1/2", "7/10"])),
    "min_support": lambda rng: str(rng.choice(["5%", "10%", "20%"])),
    "full_min": lambda rng: int(rng.integers(1, 3)),
    "ties": lambda rng: str(rng.choice(["first", "all"])),
    "term_chunk": lambda rng: str(rng.choice(["drop", "place"])),
}
"""Parameters that are drawn, where a method has them and the setting does not choose them."""


@dataclass(frozen=True)
class Judged:
    """A publication and what the oracles say of it."""

    method: str
    seed: int
    violations: frozenset
    claimed: tuple | None
    """Covered and total of the verdict; None of a method without a guarantee."""
    counted: tuple | None
    """The same as the oracle counts it."""

    @property
    def good(self):
        return not self.violations and self.claimed == self.counted


def publication(kind, chosen, seed):
    """Publish random data with a method in one of its settings, and judge it; None where setveil refuses to publish."""
    rng = np.random.default_rng(seed)
    data, _categories = make(seed)
    data = data.with_ids([f"p{r}" for r in range(data.records)])
    drawn = {name: draw(rng) for name, draw in KNOWN.items() if name in kind.model_fields and name not in chosen}
    ids = "drop" if kind.form.why_nameless else str(rng.choice(["pseudonym", "keep", "drop"]))
    try:
        method = filled(kind, data, **drawn | chosen)
        made = made_from(kind, data)
        release = sv.publish(made, method, ids=ids, seed=2**100 + seed, no_guarantee=True, metrics=[])
    except sv.SetveilError:
        return None
    guarantee, verdict = release.method.guarantee, release.verdict
    if guarantee is None:
        return Judged(kind.name, seed, frozenset(), None, None)
    asked = (guarantee, data, release.data, release.alignment)
    return Judged(
        kind.name,
        seed,
        frozenset(oracle_violations(*asked)),
        (verdict.reach.covered, verdict.reach.total),
        oracle_reach(*asked),
    )


def publications(times, first_seed=0):
    """Give random publications of all methods in turn, in all their settings, until there are `times`."""
    settings = ways(METHODS)[0]
    made, seed = 0, first_seed
    while made < times:
        kind, chosen = settings[seed % len(settings)]
        judged = publication(kind, chosen, seed)
        seed += 1
        if judged is not None:
            made += 1
            yield judged


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1000, help="how many publications to judge")
    parser.add_argument("--first-seed", type=int, default=0, help="another one draws other data")
    given = parser.parse_args()
    published, violated, other_reach, bad = Counter(), Counter(), Counter(), []
    for judged in publications(given.times, given.first_seed):
        published[judged.method] += 1
        violated[judged.method] += bool(judged.violations)
        other_reach[judged.method] += judged.claimed != judged.counted
        if not judged.good:
            bad.append(judged)
    print(f"{'method':<24}{'published':>10}{'violated':>10}{'other reach':>13}")
    for method in sorted(published):
        print(f"{method:<24}{published[method]:>10,}{violated[method]:>10,}{other_reach[method]:>13,}")
    print(f"{'all':<24}{published.total():>10,}{violated.total():>10,}{other_reach.total():>13,}")
    for judged in bad[:10]:
        print(judged)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
