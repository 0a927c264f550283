"""`check_together` on whole releases: which definition applies, which releases count, and what is refused."""

import json
import re
import shutil
from dataclasses import replace

import pytest

import setveil as sv

from support.program import call

SAMPLE = "sample:supermarket?records=600"
SEED = 2**100 + 7


@pytest.fixture(scope="module")
def data():
    return sv.read(SAMPLE)


@pytest.fixture(scope="module")
def categories():
    return sv.read_categories("sample:supermarket", level="department")


@pytest.fixture(scope="module")
def sensitive(data):
    return sv.read_sensitive("sample:supermarket", data)


@pytest.fixture(scope="module")
def secrets(data):
    return sv.mine(data, "2%", min_length=2, max_length=2).to_lists()[:5]


def publish(data, method, seed=SEED, **terms):
    return sv.publish(data, method, seed=seed, metrics=[], **terms)


@pytest.fixture(scope="module")
def made(data, categories, sensitive, secrets):
    """Give a function that publishes a release by a short name, once."""
    items = sv.Hierarchy.balanced(data.vocabulary, 8)
    other_tree = sv.Hierarchy.balanced(data.vocabulary, 5)
    methods = {
        "swap": sv.PartSwap(categories=categories),
        "swap again": sv.PartSwap(categories=categories),
        "swap once more": sv.PartSwap(categories=categories, order="seeded"),
        "swap others": sv.PartSwap(categories=sv.Categories.at_random(data.vocabulary, 9, seed=1)),
        "insert": sv.Insert(sensitive=sensitive, rho="50%"),
        "insert 30": sv.Insert(sensitive=sensitive, rho="30%"),
        "insert other": sv.Insert(sensitive=["bananas-loose", "carrots-1kg"], rho="50%"),
        "p 3": sv.Permutation(sensitive=sensitive, p=3),
        "p 5": sv.Permutation(sensitive=sensitive, p=5),
        "hide": sv.ExactSwap(itemsets=secrets, min_support="2%"),
        "hide again": sv.ExactSwap(itemsets=secrets, min_support="2%"),
        "chunks": sv.Disassociation(k=3, m=2),
        "chunks 5": sv.Disassociation(k=5, m=2, delta=30),
        "chunks 100": sv.Disassociation(k=3, m=2, delta=100),
        "chunks suppressed": sv.Disassociation(k=3, m=2, cover="suppress"),
        "nodes": sv.AprioriGeneralization(k=3, m=1, hierarchy=items),
        "nodes 5": sv.AprioriGeneralization(k=5, m=1, hierarchy=items),
        "other nodes": sv.AprioriGeneralization(k=3, m=1, hierarchy=other_tree),
        "baseline": sv.RandSwap(),
    }
    found = {}

    def one(name):
        if name not in found:
            seed = SEED + len(name)
            found[name] = publish(data, methods[name], seed, allow_failures=600, no_guarantee=name == "baseline")
        return found[name]

    return one


def statuses(together):
    return [verdict.status for verdict in together.verdicts]


# -- what several releases reveal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "title", "violation"),
    [
        (("hide", "hide again"), "supports of both releases", "still-frequent"),
        (("p 3", "p 5"), "cells of groups", "too-often-in-a-cell"),
        (("insert", "insert other"), "joint view of rows", "inferred-item"),
        (("swap", "swap again"), "categories that no row shows", "hidden-category-determined"),
        (("chunks", "chunks 5"), "cells of clusters", "too-few-candidates"),
        (("swap", "insert"), "swapped rows beside true rows", "hidden-category-shown"),
        (("hide", "insert"), "swapped rows beside true rows", "still-frequent"),
        (("p 3", "swap"), "swapped rows beside true rows", "hidden-category-shown"),
    ],
    ids=lambda value: " + ".join(value) if isinstance(value, tuple) else "",
)
def test_releases_that_hold_alone_are_violated_together(made, names, title, violation):
    releases = [made(name) for name in names]
    assert all(release.verdict.acceptable(600) for release in releases)
    together = sv.check_together(releases)
    assert (bool(together), together.status) == (False, "violated")
    assert {part.title for part in together.parts} == {title}
    found = {kind for verdict in together.verdicts for kind in verdict.violations}
    assert violation in found
    assert {one.kind for verdict in together.verdicts for one in verdict.witnesses} >= found
    assert len(together.definitions) == 1
    assert str(together).startswith("together: violated\nrelease 1 + release 2, ")


def test_releases_that_hold_together(made):
    together = sv.check_together([made("chunks"), made("chunks 100")])
    assert together, str(together)
    assert all(verdict.reach.covered == 600 for verdict in together.verdicts)


