"""Finished releases side by side, and what a release records of the comparison before it."""

import json
import shutil

import numpy as np
import pytest

import setveil as sv

from support.program import call, names_in

QUICK = {"task": "item-knn:items=50", "attacks": ["find-record:known=2", "membership"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with an original, people who are not in it, and two releases."""
    place = tmp_path_factory.mktemp("releases")
    data = sv.read("sample:supermarket?records=900")
    sv.write(data.take(np.arange(700)), place / "original.jsonl")
    sv.write(data.take(np.arange(700, 900)), place / "others.jsonl")
    for k in (3, 20):
        method = sv.Disassociation(k=k, m=2)
        sv.publish(place / "original.jsonl", method, out=place / f"k-{k}", metrics=[], attacks="none")
    return place


def test_releases_are_compared_as_measure_and_attack_see_them(folder):
    original, others = (sv.read(folder / f"{name}.jsonl") for name in ("original", "others"))
    found = sv.compare_releases(original, [folder / "k-3", folder / "k-20"], heldout=others, **QUICK)
    assert [one.title for one in found.set_ups] == ["k-3", "k-20"]
    assert [one.settings["k"] for one in found.set_ups] == ["3", "20"]
    assert [one.status for one in found.set_ups] == ["holds", "holds"]
    measured = sv.measure(original, folder / "k-3", [QUICK["task"]], heldout=others)[0]
    assert found.set_ups[0].task == (measured.value, *measured.interval)
    attacks = sv.attack(folder / "k-3", original, QUICK["attacks"], control=others, targets=500)
    strongest = max(attacks, key=lambda one: one.excess.low)
    excess = found.set_ups[0].excess
    assert found.set_ups[0].attack == strongest.title
    assert excess == (strongest.excess.value, strongest.excess.low, strongest.excess.high)
    assert found.folder is None


def test_the_command_line_and_python_compare_releases_alike_and_say_what_is_optimistic(folder):
    options = ["--task", QUICK["task"], *(text for one in QUICK["attacks"] for text in ("--attack", one))]
    said = call("compare", "original.jsonl", "k-3", "k-20", "--out", "cli", *options, cwd=folder)
    assert said.code == 0, said.err
    assert "Optimistic: the task was tested on the same people" in said.out
    files = said.out.rstrip().rpartition(": ")[2].split(", ")
    assert sorted(files) == names_in(folder / "cli")
    assert names_in(folder / "cli") == ["compare.html", "comparison.json", "results.jsonl", "table.csv"]
    assert "<b>Optimistic" in (folder / "cli" / "compare.html").read_text(encoding="utf-8")
    found = sv.compare_releases(
        folder / "original.jsonl", [folder / "k-3", folder / "k-20"], out=folder / "py", **QUICK
    )
    lines = [
        [
            json.loads(line) | {"seconds": None}
            for line in (folder / one / "results.jsonl").read_text("utf-8").splitlines()
        ]
        for one in ("cli", "py")
    ]
    assert lines[0] == lines[1]
    assert found.facts["data"]["held_out"] == 0


def test_folders_with_the_same_name_are_shown_with_their_paths(folder, tmp_path):
    for name in ("k-3", "k-3.private"):
        shutil.copytree(folder / name, tmp_path / name)
    both = [folder / "k-3", tmp_path / "k-3"]
    found = sv.compare_releases(folder / "original.jsonl", both, **QUICK)
    assert [one.title for one in found.set_ups] == [str(one) for one in both]


def test_a_release_of_other_data_and_a_folder_that_exists_are_refused(folder, tmp_path):
    with pytest.raises(sv.BadData, match="not the data that this release was made from"):
        sv.compare_releases(sv.read("sample:supermarket?records=700&seed=2"), [folder / "k-3"], **QUICK)
    with pytest.raises(sv.OutputRefused, match="exists"):
        sv.compare_releases(folder / "original.jsonl", [folder / "k-3"], out=tmp_path, **QUICK)
    with pytest.raises(sv.BadParameter, match="once"):
        sv.compare_releases(folder / "original.jsonl", [folder / "k-3", folder / "k-3"], **QUICK)


def test_a_release_records_how_many_set_ups_were_tried(whole, tmp_path):
    data = "sample:supermarket?records=1200"
    asked = ["publish", data, "--method", "disassociation", "--k", "3", "--m", "2", "--attack", "none"]
    said = call(*asked, "--out", tmp_path / "out", "--comparison", whole, "--save-job", tmp_path / "job.toml")
    assert said.code == 0, said.err
    dossier = json.loads((tmp_path / "out.private" / "dossier.json").read_text(encoding="utf-8"))
    assert (dossier["comparison"]["set_ups"], dossier["comparison"]["trials"]) == (4, 12)
    text = "4 set-ups in 12 trials were tried on these data before this one was chosen"
    assert text in (tmp_path / "out.private" / "report.html").read_text(encoding="utf-8")
    for file in (tmp_path / "out").iterdir():
        assert str(whole).encode() not in file.read_bytes()
        assert b"set-ups" not in file.read_bytes()
    assert sv.Job.read(tmp_path / "job.toml").content["comparison"]
    again = sv.run(tmp_path / "job.toml", out=tmp_path / "job")
    assert again.tried == dossier["comparison"] | {"folder": again.tried["folder"]}


def test_a_release_is_repeated_without_the_comparison(whole, tmp_path):
    copy = tmp_path / "comparison"
    copy.mkdir()
    for name in ("comparison.json", "results.jsonl"):
        (copy / name).write_bytes((whole / name).read_bytes())
    method = sv.Disassociation(k=3, m=2)
    given = {"comparison": copy, "metrics": [], "attacks": "none"}
    first = sv.publish("sample:supermarket?records=1200", method, out=tmp_path / "out", **given)
    for file in copy.iterdir():
        file.unlink()
    again = sv.run(tmp_path / "out.private" / "dossier.json", out=tmp_path / "again")
    assert again.tried == first.tried


@pytest.mark.parametrize(
    ("records", "damage", "said"),
    [
        (1100, None, "compares set-ups on other data"),
        (1200, "gone", "is not the folder of a comparison"),
        (1200, "[]", "does not describe a comparison"),
        (1200, "{", "cannot be read"),
    ],
)
def test_a_comparison_of_other_data_and_a_damaged_one_are_refused(whole, tmp_path, records, damage, said):
    copy = tmp_path / "comparison"
    copy.mkdir()
    for name in ("comparison.json", "results.jsonl"):
        (copy / name).write_bytes((whole / name).read_bytes())
    if damage == "gone":
        (copy / "comparison.json").unlink()
    elif damage:
        (copy / "comparison.json").write_text(damage, encoding="utf-8")
    with pytest.raises(sv.BadData, match=said):
        sv.publish(
            f"sample:supermarket?records={records}", sv.Disassociation(k=3, m=2), comparison=copy, out=tmp_path / "out"
        )
    assert names_in(tmp_path) == ["comparison"]
