"""`check`, in a process of its own, agrees with good releases and catches each fault, with witnesses."""

import json
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import setveil as sv
from setveil.data.formats import Layout, format_named
from setveil.data.records.alignment import Alignment
from setveil.release.dossier import Private
from setveil.release.opening import open_release

from support.forked import run
from support.program import call
from support.renewing import renew_both

SAMPLE = "sample:supermarket?records=300&seed=5"
CATEGORIES = sv.read_categories("sample:supermarket")
MADE = {
    "pseudonym": ["--ids", "pseudonym"],
    "keep": ["--ids", "keep"],
    "drop": ["--ids", "drop"],
    "packed": ["--ids", "pseudonym", "--compress", "gzip"],
    "packed-drop": ["--ids", "drop", "--compress", "gzip"],
    "full-swap": ["--method", "full-swap"],
    "other-seed": ["--ids", "pseudonym", "--seed", 2**100],
    "suppress": ["--leftovers", "cycle,helper,suppress"],
}


@dataclass
class Copy:
    """A copy of a release, to be spoiled: rows, their names, and what they are aligned with."""

    folder: Path
    rows: list[list[str]]
    names: list[str] | None
    aligned: np.ndarray
    published_ids: list[str] | None
    original_ids: list[str] | None
    original: list[list[str]]

    @property
    def out(self):
        return self.folder / "release"

    @property
    def private(self):
        return self.folder / "release.private"

    @classmethod
    def of(cls, made, name, folder):
        for part in ("release", "release.private"):
            shutil.copytree(made / name / part, folder / part)
        data, alignment = open_release(folder / "release").data, Private.load(folder / "release.private").alignment
        texts = [
            None if ids is None else ids.to_pylist()
            for ids in (data.ids, alignment.published_ids, alignment.original_ids)
        ]
        original = sv.read(SAMPLE).to_lists()
        return cls(folder, data.to_lists(), texts[0], alignment.rows.copy(), texts[1], texts[2], original)

    def was(self, row):
        """Return the record that a row came from."""
        return self.original[self.aligned[row]]

    def write(self):
        """Write it back as if it had been published so, in both folders: it is the guarantee that has to see the fault."""
        card = json.loads((self.out / "card.json").read_text())
        data = sv.from_lists(self.rows, ids=self.names)
        path = self.out / card["data"]["file"]
        format_named(card["data"]["format"]).write(data, path, Layout())
        ids = [None if texts is None else pa.array(texts) for texts in (self.published_ids, self.original_ids)]
        Alignment(self.aligned, *ids).save(self.private / "alignment.parquet")
        renew_both(self.out, self.private)

    def check(self, *options, original=SAMPLE, start=run):
        places = ["--original", original, "--private", "release.private"]
        return start("check", "release", *places, *options, cwd=self.folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make one release of each kind."""
    folder = tmp_path_factory.mktemp("made")
    for name, options in MADE.items():
        (folder / name).mkdir()
        method = [] if "--method" in options else ["--method", "part-swap"]
        seed = [] if "--seed" in options else ["--seed", 2**90]
        out = ["--categories", "sample:supermarket", "--out", "release"]
        ended = call("publish", SAMPLE, *method, *out, *seed, *options, cwd=folder / name)
        assert ended.code == 0, ended.err
    return folder


@pytest.fixture
def copy_of(made, tmp_path):
    return lambda name: Copy.of(made, name, tmp_path)


# -- faults -------------------------------------------------------------------------------------------------------------------


def heaviest(record):
    """Return the categories that hold the most items of a record."""
    weights = Counter(CATEGORIES[item] for item in record)
    return {category for category, weight in weights.items() if weight == max(weights.values())}


def mixed(copy):
    """Return the rows that gave away some items and kept some, with what they gave and what they got."""
    for row, items in enumerate(copy.rows):
        before, now = set(copy.was(row)), set(items)
        if before - now and before & now:
            yield row, before - now, now - before


def swap_back(copy):
    """Give two partners their own items back: the supports stay."""
    gave_of = {row: (gave, got) for row, gave, got in mixed(copy)}
    pairs = [
        (a, b) for a, (gave, got) in gave_of.items() for b, other in gave_of.items() if a < b and other == (got, gave)
    ]
    for row in pairs[0]:
        copy.rows[row] = copy.was(row)


def get_back(copy):
    """Give one hidden record its own items back, in addition."""
    row, gave, _got = next(mixed(copy))
    copy.rows[row] = sorted(set(copy.rows[row]) | gave)


def lose_item(copy):
    row = next(row for row, items in enumerate(copy.rows) if len(items) > 1)
    copy.rows[row] = copy.rows[row][1:]


def add_item(copy):
    copy.rows[3] = sorted([*copy.rows[3], next(item for item in copy.rows[7] if item not in copy.rows[3])])


def move_item(copy):
    """Move an item that a hidden record had kept to another record."""
    row, _gave, _got = next(mixed(copy))
    item = next(item for item in copy.rows[row] if item in copy.was(row))
    other = next(other for other, items in enumerate(copy.rows) if item not in items)
    copy.rows[row].remove(item)
    copy.rows[other] = sorted([*copy.rows[other], item])


def leave_unchanged(copy):
    copy.rows = [copy.was(row) for row in range(len(copy.rows))]


def rotate_rows(copy):
    copy.aligned = np.roll(copy.aligned, 1)


def rotate_rows_and_ids(copy):
    rotate_rows(copy)
    copy.original_ids = copy.original_ids[-1:] + copy.original_ids[:-1]


def swap_names(copy):
    copy.names[4], copy.names[9] = copy.names[9], copy.names[4]


def swap_names_in_both(copy):
    swap_names(copy)
    copy.published_ids[4], copy.published_ids[9] = copy.names[4], copy.names[9]


def drop_record(copy):
    del copy.rows[5]
    if copy.names:
        del copy.names[5]


def double_record(copy):
    copy.rows.append(copy.rows[5])
    if copy.names:
        copy.names.append("f" * 20)


def align_two_with_one(copy):
    copy.aligned[2] = copy.aligned[1]


def align_outside(copy):
    copy.aligned[1], copy.aligned[2] = -1, len(copy.aligned)


def blank_record(copy):
    copy.rows[6] = ["something-else"] if copy.names else []


LEFT, TAKEN, SUPPORT = "not-hidden", "more-taken-than-the-tendency", "support-changed"
NAMES, ROWS = "names-do-not-agree", "rows-do-not-correspond"
FAULTS = [
    (swap_back, "pseudonym", {LEFT}),
    (swap_back, "keep", {LEFT}),
    (swap_back, "drop", {LEFT}),
    (swap_back, "packed", {LEFT}),
    (get_back, "pseudonym", {LEFT, SUPPORT}),
    (lose_item, "pseudonym", {SUPPORT}),
    (lose_item, "drop", {SUPPORT}),
    (add_item, "pseudonym", {SUPPORT}),
    (add_item, "suppress", {SUPPORT}),
    (move_item, "pseudonym", {TAKEN}),
    (move_item, "drop", {TAKEN}),
    (blank_record, "drop", {SUPPORT}),
    (blank_record, "suppress", {SUPPORT}),
    (leave_unchanged, "pseudonym", {LEFT}),
    (leave_unchanged, "drop", {LEFT}),
    (leave_unchanged, "full-swap", {LEFT}),
    (rotate_rows, "pseudonym", {NAMES}),
    (rotate_rows, "keep", {NAMES}),
    (rotate_rows, "drop", {TAKEN}),
    (rotate_rows_and_ids, "pseudonym", {"not-the-pseudonym"}),
    (rotate_rows_and_ids, "keep", {"not-the-id"}),
    (swap_names, "pseudonym", {NAMES, "not-the-pseudonym"}),
    (swap_names, "keep", {NAMES, "not-the-id"}),
    (swap_names_in_both, "pseudonym", {"not-the-pseudonym"}),
    (swap_names_in_both, "keep", {"not-the-id"}),
    (drop_record, "pseudonym", {ROWS}),
    (drop_record, "drop", {ROWS}),
    (double_record, "pseudonym", {ROWS}),
    (double_record, "drop", {ROWS}),
    (align_two_with_one, "pseudonym", {ROWS}),
    (align_outside, "pseudonym", {ROWS}),
    (align_outside, "drop", {ROWS}),
]


@pytest.mark.parametrize("name", MADE)
def test_a_good_release_is_accepted(copy_of, name):
    copy = copy_of(name)
    ended = copy.check("--json", "--quiet")
    assert ended.code == 0, ended.err
    assert ended.json["accepted"]
    assert ended.json["status"] == "holds"
    assert ended.json["counts"]["to-hide"] > 10


@pytest.mark.parametrize("name", ["pseudonym", "drop"])
def test_a_release_written_back_unspoiled_is_accepted(copy_of, name):
    """So that it is the fault that is caught below, not the writing."""
    copy = copy_of(name)
    copy.write()
    assert copy.check().code == 0


@pytest.mark.parametrize(
    ("spoil", "name", "kinds"), FAULTS, ids=[f"{fault.__name__}-{name}" for fault, name, _ in FAULTS]
)
def test_a_fault_is_caught_with_witnesses(copy_of, spoil, name, kinds):
    """In a process of its own where rows have pseudonyms, or where there is no such case."""
    copy = copy_of(name)
    spoil(copy)
    copy.write()
    apart = name == "pseudonym" or (spoil, "pseudonym") not in {(fault, made) for fault, made, _ in FAULTS}
    ended = copy.check("--witnesses", 5, "--json", "--quiet", start=run if apart else call)
    assert ended.code == 3, ended.err
    assert ended.err == ""
    verdict = ended.json
    assert not verdict["accepted"]
    assert verdict["status"] == "violated"
    assert kinds <= verdict["violations"].keys()
    assert 0 < len(verdict["witnesses"]) <= 5
    for witness in verdict["witnesses"]:
        assert witness["kind"] in verdict["violations"]
        assert witness["place"]
        assert witness["detail"]
        if witness["kind"] == LEFT:
            assert set(witness["items"]) <= set(copy.rows[witness["row"]])
            assert {CATEGORIES[item] for item in witness["items"]} <= heaviest(copy.was(witness["row"]))
        if witness["kind"] == TAKEN:
            assert set(witness["items"]) <= set(copy.was(witness["row"])) - set(copy.rows[witness["row"]])
        if witness["kind"] == SUPPORT:
            (item,) = witness["items"]
            now, was = (Counter(i for r in rows for i in r)[item] for rows in (copy.rows, copy.original))
            assert now != was
            assert f"its support is {now:,} in the release and {was:,} in the original" in witness["detail"]


def test_a_swap_back_is_counted_exactly_and_can_be_allowed(copy_of):
    copy = copy_of("pseudonym")
    swap_back(copy)
    copy.write()
    assert copy.check("--json").json["violations"] == {LEFT: 2}
    assert copy.check("--allow-failures", 1).code == 3
    assert copy.check("--allow-failures", 2).code == 0


def test_without_being_asked_for_witnesses_no_value_of_the_data_is_shown(copy_of):
    copy = copy_of("pseudonym")
    leave_unchanged(copy)
    copy.write()
    ended = copy.check()
    assert ended.code == 3
    assert "not hidden" in ended.out
    assert "--witnesses" in ended.out
    labels = {item for record in copy.original for item in record}
    assert not [label for label in labels if label in ended.out + ended.err]


def test_an_unchanged_file_is_caught_although_the_alignment_was_turned_to_fit(tmp_path):
    """Forty people who each bought from one of four shelves: under an alignment moved on by a shelf, nobody seems to hold their own."""
    rows = [f"p{n:02d},{n // 10}-{item}" for n in range(40) for item in range(2)]
    (tmp_path / "data.csv").write_text("\n".join(["id,item", *rows]) + "\n")
    (tmp_path / "shelves.csv").write_text(
        "item,category\n" + "".join(f"{s}-{i},shelf {s}\n" for s in range(4) for i in range(2))
    )
    options = ["--method", "full-swap", "--categories", "shelves.csv", "--out", "release", "--ids", "keep"]
    assert call("publish", "data.csv", *options, cwd=tmp_path).code == 0
    ids, original = [f"p{n:02d}" for n in range(40)], [[f"{n // 10}-0", f"{n // 10}-1"] for n in range(40)]
    aligned = np.roll(np.arange(40), 10)
    copy = Copy(tmp_path, original, ids, aligned, ids, [ids[n] for n in aligned], original)
    copy.write()
    ended = copy.check("--json", original="data.csv")
    assert ended.code == 3
    assert ended.json["violations"] == {"not-the-id": 40}
