"""`CARD.md` and `datapackage.json`: written from the card alone, valid for other programs, and verified whenever a release is opened."""

import json
import shutil

import frictionless
import pyarrow.parquet as pq
import pytest
from frictionless.resources import FileResource, TableResource

import setveil as sv
from setveil.catalog import GUARANTEES, METHODS
from setveil.errors import BadData
from setveil.release.card import Card
from setveil.release.card_text import card_text
from setveil.release.data_package import data_package

from contract.filling import filled
from contract.forms import made_from
from support.program import call
from support.random_data import make

DOCUMENTS = ["CARD.md", "datapackage.json"]
SEED = 2**100
READ_WITH = ("schema", "dialect", "compression")
LEAVES_FILES_OPEN = pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning", "ignore:Exception ignored:pytest.PytestUnraisableExceptionWarning"
)
"""frictionless does not close compressed files."""
FORMATS = [
    ("long", None, "pseudonym"),
    ("long", "gzip", "pseudonym"),
    ("long", "zstd", "pseudonym"),
    ("long.tsv", None, "pseudonym"),
    ("long.parquet", None, "pseudonym"),
    ("long.arrow", None, "pseudonym"),
    ("list", None, "drop"),
    ("list", "gzip", "pseudonym"),
    ("list.parquet", None, "drop"),
    ("wide", None, "pseudonym"),
    ("wide.tsv", None, "drop"),
    ("basket", None, "drop"),
    ("basket", "gzip", "drop"),
]


def some_data(records=50):
    return make(7, records=records, items=40, categories=4, hot=0.7)[0].without_empty()


def published(folder, kind=None, data=None, **options):
    """Publish with a method, by default part-swap, and return the release folder."""
    kind = kind or METHODS["part-swap"]
    data = data or some_data()
    given = {"no_guarantee": True, "allow_failures": data.records, "metrics": [], "seed": SEED} | options
    sv.publish(made_from(kind, data), filled(kind, data), out=folder / "out", **given)
    return folder / "out"


def problems(folder):
    """Return what frictionless finds wrong with a release.

    It reads Parquet with an extra that is no dependency here: such a file is validated by its bytes and its hash.
    """
    found = []
    for resource in frictionless.Package(str(folder / "datapackage.json")).resources:
        checked = resource
        if resource.format in ("parquet", "arrow"):
            described = {key: value for key, value in resource.to_descriptor().items() if key not in READ_WITH}
            checked = FileResource.from_descriptor(described | {"type": "file"}, basepath=str(folder))
        report = checked.validate()
        found += [error.message for task in report.tasks for error in task.errors]
        found += [one.message for one in report.errors]
    return found


