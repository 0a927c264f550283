"""Adult is dealt out as the paper says."""

from collections import Counter

import numpy as np
import pytest

import setveil as sv
from setveil.reproduce.adult import adult_originals, complete_cells

from support.adult_tables import adult

pytestmark = pytest.mark.realdata


def test_columns_and_rows_go_where_the_paper_says(real_folder):
    tables = adult(real_folder)
    originals = tables.originals
    exists_a, exists_b = originals.existing("a"), originals.existing("b")
    assert Counter(zip(exists_a.tolist(), exists_b.tolist(), strict=True)) == {
        (True, True): 6_000,
        (True, False): 12_000,
        (False, True): 6_000,
        (False, False): 6_162,
    }
    assert exists_a[:18_000].all()
    assert exists_b[:6_000].all()
    assert exists_b[18_000:24_000].all()
    assert (len(originals.schema.a), len(originals.schema.b)) == (9, 5)
    assert originals.schema.sensitive.values == ("<=50K", ">50K")
    # The first person of the file: 39 years, State-gov, 77516, ..., Male, 2174, 0, 40, United-States, <=50K.
    texts = [
        one.text(cell, cell + 1)
        for one, cell in zip(
            originals.schema.attributes, np.concatenate([side[0] for side in tables.complete]), strict=True
        )
    ]
    assert texts[:3] == ["[39, 40)", "State-gov", "[70000, 80000)"]
    assert texts[9:] == ["Male", "[2000, 3000)", "[0, 100)", "[40, 41)", "United-States"]
    assert originals.sensitive()[0] == 0


@pytest.mark.parametrize("role", ["a", "b"])
def test_providers_hold_the_true_cells_of_their_users(real_folder, role):
    originals = adult_originals(real_folder)
    whole = complete_cells(real_folder)["ab".index(role)]
    exists = originals.existing(role)
    assert (originals.codes(role)[exists] == whole[exists]).all()
    assert (originals.codes(role)[~exists] == -1).all()


def test_another_sensitive_attribute_and_other_sizes(real_folder):
    originals = adult(real_folder, "occupation", common=100, only_a=50, only_b=0).originals
    assert originals.schema.sensitive.name == "occupation"
    assert originals.schema.sensitive.cells == 14
    assert "income" not in originals.schema.columns
    assert (len(originals.table("a")), len(originals.table("b"))) == (150, 100)


def test_what_cannot_be_dealt_out_is_refused(real_folder, tmp_path):
    with pytest.raises(sv.BadParameter, match="do not fit into 30,162 rows"):
        adult_originals(real_folder, only_a=30_000)
    with pytest.raises(sv.Missing, match=r"adult\.csv\.gz is not in"):
        adult_originals(tmp_path)
