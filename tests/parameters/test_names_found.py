"""Lists of names: refused where nothing of them occurs, accepted and listed where only some of it does."""

import json

import numpy as np
import pytest

import setveil as sv
from setveil.parameters.names_found import MOST_COMPARED, MissingName
from setveil.profiling import profile
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_file, open_release

from support.program import call

LISTS = [["beer", "crisps"], ["beer", "crisps", "tea"], ["beer", "tea"], ["crisps"], ["milk", "tea"], ["milk"], ["tea"]]
DATA = sv.from_lists(LISTS * 4 + [["bread"]] * 8)
RULES = {"partition": "ants", "k": 2, "m": 2, "delta": 4}
METHODS = {
    "insert": lambda names: sv.Insert(sensitive=names, rho=0.5),
    "partial-suppression": lambda names: sv.PartialSuppression(sensitive=names, rho=0.5),
    "global-suppression": lambda names: sv.GlobalSuppression(sensitive=names, rho=0.5),
    "td-control": lambda names: sv.TDControl(sensitive=names, rho=0.5, fanout=2),
    "permutation": lambda names: sv.Permutation(sensitive=names, p=2),
    "exact-swap": lambda names: sv.ExactSwap(itemsets=[[name] for name in names], min_support=6, target="border"),
    "heu": lambda names: sv.HEU(itemsets=[[name] for name in names], min_support=6),
    "naive": lambda names: sv.Naive(itemsets=[[name] for name in names], min_support=6),
    "swap-itemsets": lambda names: sv.SwapItemsets(itemsets=[[name] for name in names], min_support=6),
    "disassociation": lambda names: sv.Disassociation(rules=[[name] for name in names], **RULES),
}


def publish(method, data=DATA, **more):
    return sv.publish(data, method, seed=2**100, metrics=[], no_guarantee=True, **more)


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def test_a_list_of_which_nothing_occurs_is_refused(method):
    with pytest.raises(
        sv.BadData, match=r"0 of 2 named (items|itemsets|rules) occur in the data; at least one must"
    ) as no:
        publish(method(["beers", "zzz"]))
    assert "Not in the data: 'beers' (close to 'beer'), 'zzz'" in str(no.value)


def test_names_that_do_not_occur_are_accepted_and_listed(method):
    release = publish(method(["beer", "crips", "tea", "zzz"]))
    (found,) = release.names
    assert (found.named, found.occur) == (4, 2)
    assert found.missing == (MissingName("crips", "crisps"), MissingName("zzz", None))
    assert publish(method(["beer", "tea"])).names[0].missing == ()
    with pytest.raises(sv.BadData, match=r"2 of 4 named \w+ occur in the data; with `missing_names='error'` all must"):
        publish(method(["beer", "crips", "tea", "zzz"]), missing_names="error")
    assert publish(method(["beer", "tea"]), missing_names="error").names[0].occur == 2


def test_missing_names_change_nothing_in_the_release(method):
    made = []
    for names in (["beer", "crips", "tea", "zzz"], ["beer", "tea"]):
        rng = np.random.default_rng(1)
        outcome = method(names).bind(DATA, linked=False, rng=rng).apply(DATA, rng=rng)
        made.append((outcome.published, outcome.alignment.rows.tolist()))
    assert made[0] == made[1]


def test_only_accept_and_error_are_allowed():
    with pytest.raises(sv.BadParameter, match=r"missing_names is 'drop'; allowed is accept \| error"):
        publish(METHODS["insert"](["beer"]), missing_names="drop")


def test_targets_go_with_their_itemsets():
    itemsets = [["zzz"], ["beer", "crisps"], ["milk", "yyy"], ["tea"]]
    for kind in (sv.ExactSwap, sv.HEU):
        release = publish(kind(itemsets=itemsets, min_support=9, target="0,3,0,8"))
        assert sv.supports(release.data, itemsets).tolist() == [0, 3, 0, 8], kind


