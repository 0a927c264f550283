import sys

import pytest

import setveil as sv

DATA = sv.from_lists([["E11.9", "e119", "E11"], ["B20", "C50.011"], ["S52.501A", "S52501D", "U07.1"]])


def test_categories_by_chapter_block_and_three_characters():
    by_chapter = dict(sv.read_categories("icd10cm:chapter", data=DATA))
    assert {by_chapter[code] for code in ("E11.9", "e119", "E11")} == {"E00-E89"}
    assert (by_chapter["B20"], by_chapter["S52501D"], by_chapter["U07.1"]) == ("A00-B99", "S00-T88", "U00-U85")
    by_block = dict(sv.read_categories("icd10cm:block", data=DATA))
    assert {by_block[code] for code in ("E11.9", "e119", "E11")} == {"E08-E13"}
    assert (by_block["B20"], by_block["C50.011"], by_block["S52.501A"]) == ("B20", "C50", "S50-S59")
    by_category = dict(sv.read_categories("icd10cm:3", data=DATA))
    assert by_category == {code: code[:3].upper() for code in DATA.vocabulary}


def test_the_hierarchy_has_chapters_blocks_categories_and_subcategories():
    tree = sv.read_hierarchy("icd10cm", data=DATA)
    assert sorted(tree.leaves) == sorted(DATA.vocabulary)
    assert (
        tree.ancestors("E11.9")
        == tree.ancestors("e119")
        == tree.ancestors("E11")
        == ("E11*", "E08-E13", "E00-E89", "*")
    )
    assert tree.ancestors("S52501D") == ("S52.501*", "S52.50*", "S52.5*", "S52*", "S50-S59", "S00-T88", "*")
    assert tree.ancestors("C50.011") == (
        "C50.01*",
        "C50.0*",
        "C50*",
        "C00-D49",
        "*",
    )  # a block of one category is omitted
    assert tree.ancestors("B20") == ("A00-B99", "*")


def test_every_code_of_the_tables_has_a_place():
    import simple_icd_10_cm  # noqa: PLC0415 - loads its tables for seconds

    codes = [code for code in simple_icd_10_cm.get_all_codes() if len(code) >= 3 and "-" not in code]
    data = sv.from_lists([codes])
    tree = sv.read_hierarchy("icd10cm", data=data)
    assert sorted(tree.leaves) == sorted(set(codes))
    chapters = sv.read_categories("icd10cm:chapter", data=data)
    assert set(tree.level(1).values()) == set(chapters.values())
    assert len(set(chapters.values())) == 22
    categories = sv.read_categories("icd10cm:3", data=data)
    assert all(category == code[:3] for code, category in categories.items())


@pytest.mark.parametrize("wrong", ["E11.", "E1.19", "Z99.99", "milk", "4", "E08-E13", "E11 9", "E11.9.", ".E119", "*"])
def test_what_is_not_a_code_is_refused(wrong):
    data = sv.from_lists([["E11.9", wrong]])
    for read, text in ((sv.read_categories, "icd10cm:3"), (sv.read_hierarchy, "icd10cm")):
        with pytest.raises(sv.BadData) as caught:
            read(text, data=data)
        assert f"1 of 2 items is no code of ICD-10-CM, such as {wrong!r};" in str(caught.value)
        assert "with `missing_category='other'`" in str(caught.value)


def test_at_most_three_unknown_codes_are_named():
    with pytest.raises(sv.BadData, match="5 of 5 items are no codes of ICD-10-CM, such as '1', '2', '3';"):
        sv.read_hierarchy("icd10cm", data=sv.from_lists([list("12345")]))


def test_items_that_are_no_codes_can_go_into_one_category():
    data = sv.from_lists([["E11.9", "milk", "Z99.99"]])
    categories = sv.read_categories("icd10cm:3", data=data, missing_category="other")
    assert {item: categories[item] for item in data.vocabulary} == {"E11.9": "E11", "milk": "other", "Z99.99": "other"}
    tree = sv.read_hierarchy("icd10cm", data=data, missing_category="other")
    assert tree.leaves_under("other") == ("Z99.99", "milk")
    assert tree.ancestors("E11.9") == ("E11*", "E08-E13", "E00-E89", "*")


@pytest.mark.parametrize("name", ["E11.9", "milk", "other", "E11*"])
def test_the_group_of_other_items_may_have_the_name_of_an_item(name):
    data = sv.from_lists([["E11.9", "milk", "other", "E11*"]])
    tree = sv.read_hierarchy("icd10cm", data=data, missing_category=name)
    assert sorted(tree.leaves) == sorted(data.vocabulary)
    assert tree.ancestors("E11.9")[:3] == ("E11* (group)", "E08-E13", "E00-E89")
    assert tree.ancestors("milk")[0] == tree.ancestors("other")[0] == f"{name} (group)"
    with pytest.raises(sv.BadParameter, match="`missing_category=`: the name '' is empty"):
        sv.read_hierarchy("icd10cm", data=data, missing_category="")


@pytest.mark.parametrize("text", ["icd10cm", "icd10cm:", "icd10cm:section"])
def test_an_unknown_level_is_refused(text):
    with pytest.raises(sv.BadParameter, match="allowed are: icd10cm:chapter, icd10cm:block, icd10cm:3"):
        sv.read_categories(text, data=DATA)
    if text != "icd10cm":
        with pytest.raises(sv.BadParameter, match="a hierarchy has all levels of ICD-10-CM; expected 'icd10cm'"):
            sv.read_hierarchy(text, data=DATA)


def test_without_the_extra_the_command_that_installs_it_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)
    with pytest.raises(sv.Missing, match=r"pip install 'setveil\[codes\]'"):
        sv.read_hierarchy("icd10cm", data=DATA)
