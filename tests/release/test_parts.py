"""Releases whose records are divided into files: the same records in the same order as in one file."""

import json
import shutil

import pytest

import setveil as sv
from setveil.cli import main
from setveil.data.formats import FORMATS

from support.random_data import make

SEED = 2**100
WAYS = [
    (f"{name}{extension}", ids, compress)
    for name, form in FORMATS.items()
    if form.can_be_divided and form.holds_any_items
    for extension in form.extensions
    for ids in ("pseudonym", "drop")
    if not (ids == "drop" and form.ids == "required") and not (ids != "drop" and form.ids == "none")
    for compress in (None, "gzip", "zstd")
    if compress is None or form.packable(extension)
]
PARTS = [f"data-{number:05}.jsonl" for number in range(1, 5)]


def some_data():
    data = make(7, records=50, items=30, categories=4, hot=0.7)[0].without_empty()
    return data.with_ids([f"person {record}" for record in range(data.records)]).with_unit("person")


def published(out, method=None, data=None, **options):
    given = {"metrics": [], "attacks": [], "seed": SEED, "format": "list", "ids": "drop"} | options
    return sv.publish(
        data or some_data(), method or sv.PartialSuppression(rho=0.9, sensitive=["i001"]), out=out, **given
    )


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("form", "ids", "compress"), WAYS)
def test_the_files_hold_what_one_file_would(tmp_path, form, ids, compress):
    options = {"format": form, "ids": ids, "compress": compress}
    whole = published(tmp_path / "whole", **options)
    divided = published(tmp_path / "divided", **options, file_records=13)
    opened = sv.open_release(tmp_path / "divided")
    assert opened.data == divided.data == whole.data == sv.open_release(tmp_path / "whole").data
    assert opened.data.unit == "person"
    assert divided.alignment.rows.tolist() == whole.alignment.rows.tolist()
    assert sv.check(tmp_path / "divided", original=some_data()).status == "holds"
    card = opened.card
    number = -(-whole.data.records // 13)
    names = [f"data-{part:05}{form[form.index('.') :]}" for part in range(1, number + 1)]
    assert [one.file.removesuffix(".gz").removesuffix(".zst") for one in card.data.every_file] == names
    assert card.counts == sv.open_release(tmp_path / "whole").card.counts
    resources = json.loads((tmp_path / "divided" / "datapackage.json").read_text())["resources"]
    assert [one["path"] for one in resources] == [one.file for one in card.data.every_file]
    each = [
        sv.read(tmp_path / "divided" / one.file, format=form.partition(".")[0]).records for one in card.data.every_file
    ]
    assert sum(each) == whole.data.records
    assert max(each) <= 13
    if compress is None and form == "basket.dat":
        (one,) = (tmp_path / "whole").glob("data.*")
        assert b"".join(files_of(tmp_path / "divided")[name] for name in names) == one.read_bytes()


@pytest.mark.parametrize("file_records", [50, 10**9])
def test_few_records_are_one_file(tmp_path, file_records):
    published(tmp_path / "whole")
    published(tmp_path / "out", file_records=file_records)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_the_command_line_python_and_a_job_write_the_same_files(tmp_path, capsys):
    sv.write(some_data(), tmp_path / "data.jsonl")
    (tmp_path / "sensitive.txt").write_text("i001\n")
    options = ["--method", "partial-suppression", "--rho", "0.9", "--sensitive", str(tmp_path / "sensitive.txt")]
    options += ["--measure", "none", "--attack", "none"]
    options += ["--seed", str(SEED), "--unit", "person", "--file-records", "13", "--ids", "drop", "--quiet"]
    code = main.run(["publish", str(tmp_path / "data.jsonl"), *options, "--out", str(tmp_path / "cli")])
    assert code == 0
    assert f"{', '.join(PARTS)}, card.json" in " ".join(capsys.readouterr().out.split())
    published(tmp_path / "python", data=sv.read(tmp_path / "data.jsonl", unit="person"), file_records=13)
    assert files_of(tmp_path / "cli") == files_of(tmp_path / "python")
    assert len(files_of(tmp_path / "cli")) == 7
    job = tmp_path / "cli.private" / "dossier.json"
    assert main.run(["run", str(job), "--out", str(tmp_path / "again"), "--quiet"]) == 0
    assert files_of(tmp_path / "again") == files_of(tmp_path / "cli")
    options[options.index("13")] = "5"
    assert main.run(["publish", str(tmp_path / "data.jsonl"), *options, "--out", str(tmp_path / "more")]) == 0
    assert "data-00001.jsonl to data-00010.jsonl (10 files), card.json" in " ".join(capsys.readouterr().out.split())


def test_saving_later_divides_too(tmp_path):
    release = published(tmp_path / "out", file_records=13)
    release.save(tmp_path / "later", format="list", file_records=13)
    assert files_of(tmp_path / "later") == files_of(tmp_path / "out")


def test_further_files_of_a_form_are_beside_the_parts(tmp_path):
    data = some_data()
    tree = sv.Hierarchy({item: f"g{number % 3}" for number, item in enumerate(data.vocabulary)})
    release = published(tmp_path / "out", sv.AprioriGeneralization(k=2, m=1, hierarchy=tree), data, file_records=13)
    assert sorted(path.name for path in (tmp_path / "out").glob("[dh]*")) == [
        *PARTS,
        "datapackage.json",
        "hierarchy.csv",
    ]
    assert sv.open_release(tmp_path / "out").data == release.data
    assert sv.check(tmp_path / "out", original=data).status == "holds"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda out: (out / PARTS[2]).unlink(), "lacks the file 'data-00003.jsonl'"),
        (lambda out: (out / PARTS[0]).unlink(), "lacks the data file 'data-00001.jsonl'"),
        (
            lambda out: shutil.copy(out / PARTS[0], out / PARTS[1]),
            "data-00002.jsonl: is not the file that the card describes",
        ),
        (lambda out: edited(out, lambda beside: beside[:1] + beside[2:]), "lists wrong files besides the data file"),
        (lambda out: edited(out, lambda beside: beside[::-1]), "lists wrong files besides the data file"),
        (lambda out: edited(out, lambda beside: beside[:-1]), "counts 50 records, but data-00001.jsonl has 39"),
        (lambda out: edited(out, lambda _beside: []), "lists wrong files besides the data file"),
    ],
)
def test_other_files_are_refused(tmp_path, change, problem):
    assert published(tmp_path / "out", file_records=13).data.records == 50
    change(tmp_path / "out")
    with pytest.raises(sv.BadData, match=problem):
        sv.open_release(tmp_path / "out")


def edited(out, change):
    """Change the list of further files on the card."""
    card = json.loads((out / "card.json").read_text())
    card["data"]["beside"] = change(card["data"]["beside"])
    (out / "card.json").write_text(json.dumps(card))


@pytest.mark.parametrize(
    ("method", "options", "problem"),
    [
        (None, {"file_records": 0}, "`file_records=` is 0; allowed is a whole number of at least 1"),
        (
            None,
            {"file_records": 5, "format": "matrix"},
            "data of the format 'matrix' are one file; remove `file_records=",
        ),
        (
            sv.Disassociation(k=2, m=1),
            {"file_records": 5, "format": None},
            "the rows of disassociated data are not divided",
        ),
    ],
)
def test_what_cannot_be_divided_is_refused_before_the_work(tmp_path, method, options, problem):
    with pytest.raises(sv.BadParameter, match=problem):
        published(tmp_path / "out", method, **options)
    assert [*tmp_path.iterdir()] == []
