"""Equal texts are found as a dictionary finds them, also in columns that are divided into parts."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.data.records import equal_texts
from setveil.data.records.equal_texts import first_repeated, numbered

from oracle.assembly import codes_of
from support.exhaustive import examples
from support.large_data import is_mapped, low_limits

columns = st.lists(st.one_of(st.integers(0, 30).map(str), st.text(max_size=4)), max_size=40)


def column(values):
    return pa.array(["never", *values], pa.large_string()).slice(1)


@pytest.mark.plain_python
@pytest.mark.parametrize("limit", [1, 60, 10_000])
@settings(max_examples=examples(200))
@given(columns)
def test_equal_texts_have_one_number(limit, values):
    [codes], known = codes_of([values])
    with low_limits(limit):
        found = numbered(column(values))
        repeated = first_repeated(column(values))
    assert (repeated is None) == (found is None) == (len(known) == len(values))
    if found is not None:
        assert found.tolist() == codes
        assert repeated == next(place for place, code in enumerate(codes) if code in codes[:place])


def test_texts_in_order_are_not_divided(monkeypatch):
    monkeypatch.delattr(equal_texts, "Parts")
    with low_limits(8):
        assert first_repeated(column(["a", "b", "ba", "c"])) is None
        for values in (["a", "b", "b", "c"], ["b", "a"]):
            with pytest.raises(NameError):
                first_repeated(column(values))


def test_texts_of_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(equal_texts, "draw_multiplier", lambda _prime: 0)  # the hash is that of the last bytes
    values = [f"{n:04}xyz" for n in range(50)]
    with low_limits():
        assert first_repeated(column(values[::-1])) is None
        found = numbered(column([*values, values[7]]))
        assert found.tolist() == [*range(50), 7]
        assert is_mapped(found)
