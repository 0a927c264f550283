"""Bad input through the command line: exit code 2, one sentence that names file and place, no traceback, nothing written, no hang."""

import atexit
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import COMMANDS
from setveil.cli.options import ReadingOptions, signature_of
from setveil.errors import BadData

from cli import bad_input_files, bad_input_uses, bad_input_welcome
from support.forked import run as run_forked
from support.program import PROGRAM, call, names_in, run

SECONDS = 60
PART_SWAP = ("--method", "part-swap", "--categories")
ANSWERS = (
    *("--record", "person", "--recipients", "inside", "--hide", "identity", "--known", "1"),
    *("--rows", "true", "--work", "counts", "--earlier", "no"),
)
HOW_TO_READ = {
    "profile": lambda file: ["profile", file],
    "risk": lambda file: ["risk", file],
    "convert": lambda file: ["convert", file, "new.jsonl"],
    "publish": lambda file: ["publish", file, *PART_SWAP, "random:3", "--out", "new"],
    "measure": lambda file: ["measure", file, "good.dat"],
    "mine": lambda file: ["mine", file, "--min-support", "2"],
    "check": lambda file: ["check", file, "--guarantee", "hidden-tendency", "--categories", "good-categories.csv"],
    "attack": lambda file: ["attack", release_elsewhere() / "release", "--original", file],
    "advise": lambda file: ["advise", file, *ANSWERS],
    "compare": lambda file: ["compare", file, release_elsewhere() / "release", "--out", "new"],
    "report": lambda file: ["report", release_elsewhere() / "release", "--original", file],
}
"""How each command that takes data is given a file."""


@cache
def release_elsewhere():
    """Return a folder with a release whose report can be written, outside the folders of tests."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sv.publish([["a"], ["a", "b"]] * 2, sv.Disassociation(k=2, m=1), out=folder / "release", metrics="none")
    return folder


class Hung(BaseException):
    """The command did not end in time. Nothing on the way catches it."""


@contextmanager
def in_time():
    def end(_number, _frame):
        raise Hung

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def everything_in(folder):
    """Return all that is in a folder, hidden files too, each with its kind and content."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size < 1 << 20 else None
        found[path] = (status.st_mode, status.st_size, content)
    return found


def refused(folder, *arguments):
    """Run a command that must be refused, and return its sentence; fails if it does anything else."""
    before = everything_in(folder), everything_in(release_elsewhere())
    with in_time():
        ended = call(*arguments, cwd=folder)
    assert ended.code == 2, ended.err
    assert ended.out == ""
    assert (everything_in(folder), everything_in(release_elsewhere())) == before
    return ended.sentence()


