"""Jobs wait in order, run as child processes, report, can be stopped, and end as they end."""

import errno
import os
import shutil
import signal
from pathlib import Path

import pytest

from setveil.errors import OutputRefused
from setveil.studio.events import MOST_BYTES, progress_of, read_events
from setveil.studio.refusals import NotFound, WrongState

from support.studios import OTHER, OWNER, PUBLISH, REVIEWER, SMALL, finished, opened, pretend, wait_until

SAY = "import sys; print('{\"ok\": 1}'); "
SLEEP = SAY + "sys.stdout.flush(); import time; time.sleep(600)"


@pytest.fixture
def studio(tmp_path):
    with opened(tmp_path / "studio") as studio:
        yield studio


def start(studio, kind="profile", **content):
    source = studio.add_source(OWNER, sample=SMALL)
    return studio.start(OWNER, kind, source=source.id, content=content)


def states(studio, jobs):
    return [studio.database.job(job.id).state for job in jobs]


def test_a_job_runs_the_command_line_and_keeps_what_it_printed(studio):
    job = finished(studio, start(studio, known=1))
    assert (job.state, job.exit_code) == ("done", 0)
    assert job.arguments == ["profile", SMALL, "--known=1", "--json", "--progress=json"]
    assert studio.result(job)["records"] == 300
    progress = studio.progress(job)
    assert progress.done[0] == "making baskets"
    assert not progress.steps
    assert progress.seconds > 0


def test_a_job_has_the_exit_code_of_its_command(studio):
    states = {0: "done", 1: "failed", 2: "refused", 3: "refused", 4: "failed", 130: "stopped"}
    for code, state in states.items():
        pretend(studio, f"{SAY} sys.exit({code})")
        job = finished(studio, start(studio))
        assert (job.state, job.exit_code) == (state, code)


def test_a_command_that_prints_nothing_complete_has_failed(studio):
    pretend(studio, "print('{')")
    job = finished(studio, start(studio))
    assert (job.state, job.exit_code) == ("failed", 0)
    assert "without a result" in studio.result(job)["error"]["message"]


def test_one_job_runs_at_a_time_and_the_others_wait_in_order(studio):
    pretend(studio, SLEEP)
    jobs = [start(studio) for _ in range(3)]
    assert states(studio, jobs) == ["running", "queued", "queued"]
    studio.cancel(OWNER, jobs[0].id)
    wait_until(lambda: states(studio, jobs)[1:] == ["running", "queued"])
    studio.cancel(OWNER, jobs[2].id)
    assert states(studio, jobs)[2] == "stopped"


def test_as_many_jobs_run_as_are_allowed(tmp_path):
    with opened(tmp_path / "studio", jobs=2) as studio:
        pretend(studio, SLEEP)
        jobs = [start(studio) for _ in range(4)]
        assert states(studio, jobs) == ["running", "running", "queued", "queued"]


def test_a_running_job_is_stopped_as_by_ctrl_c(studio):
    pretend(
        studio,
        SAY
        + "import time\ntry:\n  sys.stdout.flush(); open('ready','w'); time.sleep(600)\nexcept KeyboardInterrupt: sys.exit(130)",
    )
    job = start(studio)
    wait_until((studio.queue.path(job) / "ready").exists)
    asked = studio.cancel(OWNER, job.id)
    assert asked.stopping is not None
    job = finished(studio, job)
    assert (job.state, job.exit_code) == ("stopped", 130)
    with pytest.raises(WrongState, match="the job is stopped"):
        studio.cancel(OWNER, job.id)


def test_setveil_itself_stops_and_leaves_nothing(studio):
    source = studio.add_source(OWNER, sample="sample:supermarket?records=3000000")
    job = studio.start(OWNER, "publish", source=source.id, content=PUBLISH)
    wait_until(lambda: studio.events(job))
    studio.cancel(OWNER, job.id)
    job = finished(studio, job)
    assert (job.state, job.exit_code) == ("stopped", 130)
    assert studio.result(job)["error"]["kind"] == "stopped"
    assert {path.name for path in studio.queue.path(job).iterdir()} == {
        "job.toml",
        "result.json",
        "events.jsonl",
        "exit_code",
        "pid",
        "running",
    }


