"""What metrics require is given to `measure` in Python as on the command line: as the name of a file, or as a value."""

import pytest

import setveil as sv
from setveil.release.measuring import required_parameters

from support.program import call

METRICS = ("still-on-top", "items-lost", "hiding-failure", "tlost", "relative-association-error")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with data, data after something was done to them, and lists beside them."""
    folder = tmp_path_factory.mktemp("measured")
    files = {
        "before.dat": "rye bread;milk;tea\nmilk;tea\nrye bread;milk\nbeer\ntea;beer\n",
        "after.dat": "milk;tea\nmilk;tea\nrye bread\nbeer\ntea;beer\n",
        "before.csv": "id;item\n1;rye bread\n1;milk\n2;milk\n",
        "shelves.csv": "item,shelf,aisle\nrye bread,bakery,food\nmilk,dairy,food\ntea,hot,drinks\nbeer,cold,drinks\n",
        "sensitive.txt": "beer\nrye bread\n",
        "itemsets.txt": "rye bread;milk\ntea;milk\n",
        "blanks.txt": "milk\nmilk rye\n",
        "nothing.txt": "wine\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_python_takes_what_the_command_line_takes(folder, monkeypatch):
    monkeypatch.chdir(folder)
    files = {
        "categories": "shelves.csv",
        "sensitive": "sensitive.txt",
        "itemsets": "itemsets.txt",
        "rules": "itemsets.txt",
    }
    given = {**files, "level": "aisle", "min_support": "2", "k": "2", "rho": "1/2"}
    options = [part for name, value in given.items() for part in ("--" + name.replace("_", "-"), value)]
    chosen = [part for name in METRICS for part in ("--metric", name)]
    shown = call("measure", "before.dat", "after.dat", "--separator", ";", *options, *chosen, "--json").json["metrics"]
    before, after = (sv.read(name, separator=";") for name in ("before.dat", "after.dat"))
    measured = sv.measure(before, after, METRICS, separator=";", **given)
    assert [one.to_dict() for one in measured] == shown
    assert not [one for one in measured if "needs" in one.reason and "alignment" not in one.reason]
    values = {
        **given,
        "categories": sv.read_categories("shelves.csv", level="aisle"),
        "sensitive": ["beer", "rye bread"],
        "itemsets": [["milk", "rye bread"], ["milk", "tea"]],
        "rules": sv.NamedItemsets([["milk", "rye bread"], ["milk", "tea"]]),
    }
    assert [one.to_dict() for one in sv.measure(before, after, METRICS, **values)] == shown


def test_a_separator_of_columns_does_not_separate_the_items_of_lists(folder):
    given = ("measure", "before.csv", "before.csv", "--separator", ";", "--metric", "relative-association-error")
    read = call(*given, "--rules", "blanks.txt", "--json", cwd=folder)
    assert read.code == 0, read.err
    refused = call(*given, "--rules", "itemsets.txt", cwd=folder)
    assert (refused.code, "'bread;milk'" in refused.sentence()) == (2, True)


@pytest.mark.parametrize("name", ["sensitive", "itemsets", "rules"])
def test_a_file_of_which_nothing_occurs_is_refused_with_its_name(folder, name):
    before = sv.read(folder / "before.dat", separator=";")
    with pytest.raises(
        sv.BadData, match=rf"nothing\.txt: {name}: 0 of 1 named \w+ occur in the data; at least one must"
    ):
        sv.measure(before, before, **{name: folder / "nothing.txt"})


def test_every_parameter_that_a_metric_requires_is_an_option(folder):
    shown = call("measure", "--help", cwd=folder).out
    required = required_parameters()
    assert {"categories", "sensitive", "itemsets", "rules", "min_support", "k", "rho"} <= required.keys()
    for name in (*required, "level"):
        assert f"--{name.replace('_', '-')} " in shown
