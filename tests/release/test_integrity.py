"""A release that was changed, or that is not the one of the private folder, is refused with one sentence that names the file.

Each case is tried from the command line and from Python.
"""

import json
import shutil
from pathlib import Path

import pytest

import setveil as sv
from setveil.data.formats import Layout
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_file, open_release

from support.changed_releases import (
    METHODS,
    RECORDS,
    add_to_every_second_row,
    assert_refused,
    check,
    check_here,
    data_of,
    edit_clusters,
    edit_lines,
    exchange_terms,
)
from support.program import call
from support.renewing import edit_json, renew_both, renew_card, renew_checksums


@pytest.mark.parametrize("name", METHODS)
def test_a_release_that_nobody_changed_is_accepted(folder, name):
    assert check(folder, name).code == 0
    assert check_here(folder, name).acceptable(RECORDS)
    renew_both(folder / name, folder / f"{name}.private")
    assert check(folder, name).code == 0, "so that below it is the change that is refused, and not the writing"


# -- what the private folder notes of the run ------------------------------------------------------------------------------


NOTED = (
    lambda dossier: dossier.update(seed=str(2**91)),
    lambda dossier: dossier["randomness"].update(block=1),
    lambda dossier: dossier.update(private_salt="00" * 32),
    lambda dossier: dossier.update(private_salt="salt"),
)


@pytest.mark.parametrize("name", METHODS)
def test_another_seed_recipe_or_salt_in_the_dossier_is_refused(folder, name):
    dossier = folder / f"{name}.private" / "dossier.json"
    written = dossier.read_text(encoding="utf-8")
    says = "notes a seed or a recipe that does not give its run id and salt"
    for change in NOTED:
        edit_json(dossier, change)
        assert_refused(folder, name, f"{name}.private/dossier.json", says)
        dossier.write_text(written, encoding="utf-8")


@pytest.mark.parametrize("changes", [{"private_sha256": None}, {"card_version": 1}, {"run": None}], ids=str)
def test_a_card_of_version_2_without_its_run_or_commitment_is_no_card(folder, changes):
    edit_json(folder / "insert" / "card.json", lambda card: card.update(changes))
    assert_refused(folder, "insert", "insert/card.json", "is not a card that setveil")


def test_measure_refuses_the_private_folder_of_another_run(folder):
    ended = call("measure", "original.csv", "swap", "--private", "swap-twin.private", cwd=folder)
    assert ended.code == 2
    assert ended.sentence().startswith("swap-twin.private: belongs to another run")


@pytest.mark.parametrize(("name", "original"), [("again", "again"), ("swap", "again"), ("nodes", "nodes")])
def test_a_release_of_another_form_is_no_original(folder, name, original):
    ended = call("check", name, "--original", original, "--private", f"{name}.private", cwd=folder)
    assert ended.code == 2
    assert "the original is not the data that this release was made from" in ended.sentence()


# -- files --------------------------------------------------------------------------------------------------------------------


CHANGES = {
    "data of another run": ("swap", lambda path: shutil.copy(path.parents[1] / "swap-twin" / "data.csv", path)),
    "data of another run, hidden itemsets": (
        "hide",
        lambda path: shutil.copy(path.parents[1] / "hide-twin" / "data.dat", path),
    ),
    "a record is missing": ("insert", lambda path: edit_lines(path, lambda lines: lines[1:])),
    "a record is there twice": ("insert", lambda path: edit_lines(path, lambda lines: [*lines, lines[-1]])),
    "an invented item": ("insert", lambda path: edit_lines(path, add_to_every_second_row("a0"))),
    "a group is there twice": ("groups", lambda path: edit_lines(path, lambda lines: [*lines, lines[-1]])),
    "a cluster is there twice": ("apart", lambda path: edit_clusters(path, lambda found: [*found, found[-1]])),
    "clusters in another order": ("apart", lambda path: edit_clusters(path, lambda found: found[::-1])),
    "term chunks exchanged": ("apart", lambda path: edit_clusters(path, exchange_terms)),
    "a record of nodes is there twice": ("nodes", lambda path: edit_lines(path, lambda lines: [*lines, lines[-1]])),
    "two rows of re-associated data exchanged": (
        "again",
        lambda path: edit_lines(path, lambda lines: [lines[-1], *lines[1:-1], lines[0]]),
    ),
}


