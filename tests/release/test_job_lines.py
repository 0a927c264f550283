"""The command and the Python of a job make the bytes of its job file."""

import csv
import shlex

import numpy as np
import pytest

import setveil as sv
from setveil.base.translation import as_command_line
from setveil.catalog import METHODS
from setveil.cli import main
from setveil.errors import BadParameter
from setveil.release.job_keys import plain
from setveil.release.job_lines import command_of, python_of, with_files

from contract.filling import filled, ways

SEED = "31415926535897932384"
KINDS, NAMES = ways({name: kind for name, kind in METHODS.items() if sv.Transactions in kind.accepts})


@pytest.fixture(scope="module")
def baskets(tmp_path_factory):
    path = tmp_path_factory.mktemp("the data") / "my baskets.csv"
    rng = np.random.default_rng(5)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["customer", "product"])
        for person in range(200):
            for item in sorted(set(rng.geometric(0.2, rng.integers(2, 7)).tolist())):
                writer.writerow([f"person {person}", f"item {item}"])
    return path


def written_to(out):
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def run_all_three(job, folder, monkeypatch):
    """Run a job file, its command and its Python in folders of their own; return their exit codes and bytes."""
    content, files = with_files(job.to_dict())
    command, python = as_command_line(command_of(content)), python_of(content)
    found = []
    for name in ("file", "command", "python"):
        place = folder / name
        place.mkdir()
        monkeypatch.chdir(place)
        for file, text in ({"job.toml": job.to_toml()} if name == "file" else files).items():
            (place / file).write_text(text, encoding="utf-8")
        if name == "file":
            code = main.run(["run", "job.toml"])
        elif name == "command":
            code = main.run(shlex.split(command)[1:])
        else:
            try:
                exec(python, {})  # noqa: S102 - what a person would run
                code = 0
            except sv.SetveilError as error:
                code = int(error.exit_code)
        found.append((code, written_to(place / "release") if code == 0 else None))
    return found


@pytest.mark.parametrize(("kind", "chosen"), KINDS, ids=NAMES)
def test_all_three_texts_make_the_same_bytes(kind, chosen, baskets, tmp_path, monkeypatch):
    reading = {"id": "customer", "item": "product"}
    method = filled(kind, sv.read(baskets, **reading), **chosen)
    defaults = {one.name: plain(one.default) for one in kind.parameters()}
    given = {one.name: plain(getattr(method, one.name)) for one in kind.parameters()}
    table = {name: value for name, value in given.items() if value is not None and value != defaults[name]}
    job = sv.Job({
        "data": {"path": str(baskets), **reading},
        "method": {"name": kind.name, **table},
        "seed": SEED,
        "no_guarantee": True,
        "metrics": "none",
        "attacks": "none",
        "out": "release",
    })  # fmt: skip
    first, second, third = run_all_three(job, tmp_path, monkeypatch)
    assert first[0] in (0, 3)
    assert first == second == third


def test_everything_that_a_job_can_say_is_said(baskets, tmp_path, monkeypatch):
    context = {
        "record": "person",
        "recipients": "contract",
        "hide": ["identity"],
        "known": "2",
        "rows": "true",
        "work": ["counts"],
        "earlier": "no",
    }
    job = sv.Job({
        "data": {"path": str(baskets), "person": "customer", "item": "product", "empty": "drop"},
        "method": {"name": "disassociation", "k": 3, "m": 2},
        "metrics": ["quick", "fi-similarity:min_support=5%", {"name": "fi-similarity", "min_support": "10%"}],
        "attacks": ["find-record:known=1", {"name": "find-record", "known": 2}],
        "attack_limit": "90%",
        "ids": "drop",
        "seed": SEED,
        "missing_names": "error",
        "distinct_labels": True,
        "threads": 1,
        "names": {"item 1": "the first, or so", "item 2": 'the "second"'},
        "context": context,
        "out": "release",
    })  # fmt: skip
    first, second, third = run_all_three(job, tmp_path, monkeypatch)
    assert first[0] == 0
    assert first == second == third


def test_a_register_is_named_by_both():
    register = {"file": "releases.db", "recipient": "the city"}
    job = sv.Job(
        {"data": "d.dat", "method": {"name": "disassociation", "k": 3, "m": 2}, "register": register, "out": "release"}
    )
    command = as_command_line(command_of(job.to_dict()))
    assert command == (
        "setveil publish d.dat --method disassociation --k 3 --m 2 --register releases.db --recipient 'the city' --out release"
    )
    assert "register=sv.Registration(file='releases.db', recipient='the city')" in python_of(job.to_dict())


def test_a_flag_of_a_side_file_and_a_table_are_options(tmp_path):
    (tmp_path / "tree.csv").write_text("item,a\nx,y\n", encoding="utf-8")
    job = sv.Job({
        "data": "d.dat",
        "method": {"name": "apriori-generalization", "hierarchy": "tree.csv", "paths": True, "k": 2, "m": 1},
        "out": "release",
    })  # fmt: skip
    content, files = with_files(job.to_dict())
    assert files == {}
    assert "--paths --" in as_command_line(command_of(content))
    assert "sv.read_hierarchy('tree.csv', data=data, paths=True)" in python_of(content)


def test_a_metric_with_a_side_file_needs_the_job_file():
    metric = {"name": "items-lost", "sensitive": ["a"]}
    job = sv.Job(
        {"data": "d.dat", "method": {"name": "disassociation", "k": 3, "m": 2}, "metrics": [metric], "out": "release"}
    )
    content, _ = with_files(job.to_dict())
    assert as_command_line(command_of(content)) == "setveil run job.toml"
    assert "metrics=[sv.ItemsLost(sensitive=sv.read_sensitive('sensitive.txt', data=data))]" in python_of(content)


def test_two_values_of_the_same_name_are_two_files():
    job = sv.Job({
        "data": "d.dat",
        "method": {"name": "insert", "sensitive": ["a"], "rho": 0.5},
        "metrics": [{"name": "items-lost", "sensitive": ["a"]}, {"name": "items-lost", "sensitive": ["b"]}],
        "out": "release",
    })  # fmt: skip
    content, files = with_files(job.to_dict())
    assert files == {"sensitive.txt": "a\n", "sensitive-2.txt": "b\n"}
    assert [one["sensitive"] for one in content["metrics"]] == ["sensitive.txt", "sensitive-2.txt"]


def test_a_value_that_is_no_side_file_is_refused():
    job = sv.Job({"data": "d.dat", "method": {"name": "part-swap", "categories": 3}, "out": "release"})
    with pytest.raises(BadParameter, match="part-swap: categories"):
        with_files(job.to_dict())
