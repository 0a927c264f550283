"""A request names ids and plain values: no text of a request becomes a path, and nothing is written outside the studio."""

import os

import pytest

from setveil.studio.contents import is_sample
from setveil.studio.refusals import BadRequest, NotFound

from support.studios import OTHER, OWNER, PUBLISH, SMALL, finished, opened, pretend

SAMPLES = {"categories": "sample:supermarket", "level": "department"}
PATHS = [
    "/etc/passwd",
    "../../x",
    "passwd",
    "file:///etc/passwd",
    "sqlite:////etc/passwd",
    "sqlite:///x.db",
    "postgresql://host/db",
    "s3://bucket/x",
    "https://evil.example/x.csv",
    "-",
    "",
    "sample:../x",
    "sample:supermarket/../../x",
    "sample:supermarket?records=1&x=/etc/passwd",
    "prefix:/etc/passwd",
    "random:5/../../etc/passwd",
    "icd10cm:../x",
    "C:\\windows\\x",
    "~/x",
    "$HOME/x",
    "/proc/self/environ",
    "\0",
    "release.private/dossier.json",
    {"path": "/etc/passwd"},
    {"file": "/etc/passwd"},
    {"upload": "../studio.db"},
    {"sample": "/etc/passwd"},
    {"sample": "sample:supermarket/../x"},
]


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("home") / "studio") as studio:
        pretend(studio, "print('{}')")
        yield studio


@pytest.fixture(scope="module")
def source(studio):
    return studio.add_source(OWNER, sample=SMALL).id


def refuses(studio, source, kind, content):
    before = sorted(path.name for path in studio.queue.folder.iterdir())
    with pytest.raises(Exception) as refused:
        studio.start(OWNER, kind, source=source, content=content)
    assert type(refused.value).__module__.startswith("setveil."), refused.value
    assert sorted(path.name for path in studio.queue.folder.iterdir()) == before
    return str(refused.value)


@pytest.mark.parametrize("path", PATHS, ids=repr)
def test_side_files_of_methods_metrics_and_attacks_are_no_paths(studio, source, path):
    swap = {"name": "part-swap", "categories": path}
    refuses(studio, source, "publish", {"method": swap})
    refuses(studio, source, "compare", {"methods": [swap]})
    refuses(studio, source, "publish", {"method": {"name": "insert", "sensitive": path, "rho": 0.5}})
    refuses(
        studio, source, "publish", {"method": {"name": "td-control", "hierarchy": path, "sensitive": [], "rho": 0.5}}
    )
    refuses(studio, source, "publish", {"method": {"name": "naive", "itemsets": path, "min_support": 2}})
    refuses(studio, source, "publish", PUBLISH | {"metrics": [{"name": "items-lost", "sensitive": path}]})
    refuses(studio, source, "publish", PUBLISH | {"names": path})
    refuses(studio, source, "profile", {"names": path})
    refuses(studio, source, "profile", {"sensitive": path})
    refuses(studio, source, "profile", {"itemsets": path})
    refuses(studio, source, "risk", {"sensitive": path})
    if isinstance(path, str):
        refuses(studio, source, "publish", PUBLISH | {"metrics": [f"items-lost:sensitive={path}"]})
        refuses(studio, source, "publish", PUBLISH | {"metrics": [f"items-lost:sensitive={path or 'x'}"]})
        refuses(studio, source, "compare", {"methods": [PUBLISH["method"]], "task": f"items-lost:sensitive={path}"})
        with pytest.raises(BadRequest):
            studio.add_source(OWNER, sample=path)
        for kind in ("file", "upload"):
            with pytest.raises(NotFound):
                studio.add_source(OWNER, **{kind: path})
    answers = {
        "record": "person",
        "recipients": "contract",
        "hide": "identity",
        "known": "2",
        "rows": "true",
        "work": "counts",
        "earlier": "no",
    }
    for name in ("categories", "sensitive", "itemsets", "hierarchy"):
        refuses(studio, source, "advise", answers | {name: path})


@pytest.mark.parametrize(
    "key",
    [
        "data",
        "out",
        "private",
        "force",
        "original",
        "engine",
        "spark_remote",
        "spark_folder",
        "scratch",
        "path",
        "file",
        "save_job",
        "log_file",
    ],
)
def test_keys_that_name_places_or_machines_are_refused(studio, source, key):
    for value in ("/tmp/x", "local", True, {"path": "/tmp/x"}):  # noqa: S108 - nothing is written there
        assert "there is no key" in refuses(studio, source, "publish", PUBLISH | {key: value})
        assert "there is no key" in refuses(studio, source, "compare", {"methods": [PUBLISH["method"]], key: value})
        assert "there is no key" in refuses(studio, source, "profile", {key: value})


@pytest.mark.parametrize("value", PATHS, ids=repr)
def test_a_register_a_comparison_and_a_context_are_no_paths(studio, source, value):
    refuses(studio, source, "publish", PUBLISH | {"register": value})
    refuses(studio, source, "publish", PUBLISH | {"register": {"file": value}})
    refuses(studio, source, "publish", PUBLISH | {"comparison": value})
    refuses(studio, source, "publish", PUBLISH | {"context": value})


