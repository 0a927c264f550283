"""What two peers learn who compare their runs with one provider: A runs with B and then with D, on the same population, with one key.

B's users are dealt out to B and D at random, and its columns too (or both get all columns). Printed is how well B and D together tell A's
users from A's dummies, over the whole population: AUC, 0.5 is guessing. A's ledger of runs refuses the second run unless both allow it.
Run: python benchmarks/bench_two_peers.py [--people N]
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa

from setveil.presence.attack.ranking import ranking
from setveil.presence.attack.two_runs import Seen, moving_scores
from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.tables.sample import sample
from setveil.presence.tables.schema import Schema
from setveil.presence.trial import policy_of, simulate

from measuring import folder_named

LIMITS = {"max_a": "0.9", "min_a": "0.05", "max_b": "0.9", "min_b": "0.05", "backend": "clear"}
SEEDS = (1, 2, 3)


def all_data(people):
    """Give the names and the tables of what is measured."""
    yield f"sample of {people:,}", sample(people).originals
    folder = folder_named()
    if (folder / "adult.csv.gz").is_file() or (folder / "adult.csv").is_file():
        from setveil.reproduce.adult import adult_originals  # noqa: PLC0415 - only where the data are

        yield "adult", adult_originals(folder)
    else:
        print("adult is not at hand: name its folder with SETVEIL_DATA")


def peer(originals, rows, columns):
    """Return the tables of a run of A with a peer that has some of B's users and columns."""
    whole = originals.table("b")
    rows = np.sort(rows)
    table = ProviderTable(whole.ids.take(pa.array(rows)), whole.codes[rows][:, columns].copy(), whole.sensitive[rows])
    schema = originals.schema
    own = Schema(schema.a, tuple(schema.b[place] for place in columns), schema.sensitive)
    return Originals(own, originals.population, originals.a, table)


def told_apart(originals, scope, seed, *, same_columns):
    """Return the AUC of both peers together, A's divisions in the second run, and those alike in both."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(originals.table("b")))
    key_of_a = rng.bytes(32)
    count = len(originals.schema.b)
    columns = np.arange(count)
    halves = (columns, columns) if same_columns else (columns[: (count + 1) // 2], columns[(count + 1) // 2 :])
    runs = []
    for users, named in zip(np.array_split(rows, 2), halves, strict=True):
        tables = peer(originals, users, named)
        policy = policy_of(DummyUsers(scope=scope, **LIMITS), tables)
        runs.append(simulate(policy, tables, Keys(key_of_a, rng.bytes(32))))
    first, second = (Seen.of(run, "b") for run in runs)
    scores, alike = moving_scores(first, second)
    return ranking(scores, originals.existing("a")).auc, len(second.splits), alike


def main():
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    given = parser.parse_args()
    print(f"{'data':<18}  {'scope':<5}  {'columns of B and D':<18}  {'AUC':<19}  divisions of A, alike in both")
    for name, originals in all_data(given.people):
        for scope in ("qi+sa", "qi"):
            for same in (False, True):
                found = [told_apart(originals, scope, seed, same_columns=same) for seed in SEEDS]
                aucs = " ".join(f"{auc:.3f}" for auc, _splits, _alike in found)
                counts = ", ".join(f"{splits} ({alike})" for _auc, splits, alike in found)
                print(f"{name:<18}  {scope:<5}  {'the same' if same else 'different':<18}  {aucs:<19}  {counts}")


if __name__ == "__main__":
    main()