@pytest.mark.parametrize(("name", "edit"), CHANGES.values(), ids=CHANGES)
def test_a_data_file_that_was_never_published_is_refused_although_its_card_was_renewed(folder, name, edit):
    path = folder / name / data_of(name)
    before = path.read_bytes()
    edit(path)
    assert path.read_bytes() != before
    renew_card(folder / name)
    assert_refused(folder, name, f"{name}/{path.name}", "is not the file that was published: its sha256 differs")


@pytest.mark.parametrize(("name", "edit"), CHANGES.values(), ids=CHANGES)
def test_it_is_refused_too_if_only_the_checksum_on_the_card_was_renewed(folder, name, edit):
    """Either the counts of the card are wrong then, or the file is another one of as many records and items."""
    path = folder / name / data_of(name)
    edit(path)
    renew_checksums(folder / name)
    ended = check(folder, name)
    assert ended.code == 2, ended.out
    assert path.name in ended.sentence()


@pytest.mark.parametrize(
    ("name", "file"), [("nodes", "hierarchy.csv"), ("again", "data-2.dat")], ids=["hierarchy", "second set"]
)
def test_another_file_beside_the_data_is_refused_although_its_card_was_renewed(folder, name, file):
    line = "new,a" if file == "hierarchy.csv" else "new"
    edit_lines(folder / name / file, lambda lines: [*lines, line])
    renew_card(folder / name)
    assert_refused(folder, name, f"{name}/{file}", "is not the file that was published: its sha256 differs")


def test_a_set_more_than_the_card_names_is_refused(folder):
    shutil.copy(folder / "again" / "data-2.dat", folder / "again" / "data-3.dat")
    assert_refused(folder, "again", "again/card.json", "records, but data-1.dat has")


@pytest.mark.parametrize("name", ["swap", "insert", "hide", "apart", "groups"])
def test_a_bare_file_that_was_never_published_is_refused(folder, name):
    """The guarantee is named, and the private folder is that of the release."""
    private, original = Private.load(folder / f"{name}.private"), sv.read(folder / "original.csv")
    guarantee = guarantee_of(open_release(folder / name), private)

    def checked(out):
        bare = open_file(folder / out / data_of(name), None, Layout(), guarantee.takes)
        return check_release(bare, guarantee, original=original, private=private)

    assert checked(name).acceptable(RECORDS)
    # The first line of disassociated data is a header.
    edit_lines(folder / f"{name}-twin" / data_of(name), lambda lines: [lines[0], *lines[:0:-1]])
    with pytest.raises(sv.BadData, match=f"{name}-twin/{data_of(name)}: is not the file that was published"):
        checked(f"{name}-twin")


# -- folders ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_the_private_folder_of_another_run_is_refused(folder, name):
    twin = f"{name}-twin.private"
    assert_refused(folder, name, twin, "belongs to another run than the release", private=twin)


def test_a_dossier_of_another_run_with_the_card_of_this_one_is_refused(folder):
    card = json.loads((folder / "insert" / "card.json").read_text())
    edit_json(folder / "insert-twin.private" / "dossier.json", lambda dossier: dossier.update(card=card))
    twin = "insert-twin.private"
    assert_refused(folder, "insert", twin, "belongs to another run than the release", private=twin)


