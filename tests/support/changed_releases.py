"""Releases of every form to change on purpose, and what a check must say of them, from the command line and from Python."""

import gzip
import json
import shutil

import numpy as np
import pytest

import setveil as sv
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_release

from support.program import call

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
    "again": sv.Reassociation(copies=2),
}
DATA = {"apart": "data.jsonl.gz", "groups": "data.jsonl", "again": "data-1.dat", "swap": "data.csv"}


def data_of(name):
    """Return the name of the data file of a release."""
    return DATA.get(name, "data.dat")


@pytest.fixture(scope="session")
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
    """Give a copy of the releases, to change."""
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


def add_to_every_second_row(item):
    """Add an item to rows that show nothing sensitive, so that no sensitive item can be inferred better than before."""

    def changed(number, row):
        return number % 2 and item not in row and not {*row} & {*SENSITIVE}

    return lambda lines: [f"{line} {item}" if changed(n, line.split()) else line for n, line in enumerate(lines)]


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