def test_a_command_that_does_not_stop_is_killed(studio, monkeypatch):
    monkeypatch.setattr("setveil.studio.jobs.GRACE_SECONDS", 0.2)
    pretend(studio, "import signal, time; signal.signal(2, signal.SIG_IGN); open('ready','w'); time.sleep(600)")
    job = start(studio)
    wait_until((studio.queue.path(job) / "ready").exists)
    studio.cancel(OWNER, job.id)
    assert finished(studio, job).state == "stopped"


def test_a_command_that_dies_has_failed(studio):
    pretend(studio, "import os; os.kill(os.getpid(), 11)")
    job = finished(studio, start(studio))
    assert (job.state, job.exit_code) == ("failed", -11)
    assert "signal 11" in studio.result(job)["error"]["message"]


def test_a_child_that_is_killed_takes_its_command_with_it(studio):
    pretend(studio, "import os, time; open('command','w').write(str(os.getpid())); time.sleep(600)")
    job = start(studio)
    place = studio.queue.path(job) / "command"
    wait_until(lambda: place.exists() and place.read_text())
    os.kill(studio.database.job(job.id).pid, signal.SIGKILL)
    assert finished(studio, job).state == "failed"
    wait_until(lambda: not Path(f"/proc/{place.read_text()}").exists())


def test_a_command_that_reports_endlessly_fills_no_disk(studio, monkeypatch):
    monkeypatch.setattr("setveil.studio.child.EVENTS_BYTES", 0)  # of this process only: the child has its own
    pretend(studio, SAY + "\nfor _ in range(40 << 10): sys.stderr.write('x' * 1024)")
    job = finished(studio, start(studio))
    events = studio.queue.path(job) / "events.jsonl"
    assert job.state == "done"
    assert events.stat().st_size == 32 << 20
    assert len(studio.events(job)) == 1
    assert len(studio.progress(job).notes) == 0


def test_lines_that_are_no_events_are_details(tmp_path):
    file = tmp_path / "events.jsonl"
    file.write_bytes(b'Traceback\n\xff\xfe\n[1]\n{"event": "note", "text": "a"}\n{"event": "start", "step"')
    first, *_, last = read_events(file)
    assert (first.kind, first.facts) == ("detail", {"text": "Traceback"})
    assert (last.kind, last.facts) == ("note", {"text": "a"})
    assert [one.kind for one in read_events(file, first.position)] == ["detail", "detail", "note"]
    assert read_events(file, last.position) == []
    assert read_events(file, 10**12) == []


def test_long_files_of_events_are_read_in_parts(tmp_path):
    file = tmp_path / "events.jsonl"
    line = b'{"event": "note", "text": "' + b"x" * 1000 + b'"}\n'
    file.write_bytes(line * 3000)
    position, count = 0, 0
    while some := read_events(file, position):
        count += len(some)
        assert some[-1].position - position <= MOST_BYTES
        position = some[-1].position
    assert count == 3000


def test_progress_shows_what_runs_now(tmp_path):
    file = tmp_path / "events.jsonl"
    file.write_text(
        '{"event": "start", "seconds": 0.5, "step": 1, "label": "reading", "total": 10}\n'
        '{"event": "start", "seconds": 0.6, "step": 2, "label": "swapping", "total": null}\n'
        '{"event": "advance", "seconds": 1.0, "step": 1, "done": 4, "total": 10}\n'
        '{"event": "end", "seconds": 2.0, "step": 2, "completed": true}\n',
        encoding="utf-8",
    )
    progress = progress_of(read_events(file))
    ((label, share),) = [(one.label, one.share) for one in progress.steps]
    assert (label, share, progress.done, progress.seconds) == ("reading", 0.4, ["swapping"], 2.0)


