"""Grouped data from the command line: published, checked elsewhere, tampered with, measured, refused."""

import json
import shutil

import pytest

import setveil as sv

from support.program import as_a_recipient_has_it, call, names_in
from support.renewing import renew_both

SAMPLE = "sample:supermarket?records=400&seed=5"
SECRETS = "sample:supermarket"
OPTIONS = ("--method", "permutation", "--sensitive", SECRETS, "--p", 4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    ended = call("publish", SAMPLE, *OPTIONS, "--out", "release", cwd=folder)
    assert ended.code == 0, ended.err
    assert "permutation-privacy holds for " in ended.out
    assert "may be shared: data.jsonl, card.json" in ended.out
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


def check(folder, *options):
    return call("check", "release", "--private", "release.private", *options, cwd=folder)


def tamper(folder, edit, *, renew=True):
    """Change groups of the data file, and both cards, so that it is the guarantee that has to notice it."""
    path = folder / "release" / "data.jsonl"
    groups = [json.loads(line) for line in path.read_text().splitlines()]
    edit(groups)
    path.write_text("".join(json.dumps(group) + "\n" for group in groups))
    if renew:
        renew_both(folder / "release", folder / "release.private")


def test_it_is_checked_from_its_folder(folder):
    ended = check(folder, "--json")
    assert ended.code == 0
    assert ended.json["status"] == "holds"
    assert ended.json["counts"]["rows-in-the-smallest-group"] >= 4
    assert call("check", "release", cwd=folder).code == 0
    assert call("check", as_a_recipient_has_it(folder, "release"), cwd=folder).code == 2


def test_a_changed_file_is_noticed_by_its_checksum(folder):
    tamper(folder, lambda groups: groups.pop(), renew=False)
    ended = check(folder)
    assert ended.code == 2
    assert "its sha256 differs" in ended.sentence()


def test_more_of_a_sensitive_item_than_allowed_is_found_with_a_witness(folder):
    found = {}

    def edit(groups):
        number = next(g for g, group in enumerate(groups) if group["sensitive"])
        item = next(iter(groups[number]["sensitive"]))
        size = len(groups[number]["rows"])
        groups[number]["sensitive"][item] = size
        found.update(place=f"group {number + 1:,}", item=item, size=size, number=number)

    tamper(folder, edit)
    ended = check(folder, "--witnesses", 5, "--json")
    assert ended.code == 3
    assert ended.json["violations"] == {"too-often-in-a-group": 1}
    (witness,) = ended.json["witnesses"]
    assert witness["place"] == found["place"]
    assert witness["group"] == found["number"]
    assert witness["items"] == [found["item"]]
    assert f"{found['size']} of its {found['size']} rows hold" in witness["detail"]
    assert check(folder, "--allow-failures", 99).code == 3


def test_a_sensitive_item_in_a_row_is_found(folder):
    item = sv.read_sensitive(SECRETS, sv.read(SAMPLE))[0]
    tamper(folder, lambda groups: groups[2]["rows"][1].append(item))
    ended = check(folder, "--witnesses", 5)
    assert ended.code == 3
    assert f"sensitive-item-in-a-row: group 3, row 2 of it: shows the sensitive item {item!r}" in ended.out


def test_a_bare_file_is_checked_for_the_guarantee_that_is_named(folder):
    named = ("--guarantee", "permutation-privacy", "--sensitive", SECRETS, "--original", SAMPLE, "--p")
    data = folder / "release" / "data.jsonl"
    assert call("check", data, *named, 4).code == 0
    assert call("check", data, *named, 4, "--release-format", "grouped").code == 0
    assert call("check", data, *named, 400).code == 3
    assert call("check", folder / "release", *named, 4).code == 0
    ended = call("check", data, "--guarantee", "hidden-itemsets", "--release-format", "grouped")
    assert ended.code == 2
    assert "hidden-itemsets applies to plain records only, but this is grouped data" in ended.sentence()


def test_a_guarantee_of_another_form_is_refused(folder, tmp_path):
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("a b\n")
    ended = check(folder, "--guarantee", "hidden-itemsets", "--itemsets", secrets, "--min-support", 3)
    assert ended.code == 2
    assert ended.sentence() == (
        "hidden-itemsets applies to plain records only, but this is grouped data; choose a guarantee for this form"
    )
    plain = tmp_path / "plain.dat"
    plain.write_text("a b\n")
    named = ("--guarantee", "permutation-privacy", "--sensitive", secrets, "--p", 2)
    ended = call("check", plain, *named, "--release-format", "basket")
    assert ended.code == 2
    assert ended.sentence() == (
        "permutation-privacy applies to grouped data only, but this is plain records; choose a guarantee for this form"
    )


def test_it_is_measured_from_its_folder(folder):
    ended = call("measure", SAMPLE, "release", "--private", "release.private", "--json", cwd=folder)
    assert ended.code == 0
    found = {m["name"]: m for m in reversed(ended.json["metrics"])}
    assert found["reconstruction-kl"]["value"] > 0
    assert found["dissimilarity"]["value"] == 0
    assert found["record-loss"]["reason"] == "not computed, does not apply to grouped data"
    handed_over = as_a_recipient_has_it(folder, "release")
    alone = call("measure", SAMPLE, handed_over, "--metric", "reconstruction-kl", "--json", cwd=folder)
    assert alone.json["metrics"][0]["reason"] == "not computed, needs sensitive"
    given = call(
        "measure", SAMPLE, handed_over, "--sensitive", SECRETS, "--metric", "reconstruction-kl", "--json", cwd=folder
    )
    assert given.json["metrics"][0]["value"] == found["reconstruction-kl"]["value"]


REFUSED = {
    "kept ids": (("--ids", "keep"), "rows of grouped data have no ids"),
    "pseudonyms": (("--ids", "pseudonym"), "rows of grouped data have no ids"),
    "another format": (("--release-format", "long"), "there is no format of grouped data 'long'; there are: grouped."),
    "another ending": (("--release-format", "grouped.csv"), "allowed for the format 'grouped' is .jsonl"),
    "p of 1": (("--p", 1), "p is '1'; allowed is a whole number, at least 2"),
}


@pytest.mark.parametrize(("options", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_and_nothing_written(options, says, tmp_path):
    wanted = () if "--p" in options else ("--p", 2)
    source = tmp_path / "data.csv"
    source.write_text("id,item\np1,a\np2,b\n")
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("a\n")
    ended = call(
        "publish",
        source,
        "--method",
        "permutation",
        "--sensitive",
        secrets,
        *wanted,
        *options,
        "--out",
        tmp_path / "out",
    )
    assert ended.code == 2
    assert says in ended.sentence()
    assert names_in(tmp_path) == ["data.csv", "secrets.txt"]


def test_what_cannot_be_kept_ends_with_3_and_says_what_can(tmp_path):
    source, secrets = tmp_path / "data.dat", tmp_path / "secrets.txt"
    source.write_text("s a\ns b\nc\nd\ne\nf\n")
    secrets.write_text("s\n")
    options = ("--method", "permutation", "--sensitive", secrets, "--out", tmp_path / "out")
    ended = call("publish", source, *options, "--p", 4)
    assert ended.code == 3
    assert "is in 2 of the 6 records, so p can be at most 3, not 4" in ended.sentence()
    assert names_in(tmp_path) == ["data.dat", "secrets.txt"]
    assert call("publish", source, *options, "--p", 3).code == 0


@pytest.mark.parametrize(("packing", "ending"), [("gzip", ".gz"), ("zstd", ".zst")])
def test_it_can_be_packed(packing, ending, tmp_path):
    ended = call(
        "publish", SAMPLE, *OPTIONS, "--out", tmp_path / "out", "--compress", packing, "--release-format", "grouped"
    )
    assert ended.code == 0, ended.err
    assert names_in(tmp_path / "out") == ["CARD.md", "card.json", f"data.jsonl{ending}", "datapackage.json"]
    assert call("check", tmp_path / "out", "--private", tmp_path / "out.private").code == 0
