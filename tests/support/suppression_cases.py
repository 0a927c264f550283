"""Random releases in which items were left out, for the metrics that look at it."""

import numpy as np

import setveil as sv

from support.random_data import as_sets, make


def case(seed):
    """Return data, a release of them in which items are gone and sometimes new, and sensitive items, some of which nobody holds."""
    rng = np.random.default_rng(seed)
    data, _categories = make(seed, items=int(rng.integers(3, 12)))
    rows = as_sets(data)
    sensitive = {i for i in data.vocabulary if rng.random() < 0.4} | {"unknown"}
    keep, keep_sensitive = rng.choice([0, 0.4, 0.8, 1]), rng.choice([0, 0.5, 0.9])
    rows = [{i for i in t if rng.random() < (keep_sensitive if i in sensitive else keep)} for t in rows]
    if rng.random() < 0.3:
        for t in rows:
            # Before and among the others in label order, so that codes shift.
            t.update(f"{rng.choice(['h', 'i'])}{rng.integers(15):03}" for _ in range(rng.integers(3)))
    rng.shuffle(rows)
    return data, sv.from_lists(rows), sensitive