def test_a_job_is_run_again_with_the_same_files(studio):
    job = finished(studio, start(studio, "publish", **PUBLISH, seed="31415926535897932384"))
    again = finished(studio, studio.again(OWNER, job.id))
    assert again.id != job.id
    assert again.state == "done"
    first, second = (studio.queue.path(one) / "release" for one in (job, again))
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {
        path.name: path.read_bytes() for path in second.iterdir()
    }


def test_only_a_job_that_has_ended_is_run_again(studio):
    pretend(studio, SLEEP)
    job = start(studio)
    with pytest.raises(WrongState, match="once it has ended"):
        studio.again(OWNER, job.id)


def test_jobs_of_others_do_not_exist(studio):
    pretend(studio, SLEEP)
    job = start(studio)
    for ask in (studio.job, studio.cancel, studio.again):
        with pytest.raises(NotFound):
            ask(OTHER, job.id)
    assert studio.jobs(OTHER) == []
    assert studio.sources(OTHER) == []
    assert [one.id for one in studio.jobs(OWNER)] == [job.id]
    assert REVIEWER.role == "reviewer"


def test_two_studios_cannot_use_a_folder(studio):
    with pytest.raises(OutputRefused, match="another studio uses"), opened(studio.settings.folder):
        pass


def test_nothing_remains_of_a_job_that_finds_no_space(studio, monkeypatch):
    source = studio.add_source(OWNER, sample=SMALL)

    def full(*_args, **_more):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space"):
            studio.start(OWNER, "publish", source=source.id, content=PUBLISH)
    assert studio.jobs(OWNER) == []
    assert [*studio.queue.folder.iterdir()] == []


def test_a_job_whose_folder_is_gone_keeps_no_other_waiting(studio):
    pretend(studio, SLEEP)
    first, second, third = (start(studio) for _ in range(3))
    shutil.rmtree(studio.queue.path(second))
    pretend(studio, SAY)
    studio.cancel(OWNER, first.id)
    assert finished(studio, second).state == "failed"
    assert finished(studio, third).state == "done"


def test_a_studio_goes_on_after_a_restart(tmp_path):
    with opened(tmp_path / "studio", leaving=True) as studio:
        pretend(studio, SLEEP)
        jobs = [start(studio) for _ in range(2)]
        child = studio.queue.children[jobs[0].id]
    with opened(tmp_path / "studio") as studio:
        assert states(studio, jobs) == ["running", "queued"]
        pretend(studio, SAY)
        studio.cancel(OWNER, jobs[0].id)
        assert finished(studio, jobs[0]).state == "stopped"
        assert finished(studio, jobs[1]).state == "done"
    child.wait()


def test_a_job_that_ended_while_no_server_ran_is_found(tmp_path):
    with opened(tmp_path / "studio", leaving=True) as studio:
        pretend(studio, SAY + "import time; time.sleep(1); sys.exit(3)")
        job = start(studio)
    studio.queue.children[job.id].wait()
    with opened(tmp_path / "studio") as studio:
        job = studio.job(OWNER, job.id)
        assert (job.state, job.exit_code, studio.result(job)) == ("refused", 3, {"ok": 1})


def test_a_job_whose_child_is_gone_has_failed(tmp_path):
    with opened(tmp_path / "studio", leaving=True) as studio:
        pretend(studio, SLEEP)
        job = start(studio)
        pid = studio.job(OWNER, job.id).pid
    os.killpg(pid, signal.SIGKILL)
    studio.queue.children[job.id].wait()
    with opened(tmp_path / "studio") as studio:
        job = studio.job(OWNER, job.id)
        assert (job.state, job.exit_code) == ("failed", None)
        assert "run it again" in studio.result(job)["error"]["message"]
