"""Patients of `sample:hospital`, a fictional hospital; their diagnoses are in `_hospital`.

- each person has a stage of life, a sex and a season; these decide which diagnoses are frequent: infections of the
  airways in winter, deliveries for young women, heart disease for older people;
- illness: each person has a main category of diagnoses, drawn in proportion to its frequency; between a fifth and six
  tenths of the diagnoses come from it, the rest from all categories;
- combinations: some people have one of a few sets of diagnoses, such as diabetes with kidney disease and high blood
  pressure;
- lengths are log-normal, and longer for older people: a mean of 7 diagnoses, at least 1, and a tail to about 60.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import runs
from setveil.data.samples import _hospital
from setveil.data.samples.drawing import CHUNK_RECORDS, Coded, Sample, without_repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

STAGE_SHARES = (0.12, 0.22, 0.28, 0.38)
_LOG_LENGTHS = (0.9, 1.3, 1.8, 2.2)
_LOG_LENGTH_SPREAD = 0.65
_MOST_DRAWS = 80
_FROM_MAIN_CATEGORY = (0.2, 0.6)
_SEXES = ("women", "men")
_SEASONS = ("winter", "summer")


@dataclass(frozen=True, eq=False)
class _Clinic:
    """The diagnoses as tables to draw from, sorted by category. A group is a stage, a sex and a season."""

    diagnoses: Coded
    """The diagnoses, and the combinations as sets."""
    frequency_up_to: NDArray[np.float64]
    """The cumulative frequency of each diagnosis in each group: group g has the values from g to g + 1."""
    category_starts: NDArray[np.float64]
    """The start of each category of each group on this scale, and the end of the scale."""
    combination_up_to: NDArray[np.float64]
    """The cumulative shares of people of each group with each combination: group g has the values from g to g + 1."""


@cache
def _open_clinic() -> _Clinic:
    listed = _hospital.diagnoses()
    codes = [diagnosis.code for diagnosis in listed]
    limit_of = {diagnosis.code: diagnosis.limit for diagnosis in listed}

    categories = [diagnosis.category for diagnosis in listed]
    firsts = [i for i in range(len(listed)) if i == 0 or categories[i] != categories[i - 1]]
    up_to, starts, combined = [], [], []
    for group in range(_groups()):
        stage, sex, season = _traits(group)
        weights = np.array([
            diagnosis.weights[stage]
            * (diagnosis.limit in ("", sex))
            * (_hospital.SEASONAL if diagnosis.season == season else 1)
            for diagnosis in listed
        ])  # fmt: skip
        frequencies = np.cumsum(weights) / weights.sum()
        frequencies[-1] = 1
        up_to.append(group + frequencies)
        starts.append(group + np.append(0, frequencies)[firsts])
        shares = [0.0]
        for combination, of_stage in _hospital.COMBINATIONS.items():
            limits = {limit_of[code] for code in combination} - {""}
            # A combination of women only is twice as frequent among them.
            shares.append(of_stage[stage] * ((2 if sex in limits else 0) if limits else 1))
        combined.append(group + np.cumsum(shares))
    return _Clinic(
        diagnoses=Coded.of(codes, _hospital.COMBINATIONS),
        frequency_up_to=np.concatenate(up_to),
        category_starts=np.append(np.concatenate(starts), _groups()),
        combination_up_to=np.concatenate(combined),
    )


def _groups() -> int:
    return len(_hospital.STAGES) * len(_SEXES) * len(_SEASONS)


def _traits(group: int) -> tuple[int, str, str]:
    """Return the stage, the sex and the season of a group."""
    stage, rest = divmod(group, len(_SEXES) * len(_SEASONS))
    return stage, _SEXES[rest // len(_SEASONS)], _SEASONS[rest % len(_SEASONS)]


def _patients(rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Make the records of one chunk of people; return item codes, sorted within each record, and the lengths of the records."""
    clinic = _open_clinic()
    people = CHUNK_RECORDS
    stage = np.searchsorted(np.cumsum(STAGE_SHARES)[:-1], rng.random(people), side="right")
    group = stage * (_groups() // len(_hospital.STAGES)) + rng.integers(0, _groups() // len(_hospital.STAGES), people)
    log_lengths = rng.normal(np.array(_LOG_LENGTHS)[stage], _LOG_LENGTH_SPREAD)
    draws: NDArray[np.int64] = np.clip(np.exp(log_lengths).astype(np.int64), 1, _MOST_DRAWS)
    main = np.searchsorted(clinic.category_starts, group + rng.random(people), side="right") - 1
    loyalty = rng.uniform(*_FROM_MAIN_CATEGORY, people)
    each = len(_hospital.COMBINATIONS) + 1
    combination = np.searchsorted(clinic.combination_up_to, group + rng.random(people), side="right") - 1 - group * each
    size = clinic.diagnoses.sizes[combination]
    draws = np.maximum(draws, size)

    person = np.repeat(np.arange(people), draws)
    start = group[person].astype(np.float64)
    width = np.ones(len(person))
    ill = rng.random(len(person)) < loyalty[person]
    of_main = main[person[ill]]
    start[ill] = clinic.category_starts[of_main]
    width[ill] = clinic.category_starts[of_main + 1] - start[ill]
    place = np.searchsorted(clinic.frequency_up_to, start + width * rng.random(len(person)), side="right")
    codes = clinic.diagnoses.codes[place % len(clinic.diagnoses.codes)]

    nth = runs(np.zeros(people, dtype=np.int64), draws)
    combined = np.flatnonzero(nth < size[person])
    codes[combined] = clinic.diagnoses.sets[combination[person[combined]], nth[combined]]
    return without_repeats(person, codes, len(clinic.diagnoses.vocabulary))


def sample() -> Sample:
    """Return the sample."""
    listed = _hospital.diagnoses()
    return Sample(
        step="making patients",
        person="patient",
        vocabulary=_open_clinic().diagnoses.vocabulary,
        draw=_patients,
        levels=("category", "chapter"),
        rows=[[diagnosis.code, diagnosis.category, diagnosis.chapter] for diagnosis in listed],
        sensitive=sorted(diagnosis.code for diagnosis in listed if diagnosis.sensitive),
        names={diagnosis.code: diagnosis.name for diagnosis in listed},
    )
