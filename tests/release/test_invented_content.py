"""What a release says and is not so of its records is found, although card and dossier were renewed to fit."""

import json

import pytest

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES
from setveil.release.dossier import Private
from setveil.release.opening import open_release
from setveil.release.truthfulness import NOT_TRUTHFUL

from support.changed_releases import (
    add_to_every_second_row,
    check,
    check_here,
    data_of,
    edit_clusters,
    edit_lines,
    exchange_terms,
)
from support.renewing import edit_json, renew_both


def add_to_groups(lines):
    groups = [json.loads(line) for line in lines]
    groups[0]["rows"][0].append("new")
    return map(json.dumps, groups)


def count_in_groups(lines):
    groups = [json.loads(line) for line in lines]
    group = next(group for group in groups if group["sensitive"])
    item = next(iter(group["sensitive"]))
    group["sensitive"][item] = group["sensitive"][item] % len(group["rows"]) + 1
    return map(json.dumps, groups)


def add_term(clusters):
    clusters[0]["term_chunk"].append("new")
    return clusters


def more_of_a_part(clusters):
    chunk = next(chunk for cluster in clusters for chunk in cluster["record_chunks"])
    chunk[0][1] += 1
    return clusters


UNTRUE = {
    "an invented item in every second row": ("insert", lambda path: edit_lines(path, add_to_every_second_row("a0"))),
    "rows exchanged": ("insert", lambda path: edit_lines(path, lambda lines: lines[::-1])),
    "an invented item in a group": ("groups", lambda path: edit_lines(path, add_to_groups)),
    "another count of a sensitive item": ("groups", lambda path: edit_lines(path, count_in_groups)),
    "an invented item in a term chunk": ("apart", lambda path: edit_clusters(path, add_term)),
    "a part that is there once more": ("apart", lambda path: edit_clusters(path, more_of_a_part)),
    "clusters in another order": ("apart", lambda path: edit_clusters(path, lambda found: found[::-1])),
    "term chunks exchanged": ("apart", lambda path: edit_clusters(path, exchange_terms)),
    "an invented node": ("nodes", lambda path: edit_lines(path, add_to_every_second_row("new"))),
}


@pytest.mark.parametrize(("name", "edit"), UNTRUE.values(), ids=UNTRUE)
def test_what_is_not_so_of_the_records_is_a_violation_although_both_cards_were_renewed(folder, name, edit):
    path = folder / name / data_of(name)
    edit(path)
    renew_both(folder / name, folder / f"{name}.private")
    ended = check(folder, name)
    assert ended.code == 3, ended.err
    assert "not truthful" in ended.out.splitlines()[0]
    assert f"the card states truthful: subset for {name}/{path.name}, which is wrong" in ended.out.splitlines()[0]
    verdict = check_here(folder, name)
    found = verdict.violations[NOT_TRUTHFUL]
    shown = [witness for witness in verdict.witnesses if witness.kind == NOT_TRUTHFUL]
    assert len(shown) == min(found, MOST_WITNESSES) > 0
    assert all(witness.place and witness.detail for witness in shown)
    assert not verdict.acceptable(10**6)


def test_every_row_with_an_invented_item_is_counted_and_shown(folder):
    """The guarantee itself holds: nothing but the comparison with the records notices it."""
    path = folder / "insert" / "data.dat"
    edit_lines(path, add_to_every_second_row("a0"))
    renew_both(folder / "insert", folder / "insert.private")
    private, records = Private.load(folder / "insert.private"), sv.read(folder / "original.csv").to_lists()
    rows = open_release(folder / "insert").data.to_lists()
    wrong = [row for row, record in enumerate(private.alignment.rows) if not {*rows[row]} <= {*records[record]}]
    verdict = check_here(folder, "insert")
    assert verdict.violations == {NOT_TRUTHFUL: len(wrong)}
    assert len(wrong) > 10
    assert [witness.row for witness in verdict.witnesses] == wrong
    assert {witness.items for witness in verdict.witnesses} == {("a0",)}
    assert verdict.witnesses[0].detail == "its record does not hold 'a0'"


def test_a_card_that_says_more_truth_than_there_is_is_found_with_the_original(folder):
    for path in (folder / "insert" / "card.json", folder / "insert.private" / "dossier.json"):
        edit_json(path, lambda whole: (whole.get("card") or whole).update(truthful="yes"))
    ended = check(folder, "insert")
    assert ended.code == 3
    assert "the card states truthful: yes for insert/data.dat, which is wrong" in ended.out
