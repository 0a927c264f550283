"""What `check` needs and does not get, or gets changed, ends with exit code 2 and a sentence that tells what to give."""

import json
import shutil

import pytest

from support.program import call

SAMPLE = "sample:supermarket?records=200&seed=5"
OPTIONS = ("--method", "part-swap", "--categories", "sample:supermarket", "--seed", 2**90)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a release, and others that it can be mixed up with."""
    folder = tmp_path_factory.mktemp("made")
    for out, options in {"release": (), "another": ("--full-min", 1), "twin": ("--seed", 2**91)}.items():
        given = (
            [*OPTIONS, "--out", out, *options] if "--seed" not in options else [*OPTIONS[:-2], "--out", out, *options]
        )
        assert call("publish", SAMPLE, *given, cwd=folder).code == 0
    assert call("publish", SAMPLE, *OPTIONS, "--out", "baskets", "--ids", "drop", cwd=folder).code == 0
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


def check(folder, *options, release="release", private="release.private", original=SAMPLE):
    places = [*(["--private", private] if private else []), *(["--original", original] if original else [])]
    return call("check", release, *places, *options, cwd=folder)


def change(path, *keys, to=None, remove=False):
    """Change or remove one value of a JSON file."""
    whole = json.loads(path.read_text())
    place = whole
    for key in keys[:-1]:
        place = place[key]
    if remove:
        del place[keys[-1]]
    else:
        place[keys[-1]] = to
    path.write_text(json.dumps(whole))


@pytest.mark.parametrize("release", ["release", "baskets", "another"])
def test_a_data_file_that_is_not_the_one_on_the_card_is_refused(folder, release):
    (data,) = (folder / release).glob("data.*")
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join(lines[:-1]))
    ended = check(folder, release=release, private=f"{release}.private")
    assert ended.code == 2
    assert "its sha256 differs" in ended.sentence()
    data.write_text("".join(lines))
    assert check(folder, release=release, private=f"{release}.private").code == 0


CARD_CHANGES = {
    "a field nobody knows": (("note",), "trust me", "is not a card that setveil"),
    "a field nobody knows, deep": (("data", "author"), "me", "is not a card that setveil"),
    "another version": (("card_version",), 4, "is not a card that setveil"),
    "an earlier version": (("card_version",), 2, "lists wrong documents"),
    "no documents": (("documents",), [], "lists wrong documents"),
    "another run": (("run",), "0" * 32, "release.private: belongs to another run than the release"),
    "no run": (("run",), None, "is not a card that setveil"),
    "another commitment": (("private_sha256",), "0" * 64, "dossier.json: holds other private parameters"),
    "no commitment": (("private_sha256",), None, "is not a card that setveil"),
    "a count that is no number": (("counts", "records"), "many", "is not a card that setveil"),
    "mixed records only": (
        ("guarantee", "parameters", "records"),
        "mixed",
        "differs from the card noted in release.private in: guarantee",
    ),
    "lossy": (
        ("guarantee", "parameters", "lossless"),
        False,
        "differs from the card noted in release.private in: guarantee",
    ),
    "failures": (("guarantee", "failures"), 7, "differs from the card noted in release.private in: guarantee"),
    "parameters out of their limits": (("guarantee", "parameters", "full_min"), 9, "full_min is 9; allowed is"),
    "a parameter nobody knows": (("guarantee", "parameters", "mercy"), True, "has no parameter 'mercy'"),
    "a guarantee nobody knows": (("guarantee", "name"), "total-secrecy", "there is no guarantee 'total-secrecy'"),
    "no guarantee": (("guarantee", "name"), None, "names no guarantee; name one to check with --guarantee"),
    "another method": (("method", "name"), "full-swap", "differs from the card noted in release.private in: method"),
    "more truth": (("truthful",), "yes", "differs from the card noted in release.private in: truthful"),
    "another unit": (("unit",), "record", "differs from the card noted in release.private in: unit"),
    "ids said to be kept": (("data", "ids"), "keep", "differs from the card noted in release.private in: data"),
    "another format": (("data", "format"), "parchment", "there is no format 'parchment'"),
    "a layout nobody knows": (("data", "layout"), {"ink": "black"}, "a layout of 'long' that setveil"),
    "a later format": (("data", "format_version"), 2, "a layout of 'long' that setveil"),
    "a column that is not there": (("data", "layout", "id"), "customer", "has no column 'customer'"),
    "a file that is not there": (("data", "file"), "missing.csv", "lacks the data file 'missing.csv'"),
    "a file elsewhere": (("data", "file"), "../another/data.csv", "lacks the data file '../another/data.csv'"),
    "another checksum": (("data", "sha256"), "0" * 64, "its sha256 differs"),
}


@pytest.mark.parametrize(("keys", "value", "says"), CARD_CHANGES.values(), ids=CARD_CHANGES)
def test_a_changed_card_is_refused(folder, keys, value, says):
    change(folder / "release" / "card.json", *keys, to=value)
    ended = check(folder)
    assert ended.code == 2, ended.out
    assert says in ended.sentence()
    assert ended.out == ""


@pytest.mark.parametrize(("content", "says"), [("", "is not a card"), ("{", "is not a card"), ("[]", "is not a card")])
def test_what_is_no_card_is_refused(folder, content, says):
    (folder / "release" / "card.json").write_text(content)
    ended = check(folder)
    assert ended.code == 2
    assert says in ended.sentence()


def spoil_alignment(folder):
    (folder / "release.private" / "alignment.parquet").write_bytes(b"PAR1 and so on")


NEEDED = {
    "no private folder": ({"release": "alone/release", "private": None}, "name the private folder with --private"),
    "no original given": ({"original": None}, "name it with --original"),
    "neither": (
        {"release": "alone/release", "original": None, "private": None},
        "name the private folder with --private",
    ),
    "a private folder that is not there": ({"private": "elsewhere"}, "is not a private folder: it has no dossier.json"),
    "the release for a private folder": ({"private": "release"}, "is not a private folder: it has no dossier.json"),
    "a private folder for the release": (
        {"release": "release.private"},
        "is not a release folder: it has no card.json",
    ),
    "a release that is not there": ({"release": "elsewhere"}, "there is no such folder"),
    "an original that is not there": ({"original": "elsewhere.csv"}, "there is no such file"),
    "another original": (
        {"original": "sample:supermarket?records=200&seed=6"},
        "is not the data that this release was made from",
    ),
    "a shorter original": (
        {"original": "sample:supermarket?records=199&seed=5"},
        "is not the data that this release was made from",
    ),
    "the private folder of another release": (
        {"private": "another.private"},
        "another.private: belongs to another run than the release",
    ),
    "a bare file": ({"release": "release/data.csv"}, "name the guarantee to check with --guarantee"),
}


@pytest.mark.parametrize(("places", "says"), NEEDED.values(), ids=NEEDED)
def test_what_is_needed_and_not_given_is_named(folder, places, says):
    shutil.copytree(folder / "release", folder / "alone/release", dirs_exist_ok=True)  # as a recipient has it
    ended = check(folder, **places)
    assert ended.code == 2
    assert says in ended.sentence()
    assert ended.out == ""


DOSSIERS = {
    "half a file": (lambda path: path.write_text(path.read_text()[:5000]), "cannot be read"),
    "nothing": (lambda path: path.write_text(""), "cannot be read"),
    "a list": (lambda path: path.write_text("[]"), "is not a dossier"),
    "an empty one": (lambda path: path.write_text("{}"), "is not a dossier"),
    "no seed": (lambda path: change(path, "seed", remove=True), "is not a dossier"),
    "a seed that is no number": (lambda path: change(path, "seed", to="seven"), "is not a dossier"),
    "no input": (lambda path: change(path, "input", to=None), "is not a dossier"),
    "no card": (lambda path: change(path, "card", to={}), "is not a dossier"),
    "another guarantee": (
        lambda path: change(path, "guarantee", to=None),
        "belongs to a release with another guarantee",
    ),
    "no alignment": (lambda path: (path.parent / "alignment.parquet").unlink(), "not a readable alignment"),
    "a broken alignment": (lambda path: spoil_alignment(path.parents[1]), "not a readable alignment"),
}


@pytest.mark.parametrize(("spoil", "says"), DOSSIERS.values(), ids=DOSSIERS)
def test_a_private_folder_that_is_not_whole_is_refused(folder, spoil, says):
    spoil(folder / "release.private" / "dossier.json")
    ended = check(folder)
    assert ended.code == 2
    assert says in ended.sentence()


def test_the_private_folder_of_a_release_that_differs_in_its_seed_alone_does_not_fit(folder):
    ended = check(folder, private="twin.private")
    assert ended.code == 2
    assert "twin.private: belongs to another run than the release" in ended.sentence()


def test_another_seed_in_the_dossier_does_not_fit(folder):
    change(folder / "release.private" / "dossier.json", "seed", to="5")
    ended = check(folder)
    assert ended.code == 2
    assert "release.private/dossier.json: notes a seed or a recipe that does not give its run id" in ended.sentence()


def test_a_bare_file_is_checked_for_the_guarantee_that_is_named(folder):
    named = ["--guarantee", "hidden-tendency", "--categories", "sample:supermarket"]
    assert check(folder, *named, release="release/data.csv").code == 0
    ended = check(folder, *named, release="twin/data.csv")
    assert ended.code == 2
    assert "twin/data.csv: is not the file that was published" in ended.sentence()
