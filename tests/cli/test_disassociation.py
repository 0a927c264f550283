"""Disassociated and re-associated data from the command line: published, mined, put together, checked elsewhere, tampered with, refused."""

import gzip
import json
import shutil

import pytest

import setveil as sv

from support.program import as_a_recipient_has_it, call, names_in
from support.renewing import renew_both, renew_card

SAMPLE = "sample:supermarket?records=400&seed=5"
OPTIONS = ("--method", "disassociation", "--k", 3, "--m", 2, "--delta", 20)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    ended = call("publish", SAMPLE, *OPTIONS, "--out", "apart", cwd=folder)
    assert ended.code == 0, ended.err
    assert "km-anonymity holds for 400 of 400 records" in ended.out
    assert "may be shared: data.jsonl.gz, card.json" in ended.out
    ended = call(
        "publish",
        "apart",
        "--method",
        "reassociation",
        "--copies",
        2,
        "--original",
        SAMPLE,
        "--out",
        "again",
        "--measure",
        "full",
        cwd=folder,
    )
    assert ended.code == 0, ended.err
    assert "reconstruction holds for " in ended.out
    assert "may be shared: data-1.dat, data-2.dat, card.json" in ended.out
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


def tampered(folder, edit):
    path = folder / "apart" / "data.jsonl.gz"
    header, *clusters = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    edit(clusters)
    header |= {"clusters": len(clusters), "records": sum(cluster["size"] for cluster in clusters)}
    lines = "".join(json.dumps(line) + "\n" for line in (header, *clusters))
    path.write_bytes(gzip.compress(lines.encode()))
    renew_card(folder / "apart")


def test_anybody_can_check_it(folder):
    ended = call("check", "apart", "--json", cwd=folder)
    assert ended.code == 0
    assert ended.json["status"] == "holds"
    assert ended.json["counts"]["records-in-the-smallest-cluster"] >= 3
    bare = folder / "apart" / "data.jsonl.gz"
    assert call("check", bare, "--guarantee", "km-anonymity", "--k", 3, "--m", 2).code == 0
    assert call("check", bare, "--guarantee", "km-anonymity", "--k", 4, "--m", 2).code == 3
    ended = call("check", bare)
    assert (ended.code, "is a bare file without a card; name the guarantee" in ended.sentence()) == (2, True)
    ended = call("check", bare, "--guarantee", "hidden-itemsets", "--itemsets", bare, "--min-support", 2)
    assert (ended.code, "but this is disassociated data" in ended.sentence()) == (2, True)
    ended = call("check", SAMPLE.replace("sample", "nothing"), "--guarantee", "km-anonymity", "--k", 2, "--m", 2)
    assert ended.code == 2


def test_copies_can_still_be_called_neighbours(folder):
    given = ("publish", "apart", "--method", "reassociation", "--original", SAMPLE, "--seed", 2**90)
    ended = call(*given, "--neighbours", 2, "--out", "former", cwd=folder)
    assert ended.code == 0
    assert "neighbours is now called copies; the former name is accepted until version 0.3" in " ".join(
        ended.err.split()
    )
    assert call(*given, "--copies", 2, "--out", "current", cwd=folder).code == 0
    files = [
        [(folder / out / file).read_bytes() for file in ("data-1.dat", "data-2.dat")] for out in ("former", "current")
    ]
    assert files[0] == files[1]
    ended = call(*given, "--copies", 2, "--neighbours", 2, "--out", "both", cwd=folder)
    assert (ended.code, "neighbours is the former name of copies; give copies only" in ended.sentence()) == (2, True)


def _rare(clusters):
    chunk = next(c for c in clusters if c["record_chunks"])["record_chunks"][0]
    chunk.append([["only here"], 1])


def _small(clusters):
    clusters.append({"size": 2, "record_chunks": [], "term_chunk": ["x"]})


def _overlap(clusters):
    cluster = next(c for c in clusters if c["record_chunks"])
    cluster["term_chunk"].append(cluster["record_chunks"][0][0][0][0])


def _long(clusters):
    cluster = next(c for c in clusters if c["record_chunks"])
    cluster["record_chunks"][0][0][1] += cluster["size"]


