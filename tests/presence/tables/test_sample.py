"""The sample tables: the people of a seed never change, and each provider has its own customer numbers."""

import hashlib
from itertools import pairwise

import pytest

import setveil as sv
from setveil.presence.tables.sample import sample

from support.program import call

WITHOUT_CUSTOMERS = {
    "a.csv": "c32fa721ee14a0350b9f1aa5f98368700242f3565fb4e73792caa9e56487cd94",
    "b.csv": "5273f811c1232e3b616ae05977a398cf85a8a2fe523a80ad3044d32a06cb752d",
    "population.csv": "f6160772e136d427711b29b446a6083d497ac768b8f8fc4b2ecf0478c9d1c3a5",
    "policy.toml": "f4c2f8dfefc681e50ebc4b8af729b160b11300502e1c9552b6a396075896b924",
}
"""SHA-256 of the files of 2,000 people and seed 7, without customer numbers and without the comments of the policy."""


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample") / "trial"
    assert call("presence", "sample", "--out", folder, "--people", 2000, "--seed", 7).code == 0
    return folder


def test_all_columns_but_the_customer_numbers_stay_the_same(trial):
    for name, before in WITHOUT_CUSTOMERS.items():
        text = (trial / name).read_text()
        if name in ("a.csv", "b.csv"):
            rows = [line.split(",") for line in text.splitlines()]
            assert rows[0][:2] == ["id", "customer"]
            text = "".join(",".join([row[0], *row[2:]]) + "\n" for row in rows)
        text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
        assert hashlib.sha256(text.encode()).hexdigest() == before, name


@pytest.mark.parametrize("role", ["a", "b"])
def test_the_customer_numbers_of_the_files_are_those_of_the_tables(trial, role):
    made = sample(2000, 7).originals
    sensitive = made.schema.sensitive if role == "b" else None
    read = sv.read_provider_table(trial / f"{role}.csv", made.schema.of(role), sensitive, person="customer")
    keys = read.persons.to_pylist()
    assert keys == made.table(role).persons.to_pylist()
    assert read.checksum() == made.table(role).checksum()
    assert sorted(keys) == [f"{role.upper()}{number + 1:07}" for number in range(len(read))]


def test_a_customer_number_says_nothing_of_the_id_and_of_the_other_number():
    tables = sample(2000, 7).originals
    numbers = {
        role: {id_: key[1:] for id_, key in zip(table.ids.to_pylist(), table.persons.to_pylist(), strict=True)}
        for role, table in (("a", tables.a), ("b", tables.b))
    }
    common = numbers["a"].keys() & numbers["b"].keys()
    assert len(common) > 200
    assert sum(numbers["a"][one] == numbers["b"][one] for one in common) < 10
    for of_ids in numbers.values():
        in_order = [of_ids[one] for one in sorted(of_ids)]
        rising = sum(one < other for one, other in pairwise(in_order))
        assert 0.4 < rising / len(in_order) < 0.6
