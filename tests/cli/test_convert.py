"""`convert` between everything, and `publish` from everything: the data are the same wherever they come from."""

import itertools
import json

import pytest

import setveil as sv
from setveil.data.reading.source import read

from support.postgres import PASSWORD
from support.program import call, hidden_in, names_in

DOCUMENTS = ("card.json", "CARD.md", "datapackage.json")
SAMPLE = "sample:supermarket?records=400&seed=5"
FILES = {
    "basket.dat": {},
    "basket.txt.gz": {},
    "long.csv": {},
    "long.tsv.zst": {},
    "long.parquet": {"--to": "long"},
    "long.arrow": {"--to": "long"},
    "list.jsonl": {},
    "list.ndjson.gz": {},
    "list.parquet": {},
    "list.feather": {},
    "wide.csv": {"--to": "wide"},
    "wide.tsv.gz": {"--to": "wide", "--to-separator": ";"},
    "ragged.csv.zst": {"--to": "ragged"},
}
READ_AS = {
    "wide.csv": {"--items": "items"},
    "wide.tsv.gz": {"--items": "items", "--separator": ";"},
    "ragged.csv.zst": {"--ragged": None},
}
WITHOUT_IDS = ("basket", "ragged")


def words(options):
    return [word for pair in options.items() for word in pair if word is not None]


