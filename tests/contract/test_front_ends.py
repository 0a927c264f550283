"""The command line, job files and Python are one product: the same files from the same data, method and seed."""

import csv
import json
import shutil

import numpy as np
import pytest

import setveil as sv
from setveil.catalog import METHODS
from setveil.cli import main
from setveil.parameters import ParameterKind

from contract.filling import filled, ways

SEED = 31415926535897932384
KINDS, NAMES = ways({name: kind for name, kind in METHODS.items() if sv.Transactions in kind.accepts})


@pytest.fixture(scope="module")
def baskets(tmp_path_factory):
    """Give a file of data in which every method finds something to do."""
    path = tmp_path_factory.mktemp("data") / "baskets.csv"
    rng = np.random.default_rng(5)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["customer", "product"])
        for person in range(300):
            for item in sorted(set(rng.geometric(0.2, rng.integers(2, 7)).tolist())):
                writer.writerow([f"person {person}", f"item {item}"])
    return path


def as_options(method, folder):
    """Return the parameters of a method as a person types them, lists of names as files."""
    options = []
    for name in type(method).model_fields:
        value = getattr(method, name)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, ParameterKind) and value.ending:
            (folder / f"{name}{value.ending}").write_text(value.to_file(), encoding="utf-8")
            text = str(folder / f"{name}{value.ending}")
        elif value is None or value == () or value == type(method).model_fields[name].default:
            continue
        options += [f"--{name.replace('_', '-')}", text]
    return options


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def written_to(out):
    """Return the bytes of a release and of its alignment."""
    return files_of(out), (out.parent / f"{out.name}.private" / "alignment.parquet").read_bytes()


def refuse_other_bytes(made, *jobs, said):
    """Run each job on the command line, and fail unless it writes the same bytes without a note."""
    for number, job in enumerate(jobs):
        out = made.parent / f"run-{number}"
        code = main.run(["run", str(job), "--out", str(out)])
        assert (code, [line for line in said.readouterr().err.splitlines() if "differs" in line]) == (0, [])
        assert written_to(out) == written_to(made), job


@pytest.mark.parametrize(("kind", "chosen"), KINDS, ids=NAMES)
def test_the_command_line_python_and_jobs_write_the_same_bytes(kind, chosen, baskets, tmp_path, capsys):
    data = sv.read(baskets, id="customer", item="product")
    method = filled(kind, data, **chosen)
    reading = ["--id", "customer", "--item", "product"]
    options = [*as_options(method, tmp_path), "--seed", str(SEED), "--no-guarantee", "--quiet"]
    writing = ["--out", str(tmp_path / "cli"), "--save-job", str(tmp_path / "cli.toml")]
    code = main.run(["publish", str(baskets), "--method", kind.name, *options, *reading, *writing])
    said = capsys.readouterr()
    if code == 3:  # a setting that cannot be kept on these data is refused by both
        with pytest.raises(sv.GuaranteeViolated):
            sv.publish(data, method, seed=SEED, no_guarantee=True, metrics=[], out=tmp_path / "python")
        assert not (tmp_path / "cli.toml").exists()
        return
    assert code == 0, said.err
    release = sv.publish(data, method, seed=SEED, no_guarantee=True, metrics=[], out=tmp_path / "python")
    assert written_to(tmp_path / "cli") == written_to(tmp_path / "python")
    release.save_job(tmp_path / "python.toml")
    dossiers = [tmp_path / f"{one}.private" / "dossier.json" for one in ("cli", "python")]
    refuse_other_bytes(tmp_path / "cli", tmp_path / "cli.toml", tmp_path / "python.toml", *dossiers, said=capsys)
    assert sv.run(sv.Job.read(tmp_path / "cli.toml"), out=tmp_path / "again").data == release.data
    assert written_to(tmp_path / "again") == written_to(tmp_path / "cli")


def test_a_release_of_a_release_is_repeated_by_its_job(baskets, tmp_path, capsys):
    options = ["--id", "customer", "--item", "product"]
    data = sv.read(baskets, id="customer", item="product")
    sv.publish(data, sv.Disassociation(k=3, m=2), out=tmp_path / "clusters", seed=SEED)
    asked = ["--method", "reassociation", "--copies", "2", "--seed", str(SEED), "--original", str(baskets), *options]
    writing = ["--out", str(tmp_path / "cli"), "--save-job", str(tmp_path / "cli.toml")]
    assert main.run(["publish", str(tmp_path / "clusters"), *asked, *writing]) == 0
    opened = sv.open_release(tmp_path / "clusters")
    release = sv.publish(opened, sv.Reassociation(copies=2), original=data, seed=SEED, out=tmp_path / "python")
    assert written_to(tmp_path / "cli") == written_to(tmp_path / "python")
    release.save_job(tmp_path / "python.toml")
    assert sv.Job.read(tmp_path / "python.toml").content["original"]["id"] == "customer"
    dossiers = [tmp_path / f"{one}.private" / "dossier.json" for one in ("cli", "python")]
    refuse_other_bytes(tmp_path / "cli", tmp_path / "cli.toml", tmp_path / "python.toml", *dossiers, said=capsys)


