"""The data of takenouchi2012: UCI Adult, whose columns and rows are dealt out to two providers.

Rows with a missing value are left out, which leaves 30,162; the number of a row among them is its id. From the top on, 6,000 rows are users
of both providers, 12,000 of A alone, 6,000 of B alone, and the rest of neither. The first nine columns are A's, the next five B's.

The lines of cells are ours, as the paper tells none: categories in the order of their labels, numbers in steps that are round and have
nothing to do with single rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.files.csv_tables import csv_batches, header, require
from setveil.errors import BadParameter, Missing
from setveil.presence.tables.attributes import Attribute, NumericAttribute, OrderedAttribute
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.tables.schema import Schema
from setveil.reproduce.sources import VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

Sensitive = Literal["income", "occupation"]

COLUMNS_OF_A = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
)
COLUMNS_OF_B = ("sex", "capital-gain", "capital-loss", "hours-per-week", "native-country")
CLASS = "income"
COLUMNS = (*COLUMNS_OF_A, *COLUMNS_OF_B, CLASS)
COMMON, ONLY_A, ONLY_B = 6_000, 12_000, 6_000

_MISSING_VALUE = "?"
_GRIDS = {
    "age": (17, 90, 1),
    "fnlwgt": (0, 1_490_000, 10_000),
    "education-num": (1, 16, 1),
    "capital-gain": (0, 99_999, 1_000),
    "capital-loss": (0, 4_400, 100),
    "hours-per-week": (1, 99, 1),
}


@dataclass(frozen=True, eq=False)
class AdultTables:
    """Adult as two providers hold it, and what neither knows: the cells of everybody at both."""

    originals: Originals
    complete: tuple[NDArray[np.int32], NDArray[np.int32]]
    """The true cells of all ids of the population, of A's attributes and of B's."""


def adult_tables(
    folder: Path,
    *,
    sensitive: Sensitive = "income",
    common: int = COMMON,
    only_a: int = ONLY_A,
    only_b: int = ONLY_B,
) -> AdultTables:
    """Deal out Adult, which must be in the folder as adult.csv.gz or adult.csv.

    With `sensitive` = occupation that column is B's sensitive attribute instead of A's quasi-identifier, and income is left out.
    """
    columns, file = _columns(folder)
    rows = len(columns[CLASS])
    if min(common, only_a, only_b) < 0 or common + only_a + only_b > rows:
        raise BadParameter(
            f"{common:,} users of both, {only_a:,} of A alone and {only_b:,} of B alone do not fit into {rows:,} rows; take fewer"
        )
    ids = pc.cast(pa.array(np.arange(1, rows + 1)), pa.large_string())
    values = OrderedAttribute(sensitive, _labels(columns[sensitive]))
    at_a = tuple(_attribute(name, columns[name]) for name in COLUMNS_OF_A if name != sensitive)
    at_b = tuple(_attribute(name, columns[name]) for name in COLUMNS_OF_B)
    complete = [
        np.column_stack([one.codes(columns[one.name], file) for one in attributes]).astype(np.int32)
        for attributes in (at_a, at_b)
    ]
    place = np.arange(rows)
    exists_a = place < common + only_a
    exists_b = (place < common) | ((place >= common + only_a) & (place < common + only_a + only_b))
    table_a = ProviderTable(ids.filter(pa.array(exists_a)), complete[0][exists_a])
    sensitive_codes = values.codes(columns[sensitive], file).astype(np.int64)
    table_b = ProviderTable(ids.filter(pa.array(exists_b)), complete[1][exists_b], sensitive_codes[exists_b])
    originals = Originals(Schema(at_a, at_b, values), Population(ids), table_a, table_b)
    return AdultTables(originals, (complete[0], complete[1]))


def adult_originals(
    folder: Path,
    *,
    sensitive: Sensitive = "income",
    common: int = COMMON,
    only_a: int = ONLY_A,
    only_b: int = ONLY_B,
) -> Originals:
    """Return what both providers hold, and the population; see `adult_tables`."""
    return adult_tables(folder, sensitive=sensitive, common=common, only_a=only_a, only_b=only_b).originals


def complete_cells(folder: Path, *, sensitive: Sensitive = "income") -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the true cells of everybody, also of those whom a provider does not have: A's attributes, and B's."""
    return adult_tables(folder, sensitive=sensitive).complete


def _columns(folder: Path) -> tuple[dict[str, Any], str]:
    """Return the columns as texts, without the rows that lack a value, and the name of the file."""
    found = [path for path in (folder / "adult.csv", folder / "adult.csv.gz") if path.is_file()]
    if not found:
        raise Missing(
            f"adult.csv.gz is not in {folder}; name the folder that holds it with `data=`, or in the variable {VARIABLE}"
        )
    file = str(found[0])
    require(header(found[0], ","), COLUMNS, file, "expected the columns of UCI Adult under its usual names")
    batches = list(csv_batches(found[0], COLUMNS, ","))
    columns = [
        pa.chunked_array([batch[place] for batch in batches], pa.large_string()) for place in range(len(COLUMNS))
    ]
    whole = np.ones(len(columns[0]), dtype=np.bool_)
    for column in columns:
        whole &= pc.not_equal(column, _MISSING_VALUE).to_numpy()
    kept = pa.array(whole)
    return {name: column.filter(kept).combine_chunks() for name, column in zip(COLUMNS, columns, strict=True)}, file


def _attribute(name: str, column: Any) -> Attribute:
    if name not in _GRIDS:
        return OrderedAttribute(name, _labels(column))
    low, high, step = map(Decimal, _GRIDS[name])
    return NumericAttribute(name, low, high, step)


def _labels(column: Any) -> tuple[str, ...]:
    return tuple(sorted(pc.unique(column).to_pylist()))
