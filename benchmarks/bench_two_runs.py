"""What a provider learns of the other's users when a run is repeated: AUC after two, three and six runs, 0.5 is guessing.

The cases are those of `setveil presence attack --kind two-runs`, for three pairs of keys, on the sample and on Adult. Each line has the
lowest and the highest AUC of the keys: of everybody in the population, and of the attacker's users.
Run: python benchmarks/bench_two_runs.py [--people N]
"""

from __future__ import annotations

import argparse
from collections import defaultdict

from bench_two_peers import all_data
from setveil.presence.attack.two_runs import CASES, two_runs
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.trial import policy_of, simulate
from setveil.reproduce.presence_measuring import keys_of

from measuring import timed

LIMITS = {"max_a": "0.9", "min_a": "0.1", "max_b": "0.9", "min_b": "0.1", "backend": "clear"}
SEEDS = (1, 2, 3)


def tried(originals, scope, seed):
    """Return what all cases give with a pair of keys."""
    policy = policy_of(DummyUsers(scope=scope, **LIMITS), originals)
    keys = keys_of(seed)
    return two_runs(policy, originals, keys, keys_of(seed + 10), simulate(policy, originals, keys))


def main():
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    given = parser.parse_args()
    for name, originals in all_data(given.people):
        for scope in ("qi+sa", "qi"):
            rows, longest = defaultdict(list), 0.0
            for seed in SEEDS:
                seconds, found = timed(lambda: tried(originals, scope, seed))  # noqa: B023 - called at once
                longest = max(longest, seconds)
                for one in found:
                    rows[one.case, one.attacker, one.runs].append((one.everybody.auc, one.own.auc))
            print(f"{name}, {scope}: {longest:.1f} s for a pair of keys")
            for (case, attacker, runs), aucs in rows.items():
                ranges = "  ".join(f"{min(some):.3f} to {max(some):.3f}" for some in zip(*aucs, strict=True))
                print(f"  {CASES[case]:<34}  {attacker.upper()}  {runs} runs  {ranges}")


if __name__ == "__main__":
    main()