def test_an_item_that_is_a_label_of_no_record_does_not_occur():
    unwritten = sv.Transactions(np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), ("a", "b", "e"))
    with pytest.raises(sv.BadData, match="0 of 1 named items occur"):
        publish(sv.Insert(sensitive=["e"], rho=0.5), unwritten)


def test_the_private_folder_and_the_report_list_them_and_the_release_folder_does_not(tmp_path, method):
    publish(method(["beer", "crips", "tea", "qqq<b>qqq"])).save(tmp_path / "out")
    (noted,) = json.loads((tmp_path / "out.private" / "dossier.json").read_text())["names"]
    assert (noted["named"], noted["occur"]) == (4, 2)
    assert noted["missing"] == [{"name": "crips", "close": "crisps"}, {"name": "qqq<b>qqq", "close": None}]
    report = (tmp_path / "out.private" / "report.html").read_text()
    assert f"2 of 4 named {noted['noun']} occur" in report
    assert "qqq&lt;b&gt;qqq" in report
    for path in (tmp_path / "out").iterdir():
        assert b"crips" not in path.read_bytes()
        assert b"qqq" not in path.read_bytes()


def test_close_labels_are_looked_for_within_a_bound():
    data = sv.from_lists([[f"product {i}" for i in range(1000)]])
    names = sv.SensitiveItems([f"produkt {i}" for i in range(300)])
    missing = names.found_in(data, "sensitive").missing
    assert sum(one.close is not None for one in missing) == MOST_COMPARED // 1000


# -- checking ---------------------------------------------------------------------------------------------------------------


