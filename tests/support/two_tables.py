"""Small tables of two providers for property tests: as setveil takes them, and as plain lists for the oracles."""

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from setveil.presence.tables.attributes import OrderedAttribute
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.tables.schema import Schema


@st.composite
def people(draw, most=14):
    """Draw cells of attributes, how many are A's, sensitive values, users with true cells everywhere; some are at both, some at none."""
    cells_of = draw(st.lists(st.sampled_from([2, 3, 5, 40, 400]), min_size=2, max_size=4))
    at_a = draw(st.integers(1, len(cells_of) - 1))
    values = draw(st.integers(2, 3))
    one = st.fixed_dictionaries(
        {
            "cells": st.tuples(*(st.integers(0, cells - 1) for cells in cells_of)).map(list),
            "a": st.sampled_from([True, True, False]),
            "s": st.one_of(st.none(), st.integers(0, values - 1), st.integers(0, values - 1)),
        }
    )
    users = draw(st.lists(one, min_size=1, max_size=most))
    users.append({"cells": [0] * len(cells_of), "a": True, "s": 0})
    users.append(
        {"cells": [cells - 1 for cells in cells_of], "a": False, "s": None}
    )  # else absence would prove presence
    return cells_of, at_a, values, users


def originals_of(cells_of, at_a, values, users, *, shuffled=0):
    """Make the tables of both providers, their rows in another order than the population's."""
    attributes = [OrderedAttribute(f"q{n}", tuple(map(str, range(cells)))) for n, cells in enumerate(cells_of)]
    sensitive = OrderedAttribute("s", tuple(f"v{n}" for n in range(values)))
    rng = np.random.default_rng(shuffled)
    tables = []
    for role in ("a", "b"):
        rows = [i for i, one in enumerate(users) if (one["a"] if role == "a" else one["s"] is not None)]
        rng.shuffle(rows)
        columns = slice(0, at_a) if role == "a" else slice(at_a, None)
        tables.append(
            ProviderTable(
                pa.array([name(i) for i in rows], pa.large_string()),
                np.array([users[i]["cells"][columns] for i in rows], dtype=np.int32),
                None if role == "a" else np.array([users[i]["s"] for i in rows], dtype=np.int64),
            )
        )
    schema = Schema(tuple(attributes[:at_a]), tuple(attributes[at_a:]), sensitive)
    return Originals(schema, Population.of([name(i) for i in range(len(users))]), *tables)


def without_absent(users, at_a):
    """Return the users with None for cells that no provider knows."""
    return [
        {
            **one,
            "cells": [
                cell if (one["a"] if n < at_a else one["s"] is not None) else None
                for n, cell in enumerate(one["cells"])
            ],
        }
        for one in users
    ]


def name(place):
    return f"user-{place}"
