"""What the pages say can be done is done: every command and every Python block runs as printed."""

import re
from runpy import run_path

import pytest

from support.pages import DOCS, NOT_RUN, Block, blocks_of, run_command, run_python
from support.program import call

GENERATED = run_path(str(DOCS.parent / "tools" / "write_parameters.py"))
PARTIES = "presence/walk-through.md"
"""Its programs run at the same time: `presence/test_pages.py` starts them."""
RECIPES = "recipes.md"
"""They need tables of others: `test_recipes.py` makes some."""
SPARK = "spark.md"
"""It needs a server: `engines/test_spark_tables.py` starts one."""
PEOPLE = ("--people", 600)
"""A smaller population than the default, which only takes longer."""
PAGES = [
    page.relative_to(DOCS).as_posix()
    for page in sorted(DOCS.rglob("*.md"))
    if not {"decisions", "reproduce"} & set(page.relative_to(DOCS).parts)
]
RUNNABLE = [
    page
    for page in PAGES
    if page not in (PARTIES, RECIPES, SPARK) and any(block.lines or block.kind == "python" for block in blocks_of(page))
]


LONG = {"methods/reassociation.md", "presence/mpyc.md"}
"""Pages that take ten seconds, left to `make test-all`."""


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.exhaustive] if page in LONG else []) for page in RUNNABLE]
)
def test_a_page_runs_as_printed(page, tmp_path, request):
    for block in blocks_of(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        for line in block.lines:
            if not NOT_RUN.match(line):
                smaller = "presence sample" in line and "--people" not in line
                run_command(line, tmp_path, *(PEOPLE if smaller else ()))
        if block.kind == "python":
            for name in re.findall(r'sv\.read\("([\w-]+\.dat\.gz)"\)', block.text):
                (tmp_path / name).symlink_to(request.getfixturevalue("real_folder") / name)
            run_python(block, page, tmp_path)


@pytest.mark.parametrize("name", GENERATED["METHODS"])
def test_a_method_page_lists_the_declared_parameters(name):
    page = (DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8")
    with_parameters, method = GENERATED["with_parameters"], GENERATED["METHODS"][name]
    assert with_parameters(page, method) == page, "run make generated"
    for parameter in method.parameters():
        without = re.sub(rf"^- \*\*`{parameter.name}`\*\*.*\n(  (?!- )\S.*\n)*", "", page, flags=re.MULTILINE)
        assert f"- **`{parameter.name}`**: " in with_parameters(without, method)


def test_every_method_has_an_example_that_runs():
    assert [page for page in PAGES if page.startswith("methods/") and page not in RUNNABLE] == []


def test_a_block_that_does_not_work_is_found(tmp_path):
    with pytest.raises(AssertionError, match="no such file"):
        run_command("setveil profile missing.csv", tmp_path)
    with pytest.raises(AssertionError):
        run_python(Block(None, "python", "assert 1 == 2"), "a page", tmp_path)


def test_the_policy_on_the_page_is_that_of_the_sample(tmp_path):
    (printed_policy,) = (block.text for block in blocks_of(PARTIES) if block.kind == "toml")
    (tmp_path / "printed.toml").write_text(printed_policy, encoding="utf-8")
    assert call("presence", "sample", "--out", tmp_path / "trial").code == 0
    printed, sample = (
        call("presence", "policy", "--show", tmp_path / name, "--json").json
        for name in ("printed.toml", "trial/policy.toml")
    )
    assert printed == sample
    assert set(sample["limits"]) <= set(re.findall(r"^(\w+) = ", printed_policy, re.MULTILINE))
