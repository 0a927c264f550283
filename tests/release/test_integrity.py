"""A release that was changed, or that is not the one of the private folder, is refused with one sentence that names the file.

Each case is tried from the command line and from Python.
"""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.data.formats import Layout
from setveil.guarantees.base import MOST_WITNESSES
from setveil.release.checking import check_release, guarantee_of, open_file, open_release
from setveil.release.dossier import Private
from setveil.release.truthfulness import NOT_TRUTHFUL

from program import call
from renewing import edit_json, renew_both, renew_card, renew_checksums

RECORDS = 120
SENSITIVE = ["a4", "b4", "c4"]
CATEGORIES = {f"{aisle}{n}": aisle for aisle in "abcd" for n in range(5)}
METHODS = {
    "swap": sv.PartSwap(categories=CATEGORIES, leftovers="cycle,helper,adopt"),
    "insert": sv.Insert(sensitive=SENSITIVE, rho="50%"),
    "hide": sv.ExactSwap(itemsets=[["a0", "b0"], ["c0", "d0"]], min_support=12, target=6),
    "apart": sv.Disassociation(k=3, m=2, delta=12),
    "groups": sv.Permutation(sensitive=SENSITIVE, p=2),
    "nodes": sv.AprioriGeneralization(k=3, m=2, hierarchy=CATEGORIES),
    "again": sv.Reassociation(neighbours=2),
}
DATA = {"apart": "data.jsonl.gz", "groups": "data.jsonl", "again": "data-1.dat", "swap": "data.csv"}


def data_of(name):
    """Return the name of the data file of a release."""
    return DATA.get(name, "data.dat")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Publish the same records with each method, and once more in a run of its own."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(5)
    items = [f"{aisle}{n}" for n in range(5) for aisle in "abcd"]
    weight = 1 / np.arange(1, 21) ** 0.8
    drawn = [rng.choice(items, rng.integers(2, 7), replace=False, p=weight / weight.sum()) for _ in range(RECORDS)]
    lines = [f"p{number},{item}" for number, record in enumerate(drawn) for item in sorted(record)]
    (folder / "original.csv").write_text("\n".join(["id,item", *lines]) + "\n")
    for name, method in METHODS.items():
        for number, out in enumerate((name, f"{name}-twin")):
            taken = open_release(folder / "apart").data if name == "again" else sv.read(folder / "original.csv")
            release = sv.publish(taken, method, seed=2**90 + number, allow_failures=RECORDS, metrics=[])
            release.save(folder / out)
            (folder / f"{out}.private" / "report.html").unlink()  # a megabyte that every test would copy
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


def original_of(name):
    return "apart" if name == "again" else "original.csv"


def check(folder, name, private=None):
    """Check a release with everything, from the command line."""
    options = ("--original", original_of(name), "--private", private or f"{name}.private")
    return call("check", name, *options, "--allow-failures", RECORDS, cwd=folder)


def check_here(folder, name, private=None):
    """Check a release with everything, from Python."""
    opened, noted = open_release(folder / name), Private.load(folder / (private or f"{name}.private"))
    original = open_release(folder / "apart").data if name == "again" else sv.read(folder / "original.csv")
    return check_release(opened, guarantee_of(opened, noted), original=original, private=noted)


def assert_refused(folder, name, file, says, private=None):
    """Fail unless the check is refused with one sentence that names the file, in both ways."""
    ended = check(folder, name, private)
    assert ended.code == 2, ended.out
    assert ended.sentence().startswith(f"{file}: ")
    assert says in ended.sentence()
    assert ended.out == ""
    with pytest.raises(sv.BadData, match=says) as refused:
        check_here(folder, name, private)
    assert refused.value.file == str(folder / file)


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


def edit_lines(path, edit):
    """Change the lines of a text file, packed or not."""
    packed = path.suffix == ".gz"
    text = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text()
    changed = "".join(f"{line}\n" for line in edit(text.splitlines()))
    path.write_bytes(gzip.compress(changed.encode()) if packed else changed.encode())


def edit_clusters(path, edit):
    """Change the clusters of a file of disassociated data."""

    def lines(texts):
        header, *clusters = map(json.loads, texts)
        clusters = edit(clusters)
        header |= {"clusters": len(clusters), "records": sum(cluster["size"] for cluster in clusters)}
        return map(json.dumps, (header, *clusters))

    edit_lines(path, lines)


def exchange_terms(clusters):
    """Exchange the term chunks of two clusters, where that is a difference and leaves every cluster without an item twice."""
    for one in clusters:
        for other in clusters:
            terms = [set(cluster["term_chunk"]) for cluster in (one, other)]
            in_chunks = [
                {item for chunk in cluster["record_chunks"] for part, _count in chunk for item in part}
                for cluster in (one, other)
            ]
            if all(terms) and terms[0] != terms[1] and not (terms[0] & in_chunks[1] or terms[1] & in_chunks[0]):
                one["term_chunk"], other["term_chunk"] = other["term_chunk"], one["term_chunk"]
                return clusters
    raise AssertionError("no two term chunks can be exchanged")


def add_to_every_second_row(item):
    """Add an item to rows that show nothing sensitive, so that no sensitive item can be inferred better than before."""

    def changed(number, row):
        return number % 2 and item not in row and not {*row} & {*SENSITIVE}

    return lambda lines: [f"{line} {item}" if changed(n, line.split()) else line for n, line in enumerate(lines)]


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
    assert_refused(folder, "again", "again/card.json", "records, and data-1.dat has")


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


# -- truth --------------------------------------------------------------------------------------------------------------------


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
    assert f"the card says truthful: subset of {name}/{path.name}, and that is not so" in ended.out.splitlines()[0]
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
    assert "the card says truthful: yes of insert/data.dat, and that is not so" in ended.out