def test_the_command_line_and_python_record_the_same_in_a_register(baskets, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--method", "disassociation", "--k", "3", "--m", "2", "--person", "customer", "--item", "product"]
    registering = ["--register", "releases.db", "--recipient", "the city"]
    assert main.run(["publish", str(baskets), *options, *registering, "--out", "cli", "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)["register"]
    data = sv.read(baskets, person="customer", item="product")
    register = sv.Registration("releases.db", recipient="the city")
    release = sv.publish(data, sv.Disassociation(k=3, m=2), out="python", register=register)
    assert files_of(tmp_path / "cli") == files_of(tmp_path / "python")
    first, second = sv.releases("releases.db")
    assert said == first.to_dict()
    assert release.registered == second
    differ = {name for name, value in first.to_dict().items() if value != second.to_dict()[name]}
    assert differ - {"published"} == {"number", "release_folder", "private_folder"}
    assert main.run(["withdraw", "cli", "--register", "releases.db", "--reason", "wrong data", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == sv.releases("releases.db")[0].to_dict()
    changed = sv.withdraw("releases.db", 2, reason="wrong data")
    assert (changed.status, changed.withdrawn_reason) == ("withdrawn", "wrong data")
    assert main.run(["releases", "--register", "releases.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [one.to_dict() for one in sv.releases("releases.db")]


def test_data_from_python_get_the_format_that_the_command_line_would_choose(tmp_path):
    labels = [["red wine", "bread"], ["red wine", "milk"], ["bread"]]
    method = sv.RandSwap()
    sv.publish(labels, method, no_guarantee=True, metrics=[], out=tmp_path / "lists")
    assert (tmp_path / "lists" / "data.jsonl").exists()  # a basket file separates items by blanks
    sv.write(sv.Transactions.from_lists(labels), tmp_path / "baskets.parquet")
    sv.publish(tmp_path / "baskets.parquet", method, no_guarantee=True, metrics=[], out=tmp_path / "parquet")
    assert (tmp_path / "parquet" / "data.parquet").exists()


@pytest.fixture(scope="module")
def release(baskets):
    """Give the folder of a release and its original."""
    data = sv.read(baskets, id="customer", item="product")
    categories = sv.Categories.at_random(data.vocabulary, 4, seed=1)
    out = baskets.parent / "release"
    sv.publish(data, sv.PartSwap(categories=categories), seed=SEED, metrics=[], out=out)
    return out


def test_check_and_measure_find_the_private_folder_and_the_reading_options(release, baskets, capsys):
    verdict = sv.check(release, original=baskets)
    assert verdict
    assert main.run(["check", str(release), "--original", str(baskets), "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["status"] == verdict.status
    found = {one.name: one.value for one in sv.measure(baskets, release, ["record-loss", "still-on-top"])}
    assert found["still-on-top"] is not None  # which needs the alignment and the categories
    arguments = [str(baskets), str(release), "--metric", "record-loss", "--metric", "still-on-top", "--json", "--quiet"]
    assert main.run(["measure", *arguments]) == 0
    said = json.loads(capsys.readouterr().out)["metrics"]
    assert {one["name"]: one["value"] for one in said} == found


def test_report_measures_the_same_from_both(release, baskets, tmp_path, capsys):
    for name in ("cli", "python"):
        shutil.copytree(f"{release}.private", tmp_path / name)
    arguments = [str(release), "--original", str(baskets), "--measure", "quick", "--metric", "query-error:queries=9"]
    assert main.run(["report", *arguments, "--private", str(tmp_path / "cli"), "--json", "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["report"] == str(tmp_path / "cli" / "report.html")
    asked = ["quick", "query-error:queries=9"]
    measured = sv.write_report(release, asked, original=baskets, private=tmp_path / "python")
    assert said["metrics"] == [one.to_dict() for one in measured]
    dossiers = [json.loads((tmp_path / name / "dossier.json").read_text()) for name in ("cli", "python")]
    assert dossiers[0] == dossiers[1] | {"seconds": dossiers[0]["seconds"]}


@pytest.mark.parametrize("given", ["path", "opened"])
def test_a_release_is_checked_by_its_folder_or_as_it_was_opened(release, baskets, given):
    asked = release if given == "path" else sv.open_release(release)
    assert sv.check(asked, original=sv.read(baskets, id="customer", item="product"))


def test_convert_and_profile_take_what_people_have(baskets, tmp_path, release):
    sv.convert(baskets, tmp_path / "x.parquet", id="customer", item="product")
    lists = sv.read(tmp_path / "x.parquet").to_lists()
    assert sv.profile(lists).records == sv.profile(tmp_path / "x.parquet").records == 300
    assert sv.profile(release).records == 300
    frame = pytest.importorskip("pandas").DataFrame({"id": ["p", "p", "q"], "item": ["milk", "bread", "milk"]})
    assert sv.profile(frame).records == 2


@pytest.mark.parametrize("given", [3, None, object()])
def test_what_is_no_data_is_a_sentence(given):
    with pytest.raises(sv.BadParameter, match=r"data is .*; expected a path, a sample"):
        sv.profile(given)


def test_a_private_folder_of_another_release_is_refused(release, baskets, tmp_path):
    data = sv.read(baskets, id="customer", item="product")
    sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=[], out=tmp_path / "other")
    with pytest.raises(sv.BadData, match="belongs to another run"):
        sv.measure(data, release, private=tmp_path / "other.private")


def test_a_change_of_format_is_noted_once(tmp_path, capsys):
    (tmp_path / "baskets.dat").write_text("1 2\n2 3\n1 3\n")
    arguments = ["--method", "rand-swap", "--no-guarantee", "--ids", "pseudonym", "--out", str(tmp_path / "out")]
    assert main.run(["publish", str(tmp_path / "baskets.dat"), *arguments]) == 0
    assert capsys.readouterr().err.count("the format 'basket' does not support --ids pseudonym") == 1


def test_reading_options_that_are_given_replace_those_of_the_dossier(release, baskets, capsys):
    """Another column of persons must not be mixed with the one that was used for publishing."""
    assert (
        main.run(["check", str(release), "--original", str(baskets), "--person", "customer", "--item", "product"]) == 0
    )
    assert main.run(["check", str(release), "--original", str(baskets), "--person", "product"]) == 2
    assert "has no column 'item'" in capsys.readouterr().err