@pytest.mark.parametrize(
    "value", [1, 1.5, True, None, [], {}, [[]], "a\nb", {"a": 1}, [1], "x" * 100_000], ids=lambda one: repr(one)[:20]
)
@pytest.mark.parametrize("kind", ["publish", "compare", "profile", "advise", "risk"])
def test_values_of_other_types_are_refused_or_run(studio, source, kind, value):
    for key in (
        "method",
        "methods",
        "metrics",
        "attacks",
        "known",
        "sensitive",
        "ids",
        "seed",
        "names",
        "task",
        "budget",
        "records",
        "hide",
        "threads",
        "min_support",
    ):
        content = (PUBLISH if kind == "publish" else {"methods": [PUBLISH["method"]]} if kind == "compare" else {}) | {
            key: value
        }
        try:
            job = studio.start(OWNER, kind, source=source, content=content)
        except Exception as error:  # noqa: BLE001 - looked at
            assert type(error).__module__.startswith("setveil."), error  # noqa: PT017 - refusing is one of two ways
        else:
            finished(studio, job)


def test_an_option_of_a_request_is_one_argument(studio, source):
    """A value that looks like an option or like another argument stays the value of its option."""
    content = {"item_column": "--out=/tmp/x", "side_encoding": "-", "sensitive": ["--force", "a"]}
    job = studio.start(OWNER, "profile", source=source, content=content)
    assert job.arguments[2:5] == ["--sensitive=sensitive.txt", "--item-column=--out=/tmp/x", "--side-encoding=-"]
    finished(studio, job)


def test_reading_options_are_those_of_files(studio):
    for reading in ({"query": "SELECT 1"}, {"path": "/etc/passwd"}, {"format": 3}, {"missing": "no"}, {"nothing": 1}):
        with pytest.raises(Exception) as refused:
            studio.add_source(OWNER, sample=SMALL, reading=reading)
        assert type(refused.value).__module__.startswith("setveil.")


@pytest.mark.parametrize(
    "number", ["", ".", "..", "/", "../jobs", "%2e%2e", "0" * 16, "\0", "a" * 10_000, "'; DROP TABLE jobs; --"]
)
def test_ids_that_do_not_exist_lead_nowhere(studio, number):
    for ask in (studio.job, studio.release, studio.source, studio.cancel, studio.again, studio.remove_upload):
        with pytest.raises(NotFound):
            ask(OWNER, number)
    for kind in ("check", "measure", "attack", "risk"):
        with pytest.raises(NotFound):
            studio.start(OWNER, kind, release=number)
    with pytest.raises(NotFound):
        studio.start(OWNER, "profile", source=number)
    with pytest.raises(NotFound):
        studio.start(OWNER, number, source="x")


def test_links_that_leave_a_root_are_not_listed(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "below", outside, root / ".hidden"):
        folder.mkdir(parents=True)
    (outside / "secret.csv").write_text("id,item\n", encoding="utf-8")
    (root / ".hidden" / "x.csv").write_text("id,item\n", encoding="utf-8")
    (root / ".x.csv").write_text("id,item\n", encoding="utf-8")
    (root / "notes.pdf").write_text("x", encoding="utf-8")
    (root / "below" / "data.csv").write_text("id,item\n", encoding="utf-8")
    (root / "inside.csv").symlink_to(root / "below" / "data.csv")
    (root / "link.csv").symlink_to(outside / "secret.csv")
    (root / "folder").symlink_to(outside)
    (root / "circle.csv").symlink_to(root / "circle.csv")
    os.mkfifo(root / "pipe.csv")
    with opened(tmp_path / "studio", roots=(root,)) as studio:
        files = studio.files(OWNER)
        assert [one.name for one in files] == ["inside.csv", "below/data.csv"]
        assert str(tmp_path) not in repr(files)
        chosen = files[1].id
        (root / "below" / "data.csv").unlink()
        (root / "below" / "data.csv").symlink_to(outside / "secret.csv")
        with pytest.raises(NotFound, match="no longer below"):
            studio.add_source(OWNER, file=chosen)


def test_ids_of_files_stay_the_same_and_reveal_nothing(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "data.csv").write_text("id,item\n", encoding="utf-8")
    found = []
    for name in ("a", "a", "b"):
        with opened(tmp_path / name, roots=(root,)) as studio:
            found.append(studio.files(OWNER)[0].id)
            assert studio.add_source(OTHER, file=found[-1]).title == "data.csv"
    assert found[0] == found[1] != found[2]


def test_no_more_files_are_listed_than_a_page_can_show(tmp_path, monkeypatch):
    monkeypatch.setattr("setveil.studio.sources.MOST_FILES", 5)
    root = tmp_path / "root"
    root.mkdir()
    for number in range(9):
        (root / f"{number}.csv").touch()
    with opened(tmp_path / "studio", roots=(root,)) as studio:
        assert len(studio.files(OWNER)) == 5


def test_samples_are_named_in_one_way():
    assert is_sample("sample:supermarket?records=10&seed=3")
    assert not is_sample("sample:supermarket?records=10;seed=3")
    assert not is_sample("Sample:supermarket")
    assert not is_sample("sample:supermarket\n")
