"""The server as a process of its own: it stops by Ctrl-C, dies and comes back, and no job is lost."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from support.program import PATIENCE_SECONDS, PROGRAM, call
from support.studios import wait_until

LONG = "sample:supermarket?records=3000000"
PUBLISH = {"method": {"name": "disassociation", "k": 3, "m": 2}, "metrics": "none", "attacks": "none"}


@contextmanager
def running(folder, *options):
    """Yield a server as a process, and a client of its owner."""
    process = subprocess.Popen(
        [*PROGRAM, "studio", "--folder", str(folder), "--port", "0", "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        lines = ""
        while not lines.endswith("}\n"):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            lines += line
        address = json.loads(lines)["address"]
        url, _, token = address.partition("?token=")
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_SECONDS) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


def start(client, sample, kind="publish", content=PUBLISH):
    source = client.post("/api/v1/data", json={"sample": sample}).json()["id"]
    return client.post(f"/api/v1/{kind}", json={"source": source, "content": content}).json()["id"]


def state(client, job):
    return client.get(f"/api/v1/jobs/{job}").json()["state"]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_server_and_not_its_jobs(number, tmp_path):
    with running(tmp_path / "studio") as (process, client):
        job = start(client, LONG)
        wait_until(lambda: client.get(f"/api/v1/jobs/{job}").json()["progress"]["seconds"])
        pid = int((tmp_path / "studio" / "jobs" / job / "pid").read_text(encoding="ascii"))
        with client.stream("GET", f"/api/v1/jobs/{job}/events"):  # a page that listens does not keep the server
            process.send_signal(number)
            assert process.wait(PATIENCE_SECONDS) == 0
        assert process.stderr.read() == ""
    assert is_alive(pid)
    with running(tmp_path / "studio") as (_, client):
        assert state(client, job) == "running"
        assert client.post(f"/api/v1/jobs/{job}/cancel").status_code == 200
        wait_until(lambda: state(client, job) == "stopped")
    assert not is_alive(pid)


def test_a_server_that_is_killed_loses_nothing(tmp_path):
    with running(tmp_path / "studio") as (process, client):
        running_job = start(client, "sample:supermarket?records=20000")
        waiting = start(client, "sample:supermarket?records=500")
        wait_until(lambda: state(client, running_job) == "running")
        assert state(client, waiting) == "queued"
        os.killpg(process.pid, signal.SIGKILL)  # also whatever else is in the group of the server
        process.wait()
    exit_code = tmp_path / "studio" / "jobs" / running_job / "exit_code"
    wait_until(exit_code.exists)  # the job goes on without a server
    with running(tmp_path / "studio") as (_, client):
        assert state(client, running_job) == "done"
        assert client.get(f"/api/v1/jobs/{running_job}/result").json()["verdict"]["status"] == "holds"
        wait_until(lambda: state(client, waiting) == "done")
        assert len(client.get("/api/v1/releases").json()) == 2
        assert client.get("/api/v1/me").json()["role"] == "owner"


def test_a_job_that_dies_with_its_server_is_run_again(tmp_path):
    with running(tmp_path / "studio") as (process, client):
        job = start(client, LONG)
        pid_file = tmp_path / "studio" / "jobs" / job / "pid"
        wait_until(pid_file.exists)
        process.kill()
        os.killpg(int(pid_file.read_text(encoding="ascii")), signal.SIGKILL)
    with running(tmp_path / "studio") as (_, client):
        assert state(client, job) == "failed"
        assert "run it again" in client.get(f"/api/v1/jobs/{job}/result").json()["error"]["message"]
        again = client.post(f"/api/v1/jobs/{job}/again").json()["id"]
        client.post(f"/api/v1/jobs/{again}/cancel")
        wait_until(lambda: state(client, again) == "stopped")


def test_a_second_server_on_the_same_folder_is_refused(tmp_path):
    with running(tmp_path / "studio"):
        ended = subprocess.run(
            [*PROGRAM, "studio", "--folder", str(tmp_path / "studio"), "--port", "0", "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 2
    assert "another studio uses" in json.loads(ended.stdout)["error"]["message"]


def test_only_the_person_can_read_the_folder(tmp_path):
    with running(tmp_path / "studio") as (_, client):
        job = start(client, "sample:supermarket?records=300")
        wait_until(lambda: state(client, job) == "done")
    folder = tmp_path / "studio"
    assert folder.stat().st_mode & 0o777 == 0o700
    for path in (folder / "token", folder / "studio.db", folder / "jobs", folder / "uploads", folder / "jobs" / job):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--jobs", "0"], "jobs is 0; allowed is a whole number of at least 1"),
        (["--root", "missing"], "is not a folder"),
        (["--root", "."], "the folder of the studio is inside"),
        (["--host", "0.0.0.0"], "--serve and --tokens let users in"),  # noqa: S104 - refused
        (["--serve"], "belong together"),
        (["--tokens", "users.toml"], "belong together"),
        (["--user-header", "X-User"], "--user-header needs --tokens"),
        (["--serve", "--tokens", "missing.toml"], "missing.toml"),
        (["--port", "65536"], "port is 65536; allowed is a whole number from 0 to 65535"),
        (["--host", "no.such.host.invalid", "--serve", "--tokens", "users.toml"], "cannot be used"),
    ],
)
def test_wrong_options_are_refused(options, said, tmp_path):
    (tmp_path / "users.toml").write_text(f'[a]\nrole = "owner"\nsha256 = "{"a" * 64}"\n', encoding="utf-8")
    ended = call("studio", "--folder", "studio", *options, cwd=tmp_path)
    assert ended.code == 2
    assert said in ended.sentence()


def test_a_port_out_of_range_makes_no_folder(tmp_path):
    assert call("studio", "--port", "65536", cwd=tmp_path).code == 2
    assert [*tmp_path.iterdir()] == []


def test_without_the_extra_the_command_says_what_to_install(tmp_path):
    script = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from setveil.cli.main import run\n"
        f"sys.exit(run(['studio', '--folder', {str(tmp_path / 'studio')!r}, '--port', '0']))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.strip().endswith("install them with: pip install 'setveil[studio]'")


def test_no_other_command_imports_the_server():
    script = (
        "import sys, setveil\nfrom setveil.cli.main import run\nrun(['profile', 'sample:supermarket?records=50', '--quiet'])\n"
        "run(['--help'])\nprint([name for name in sys.modules if name.split('.')[0] in ('fastapi', 'starlette', 'uvicorn')])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_the_address_is_printed(tmp_path):
    process = subprocess.Popen(
        [*PROGRAM, "studio", "--folder", str(tmp_path / "studio"), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    first, second = process.stdout.readline(), process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_SECONDS)
    assert first.startswith("Open http://127.0.0.1:")
    assert "token=" in first
    assert "Jobs that run go on" in second
    assert process.returncode == 0
