"""What the pages say can be done is done."""

import re
import shlex
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", ["data.md", "forms.md", "metrics.md", "mining.md"])
def test_the_python_on_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})  # noqa: S102 - our own page


def test_the_conversions_on_the_page_work_as_printed(tmp_path):
    from support.program import call  # noqa: PLC0415 - only here

    text = (PAGES / "data.md").read_text(encoding="utf-8")
    section = text.partition("## Convert between formats")[2].partition("```\n")[2].partition("```")[0]
    lines = [shlex.split(line, comments=True) for line in section.splitlines()]
    assert len(lines) == 7
    for words in lines:
        ended = call(*words[1:], cwd=tmp_path)
        assert ended.code == 0, (words, ended.err)


def test_the_policy_on_the_page_is_that_of_the_sample(tmp_path):
    from support.program import call  # noqa: PLC0415 - only here

    page = (PAGES / "presence" / "walk-through.md").read_text(encoding="utf-8")
    (tmp_path / "printed.toml").write_text(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0], encoding="utf-8")
    assert call("presence", "sample", "--out", tmp_path / "trial").code == 0
    printed, sample = (
        call("presence", "policy", "--show", tmp_path / name, "--json").json
        for name in ("printed.toml", "trial/policy.toml")
    )
    assert printed == sample
    assert set(sample["limits"]) <= set(re.findall(r"^(\w+) = ", page, re.MULTILINE))