def test_the_stricter_of_two_parameters_counts_for_both(made):
    """Rows that satisfy k = 3 only are shown beside rows for which the card states k = 5."""
    together = sv.check_together([made("nodes"), made("nodes 5")])
    assert statuses(together) == ["holds", "violated"]
    assert [one.guarantee for one in together.verdicts] == ["km-anonymity of release 1", "km-anonymity of release 2"]
    assert together.verdicts[1].witnesses[0].detail.endswith("fewer than k = 5")


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("swap", "swap others"), "hidden-tendency of both is defined together only with the same categories"),
        (("nodes", "other nodes"), "km-anonymity of both is defined together only with the same hierarchy"),
        (
            ("chunks", "insert"),
            "no joint definition for km-anonymity of disassociated data and rho-uncertainty of plain",
        ),
        (
            ("swap", "hide"),
            "no joint definition for hidden-tendency of plain records and hidden-itemsets of plain records",
        ),
        (("swap", "baseline"), "release 2 has no guarantee"),
        (("chunks", "chunks suppressed"), "release 2 omits occurrences"),
    ],
    ids=lambda value: " + ".join(value) if isinstance(value, tuple) else "",
)
def test_pairs_without_a_definition_are_undecided_and_named(made, names, says):
    together = sv.check_together([made(name) for name in names])
    assert (bool(together), together.status) == (False, "undecided")
    (verdict,) = together.verdicts
    assert says in verdict.reason
    assert says in str(together)


def test_three_releases_are_all_compared(made):
    together = sv.check_together([made(name) for name in ("swap", "swap again", "swap once more")])
    (part,) = together.parts
    assert part.releases == ("release 1", "release 2", "release 3")
    pairs = [
        sv.check_together([made(one), made(other)])
        for one, other in (("swap", "swap again"), ("swap", "swap once more"), ("swap again", "swap once more"))
    ]
    fewest = [one.verdicts[0].counts["fewest-categories-shown-by-no-row"] for one in pairs]
    assert part.verdict.counts["fewest-categories-shown-by-no-row"] <= min(fewest)
    mixed = sv.check_together([made(name) for name in ("insert", "chunks", "chunks 5", "insert other", "baseline")])
    covered = {frozenset(part.releases) for part in mixed.parts}
    assert covered == {
        frozenset(f"release {n}" for n in pair)
        for pair in ((1, 4), (2, 3), (1, 2), (1, 3), (2, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5))
    }
    assert mixed.status == "violated"
    assert statuses(mixed).count("undecided") == 8


def test_plain_rows_are_viewed_with_either_hierarchy(made):
    together = sv.check_together([made(name) for name in ("insert", "nodes", "other nodes")])
    names = [part.releases for part in together.parts if part.definition]
    assert {frozenset(one) for one in names} == {
        frozenset({"release 1", "release 2"}),
        frozenset({"release 1", "release 3"}),
    }
    (undefined,) = (part for part in together.parts if not part.definition)
    assert undefined.releases == ("release 2", "release 3")


# -- the same run, other data -------------------------------------------------------------------------------------------------


def test_the_same_run_twice_counts_once(made, data, tmp_path):
    release = made("chunks")
    release.save(tmp_path / "saved")
    for given in ([release, release], [release, tmp_path / "saved"], [tmp_path / "saved", str(tmp_path / "saved")]):
        together = sv.check_together(given, original=data)
        assert together
        assert together.verdicts == (release.verdict,)
        assert len(together.repeated) == 1
        assert "counts once" in str(together)
    three = sv.check_together([release, tmp_path / "saved", made("chunks 100")], original=data)
    assert three
    assert [part.releases for part in three.parts] == [("release 1", "release 3")]


def test_equal_rows_of_different_runs_count_once(data):
    first, second = (publish(data, sv.Disassociation(k=3, m=2), seed) for seed in (SEED, SEED + 1))
    assert first.randomness.run != second.randomness.run
    together = sv.check_together([first, second])
    assert together.repeated == ("release 2",)


def test_equal_rows_with_another_guarantee_are_not_the_same_run():
    """Otherwise the guarantee of the second release would not be checked together with a third one."""
    data = sv.from_lists([["a", "s"]] * 20)
    lax, strict = (publish(data, sv.GlobalSuppression(sensitive=["s"], rho=rho)) for rho in ("50%", "40%"))
    assert lax.data == strict.data
    shows_45 = publish(data, sv.Insert(sensitive=["s"], rho="45%"))
    assert sv.check_together([lax, shows_45])
    together = sv.check_together([lax, strict, shows_45])
    assert (together.status, together.repeated) == ("violated", ())
    assert sv.check_together([lax, strict])


def test_the_same_run_without_a_guarantee_is_undecided(made):
    together = sv.check_together([made("baseline"), made("baseline")])
    assert statuses(together) == ["undecided"]


