"""Releases in an object store, on a server of our own that speaks S3."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import fs

import setveil as sv
from setveil.release.object_store import StoredFolder

from support.forked import run
from support.program import call

BASKETS = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
METHOD = sv.Disassociation(k=2, m=1)


pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start a server on a free port, and let this process and those that it starts use it."""
    log = tmp_path_factory.mktemp("moto") / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "moto.server", "-p", "0"], stdout=output, stderr=subprocess.STDOUT
        )
        try:
            port = None
            for _ in range(600):
                found = [line for line in log.read_text().splitlines() if "http://127.0.0.1:" in line]
                if found:
                    port = found[0].rpartition(":")[2].strip("/ ")
                    break
                time.sleep(0.1)
            assert port, log.read_text()
            with pytest.MonkeyPatch.context() as patched:
                for name, value in {
                    "AWS_ACCESS_KEY_ID": "key",
                    "AWS_SECRET_ACCESS_KEY": "secret",
                    "AWS_DEFAULT_REGION": "us-east-1",
                    "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                    "AWS_EC2_METADATA_DISABLED": "true",
                }.items():
                    patched.setenv(name, value)
                store, _ = fs.FileSystem.from_uri("s3://shop/x?allow_bucket_creation=true")
                store.create_dir("shop")
                yield store
        finally:
            process.terminate()
            process.wait()


def names(store, folder):
    """Return the names of the files in a folder."""
    return sorted(one.base_name for one in store.get_file_info(fs.FileSelector(folder, allow_not_found=True)))


def test_a_release_in_a_store_is_opened_checked_and_measured(server, tmp_path):
    address = "s3://shop/first/release"
    release = sv.publish(BASKETS, METHOD, out=address, private=tmp_path / "kept")
    assert names(server, "shop/first/release") == ["CARD.md", "card.json", "data.jsonl.gz", "datapackage.json"]
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    opened = sv.open_release(address)
    assert opened.data == release.data
    assert sv.check(address, original=BASKETS, private=tmp_path / "kept").status == "holds"
    assert sv.measure(BASKETS, address, ["tlost:k=2"], private=tmp_path / "kept")["tlost"].value == 0


def test_the_command_line_does_the_same(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("baskets.dat").write_text("".join(" ".join(one) + "\n" for one in BASKETS))
    options = ["--method", "disassociation", "--k", "2", "--m", "1", "--private", "kept"]
    made = call("publish", "baskets.dat", *options, "--out", "s3://shop/second")
    assert made.code == 0, made.err
    assert made.out.startswith("Published s3://shop/second/ with disassociation; checked on the written file.")
    assert call("check", "s3://shop/second", "--private", "kept", "--original", "baskets.dat").code == 0
    again = call("publish", "baskets.dat", *options[:-1], "other", "--out", "s3://shop/second")
    assert again.code == 2
    assert "s3://shop/second exists" in again.err
    assert call("publish", "baskets.dat", *options, "--out", "s3://shop/second", "--force").code == 0
    assert sv.open_release("s3://shop/second").data.records == 4
    as_parquet = [*options, "--release-format", "disassociated.parquet", "--force"]
    assert call("publish", "baskets.dat", *as_parquet, "--out", "s3://shop/second").code == 0
    assert names(server, "shop/second") == ["CARD.md", "card.json", "data.parquet", "datapackage.json"]


def test_the_private_folder_must_be_named_and_stays_here(server, tmp_path):
    for private in ({}, {"private": "s3://shop/third.private"}):
        with pytest.raises(sv.BadParameter, match="in an object store; name a folder of this machine"):
            sv.publish(BASKETS, METHOD, out="s3://shop/third", **private)
    with pytest.raises(sv.OutputRefused, match="names a bucket; name a folder in it"):
        sv.publish(BASKETS, METHOD, out="s3://shop", private=tmp_path / "kept")
    assert names(server, "shop/third") == []


@pytest.mark.parametrize("failing", ["data.jsonl.gz", "CARD.md", "card.json"])
def test_what_fails_before_the_card_is_written_is_not_a_release(server, tmp_path, monkeypatch, failing):
    address = f"s3://shop/broken-{failing.partition('.')[0]}"
    sv.publish(BASKETS, METHOD, out=address, private=tmp_path / "before")
    put = StoredFolder._put

    def fail(self, file):
        put(self, file)
        if file.name == failing:
            raise OSError("the connection was lost")

    monkeypatch.setattr(StoredFolder, "_put", fail)
    with pytest.raises(sv.OutputRefused, match=r"cannot be written: the connection was lost"):
        sv.publish(BASKETS, METHOD, out=address, private=tmp_path / "kept", force=True)
    assert "card.json" not in names(server, address.removeprefix("s3://"))
    assert [one.name for one in tmp_path.iterdir()] == ["before"]
    with pytest.raises(sv.BadData, match=r"is not a release folder: it has no card\.json"):
        sv.open_release(address)


@pytest.mark.parametrize("failing", ["data.jsonl.gz", "card.json"])
def test_what_fails_changes_neither_register_nor_private_folder(server, tmp_path, monkeypatch, failing):
    address, kept = f"s3://shop/failing-{failing.partition('.')[0]}", tmp_path / "kept"
    register = tmp_path / "releases.db"

    def publish(method=METHOD, **given):
        return sv.publish(BASKETS, method, out=address, private=kept, register=register, **given)

    def private_files():
        return {path.name: path.read_bytes() for path in kept.iterdir()}

    publish()
    before = private_files()
    with monkeypatch.context() as patched:
        put = StoredFolder._put

        def fail(self, file):
            put(self, file)
            if file.name == failing:
                raise OSError("the connection was lost")

        patched.setattr(StoredFolder, "_put", fail)
        with pytest.raises(sv.OutputRefused, match=r"cannot be written: the connection was lost"):
            publish(force=True)
    assert names(server, address.removeprefix("s3://")) == []
    assert private_files() == before
    assert [one.number for one in sv.releases(register)] == [1]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kept", "releases.db"]
    publish(force=True)
    assert sv.check(address, private=kept).status == "holds"
    assert [one.number for one in sv.releases(register)] == [1, 2]


DIE = """
import os, signal, sys
import setveil as sv
from setveil.release.object_store import StoredFolder

put = StoredFolder._put

def die(self, file):
    put(self, file)
    if file.name == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGKILL)

StoredFolder._put = die
baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
sv.publish(baskets, sv.Disassociation(k=2, m=1), out=sys.argv[2], private="kept")
"""


@pytest.mark.parametrize("last", ["unfinished-upload.json", "data.jsonl.gz", "datapackage.json"])
def test_the_next_run_removes_what_a_killed_one_copied(server, tmp_path, last):
    address = f"s3://shop/killed-{last.partition('.')[0]}"
    assert run(last, address, cwd=tmp_path, code=DIE).code == -signal.SIGKILL
    left = names(server, address.removeprefix("s3://"))
    assert "unfinished-upload.json" in left
    assert "card.json" not in left
    assert not (tmp_path / "kept").exists()
    sv.publish(BASKETS, METHOD, out=address, private=tmp_path / "kept", format="disassociated.parquet")
    assert names(server, address.removeprefix("s3://")) == ["CARD.md", "card.json", "data.parquet", "datapackage.json"]
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]