def python_options(options):
    return {key.strip("-"): value or True for key, value in options.items()}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Give a folder with the same baskets in every format."""
    folder = tmp_path_factory.mktemp("files")
    for name, options in FILES.items():
        ended = call("convert", SAMPLE, folder / name, *words(options))
        assert ended.code == 0, ended.err
        assert "400 records" in ended.out
    return folder


@pytest.mark.parametrize("name", FILES)
def test_every_file_holds_the_sample(files, name):
    data = read(files / name, **python_options(READ_AS.get(name, {})))
    expected = read(SAMPLE)
    assert data == (expected.with_ids(None) if name.startswith(WITHOUT_IDS) else expected)


def pairs():
    """Return every pair of a source and a target; of each source, and of each target, three belong to `make test`."""
    for (i, source), (j, target) in itertools.product(enumerate(FILES), enumerate(FILES)):
        marks = [] if (i - j) % len(FILES) in {0, 1, 5} else [pytest.mark.exhaustive]
        yield pytest.param(source, target, marks=marks)


@pytest.mark.parametrize(("source", "target"), list(pairs()))
def test_from_every_format_to_every_other(files, tmp_path, source, target):
    out = tmp_path / target
    ended = call("convert", files / source, out, *words(READ_AS.get(source, {})), *words(FILES[target]), "--json")
    assert ended.code == 0, ended.err
    assert ended.json["records"] == 400
    data, expected = read(out, **python_options(READ_AS.get(target, {}))), read(SAMPLE)
    if source.startswith(WITHOUT_IDS) and target.startswith("long"):
        assert data == expected.with_ids([str(i) for i in range(1, 401)])
        assert "the row numbers become ids" in ended.err
    elif source.startswith(WITHOUT_IDS) or target.startswith(WITHOUT_IDS):
        assert data == expected.with_ids(None)
    else:
        assert data == expected
    assert hidden_in(tmp_path) == []


@pytest.mark.parametrize("shape", ["long", "list"])
def test_to_a_database_and_back(postgres_server, files, tmp_path, shape):
    database = postgres_server.url(postgres_server.new_database())
    for url in (database, f"duckdb:///{tmp_path}/shop.duckdb", f"sqlite:///{tmp_path}/shop.db"):
        if url.startswith("sqlite") and shape == "list":
            continue
        ended = call("convert", files / "list.parquet", url, "--to", shape, "--table", "The Baskets")
        assert ended.code == 0, ended.err
        assert "400 records" in ended.out
        query = 'SELECT * FROM "The Baskets" ORDER BY id'
        ended = call("convert", url, tmp_path / f"back-{url[:6]}.csv", "--query", query)
        assert ended.code == 0, ended.err
        assert read(tmp_path / f"back-{url[:6]}.csv") == read(SAMPLE)
        again = call("convert", files / "list.parquet", url, "--to", shape, "--table", "The Baskets")
        assert again.code == 2
        assert "The Baskets" in again.sentence()
        assert PASSWORD not in ended.out + ended.err + again.err


def release_of(folder, data, *options):
    """Publish and return the bytes of everything that may be handed over."""
    out = folder / "release"
    ended = call(
        *["publish", data, "--method", "part-swap", "--categories", SAMPLE.partition("?")[0], "--level", "category"],
        *["--seed", "123456789012345678901234567890", "--unit", "record", "--out", out, *options],
    )
    assert ended.code == 0, ended.err
    return {path.name: path.read_bytes() for path in out.iterdir()}, ended, out


@pytest.mark.parametrize("ids", ["drop", "pseudonym"])
def test_the_same_release_from_every_input_byte_for_byte(postgres_server, files, tmp_path, ids):
    server_url = postgres_server.url(postgres_server.new_database())
    for shape in ("long", "list"):
        assert call("convert", files / "list.parquet", server_url, "--to", shape, "--table", shape).code == 0
    form = ["--ids", ids, "--release-format", "basket" if ids == "drop" else "long"]
    inputs = {name: (files / name, words(READ_AS.get(name, {}))) for name in FILES}
    inputs |= {
        "sample": (SAMPLE, []),
        "postgresql long": (server_url, ["--query", "SELECT id, item FROM long ORDER BY id, item"]),
        "postgresql list": (server_url, ["--query", "SELECT items FROM list ORDER BY id"]),
    }
    releases = {}
    for name, (data, options) in inputs.items():
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        releases[name], ended, out = release_of(folder, data, *options, *form)
        told = (
            ended.out
            + ended.err
            + "".join(path.read_bytes().decode("latin-1") for path in (out.parent / "release.private").iterdir())
        )
        assert "Pa55" not in told
    named, unnamed = releases["sample"], releases["basket.dat"]
    assert set(named) == set(unnamed) == {*DOCUMENTS, "data.dat" if ids == "drop" else "data.csv"}
    assert named["card.json"] != unnamed["card.json"]  # ids belong to the data: with them it is another run
    for name, release in releases.items():
        assert release == (unnamed if name.startswith((*WITHOUT_IDS, "postgresql list")) else named), name


def test_the_dossier_names_the_database_without_its_password(postgres_server, files, tmp_path):
    url = postgres_server.url(postgres_server.new_database())
    assert call("convert", files / "list.parquet", url, "--table", "baskets").code == 0
    release_of(tmp_path, url, "--query", "SELECT id, item FROM baskets ORDER BY id")
    dossier = json.loads((tmp_path / "release.private" / "dossier.json").read_text(encoding="utf-8"))
    assert (
        dossier["input"]["source"] == f"postgresql://keeper@127.0.0.1:{postgres_server.port}/{url.rpartition('/')[2]}"
    )


@pytest.mark.parametrize(
    ("source", "options", "file"),
    [
        ("list.parquet", [], "data.parquet"),
        ("list.jsonl", [], "data.jsonl"),
        ("list.ndjson.gz", ["--compress", "zstd"], "data.ndjson.zst"),
        ("long.tsv.zst", [], "data.tsv"),
        ("long.parquet", [], "data.parquet"),
        ("wide.csv", ["--items", "items"], "data.csv"),
        ("ragged.csv.zst", ["--ragged"], "data.csv"),
        ("ragged.csv.zst", ["--ragged", "--ids", "pseudonym"], "data.csv"),
        ("basket.dat", ["--release-format", "list.arrow"], "data.arrow"),
        ("basket.dat", ["--ids", "pseudonym", "--release-format", "long.parquet"], "data.parquet"),
        (
            "long.csv",
            ["--release-format", "wide", "--items", "things", "--release-separator", ";", "--format", "long"],
            "data.csv",
        ),
    ],
)
def test_a_release_is_written_as_its_input_or_as_asked_and_can_be_checked(files, tmp_path, source, options, file):
    made, _ended, out = release_of(tmp_path, files / source, *options)
    assert set(made) == {*DOCUMENTS, file}
    reading = words(READ_AS.get(source, {}))
    ended = call("check", out, "--original", files / source, "--private", tmp_path / "release.private", *reading)
    assert ended.code == 0, ended.err
    ended = call("convert", out, tmp_path / "again.dat")
    assert ended.code == 0, ended.err
    assert sv.read(tmp_path / "again.dat").records == 400


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--release-format", "list.csv"],
            "the extension is '.csv'; allowed for the format 'list' is .jsonl | .ndjson",
        ),
        (
            ["--release-format", "list.parquet", "--compress", "gzip"],
            "a .parquet file is compressed internally; remove --compress",
        ),
        (["--release-format", "lists"], "there is no format 'lists'"),
        (["--compress", "zip"], "--compress"),
    ],
)
def test_release_formats_that_cannot_be(files, tmp_path, options, sentence):
    ended = call(
        "publish",
        files / "long.csv",
        "--method",
        "part-swap",
        "--categories",
        SAMPLE,
        "--out",
        tmp_path / "o",
        *options,
    )
    assert ended.code == 2
    assert sentence in ended.sentence()
    assert names_in(tmp_path) == []


# -- hierarchies -------------------------------------------------------------------------------------------------------


def test_a_hierarchy_goes_from_shape_to_shape(tmp_path):
    ended = call("convert", "sample:supermarket", tmp_path / "parents.csv.gz", "--to", "parents")
    assert ended.code == 0, ended.err
    ended = call("convert", tmp_path / "parents.csv.gz", tmp_path / "levels.csv", "--to", "levels", "--json")
    assert ended.json["items"] == len(sv.read_hierarchy("sample:supermarket").leaves)
    assert sv.read_hierarchy(tmp_path / "levels.csv") == sv.read_hierarchy("sample:supermarket")


# -- what is asked of a profile ----------------------------------------------------------------------------------------


def test_a_profile_counts_who_holds_what_was_named(tmp_path):
    (tmp_path / "data.dat").write_text("a b c\na b\nc\n\na\n", encoding="utf-8")
    (tmp_path / "sensitive.txt").write_text("b\nc\n", encoding="utf-8")
    (tmp_path / "itemsets.jsonl").write_text('["a", "b"]\n["b", "c"]\n["c"]\n', encoding="utf-8")
    asked = ["profile", "data.dat", "--sensitive", "sensitive.txt", "--itemsets", "itemsets.jsonl"]
    found = call(*asked, "--json", cwd=tmp_path).json
    assert found["sensitive"] == {"items": ["b", "c"], "records": 3, "share": 0.6}
    assert [(entry["items"], entry["records"]) for entry in found["itemsets"]] == [
        (["a", "b"], 2),
        (["b", "c"], 1),
        (["c"], 2),
    ]
    shown = call(*asked, cwd=tmp_path).out
    assert "3 records (60.0 %) hold at least one of the 2 sensitive items" in shown
    assert "a, b" in shown
    (tmp_path / "sensitive.txt").write_text("b\nd\n", encoding="utf-8")
    ended = call(*asked, cwd=tmp_path)
    assert ended.code == 0
    assert "sensitive: 1 of 2 named items occur in the data; not there: 'd'" in ended.out


def test_a_tab_can_be_typed_as_messages_write_it(tmp_path):
    (tmp_path / "a.dat").write_text("rye bread\tmilk\nmilk\n")
    done = call("convert", "a.dat", "b.csv", "--separator", r"\t", "--to-separator", r"\t", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "b.csv").read_text() == "id\titem\n1\tmilk\n1\trye bread\n2\tmilk\n"


@pytest.mark.parametrize(
    ("data", "named", "written"),
    [
        ("1 2\n1 3\n2 3\n", [], "data.jsonl"),
        ("1;2\n1;3\n2;3\n", ["--separator", ";"], "data.dat"),
        ("id,items\n8,1 2\n9,1 3\n", ["--format", "wide", "--ids", "keep"], "data.csv"),
        ("id,items\n8,1 2\n9,1 3\n", ["--format", "wide"], "data.jsonl"),
    ],
)
def test_groups_whose_names_the_format_of_the_data_cannot_hold_are_written_in_another(data, named, written, tmp_path):
    place = tmp_path / ("data.csv" if "id," in data else "data.dat")
    place.write_text(data)
    (tmp_path / "tree.csv").write_text("item,parent\n1,fresh fruit\n2,fresh fruit\n3,fresh fruit\n")
    method = ["--method", "apriori-generalization", "--hierarchy", "tree.csv", "--k", "2", "--m", "1"]
    done = call("publish", place.name, *named, *method, "--out", "release", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "release" / written).is_file()
    assert ("cannot hold the names of all groups" in done.err) == (written != "data.dat")
    assert call("check", "release", cwd=tmp_path).code == 0
