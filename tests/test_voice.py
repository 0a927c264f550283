"""Texts for people use plain, standard English: phrases that readers had to read twice do not come back."""

import ast
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PAGES = [
    path
    for path in (*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"))
    if path.name != "CHANGELOG.md" and not {"decisions", "reproduce"} & set(path.relative_to(REPOSITORY).parts)
]
BANNED = {
    r"\bthe so many\b|\bso many (of|most|records|items|rows|seconds|cases)\b": "N, or the number of",
    r"\bdefault else\b": "default otherwise",
    r"\blest\b": "so that … not",
    r"\ba row an item\b|\b(an? )?(item|itemset|row|record) a (line|record|row)\b|\bitems a record\b": "per",
    r"\bthe (only )?door\b|\bdoor out\b|\bwhat leaves\b": "release, publish",
    r"\bis (not )?told\b|\btells? (it|who|what|which|how|that|nothing|whether)\b": "show, report, reveal, record, store, return",
    r"\bpromis(es|ing) nothing\b": "a baseline guarantees nothing",
    r"\bin words\b": "name the text",
}
"""Each phrase, with what to write instead."""


def found_in(text):
    """Return the banned phrases of a text, without its code blocks."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    return [
        f"{match[0]!r}: write {better}"
        for banned, better in BANNED.items()
        for match in re.finditer(banned, prose, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_a_page_uses_plain_english(page):
    assert found_in(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", ["", "presence"])
def test_the_help_of_commands_uses_plain_english(folder):
    for path in (REPOSITORY / "src" / "setveil" / "cli" / folder).glob("*_command.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "about":
                texts = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
                assert found_in("".join(texts)) == [], f"{path.name}, line {call.lineno}"


@pytest.mark.parametrize(
    "phrase", ["A CSV with a row an item.", "so many records are kept", "Which row it is is not told.", "default else"]
)
def test_a_banned_phrase_is_found(phrase):
    assert found_in(phrase)


def test_code_is_not_prose():
    assert found_in("`a row an item`\n```\ndefault else\n```\n") == []