CHECKS = {
    "rho-uncertainty": (sv.RhoUncertainty(sensitive=["beers", "zzz"], rho=0.9), DATA),
    "permutation-privacy": (
        sv.PermutationPrivacy(sensitive=["beers", "zzz"], p=2),
        sv.Grouped.from_groups([([["a"], ["b"]], {"beer": 1})]),
    ),
    "hidden-itemsets": (sv.HiddenItemsets(itemsets=[["beers"], ["beer", "zzz"]], min_support=2), DATA),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_for_names_that_do_not_occur_is_undecided(name):
    guarantee, released = CHECKS[name]
    verdict = guarantee.check(released)
    assert verdict.status == "undecided"
    assert verdict.reach.covered == 0
    assert "occurs in the release, so the list may be misspelt; compare with the original" in verdict.reason
    verdict = guarantee.check(released, original=DATA)
    assert verdict.status == "undecided"
    assert "occurs in the original, so there is nothing to check" in verdict.reason
    assert guarantee.check(released, original=sv.from_lists([["beers", "zzz"]])).status == "holds"


def test_a_release_that_keeps_no_sensitive_item_holds_with_its_private_folder(tmp_path):
    publish(sv.GlobalSuppression(sensitive=["beer", "zzz"], rho="1%")).save(tmp_path / "out")
    opened = open_release(tmp_path / "out")
    assert "beer" not in opened.data.vocabulary
    private = Private.load(tmp_path / "out.private")
    promised = guarantee_of(opened, private)
    assert check_release(opened, promised, private=private)
    bare = sv.RhoUncertainty(sensitive=["beer"], rho="1%")
    assert check_release(opened, bare).status == "undecided"
    assert check_release(opened, bare, private=private).status == "undecided", "another list than the noted one"
    assert check_release(opened, bare, original=DATA)


def test_a_dossier_without_names_is_of_a_version_that_refused_missing_ones(tmp_path):
    publish(sv.GlobalSuppression(sensitive=["beer"], rho="1%")).save(tmp_path / "out")
    path = tmp_path / "out.private" / "dossier.json"
    dossier = json.loads(path.read_text())
    del dossier["names"]
    path.write_text(json.dumps(dossier))
    private = Private.load(tmp_path / "out.private")
    opened = open_release(tmp_path / "out")
    assert check_release(opened, guarantee_of(opened, private), private=private)
    path.write_text(json.dumps(dossier | {"names": [{"parameter": "sensitive", "occur": 0}, 7]}))
    private = Private.load(tmp_path / "out.private")
    assert check_release(opened, guarantee_of(opened, private), private=private).status == "undecided"


def test_a_check_notes_names_that_do_not_occur(tmp_path, notes):
    sv.write(DATA, tmp_path / "data.jsonl")
    opened = open_file(tmp_path / "data.jsonl", None, sv.data.formats.Layout())
    assert check_release(opened, sv.RhoUncertainty(sensitive=["beer", "tae", "zzz"], rho=1))
    assert notes() == "sensitive: 1 of 3 named items occur in the release; not there: 'tae' (close to 'tea'), 'zzz'"


# -- from the command line --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    sv.write(DATA, tmp_path / "data.dat")
    (tmp_path / "some.txt").write_text("beer\ncrips\ntea\n")
    (tmp_path / "none.txt").write_text("beers\n")
    return tmp_path


def test_publish_prints_how_many_occur_and_the_others(folder):
    asked = ("publish", "data.dat", "--method", "insert", "--rho", "50%", "--out", "out", "--sensitive")
    refused = call(*asked, "none.txt", cwd=folder)
    assert refused.code == 2
    assert "sensitive: 0 of 1 named items occur in the data; at least one must" in refused.sentence()
    assert call(*asked, "some.txt", "--missing-names", "error", cwd=folder).code == 2
    assert not (folder / "out").exists()
    done = call(*asked, "some.txt", cwd=folder)
    assert done.code == 0
    assert "sensitive: 2 of 3 named items occur in the data; not there: 'crips' (close to 'crisps')" in done.out
    told = call(*asked, "some.txt", "--force", "--json", cwd=folder).json["names"]
    assert told == [
        {
            "parameter": "sensitive",
            "noun": "items",
            "named": 3,
            "occur": 2,
            "missing": [{"name": "crips", "close": "crisps"}],
        }
    ]


def test_a_sample_list_and_a_file_are_treated_alike(folder):
    (folder / "list.txt").write_text("\n".join(sv.read_sensitive("sample:supermarket")))
    said = set()
    for source in ("sample:supermarket", "list.txt"):
        asked = ("--method", "global-suppression", "--rho", "50%", "--sensitive", source)
        done = call("publish", "sample:supermarket?records=60", *asked, "--out", source[:4], cwd=folder)
        assert done.code == 0
        said.add(" ".join(done.out.partition("  Names ")[2].partition("\n\n")[0].split()))
    assert len(said) == 1
    assert " of 47 named items occur in the data; not there: " in said.pop()


def test_check_of_a_bare_file_with_a_misspelt_list_ends_with_3(folder):
    asked = ("check", "data.dat", "--guarantee", "rho-uncertainty", "--rho", "1", "--sensitive")
    ended = call(*asked, "none.txt", cwd=folder)
    assert ended.code == 3
    assert "rho-uncertainty: undecided: none of the 1 named items occurs in the release" in ended.out
    assert call(*asked, "some.txt", cwd=folder).code == 0
    assert call(*asked, "none.txt", "--original", "data.dat", cwd=folder).code == 3


def test_profile_counts_names_too(folder):
    done = call("profile", "data.dat", "--sensitive", "some.txt", cwd=folder)
    assert done.code == 0
    assert "sensitive: 2 of 3 named items occur in the data; not there: 'crips' (close to 'crisps')" in done.out
    assert call("profile", "data.dat", "--sensitive", "none.txt", cwd=folder).code == 2
    found = profile(DATA, itemsets=[["beer", "tea"], ["beer", "zzz"]])
    assert [one.records for one in found.itemsets] == [8, 0]
    assert found.to_dict()["names"][0]["occur"] == 1
