"""The context of a release: seven answers, from a file, a dictionary or options; kept in the dossier and the report, never published."""

import json
import re

import pytest

import setveil as sv
from setveil.release.context import ANSWERS

from support.program import call

ANSWERED = {
    "record": "person",
    "recipients": "contract",
    "hide": ["identity", "preference"],
    "known": "2",
    "rows": "true",
    "work": ["recommendation"],
    "earlier": "no",
}


def test_every_question_has_answers_and_a_file_repeats_them(tmp_path):
    context = sv.Context(**ANSWERED)
    assert {one.name for one in sv.Context.parameters()} == ANSWERS.keys()
    for one in sv.Context.parameters():
        assert all(choice in one.allowed for choice in ANSWERS[one.name])
    context.save(tmp_path / "context.toml")
    assert sv.Context.read(tmp_path / "context.toml") == context
    (tmp_path / "context.json").write_text(json.dumps(ANSWERED))
    assert sv.Context.read(tmp_path / "context.json") == context
    with pytest.raises(sv.OutputRefused, match="exists"):
        context.save(tmp_path / "context.toml")


def test_answers_may_be_numbers_and_lists_with_commas():
    assert sv.Context(**ANSWERED | {"known": 2, "hide": "identity, preference"}) == sv.Context(**ANSWERED)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"hide": "identit"}, "hide is 'identit'; allowed .*Did you mean 'identity'"),
        ({"hide": []}, "hide names nothing; allowed are one or more of: identity"),
        ({"work": ["counts", "counts"]}, "work names an answer twice"),
        ({"known": 4}, "known is '4'; allowed is 1 | 2 | 3 | whole"),
        ({"known": True}, "known is True"),
        ({"hid": "identity"}, "no parameter 'hid'.*Did you mean 'hide'"),
    ],
)
def test_wrong_answers_are_refused(change, expected):
    with pytest.raises(sv.BadParameter, match=expected):
        sv.Context.of(ANSWERED | change)


def test_missing_answers_are_listed_with_their_questions(tmp_path):
    with pytest.raises(sv.Missing, match="lacks 7 of 7 answers: `record=`: What is one record"):
        sv.Context.of({})
    (tmp_path / "context.toml").write_text('record = "person"\n')
    with pytest.raises(sv.BadData, match=r"context\.toml: the context lacks 6 of 7"):
        sv.Context.read(tmp_path / "context.toml")
    with pytest.raises(sv.BadParameter, match="context is 3; expected a file"):
        sv.Context.of(3)


def test_a_release_keeps_its_context_in_private(tmp_path):
    sv.Context(**ANSWERED).save(tmp_path / "context.toml")
    asked = ("publish", "sample:supermarket?records=100", "--method", "disassociation", "--k", 3, "--m", 2)
    quick = ("--measure", "none", "--attack", "none", "--seed", 2**100)
    assert call(*asked, *quick, "--context", "context.toml", "--out", "with", cwd=tmp_path).code == 0
    assert call(*asked, *quick, "--out", "without", cwd=tmp_path).code == 0
    for name in ("card.json", "CARD.md", "data.jsonl.gz", "datapackage.json"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()
    dossier = json.loads((tmp_path / "with.private" / "dossier.json").read_text())
    assert dossier["context"]["answers"] == ANSWERED
    assert dossier["job"]["context"] == str(tmp_path / "context.toml")
    page = (tmp_path / "with.private" / "report.html").read_text()
    assert "Named recipients who are bound by a contract" in page
    assert "<h2>Context</h2>" not in (tmp_path / "without.private" / "report.html").read_text()
    (tmp_path / "context.toml").unlink()
    again = sv.run(tmp_path / "with.private" / "dossier.json", out=tmp_path / "again")
    assert again.context == sv.Context(**ANSWERED)


def test_a_context_in_a_job_is_a_table_or_a_path(tmp_path):
    release = sv.publish(
        sv.read("sample:supermarket?records=60"), sv.Disassociation(k=3, m=2), metrics="none", attacks="none",
        context=sv.Context(**ANSWERED),
    )  # fmt: skip
    assert release.job.to_dict()["context"] == ANSWERED
    release.save_job(tmp_path / "job.toml")
    assert sv.run(tmp_path / "job.toml").context == release.context


def test_a_context_is_refused_before_any_work(tmp_path):
    ended = call(
        "publish", "sample:supermarket?records=60", "--method", "disassociation", "--k", 3, "--m", 2,
        "--context", "none.toml", "--out", "out", cwd=tmp_path,
    )  # fmt: skip
    assert ended.code == 2
    assert re.search(r"none\.toml: does not exist; expected a file with the answers", ended.sentence())
    assert not (tmp_path / "out").exists()