KILLED_LAST = """
import os, signal, sys
import setveil as sv
from setveil.release.object_store import StoredFolder

StoredFolder.complete = lambda store: os.kill(os.getpid(), signal.SIGKILL)
baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
sv.publish(baskets, sv.Disassociation(k=2, m=1), out=sys.argv[1], private="kept", register="releases.db")
"""


def test_the_entry_of_a_run_that_was_killed_before_the_card_is_removed(server, tmp_path):
    address = "s3://shop/killed-last"
    assert run(address, cwd=tmp_path, code=KILLED_LAST).code == -signal.SIGKILL
    assert "card.json" not in names(server, "shop/killed-last")
    kept = {"out": address, "private": tmp_path / "kept", "register": tmp_path / "releases.db"}
    with pytest.raises(sv.OutputRefused, match="kept exists"):
        sv.publish(BASKETS, METHOD, **kept)
    sv.publish(BASKETS, sv.Disassociation(k=2, m=2), **kept, force=True)
    assert [(one.number, one.method) for one in sv.releases(kept["register"])] == [(1, "disassociation")]
    assert sv.check(address, private=kept["private"]).status == "holds"


def test_a_store_that_changes_a_file_is_refused(tmp_path, monkeypatch):
    class Forgetful:
        def __init__(self, real):
            self.real = real

        def __getattr__(self, name):
            return getattr(self.real, name)

        def open_input_stream(self, place):
            with self.real.open_output_stream(place) as sink:
                sink.write(b"other bytes")
            return self.real.open_input_stream(place)

    real = StoredFolder.__init__

    def forget(self, address):
        real(self, address)
        self._system = Forgetful(self._system)

    monkeypatch.setattr(StoredFolder, "__init__", forget)
    with pytest.raises(sv.OutputRefused, match="reads back as other bytes"):
        sv.publish(BASKETS, METHOD, out="s3://shop/changed", private=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_changed_file_in_a_store_is_not_the_release(server, tmp_path):
    sv.publish(BASKETS, METHOD, out="s3://shop/spoiled", private=tmp_path / "kept")
    with server.open_output_stream("shop/spoiled/data.jsonl.gz") as sink:
        sink.write(b"spoiled")
    with pytest.raises(sv.BadData, match="is not the file that the card describes"):
        sv.open_release("s3://shop/spoiled")


def test_a_server_that_does_not_answer_is_said(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(sv.BadData, match="s3://shop/x cannot be read"):
        sv.open_release("s3://shop/x")