FAULTS = {
    "a rare item": (_rare, "only here"),
    "a cluster below k": (_small, "2 records"),
    "chunks that overlap": (_overlap, "cluster"),
    "more parts than records": (_long, "cluster"),
}


@pytest.mark.parametrize(("edit", "says"), FAULTS.values(), ids=FAULTS)
def test_faults_are_found_with_witnesses(folder, edit, says):
    tampered(folder, edit)
    ended = call("check", as_a_recipient_has_it(folder, "apart"), "--witnesses", 5, cwd=folder)
    assert ended.code == 3
    assert "km-anonymity: violated" in ended.out
    assert says in ended.out
    ended = call("check", "apart", cwd=folder)  # its owner has the private folder beside it
    assert (ended.code, "is not the file that was published" in ended.sentence()) == (2, True)
    refused = call("publish", "apart", "--method", "reassociation", "--out", "more", cwd=folder)
    assert refused.code == 3
    assert "failed the check of their guarantee; nothing was made from them" in refused.sentence()
    assert "more" not in names_in(folder)


def test_it_is_mined_and_measured(folder):
    ended = call("mine", "apart", "--min-support", "5%", "--json", cwd=folder)
    assert ended.code == 0
    assert ended.json["itemsets"]
    assert {"certain", "possible", "expected", "inside"} <= ended.json["itemsets"][0].keys()
    ended = call("measure", SAMPLE, "apart", "--private", "apart.private", "--json", cwd=folder)
    found = {(m["name"], m["parameters"].get("max_length")): m for m in ended.json["metrics"]}
    assert 0 <= found["query-error", 1]["value"] < 1
    assert found["tlost", None]["value"] is not None
    assert found["record-loss", None]["reason"] == "not computed, does not apply to disassociated data"
    ended = call("measure", SAMPLE, "again", "--json", "--metric", "tree-edit-distance:orders=0", cwd=folder)
    assert len(ended.json["metrics"][0]["details"]["each"]) == 2


def test_re_associated_data_are_checked_with_the_release(folder):
    with_all = ("check", "again", "--original", "apart", "--private", "again.private")
    assert call(*with_all, cwd=folder).code == 0
    ended = call("check", "again", "--private", "again.private", cwd=folder)
    assert (ended.code, "name it with --original" in ended.sentence()) == (2, True)
    assert call("check", "again", "--original", "apart", cwd=folder).code == 0  # the private folder is beside it
    ended = call("check", as_a_recipient_has_it(folder, "again"), "--original", "apart", cwd=folder)
    assert (ended.code, "--private" in ended.sentence()) == (2, True)
    ended = call(*with_all[:3], SAMPLE, *with_all[4:], cwd=folder)
    assert ended.code == 2
    path = folder / "again" / "data-1.dat"
    first, *lines = path.read_text().splitlines()
    path.write_text("\n".join([" ".join(first.split()[1:]) or "other", *lines, ""]))
    renew_both(folder / "again", folder / "again.private")
    ended = call(*with_all, "--witnesses", 5, cwd=folder)
    assert ended.code == 3
    assert "set 1, " in ended.out


def test_the_distance_to_the_original_stays_private(folder):
    dossier = json.loads((folder / "again.private" / "dossier.json").read_text())
    distance = next(m for m in dossier["metrics"] if m["name"] == "tree-edit-distance")
    assert distance["value"] > 0
    handed_over = b"".join(path.read_bytes() for path in (folder / "again").iterdir() if path.suffix == ".json")
    assert b"tree-edit-distance" not in handed_over
    assert str(int(distance["details"]["each"][0])).encode() not in handed_over


def test_other_formats(folder):
    ended = call("publish", SAMPLE, *OPTIONS, "--release-format", "disassociated.parquet", "--out", "table", cwd=folder)
    assert ended.code == 0, ended.err
    assert names_in(folder / "table") == ["CARD.md", "card.json", "data.parquet", "datapackage.json"]
    assert sv.read_disassociated(folder / "table" / "data.parquet") == sv.read_disassociated(
        folder / "apart" / "data.jsonl.gz"
    )
    ended = call(
        "publish", "table", "--method", "reassociation", "--release-format", "list.parquet", "--out", "more", cwd=folder
    )
    assert ended.code == 0, ended.err
    assert names_in(folder / "more") == ["CARD.md", "card.json", "data-1.parquet", "datapackage.json"]