def test_releases_of_other_data_are_undecided(made, data):
    other = publish(sv.read("sample:supermarket?records=599"), sv.Disassociation(k=3, m=2))
    together = sv.check_together([made("chunks"), other, made("chunks 100")])
    assert statuses(together) == ["holds", "undecided", "undecided"]
    assert "release 2 was made from other data than the original" in together.verdicts[1].reason
    with pytest.raises(sv.BadData, match="is not the data that any of these releases was made from"):
        sv.check_together([made("chunks"), made("chunks 100")], original=[["milk"], ["tea"]])
    assert sv.check_together([made("chunks"), made("chunks 100")], original=data)


def test_re_associated_data_are_undecided(made):
    again = publish(made("chunks"), sv.Reassociation())
    together = sv.check_together([made("chunks"), again])
    assert "release 2 is re-associated data, for which there is no joint definition" in together.verdicts[0].reason


# -- folders ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(made, tmp_path):
    """Give a folder with saved releases, their names without blanks."""
    for name in ("chunks", "chunks 5", "swap", "swap again"):
        made(name).save(tmp_path / name.replace(" ", "-"))
    return tmp_path


def test_the_command_line_shows_what_python_returns(folder, made):
    names = ("swap", "swap-again", "chunks")
    together = sv.check_together([folder / name for name in names], original=SAMPLE)
    unsaved = sv.check_together([made("swap"), folder / "swap-again", sv.open_release(folder / "chunks")])
    assert [one.counts for one in unsaved.verdicts] == [one.counts for one in together.verdicts]
    ended = call("check", "--together", *names, "--original", SAMPLE, "--json", "--witnesses", 100, cwd=folder)
    assert ended.code == 3
    expected = json.loads(json.dumps(together.to_dict(witnesses=100)).replace(f"{folder}/", ""))
    assert ended.json == expected
    shown = call("check", *names, "--together", "--original", SAMPLE, "--witnesses", 2, cwd=folder)
    assert shown.code == 3
    for text in (
        "together: violated\n",
        "swap + swap-again, categories that no row shows: hidden-tendency: violated (",
        "swap + chunks, no definition: ",
        "swap-again + chunks, no definition: ",
        "hidden-category-determined: original record ",
    ):
        assert text in shown.out
    silent = call("check", "--together", *names, "--original", SAMPLE, cwd=folder)
    assert "original record" not in silent.out, "values are shown to those who ask for them"
    assert "use --witnesses" in silent.out
    html = together._repr_html_()
    assert "together: violated" in html
    assert "<script" not in html


def test_what_is_missing_or_changed_is_refused(folder):
    both = [folder / "chunks", folder / "chunks-5"]
    with pytest.raises(sv.Missing, match="name it with `original=`"):
        sv.check_together(both)
    shutil.move(folder / "chunks-5.private", folder / "moved")
    with pytest.raises(sv.Missing, match="chunks-5 has no private folder beside it"):
        sv.check_together(both, original=SAMPLE)
    shutil.copytree(folder / "chunks.private", folder / "chunks-5.private")
    with pytest.raises(sv.BadData, match="belongs to another run"):
        sv.check_together(both, original=SAMPLE)
    shutil.rmtree(folder / "chunks-5.private")
    shutil.move(folder / "moved", folder / "chunks-5.private")
    (file,) = (folder / "chunks-5").glob("data.*")
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(sv.BadData, match="sha256 differs"):
        sv.check_together(both, original=SAMPLE)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("release", "releases is 'release'; expected a list of at least two releases"),
        (3, "releases is 3; expected a list"),
        ([], "0 releases given; a joint check needs at least two"),
        ([3, 4], "release is 3; expected a release folder"),
    ],
)
def test_what_is_no_list_of_releases_is_a_sentence(given, says):
    with pytest.raises(sv.BadParameter, match=re.escape(says)):
        sv.check_together(given, original=[["a"]])


def test_a_release_without_a_row_for_each_record_is_undecided(made, data):
    release = made("swap")
    rows = release.alignment.rows.copy()
    rows[0] = rows[1]
    other = made("swap again")
    changed = replace(other, alignment=type(other.alignment)(rows))
    together = sv.check_together([release, changed], original=data)
    assert "does not have exactly one row for each record" in together.verdicts[0].reason


def test_the_same_seed_with_another_version_is_another_release(made, tmp_path):
    """It can give other rows, so what both show together is checked."""
    release = made("chunks")
    other = replace(made("chunks 100"), randomness=release.randomness)
    other.save(tmp_path / "other")
    dossier = tmp_path / "other.private" / "dossier.json"
    facts = json.loads(dossier.read_text(encoding="utf-8"))
    facts["versions"]["numpy"] = "1.0"
    dossier.write_text(json.dumps(facts), encoding="utf-8")
    together = sv.check_together([release, tmp_path / "other"])
    assert together.repeated == ()
    assert [part.title for part in together.parts] == ["cells of clusters"]
