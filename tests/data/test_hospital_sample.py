import numpy as np
import pytest

import setveil as sv
from setveil.data.records.ragged import owner_of
from setveil.data.samples import _hospital, hospital, read_sample, sample_names, sample_sensitive, sample_taxonomy
from setveil.data.samples.drawing import CHUNK_RECORDS

SOURCE = "sample:hospital"
DIAGNOSES = {diagnosis.code: diagnosis for diagnosis in _hospital.diagnoses()}


@pytest.fixture(scope="module")
def data():
    return read_sample(SOURCE)


def holders(data, codes):
    """Return the number of these codes that each record holds."""
    wanted = [data.code_of[code] for code in codes if code in data.code_of]
    return np.bincount(owner_of(data.offsets)[np.isin(data.items, wanted)], minlength=data.records)


def share_with_all(data, codes):
    return np.mean(holders(data, codes) == len(codes))


def test_defaults_are_20000_patients_of_seed_0(data):
    assert data.records == 20_000
    assert data == read_sample(f"{SOURCE}?records=20000&seed=0")
    assert data.unit == "person"
    assert data.ids[0].as_py() == "patient-00000001"
    assert data.ids[-1].as_py() == "patient-00020000"
    assert data.empty_records == 0


def test_the_patients_are_those_of_the_printed_examples():
    # Changes with the diagnoses, the model and NumPy's random streams: examples in the documentation then change too.
    assert read_sample(f"{SOURCE}?records=3").to_lists()[1] == ["E11.9", "J10.1", "J18.9", "M54.50"]


def test_seeds_and_chunks_make_different_data():
    one, other = (read_sample(f"{SOURCE}?records=500&seed={seed}").to_lists() for seed in (1, 2))
    assert np.mean([a == b for a, b in zip(one, other, strict=True)]) < 0.05
    lists = read_sample(f"{SOURCE}?records={CHUNK_RECORDS + 500}").to_lists()
    assert np.mean([a == b for a, b in zip(lists[:500], lists[CHUNK_RECORDS:], strict=True)]) < 0.05


@pytest.mark.parametrize("records", [1, 1_000, CHUNK_RECORDS - 1, CHUNK_RECORDS, CHUNK_RECORDS + 1])
def test_a_smaller_sample_is_the_beginning_of_a_larger_one(records):
    large = read_sample(f"{SOURCE}?records={CHUNK_RECORDS + 7}&seed=5")
    small = read_sample(f"{SOURCE}?records={records}&seed=5")
    assert small == large.take(np.arange(records)).compacted()


def test_every_code_exists_and_each_chapter_is_one_of_icd_10_cm():
    data = sv.from_lists([list(DIAGNOSES)])
    chapters = sv.read_categories("icd10cm:chapter", data=data)
    pairs = {(diagnosis.chapter, chapters[code]) for code, diagnosis in DIAGNOSES.items()}
    assert len(pairs) == len({chapter for chapter, _ in pairs}) == len({chapter for _, chapter in pairs}) == 22


def test_every_code_is_as_specific_as_codes_for_billing_are():
    import simple_icd_10_cm  # noqa: PLC0415 - loads its tables for seconds

    assert [code for code in DIAGNOSES if not simple_icd_10_cm.is_leaf(code)] == []


def test_the_taxonomy_is_a_tree_over_all_diagnoses(data):
    header, rows = sample_taxonomy(SOURCE)
    assert header == ["item", "category", "chapter"]
    codes = [code for code, _, _ in rows]
    assert len(codes) == len(set(codes))
    assert set(data.vocabulary) <= set(codes)
    tree = sv.read_hierarchy(SOURCE)
    assert tree.height == 3
    assert sorted(tree.leaves) == sorted(codes)
    assert 400 <= len(codes) <= 500
    assert 60 <= len(set(tree.level(2).values())) <= 90
    assert sample_taxonomy(f"{SOURCE}?records=5&seed=9") == (header, rows)


def test_every_diagnosis_has_a_name_of_its_own():
    names = sample_names(SOURCE)
    assert list(names) == list(DIAGNOSES)
    assert len(set(names.values())) == len(names)
    assert all(name == name.strip() and 3 <= len(name) <= 60 for name in names.values())
    assert sample_names("sample:supermarket") == {}


def test_every_diagnosis_occurs_in_a_large_sample():
    large = read_sample(f"{SOURCE}?records=200000")
    assert set(large.vocabulary) == set(DIAGNOSES)


def test_lengths_are_skewed_with_a_long_tail(data):
    assert data.lengths.min() == 1
    assert 5.5 < data.lengths.mean() < 7.5
    assert np.median(data.lengths) < data.lengths.mean() - 0.5
    assert 40 <= data.lengths.max() <= 70


def test_frequencies_have_a_heavy_tail(data):
    falling = np.sort(data.supports)[::-1]
    assert 0.15 < falling[0] / data.records < 0.35
    assert data.vocabulary[int(np.argmax(data.supports))] == "I10"
    assert falling[: len(falling) // 10].sum() > 0.4 * falling.sum()
    assert np.median(falling) < falling[0] / 20


@pytest.mark.parametrize("combination", _hospital.COMBINATIONS, ids=lambda combination: combination[0])
def test_combinations_occur_together_far_more_often_than_by_chance(data, combination):
    by_chance = np.prod([share_with_all(data, [code]) for code in combination])
    together = share_with_all(data, combination)
    expected = np.dot(_hospital.COMBINATIONS[combination], hospital.STAGE_SHARES)
    assert together > 1.5 * by_chance
    assert together > 0.8 * expected


def test_the_most_frequent_pairs_are_comorbidities(data):
    pairs = {frozenset(one["items"]) for one in sv.mine(data, "2%", max_length=2).to_table().to_pylist()}
    assert {
        frozenset(pair) for pair in (("I10", "E78.5"), ("I10", "E11.9"), ("I48.91", "Z79.01"), ("O80", "Z37.0"))
    } <= pairs


def test_a_sixth_of_the_patients_have_a_sensitive_diagnosis(data):
    sensitive = sample_sensitive(f"{SOURCE}?records=5")
    assert {"B20", "Z21", "F32.A", "F11.20", "Z33.2", "A54.9"} <= set(sensitive)
    assert "I10" not in sensitive
    assert 0.12 < np.mean(holders(data, sensitive) > 0) < 0.22
    assert max(share_with_all(data, [code]) for code in sensitive) < 0.05


def test_nobody_has_diagnoses_of_both_sexes(data):
    of_women, of_men = (
        holders(data, [code for code, diagnosis in DIAGNOSES.items() if diagnosis.limit == limit])
        for limit in ("women", "men")
    )
    assert np.count_nonzero(of_women) > 1_000
    assert np.count_nonzero(of_men) > 500
    assert not np.any((of_women > 0) & (of_men > 0))


def test_diagnoses_of_one_season_meet_more_often_than_those_of_two(data):
    def lift(one, other):
        has = [
            holders(data, [code for code, diagnosis in DIAGNOSES.items() if diagnosis.category == category]) > 0
            for category in (one, other)
        ]
        return np.mean(has[0] & has[1]) / np.mean(has[0]) / np.mean(has[1])

    assert lift("colds and throat", "viral infections") > 1.3 * lift("colds and throat", "falls and accidents")


def test_a_million_patients_take_seconds():
    assert read_sample(f"{SOURCE}?records=1000000").records == 1_000_000
