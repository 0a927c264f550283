"""What is handed over tells nothing of what is not: every byte of a release folder is searched."""

import gzip
import hashlib
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from setveil.release.dossier import Private
from setveil.release.opening import open_release

from support.program import call, names_in

SEED = 0xC0FFEE0DDBA11FACADE5EEDBEEF01
RELEASES = {
    "pseudonyms": ["--ids", "pseudonym"],
    "pseudonyms, compressed": ["--ids", "pseudonym", "--compress", "gzip"],
    "ids kept": ["--ids", "keep"],
    "no ids": ["--ids", "drop"],
    "no ids, compressed": ["--ids", "drop", "--compress", "gzip"],
    "suppressed": ["--leftovers", "suppress"],
    "suppressed, no ids": ["--leftovers", "suppress", "--ids", "drop"],
    "the paper's reading": ["--reading", "paper"],
    "whole records": ["--method", "full-swap", "--full-min", "1"],
}


def people(rng):
    """Make 240 people who buy from twelve aisles, and ten who buy one rare thing each beside the crowd's: nobody takes that from them."""
    ids = [f"person-{number:06d}-of-the-register" for number in rng.permutation(10**6)[:250]]
    records = []
    for _ in range(240):
        aisle = rng.integers(12)
        records.append(
            {f"thing-{aisle:02d}-{rng.integers(9)}" for _ in range(4)}
            | {f"thing-{rng.integers(12):02d}-{rng.integers(9)}"}
        )
    for number in range(10):
        crowd = {f"thing-{aisle:02d}-{item}" for aisle in range(1, 12) for item in range(9)}
        records.append(crowd | {f"thing-00-{item}" for item in range(9)} | {f"thing-00-rare{number}"})
    return ids, records


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Write data in which every private thing has a name that occurs nowhere else."""
    folder = tmp_path_factory.mktemp("folder-of-the-owner")
    ids, records = people(np.random.default_rng(5))
    labels = sorted(set().union(*records))
    aisle = {label: f"aisle{hashlib.sha256(label[:8].encode()).hexdigest()[:8]}" for label in labels}
    lines = [f"{person},{item}" for person, record in zip(ids, records, strict=True) for item in sorted(record)]
    data, categories = folder / "ledger-of-2019.csv", folder / "categories.csv"
    data.write_text("\n".join(["id,item", *lines]) + "\n")
    categories.write_text("\n".join(["item,category", *(f"{label},{name}" for label, name in aisle.items())]) + "\n")
    return SimpleNamespace(
        folder=folder, data=data, categories=categories, ids=ids, labels=labels, aisles=set(aisle.values())
    )


@pytest.fixture(scope="module")
def publish(source, tmp_path_factory):
    """Give a function that publishes the data and returns both folders."""

    def publish(*options, seed=SEED):
        out = tmp_path_factory.mktemp("made") / "release"
        method = [] if "--method" in options else ["--method", "part-swap"]
        given = [] if seed is None else ["--seed", seed, "--experiment"]
        ended = call(
            "publish",
            source.data,
            "--categories",
            source.categories,
            "--out",
            out,
            "--allow-failures",
            250,
            *method,
            *given,
            *options,
        )
        assert ended.code == 0, ended.err
        private = out.with_name("release.private")
        return SimpleNamespace(
            out=out, private=private, dossier=json.loads((private / "dossier.json").read_text()), err=ended.err
        )

    return publish


def contents(folder):
    """Return the bytes of every file of a folder, as they are and unpacked."""
    raw = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return raw | {
        f"{name}, unpacked": gzip.decompress(content) for name, content in raw.items() if name.endswith(".gz")
    }


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def figures_of_attacks(dossier):
    """Return what attacks found, with so many digits that a number cannot be there by chance."""
    found = [one["main"] for one in dossier["attacks"]["findings"] if one["main"]]
    figures = [str(figure) for main in found for figure in (main["right"], main["rate"], *main["interval"])]
    return [figure for figure in figures if len(figure) > 8]


def private_values(source, made, *, ids_kept):
    """Return what must not be in a release, by what it is."""
    values = {
        "seed": [str(SEED), f"{SEED:x}", f"{SEED:X}"],
        "seed, as bytes": [SEED.to_bytes(16, "big").lstrip(b"\0"), SEED.to_bytes(16, "little").rstrip(b"\0")],
        "category": sorted(source.aisles),
        "source": [source.data.name, source.categories.name, source.folder.name, str(source.data)],
        "checksum": [made.dossier["input"]["checksum"], hashlib.sha256(source.data.read_bytes()).hexdigest()],
        "original id": [] if ids_kept else source.ids,
        "figure of an attack": figures_of_attacks(made.dossier),
        "label that is not released": sorted(set(source.labels) - set(open_release(made.out).data.vocabulary)),
    }
    return {what: [v if isinstance(v, bytes) else v.encode() for v in several] for what, several in values.items()}


@pytest.mark.parametrize("options", RELEASES.values(), ids=RELEASES)
def test_nothing_private_is_in_any_byte_of_a_release(source, publish, options):
    made = publish(*options)
    for file, content in contents(made.out).items():
        for what, several in private_values(source, made, ids_kept="keep" in options).items():
            assert [value for value in several if value in content] == [], f"a {what} is in {file}"
    (data,) = (name for name in names_in(made.out) if name.startswith("data."))
    assert sorted(names_in(made.out)) == sorted([data, "card.json", "CARD.md", "datapackage.json"])


def test_the_search_finds_what_it_looks_for(source, publish):
    """All of it is in the private folder or in the data: a search that finds nothing there finds nothing anywhere."""
    made = publish("--leftovers", "suppress")
    content = (made.private / "dossier.json").read_bytes() + source.data.read_bytes()
    values = private_values(source, made, ids_kept=False)
    assert values.pop("seed")[0] in content
    assert values.pop("source")[0] in content
    assert values.pop("checksum")[0] in content
    del values["seed, as bytes"]
    for what, several in values.items():
        assert len(several) > 3, what
        assert all(value in content for value in several), what


def test_the_vocabulary_is_compact(source, publish):
    made = publish("--leftovers", "suppress")
    data, card = open_release(made.out).data, json.loads((made.out / "card.json").read_text())
    assert set(data.vocabulary) < set(source.labels)
    assert data.supports.min() > 0
    assert card["counts"]["items"] == len(data.vocabulary)
    assert card["counts"]["occurrences"] == data.occurrences < made.dossier["input"]["occurrences"]


@pytest.mark.parametrize(
    "options", [RELEASES["pseudonyms, compressed"], RELEASES["no ids, compressed"]], ids=["long", "basket"]
)
def test_gzip_tells_neither_time_nor_name(publish, options):
    (packed,) = publish(*options).out.glob("*.gz")
    header = packed.read_bytes()[:10]
    assert header[:3] == b"\x1f\x8b\x08"
    assert header[3] == 0, "flags: a name or a comment follows"
    assert header[4:8] == bytes(4), "time"


@pytest.mark.parametrize("options", RELEASES.values(), ids=RELEASES)
def test_the_same_seed_gives_the_same_bytes_whatever_the_threads_and_another_seed_does_not(publish, options):
    first, second = (bytes_of(publish(*options, "--threads", threads).out) for threads in (1, 2))
    assert first == second
    other = bytes_of(publish(*options, seed=SEED + 1).out)
    assert other.keys() == first.keys()
    assert all(other[name] != first[name] for name in first)


@pytest.mark.parametrize("options", [RELEASES["pseudonyms"], RELEASES["no ids, compressed"]], ids=["long", "basket"])
def test_a_drawn_seed_is_kept_and_makes_the_same_release_again(publish, options):
    drawn = publish(*options, seed=None)
    assert not drawn.dossier["seed_given"]
    assert int(drawn.dossier["seed"]).bit_length() > 64
    again = publish(*options, seed=drawn.dossier["seed"])
    assert again.dossier["seed_given"]
    assert bytes_of(again.out) == bytes_of(drawn.out)
    assert bytes_of(publish(*options, seed=None).out) != bytes_of(drawn.out)


@pytest.mark.parametrize(
    ("seed", "weak"), [(0, True), (42, True), (2**63 - 1, True), (2**63, False), (SEED, False), (None, False)]
)
def test_a_seed_that_can_be_guessed_is_noted(publish, seed, weak):
    made = publish(seed=seed)
    assert ("fewer than 64 bits" in made.err) == weak
    assert made.dossier["experiment"] == weak
    assert json.loads((made.out / "card.json").read_text())["experiment"] == weak


def test_rows_without_ids_are_in_the_order_of_their_content(publish):
    records = open_release(publish("--ids", "drop").out).data.to_lists()
    assert records == sorted(records)


@pytest.mark.parametrize("options", [[], ["--leftovers", "suppress"], ["--method", "full-swap"]], ids=str)
def test_rows_under_pseudonyms_are_in_the_order_of_these(source, publish, options):
    made = publish(*options)
    ids = open_release(made.out).data.ids.to_pylist()
    assert ids == sorted(ids)
    assert len(set(ids)) == len(source.ids)
    assert all(re.fullmatch(r"[0-9a-f]{20}", pseudonym) for pseudonym in ids)
    assert not set(ids) & set(source.ids)
    assert not set(ids) & set(open_release(publish(*options, seed=SEED + 1).out).data.ids.to_pylist())
    rows = Private.load(made.private).alignment.rows
    assert abs(np.corrcoef(rows, np.arange(len(rows)))[0, 1]) < 0.25, "the order of the original shows through"


def test_the_file_is_written_in_that_order(publish):
    lines = (publish("--ids", "pseudonym").out / "data.csv").read_text().splitlines()
    assert lines[0] == "id,item"
    assert lines[1:] == sorted(lines[1:])
    baskets = (publish("--ids", "drop").out / "data.dat").read_text().splitlines()
    assert baskets == sorted(baskets, key=str.split)
    assert all(basket.split() == sorted(basket.split()) for basket in baskets)


def test_kept_ids_are_in_order_too(source, publish):
    assert open_release(publish("--ids", "keep").out).data.ids.to_pylist() == sorted(source.ids)