def with_good_files(folder):
    for name, content in bad_input_uses.GOOD.items():
        (folder / name).write_bytes(content)
    (folder / "folder.dat").mkdir()
    (folder / "dangling.dat").symlink_to("nowhere")
    (folder / "loop.dat").symlink_to("loop.dat")
    (folder / "zero.dat").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.dat")
    database = sqlite3.connect(folder / "good.db")
    database.execute("CREATE TABLE baskets (id TEXT, item TEXT)")
    database.executemany("INSERT INTO baskets VALUES (?, ?)", [("p1", "a"), ("p2", None)])
    database.commit()
    database.close()
    return folder


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Give a folder with good files and some traps; no test may change it."""
    return with_good_files(tmp_path_factory.mktemp("good"))


# -- files ---------------------------------------------------------------------------------------------------------------

# Every file goes through `profile`, and through one of the other commands in turn.
_OTHERS = [command for command in HOW_TO_READ if command != "profile"]
_BAD = [
    pytest.param(bad, command, id=f"{command} {bad}")
    for number, bad in enumerate(bad_input_files.FILES)
    for command in ("profile", _OTHERS[number % len(_OTHERS)])
]


@pytest.mark.parametrize(("bad", "command"), _BAD)
def test_a_file_that_cannot_be_read_is_refused_with_its_place(tmp_path, bad, command):
    (tmp_path / bad.file).write_bytes(bad.content)
    said = refused(tmp_path, *HOW_TO_READ[command](bad.file), *bad.options)
    if bad.place != "-":  # then an option is wrong, and not the file
        assert said.startswith(f"{bad.file}, {bad.place}: " if bad.place else f"{bad.file}: ")
    assert bad.says in said
    assert len(said) < 400


def test_every_command_that_takes_data_is_given_bad_files():
    takes_data = set()
    for name, (module, _line) in COMMANDS.items():
        command = getattr(import_module(f"setveil.cli.{module}_command"), name)
        if ReadingOptions in [one.annotation for one in signature_of(command, []).parameters.values()]:
            takes_data.add(name)
    assert set(HOW_TO_READ) == takes_data


@pytest.mark.parametrize("command", [command for command in HOW_TO_READ if command != "check"])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.dat", "missing.dat: there is no such file"),
        ("folder.dat", "folder.dat: is a folder; expected a file"),
        ("dangling.dat", "dangling.dat: there is no such file"),
        ("loop.dat", "loop.dat: cannot be read: Too many levels of symbolic links"),
        ("pipe.dat", "pipe.dat: is a pipe or a device; expected a file"),
        ("zero.dat", "zero.dat: is a pipe or a device; expected a file"),
        ("/dev/null", "/dev/null: is a pipe or a device; expected a file"),
        ("good.dat/below.dat", "good.dat/below.dat: cannot be read: Not a directory"),
        (bad_input_uses.LONG_NAME, "File name too long"),
    ],
)
def test_what_is_no_file_is_refused(good, command, name, says):
    assert says in refused(good, *HOW_TO_READ[command](name), "--format", "basket")


@pytest.mark.parametrize("name", ["missing.dat", "folder.dat", "dangling.dat", "loop.dat", "pipe.dat", "/dev/null"])
def test_what_is_no_release_is_refused(good, name):
    assert refused(good, *HOW_TO_READ["check"](name)).startswith(f"{name}: ")
    assert refused(good, "measure", "good.dat", name, "--format", "basket").startswith(f"{name}: ")


# -- uses ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", bad_input_uses.USES, ids=str)
def test_a_use_that_cannot_be_carried_out_is_refused(good, use):
    said = refused(good, *use.arguments)
    assert use.says in said
    assert "hidden-word" not in said


@pytest.mark.parametrize(
    ("content", "more", "says"),
    [pytest.param(*case[1:], id=case[0]) for case in bad_input_uses.CATEGORIES],
)
def test_categories_that_cannot_be_used_are_refused(tmp_path, content, more, says):
    (tmp_path / "good.dat").write_bytes(bad_input_uses.GOOD["good.dat"])
    (tmp_path / "bad.csv").write_bytes(content)
    assert says in refused(tmp_path, "publish", "good.dat", *PART_SWAP, "bad.csv", "--out", "new", *more)


@pytest.mark.parametrize(
    ("read", "ending", "content", "place", "says"),
    [pytest.param(*case[1:], id=case[0]) for case in bad_input_uses.SIDE_FILES],
)
def test_side_files_that_cannot_be_read_are_refused(tmp_path, read, ending, content, place, says):
    path = tmp_path / f"side{ending}"
    path.write_bytes(content)
    with pytest.raises(BadData) as found, in_time():
        read(path) if read is bad_input_uses.read_hierarchy else read(path, bad_input_uses.KNOWN)
    said = str(found.value)
    assert found.value.exit_code == 2
    assert said.startswith(f"{path}, {place}: " if place else f"{path}: ")
    assert says in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("ending", "content", "place", "says"),
    [pytest.param(*case[2:], id=case[0]) for case in bad_input_uses.SIDE_FILES if case[1] is sv.read_itemsets],
)
def test_itemsets_that_cannot_be_read_are_refused_by_a_check(tmp_path, ending, content, place, says):
    (tmp_path / f"secrets{ending}").write_bytes(content)
    (tmp_path / "data.dat").write_text("milk bread\ntea\n")
    asked = ("--guarantee", "hidden-itemsets", "--itemsets", f"secrets{ending}", "--min-support", "2")
    said = refused(tmp_path, "check", "data.dat", *asked, "--original", "data.dat")
    assert said.startswith(f"secrets{ending}, {place}: " if place else f"secrets{ending}: ")
    assert says in said


# -- what must be read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("welcome", bad_input_welcome.FILES, ids=str)
def test_what_looks_odd_and_is_right_is_read(tmp_path, welcome):
    (tmp_path / welcome.file).write_bytes(welcome.content)
    with in_time():
        ended = call("convert", welcome.file, "new.parquet", *welcome.options, cwd=tmp_path)
    assert ended.code == 0, ended.err
    found = sv.read(tmp_path / "new.parquet")
    assert found.to_lists() == welcome.records
    assert (None if found.ids is None else found.ids.to_pylist()) == welcome.ids


@pytest.mark.parametrize(
    ("ending", "content"),
    [
        (".dat", b"a b\n"),
        (".csv", b"id,item\np1,a\n"),
        (".jsonl", b'["a"]\n'),
        (".parquet", bad_input_files.parquet({"items": [["a"]]})),
        (".arrow", bad_input_files.arrow({"items": [["a"]]})),
    ],
)
def test_a_name_that_is_not_utf8_is_a_name(tmp_path, ending, content):
    name = b"caf\xe9" + ending.encode()
    Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_bytes(content)
    start = run if ending == ".dat" else call  # one process of its own: there the name goes through the system too
    ended = start("convert", os.fsdecode(name), "new.jsonl", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert sv.read(tmp_path / "new.jsonl").records == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", bad_input_welcome.LONG_LINES)
def test_a_line_of_100_megabytes_is_read(tmp_path, name):
    file, beginning, repeated, end, records = bad_input_welcome.LONG_LINES[name]
    (tmp_path / file).write_bytes(beginning + repeated * (bad_input_welcome.MEGABYTES * 10**6) + end)
    with in_time():
        data = sv.read(tmp_path / file)
    assert data.records == records
    assert [len(label) for label in data.vocabulary] == [bad_input_welcome.MEGABYTES * 10**6]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", bad_input_welcome.LONG_LINES_REFUSED)
def test_a_wrong_line_of_100_megabytes_is_refused_in_time(tmp_path, name):
    file, beginning, repeated, end, says = bad_input_welcome.LONG_LINES_REFUSED[name]
    (tmp_path / file).write_bytes(beginning + repeated * (bad_input_welcome.MEGABYTES * 10**6) + end)
    said = refused(tmp_path, "profile", file)
    assert said.startswith(f"{file}, {says}")


# -- what the system refuses ---------------------------------------------------------------------------------------------

EXHAUSTIVE = pytest.mark.exhaustive
LIMITED = """
import resource, sys
from setveil.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
main()
"""
TARGETS = ("new.dat", "new.dat.gz", "new.dat.zst", "new.csv", "new.jsonl.zst", "new.parquet", "new.arrow")
SAMPLE = "sample:supermarket?records=1000"


def assert_refused_outside(folder, ended, says):
    """Fail unless a command in a process of its own was refused and left nothing."""
    assert ended.code == 2, ended.err
    assert says in ended.sentence()
    assert ended.out == ""
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_that_grows_too_large_is_refused(tmp_path, target):
    ended = run_forked("convert", SAMPLE, target, cwd=tmp_path, code=LIMITED)
    assert_refused_outside(tmp_path, ended, f"{target} cannot be written: File too large")


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory):
    """Give a file system of 16 kB; only root can mount one."""
    folder = tmp_path_factory.mktemp("small")
    mount = shutil.which("mount")
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=False, capture_output=True
    )
    if not done or done.returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("target", TARGETS)
def test_a_full_disk_is_refused(small_disk, target):
    ended = run_forked("convert", f"{SAMPLE}0", target, cwd=small_disk)
    assert_refused_outside(small_disk, ended, f"{target} cannot be written: No space left on device")


def test_a_release_on_a_full_disk_is_refused(small_disk):
    ended = run_forked("publish", SAMPLE, *PART_SWAP, "sample:supermarket", "--out", "new", cwd=small_disk)
    assert_refused_outside(small_disk, ended, "No space left on device")


@pytest.fixture(scope="module")
def unprivileged_program():
    """Give the program as a user who is not root starts it."""
    if os.geteuid() != 0:
        return PROGRAM
    change = shutil.which("setpriv")
    program = (change or "", "--reuid=65534", "--regid=65534", "--clear-groups", *PROGRAM)
    if not change or subprocess.run([*program, "--version"], cwd="/", check=False, capture_output=True).returncode:
        pytest.skip("the tests run as root, and the program cannot be started as another user")
    return program


@pytest.fixture
def unprivileged(unprivileged_program):
    """Give a folder of that user, and the program."""
    # not below the folders of the tests, into which only their owner may look
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() == 0:
            os.chown(name, 65534, 65534)
        yield Path(name), unprivileged_program


@pytest.mark.parametrize(
    "ending", [".dat", ".parquet", *(pytest.param(one, marks=EXHAUSTIVE) for one in (".csv", ".jsonl", ".dat.gz"))]
)
def test_a_file_without_permission_is_refused(unprivileged, ending):
    folder, program = unprivileged
    (folder / f"locked{ending}").write_bytes(b"a b\n")
    (folder / f"locked{ending}").chmod(0)
    for command in ("profile", "publish"):
        ended = run(*HOW_TO_READ[command](f"locked{ending}"), cwd=folder, program=program)
        assert ended.code == 2, ended.err
        assert ended.sentence() == f"locked{ending}: cannot be read: Permission denied"
        assert names_in(folder) == [f"locked{ending}"]


@pytest.mark.parametrize(
    "target", ["new.dat", *(pytest.param(one, marks=EXHAUSTIVE) for one in ("new.parquet", "new.jsonl.zst"))]
)
def test_a_folder_without_permission_is_refused(unprivileged, target):
    folder, program = unprivileged
    (folder / "locked").mkdir(mode=0o555)
    ended = run("convert", SAMPLE, f"locked/{target}", cwd=folder, program=program)
    assert_refused_outside(folder / "locked", ended, "locked cannot be written: Permission denied")