PRIVATE = {
    "a list of the guarantee": ("insert", lambda dossier: dossier["guarantee"]["parameters"]["sensitive"].pop()),
    "a list of the method": ("insert", lambda dossier: dossier["method"]["parameters"]["sensitive"].pop()),
    "a list of another form": ("groups", lambda dossier: dossier["guarantee"]["parameters"]["sensitive"].pop()),
    "categories": ("swap", lambda dossier: dossier["guarantee"]["parameters"]["categories"].update(a0="b")),
    "an itemset": ("hide", lambda dossier: dossier["guarantee"]["parameters"].update(itemsets=[["a0", "d4"]])),
    "targets raised": ("hide", lambda dossier: dossier["guarantee"]["parameters"].update(targets=[11, 11])),
    "a hierarchy of the method": ("nodes", lambda dossier: dossier["method"]["parameters"].update(hierarchy=None)),
    "no parameters": ("nodes", lambda dossier: dossier["method"].update(parameters=None)),
}


@pytest.mark.parametrize(("name", "edit"), PRIVATE.values(), ids=PRIVATE)
def test_private_parameters_that_were_changed_in_the_dossier_are_noticed(folder, name, edit):
    edit_json(folder / f"{name}.private" / "dossier.json", edit)
    assert_refused(folder, name, f"{name}.private/dossier.json", "holds other private parameters than the release")


def test_the_commitment_reveals_nothing_without_the_salt(made):
    """The same private parameters give another checksum in each run, and only the dossier has the salt."""
    cards = [json.loads((made / out / "card.json").read_text()) for out in ("insert", "insert-twin")]
    assert cards[0]["private_sha256"] != cards[1]["private_sha256"]
    dossier = json.loads((made / "insert.private" / "dossier.json").read_text())
    assert dossier["private_salt"] not in json.dumps(cards)


OLD = Path(__file__).parents[1] / "fixtures" / "releases-1"


def test_a_release_of_card_version_1_is_compared_by_its_checksums(tmp_path):
    """It has no run id and no commitment."""
    for part in ("insert", "insert.private", "naive.private"):
        shutil.copytree(OLD / part, tmp_path / part)
    options = ("--original", OLD / "original.csv", "--private")
    assert call("check", "insert", *options, "insert.private", cwd=tmp_path).code == 0
    ended = call(
        "check", "insert", "--guarantee", "km-anonymity", "--k", 1, "--m", 1, *options, "naive.private", cwd=tmp_path
    )
    assert ended.code == 2
    assert "insert/data.dat: is not the file that was published" in ended.sentence()
    edit_lines(tmp_path / "insert" / "data.dat", lambda lines: [*lines, lines[-1]])
    renew_card(tmp_path / "insert")
    ended = call("check", "insert", *options, "insert.private", cwd=tmp_path)
    assert ended.code == 2
    assert "insert/data.dat: is not the file that was published" in ended.sentence()


# -- cards --------------------------------------------------------------------------------------------------------------------


COUNTS = ["records", "items", "occurrences", "empty_records"]


@pytest.mark.parametrize("with_private", [True, False], ids=["with the private folder", "without"])
@pytest.mark.parametrize("count", [*COUNTS, "reach"])
@pytest.mark.parametrize("name", METHODS)
def test_counts_on_the_card_that_are_not_those_of_the_file_are_refused(folder, name, count, with_private):
    def edit(card):
        reach = card["guarantee"]["reach"]
        if count != "reach":
            card["counts"][count] += 1
        elif reach is not None:
            reach["total"] += 1
        else:
            card["counts"]["records"] -= 1  # hidden itemsets are not counted on the card

    edit_json(folder / name / "card.json", edit)
    if with_private:
        assert_refused(folder, name, f"{name}/card.json", f"{data_of(name)} has ")
        return
    ended = call("check", name, cwd=folder)
    assert ended.code == 2
    assert ended.sentence().startswith(f"{name}/card.json: counts ")
    with pytest.raises(sv.BadData, match="the card or the data file was changed"):
        open_release(folder / name)
