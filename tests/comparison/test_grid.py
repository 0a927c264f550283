"""A grid: every combination once, and refusals that name the place."""

from itertools import product

import pytest

import setveil as sv
from setveil.comparison.grid import Grid

DATA = {"path": "sample:supermarket?records=300"}


def grid(*methods, **others):
    return Grid({"data": DATA, "methods": [*methods], **others})


def test_lists_stand_for_every_combination():
    one = {"name": "disassociation", "k": [3, 5], "m": [1, 2], "mode": "flat"}
    found = grid(one, {"name": "rand-swap"}, {"name": "disassociation", "k": 3, "m": 1, "mode": "flat"})
    assert [(each.name, each.settings) for each in found.set_ups] == [
        *(("disassociation", {"k": str(k), "m": str(m), "mode": "flat"}) for k, m in product((3, 5), (1, 2))),
        ("rand-swap", {}),
    ]
    assert [each.number for each in found.set_ups] == [0, 1, 2, 3, 4]


def test_each_set_up_is_there_once_and_there_may_be_too_many():
    found = grid({"name": "disassociation", "k": [3, 3], "m": 2}, {"name": "disassociation", "k": 3, "m": 2})
    assert [each.number for each in found.set_ups] == [0]
    many = {"name": "disassociation", **{key: [*range(2, 1002)] for key in ("k", "m", "delta", "iterations")}}
    with pytest.raises(sv.BadParameter, match=r"there are 1,000,000,000,000 set-ups; allowed are at most 2,000"):
        grid(many)


def test_a_value_that_is_a_list_is_given_inside_a_list():
    found = grid({"name": "insert", "sensitive": [["milk"], ["milk", "tea"]], "rho": "50%"})
    assert [each.settings["sensitive"] for each in found.set_ups] == ["milk", "milk, tea"]
    data = sv.from_lists([["milk", "tea"], ["milk"]])
    assert [len(each.made(data).sensitive) for each in found.set_ups] == [1, 2]


def test_seeds_are_a_number_or_a_list():
    assert grid({"name": "rand-swap"}, seeds=2).seeds == [0, 1]
    assert grid({"name": "rand-swap"}, seeds=[0, 7]).seeds == [0, 7]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"methods": []}, "the key 'data' is missing"),
        ({"data": DATA}, "the key 'methods' is missing"),
        ({"data": DATA, "methods": []}, "name at least one method"),
        ({"data": DATA, "methods": ["no-such-method"]}, "there is no method 'no-such-method'"),
        ({"data": DATA, "methods": ["reassociation"]}, "takes a release"),
        ({"data": DATA, "methods": [{"name": "disassociation", "k": [], "m": 2}]}, "methods 1: k has no values"),
        ({"data": DATA, "methods": [{"name": "disassociation", "kk": 2}]}, "'kk'"),
        ({"data": DATA, "methods": [{"name": "disassociation", "k": [2, None], "m": 2}]}, "a value is None"),
        ({"data": DATA, "methods": ["rand-swap"], "seed": 1}, "'seed'"),
        ({"data": DATA, "methods": ["rand-swap"], "seeds": 0}, "seeds is 0"),
        ({"data": DATA, "methods": ["rand-swap"], "seeds": 10**9}, "a number from 1 to 1,000"),
        ({"data": DATA, "methods": ["rand-swap"], "seeds": []}, "seeds is []"),
        ({"data": DATA, "methods": ["rand-swap"], "seeds": [0, -1]}, "seeds is [0, -1]"),
        ({"data": DATA, "methods": ["rand-swap"], "seeds": [1, 1]}, "different whole numbers"),
        ({"data": DATA, "methods": ["rand-swap"], "held_out": 1.0}, "held_out is 1.0"),
        ({"data": DATA, "methods": ["rand-swap"], "targets": 1}, "targets is 1"),
        ({"data": DATA, "methods": ["rand-swap"], "task": "no-such-metric"}, "no-such-metric"),
    ],
)
def test_a_wrong_grid_is_refused_in_a_sentence(content, said):
    with pytest.raises((sv.BadParameter, sv.UnknownName, sv.Missing)) as refused:
        Grid(content)
    assert said in str(refused.value)
    assert str(refused.value).startswith("the grid")


def test_paths_start_from_the_folder_of_the_file(tmp_path, monkeypatch):
    folder = tmp_path / "grids"
    folder.mkdir()
    (folder / "baskets.dat").write_text("milk tea\nmilk\n" * 20, encoding="utf-8")
    (folder / "secret.txt").write_text("milk\n", encoding="utf-8")
    (folder / "grid.toml").write_text(
        'data = "baskets.dat"\n[[methods]]\nname = "insert"\nsensitive = "secret.txt"\nrho = "50%"\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    found = Grid.of("grids/grid.toml")
    data = found.read_data()
    assert data.records == 40
    assert [*found.set_ups[0].made(data).sensitive] == ["milk"]
    assert found.set_ups[0].settings["sensitive"] == "secret.txt"
    assert Grid.from_described(found.described()) == found
