"""`setveil run`, and `publish --save-job`: what they print, and how messages name the keys of a job."""

import json
import os
import tomllib

import pytest

import setveil as sv

from support.postgres import PASSWORD
from support.program import call, names_in

METHOD = ("--method", "disassociation", "--k", 3, "--m", 2, "--measure", "none", "--attack", "none")
PUBLISH = ("publish", "baskets.csv", "--person", "id", *METHOD)
SEED = ("--seed", 2**100)


@pytest.fixture
def folder(tmp_path):
    sv.write(sv.read("sample:supermarket?records=60"), tmp_path / "baskets.csv")
    return tmp_path


def test_run_prints_what_publish_prints(folder):
    published = call(*PUBLISH, *SEED, "--out", "one", "--save-job", "job.toml", cwd=folder)
    assert published.code == 0
    assert published.out.rstrip().endswith("keep it: the job; to run it again: setveil run job.toml")
    run = call("run", "job.toml", "--out", "two", cwd=folder)
    without_job = "\n".join(published.out.rstrip().splitlines()[:-1]).replace("one", "two")
    without_job = without_job.replace("add --register FILE", "add register = 'FILE'")
    assert " ".join(run.out.split()) == " ".join(without_job.split())
    said = [call(*PUBLISH, *SEED, "--out", "two", "--force", "--json", cwd=folder).json]
    said += [call("run", "job.toml", "--out", "two", "--force", "--json", cwd=folder).json]
    assert said[0] == said[1]
    assert call(*PUBLISH, "--out", "three", "--save-job", "x y.toml", "--json", cwd=folder).json["job"] == "x y.toml"


def test_a_saved_job_holds_what_was_asked_for(folder):
    options = [
        "--ids",
        "drop",
        "--allow-failures",
        3,
        "--metric",
        "tlost:k=2",
        "--release-format",
        "disassociated.parquet",
    ]
    assert call(*PUBLISH, *options, "--out", "one", "--save-job", "job.toml", cwd=folder).code == 0
    assert tomllib.loads((folder / "job.toml").read_text()) == {
        "data": {"path": "baskets.csv", "id": "id", "unit": "person"},
        "method": {"name": "disassociation", "k": 3, "m": 2},
        "out": "one",
        "format": "disassociated.parquet",
        "ids": "drop",
        "allow_failures": 3,
        "metrics": ["none", "tlost:k=2"],
        "attacks": ["none"],
    }  # fmt: skip


def test_a_job_is_saved_only_with_its_release_and_replaced_only_with_force(folder):
    mine = sv.Job({"data": "x.dat", "method": "rand-swap"}).to_toml()
    (folder / "job.toml").write_text(mine)
    before = names_in(folder)
    assert call(*PUBLISH, "--out", "one", "--save-job", "job.toml", cwd=folder).code == 2
    assert call(*PUBLISH, "--k", 99, "--out", "one", "--save-job", "other.toml", cwd=folder).code in (2, 3)
    assert (names_in(folder), (folder / "job.toml").read_text()) == (before, mine)
    refused = call(*PUBLISH, "--out", "one", "--save-job", "baskets.csv", "--force", cwd=folder).sentence()
    assert refused == "baskets.csv is not a job file and is not replaced; choose another path"
    assert names_in(folder) == before
    assert call(*PUBLISH, "--out", "one", "--save-job", "job.toml", "--force", cwd=folder).code == 0
    assert (
        call("run", "job.toml", cwd=folder)
        .sentence()
        .startswith("one exists; choose another path, or replace it with --force")
    )
    assert call("run", "job.toml", "--force", cwd=folder).code == 0


def test_a_job_reads_a_database_with_a_password_from_elsewhere(folder, postgres_server, monkeypatch):
    name = postgres_server.new_database()
    postgres_server.run("CREATE TABLE sales (id text, item text)", database=name)
    postgres_server.run("INSERT INTO sales SELECT 'p' || n, 'tea' FROM generate_series(1, 9) AS n", database=name)
    asked = ("publish", postgres_server.url(name), "--query", "SELECT id, item FROM sales ORDER BY 1", *METHOD)
    assert call(*asked, "--out", "one", "--save-job", "job.toml", cwd=folder).code == 0
    texts = [(folder / one).read_text() for one in ("job.toml", "one.private/dossier.json")]
    assert "Pa55" not in "".join(texts)
    assert tomllib.loads(texts[0])["data"]["path"] == postgres_server.url(name, password=None)
    refused = call("run", "job.toml", "--out", "two", cwd=folder)
    assert (refused.code, refused.sentence().startswith("job.toml, data: ")) == (2, True)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert call("run", "one.private/dossier.json", "--out", "two", cwd=folder).code == 0
    assert (folder / "one" / "card.json").read_bytes() == (folder / "two" / "card.json").read_bytes()


def test_data_from_a_pipe_have_no_job(folder):
    os.mkfifo(folder / "pipe.csv")
    said = call("publish", "pipe.csv", *METHOD, "--out", "one", "--save-job", "job.toml", cwd=folder).sentence()
    assert said == "no job can name data that come through a pipe; write them to a file first"


def test_messages_name_keys_and_not_options_that_run_does_not_have(folder):
    (folder / "empty.dat").write_text("a b\n\na\n")
    (folder / "job.toml").write_text('data = "empty.dat"\nmethod = "rand-swap"\nids = "keep"\n')
    said = call("run", "job.toml", "--out", "new", cwd=folder)
    assert "drop them with empty = 'drop'" in said.err
    assert "--" not in said.err
    (folder / "job.toml").write_text('data = "empty.dat"\nmethod = "rand-swap"\nregister = "r.db"\nseed = 5\n')
    said = call("run", "job.toml", "--out", "new", cwd=folder)
    assert "--seed and the key register exclude each other" in said.sentence()
    assert "empty = 'drop'" not in call("profile", "empty.dat", cwd=folder).err


def test_a_changed_file_is_refused_with_what_to_do(folder):
    assert call(*PUBLISH, "--out", "one", cwd=folder).code == 0
    with (folder / "baskets.csv").open("a") as file:
        file.write("new,tea\n")
    said = call("run", "one.private/dossier.json", "--out", "two", cwd=folder)
    assert said.code == 2
    assert said.sentence() == (
        "one.private/dossier.json: the release cannot be repeated, because the data changed since it was made; nothing was written. To go "
        "on, restore the data, or make a new release with --seed 'from-system'"
    )
    assert call("run", "one.private/dossier.json", "--out", "two", "--seed", "from-system", cwd=folder).code == 0
    kept = json.loads((folder / "two.private" / "dossier.json").read_text())["job"]
    assert (kept["out"], kept["metrics"]) == (str(folder / "two"), ["none"])