def test_labels_with_blanks_need_no_format(folder):
    lists = [["whole milk", "tea"], ["whole milk"], ["tea"], ["whole milk", "tea"]] * 3
    sv.write(sv.from_lists(lists), folder / "blanks.jsonl")
    assert call("publish", "blanks.jsonl", *OPTIONS, "--out", "apart-2", cwd=folder).code == 0
    assert call("publish", "apart-2", "--method", "reassociation", "--out", "again-2", cwd=folder).code == 0
    assert names_in(folder / "again-2") == ["CARD.md", "card.json", "data-1.jsonl", "datapackage.json"]


def test_rules_stay_private(folder):
    labels = sv.read(SAMPLE).vocabulary
    rules = [json.dumps([labels[3], labels[5]]), json.dumps([labels[9]])]
    (folder / "rules.jsonl").write_text("\n".join(rules) + "\n")
    ended = call(
        *("publish", SAMPLE, *OPTIONS, "--partition", "ants", "--rules", "rules.jsonl", "--out", "kept"),
        *("--measure", "full"),
        cwd=folder,
    )
    assert ended.code == 0, ended.err
    assert "rules" not in (folder / "kept" / "card.json").read_text()
    found = {
        m["name"]
        for m in json.loads((folder / "kept.private" / "dossier.json").read_text())["metrics"]
        if m["value"] is not None
    }
    assert {"alpha-confidence", "relative-association-error"} <= found


def test_a_taxonomy_by_levels(folder):
    lines = [
        f"{item},{group},{place}"
        for group, place in (("x", "u"), ("y", "u"), ("x", "v"))
        for item in _items(group + place)
    ]
    (folder / "taxonomy.csv").write_text("\n".join(["item,shelf,aisle", *lines, ""]))
    lists = [[f"{g}{n % 4}" for g in ("xu", "yu", "xv") if (n + len(g)) % 3] for n in range(40)]
    sv.write(sv.from_lists(lists).without_empty(), folder / "few.jsonl")
    given = (
        "publish",
        "few.jsonl",
        "--method",
        "apriori-generalization",
        "--k",
        12,
        "--m",
        2,
        "--hierarchy",
        "taxonomy.csv",
    )
    ended = call(*given, "--out", "general", cwd=folder)
    assert (
        ended.code,
        "'x' of the level 'shelf' has two parents, 'v' here and 'u' on an earlier line" in ended.sentence(),
    ) == (
        2,
        True,
    )
    assert call(*given, "--levels", "shelf,aisle", "--paths", "--out", "general", cwd=folder).code == 0
    assert "u/x" in (folder / "general" / "hierarchy.csv").read_text()


def _items(prefix):
    return [f"{prefix}{n}" for n in range(4)]


REFUSED = {
    "plain records to re-associate": ((SAMPLE, "--method", "reassociation"), "reassociation takes disassociated data"),
    "a release to disassociate": (
        ("apart", *OPTIONS),
        "disassociation takes plain records, not disassociated data",
    ),
    "another's original": (
        (SAMPLE, *OPTIONS, "--original", SAMPLE),
        "--original applies to a method that takes a release only",
    ),
    "names": ((SAMPLE, *OPTIONS, "--ids", "keep"), "have no ids"),
    "a format of plain records": ((SAMPLE, *OPTIONS, "--release-format", "basket"), "there is no format"),
    "too few records": (("sample:supermarket?records=2", *OPTIONS), "fewer than k = 3"),
    "a small delta": ((SAMPLE, *OPTIONS[:-1], 2), "delta is 2, below k = 3"),
    "k of 0": (
        (SAMPLE, "--method", "disassociation", "--k", 0, "--m", 2),
        "k is '0'; allowed is a whole number, at",
    ),
    "as printed": ((SAMPLE, *OPTIONS, "--safe", "false"), "guarantees nothing here; set --no-guarantee"),
    "no folder": (("nothing", "--method", "reassociation"), "nothing"),
}


@pytest.mark.parametrize(("arguments", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(made, arguments, says):
    before = names_in(made)
    ended = call("publish", *arguments, "--out", "other", cwd=made)
    assert ended.code == 2, ended.out
    assert says in ended.sentence()
    assert names_in(made) == before