@LEAVES_FILES_OPEN
@pytest.mark.parametrize(("name", "packed", "ids"), FORMATS)
def test_the_data_package_of_every_format_is_valid(name, packed, ids, tmp_path):
    folder = published(tmp_path, format=name, compress=packed, ids=ids)
    described = json.loads((folder / "datapackage.json").read_text())
    assert described["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    (resource,) = described["resources"]
    content = (folder / resource["path"]).read_bytes()
    assert resource["bytes"] == len(content)
    assert ("encoding" in resource) == (resource["format"] not in ("parquet", "arrow", "zst"))
    assert ("schema" in resource) == (name != "basket" and packed != "zstd")
    assert problems(folder) == []
    (folder / resource["path"]).write_bytes(content + b"\n")
    assert problems(folder)


@pytest.mark.parametrize(("name", "packed"), [("long", None), ("list.parquet", None), ("wide", "gzip")])
@LEAVES_FILES_OPEN
def test_the_data_package_has_every_file_of_divided_data(name, packed, tmp_path):
    folder = published(tmp_path, format=name, compress=packed, ids="pseudonym", file_records=20)
    found = json.loads((folder / "datapackage.json").read_text())["resources"]
    assert [one["name"] for one in found] == ["data-00001", "data-00002", "data-00003"]
    assert all(one["schema"] == found[0]["schema"] for one in found)
    assert problems(folder) == []


def test_tables_are_read_with_the_columns_that_the_data_package_names(tmp_path):
    folder = published(tmp_path, format="long", ids="pseudonym")
    (resource,) = frictionless.Package(str(folder / "datapackage.json")).resources
    rows = {(row["id"], row["item"]) for row in resource.read_rows()}
    data = sv.open_release(folder).data
    assert rows == {
        (name, item) for name, items in zip(data.ids.to_pylist(), data.to_lists(), strict=True) for item in items
    }


def test_a_column_of_lists_is_read_item_by_item(tmp_path):
    folder = published(tmp_path, format="wide", separator="|", ids="drop")
    (resource,) = frictionless.Package(str(folder / "datapackage.json")).resources
    assert [row["items"] for row in resource.read_rows()] == sv.open_release(folder).data.to_lists()


@pytest.mark.parametrize(("kind", "ids"), [("part-swap", "pseudonym"), ("part-swap", "drop"), ("permutation", "drop")])
def test_the_schema_of_json_lines_is_that_of_every_line(kind, ids, tmp_path):
    folder = published(tmp_path, METHODS[kind], ids=ids, format="list" if kind == "part-swap" else None)
    (resource,) = json.loads((folder / "datapackage.json").read_text())["resources"]
    types = {"string": str, "array": list, "object": dict}
    fields = {one["name"]: types[one["type"]] for one in resource["schema"]["fields"]}
    lines = (folder / resource["path"]).read_text().splitlines()
    assert lines
    assert all({key: type(value) for key, value in json.loads(line).items()} == fields for line in lines)


@pytest.mark.parametrize("name", ["long.parquet", "list.parquet"])
def test_the_schema_of_a_parquet_file_is_its_own(name, tmp_path):
    folder = published(tmp_path, format=name, ids="pseudonym")
    (resource,) = json.loads((folder / "datapackage.json").read_text())["resources"]
    fields = [(one["name"], one["type"]) for one in resource["schema"]["fields"]]
    types = {"large_string": "string", "string": "string"}
    schema = pq.read_schema(folder / resource["path"])
    assert fields == [(one.name, types.get(str(one.type), "array")) for one in schema]


@LEAVES_FILES_OPEN
@pytest.mark.parametrize(("kind", "is_table"), [("disassociation", False), ("permutation", True)])
def test_json_lines_that_are_no_table_are_not_read_as_one(kind, is_table, tmp_path):
    folder = published(tmp_path, METHODS[kind])
    (resource,) = frictionless.Package(str(folder / "datapackage.json")).resources
    assert isinstance(resource, TableResource) == is_table
    assert resource.mediatype == "application/jsonl"
    assert is_table or resource.validate().valid


def test_disassociated_parquet_has_its_own_columns(tmp_path):
    folder = published(tmp_path, METHODS["disassociation"], format="disassociated.parquet")
    (resource,) = json.loads((folder / "datapackage.json").read_text())["resources"]
    assert [one["name"] for one in resource["schema"]["fields"]] == pq.read_schema(folder / resource["path"]).names
    assert problems(folder) == []


@LEAVES_FILES_OPEN
@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
def test_the_documents_of_every_method_say_what_its_card_says(kind, tmp_path):
    folder = published(tmp_path, kind, ids="pseudonym" if kind.name == "full-swap" else "drop")
    card = Card.load(folder)
    assert card.card_version == 3
    assert [one.file for one in card.documents] == DOCUMENTS
    bare = card.model_copy(update={"documents": ()})
    assert (folder / "CARD.md").read_text() == card_text(bare)
    assert (folder / "datapackage.json").read_text() == data_package(bare)
    assert {path.name for path in folder.iterdir()} == {*card.data.checksums, *DOCUMENTS, "card.json"}
    assert problems(folder) == []
    text = (folder / "CARD.md").read_text()
    for sentence in (*card.guarantee.not_covered, *card.data.checksums.values(), card.method.name):
        assert sentence in text
    if card.guarantee.name is None:
        assert "**Nothing.** The method is a baseline" in text
        assert "holds" not in text
    else:
        assert card.guarantee.statement in text
        assert card.guarantee.attacker in text
        private = [one.name for one in GUARANTEES[card.guarantee.name].parameters() if not one.public]
        only_owner = bool(GUARANTEES[card.guarantee.name].needs or private)
        assert ("setveil check FOLDER" in text) != only_owner
        assert all(f"`{name}`" in text for name in private)


@pytest.mark.parametrize("kind", [METHODS["disassociation"], METHODS["reassociation"], METHODS["permutation"]])
def test_a_recipient_checks_as_the_page_says(kind, tmp_path):
    folder = published(tmp_path, kind)
    shutil.rmtree(tmp_path / "out.private")
    text = (folder / "CARD.md").read_text()
    repeats = "setveil check FOLDER" in text
    assert (call("check", folder, "--quiet").code == 0) == repeats
    assert sv.open_release(folder).data.records


def test_the_same_job_gives_the_same_documents(tmp_path):
    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        folder = published(tmp_path / name)
        texts.append([(folder / one).read_bytes() for one in DOCUMENTS])
    assert texts[0] == texts[1]


def test_all_public_parameters_are_on_the_page(tmp_path):
    card = Card.load(published(tmp_path, METHODS["disassociation"]))
    assert len(card.method.parameters) > 5
    assert all(f"{name} = " in card_text(card) for name in card.method.parameters)


def test_failures_and_unchanged_records_are_on_the_page(tmp_path):
    card = Card.load(published(tmp_path))
    changed = card.guarantee.model_copy(update={"failures": 3, "published_unchanged": 1})
    text = card_text(card.model_copy(update={"guarantee": changed, "experiment": True}))
    assert "holds with 3 exceptions" in text
    assert "3 records that the method could not treat; the owner accepted this" in text
    assert "1 record that is published unchanged" in text
    assert "This is an experiment" in text


@pytest.mark.parametrize("name", ["a`b", "a|b", "a\nb", "<script>", "  "])
def test_values_on_the_page_stay_code(name, tmp_path):
    card = Card.load(published(tmp_path))
    text = card_text(card.model_copy(update={"data": card.data.model_copy(update={"layout": {"id": name}})}))
    (line,) = [line for line in text.splitlines() if line.startswith("- Id: ")]
    assert line.endswith(("`.", "``."))


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("change", ["changed", "missing"])
def test_a_document_that_was_changed_or_is_missing_is_refused(name, change, tmp_path):
    folder = published(tmp_path, METHODS["disassociation"])
    if change == "missing":
        (folder / name).unlink()
    else:
        (folder / name).write_text((folder / name).read_text() + " ")
    with pytest.raises(BadData, match=name):
        sv.open_release(folder)
    ended = call("check", folder)
    assert ended.code == 2
    assert name in ended.err


@pytest.mark.parametrize(("version", "names"), [(3, []), (3, DOCUMENTS[:1]), (2, DOCUMENTS)])
def test_a_card_that_names_other_documents_than_its_version_has_is_refused(version, names, tmp_path):
    folder = published(tmp_path, METHODS["disassociation"])
    card = json.loads((folder / "card.json").read_text())
    card["card_version"] = version
    card["documents"] = [one for one in card["documents"] if one["file"] in names]
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(BadData, match="lists wrong documents"):
        sv.open_release(folder)


def test_a_release_of_card_version_2_still_opens_and_checks(tmp_path):
    folder = published(tmp_path, METHODS["disassociation"])
    card = json.loads((folder / "card.json").read_text())
    card["card_version"] = 2
    for name in DOCUMENTS:
        (folder / name).unlink()
    del card["documents"], card["data"]["bytes"]
    (folder / "card.json").write_text(json.dumps(card))
    shutil.rmtree(tmp_path / "out.private")
    assert sv.open_release(folder).card.documents == ()
    assert sv.check(folder)
