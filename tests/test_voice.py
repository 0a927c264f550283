"""Texts for people use plain, standard English: phrases that readers had to read twice stay out of pages, messages and docstrings."""

import io
import re
import tokenize
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src" / "setveil"
PAGES = [
    path
    for path in (*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"))
    if "reproduce" not in path.relative_to(REPOSITORY).parts
]
PROGRAMS = [
    path
    for path in (*SOURCE.rglob("*.py"), *SOURCE.rglob("*.jinja"))
    if not re.search("reproduc|kernels", path.relative_to(SOURCE).as_posix())
]
NEW_LINE = "\n"
BANNED = {
    r"\bso many\b": "N, or the number of",
    r"\bdefault else\b": "default otherwise",
    r"\blest\b": "so that … not",
    r"\b(an? )?(item|itemset|row|record|line|name|number|word|value|query|group)"
    r" an? (line|record|row|item|itemset|name|group|person|cluster|column|file)\b"
    r"|\bitems a record\b": "per",
    r"\b(the|only) door\b|\bdoor out\b|\bwhat leaves\b|\bthe house\b": "release, publish, release folder",
    r"(?<!too weak to )\b(tell|tells|told|telling)\b": "show, report, reveal, record, store, return, distinguish",
    r"\bpromis(e|es|ed|ing)\b": "guarantee",
    r"\bin words\b": "name the text",
    r"\b(stands?|stood)\b(?! for\b)": "is, are, occurs",
    r"\b(come|comes|came|coming) back\b": "return, is restored",
    r"\b(somebody|whoever|anybody|everybody)\b": "attacker, person, anyone, everyone",
    r"(?<!people )(?<!person )(?<!to )(?<!with )\bwhom\b": "name the noun",
    r"\bbetray\w*": "reveal",
    r"\bbreach\w*": "violation",
    r"\b(leave|leaves|left|leaving) out\b|\b(put|puts|putting) back\b|\b(take|takes|took|taken|taking) out\b": (
        "suppress, restore, omit, remove"
    ),
    r"\bexchang(e|es|ed|ing) ((the|all|single|random|whole|its|their) )?(item|record)s?\b": "swap",
    r"\bneighbours\b": "re-associated data",
    r"\bat (least|most)[.,;:](?!\d)": "put it before the noun",
    r"\bfrom (how many|\w+( \w+)?) on\b": "at least, minimum, starting with",
    r"^\W*(?-i:Of) \w+( \w+)?:": "X only: …",
    r"\b(has|have|is|are|a) twins?\b": "identical to another record",
    r"\.\d%(\}|$)": "base.display.share()",
}
"""Each phrase, with what to write instead."""


def texts_of(path):
    """Return the texts of a file with their line numbers: all of a page, or the strings and comments of a program.

    A string without a blank is a key or a name, not a text.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [(1, text)]
    kinds = (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type in kinds and " " in token.string]


def found_in(text, first_line=1):
    """Return the banned phrases of a text, without its code and links."""
    prose = re.sub(
        r"```.*?```|`[^`\n]*`|\[\"[\w-]*\"\]|\]\([^)]*\)",
        lambda code: "\n" * code[0].count("\n"),
        text,
        flags=re.DOTALL,
    )
    return [
        f"line {first_line + prose.count(NEW_LINE, 0, match.start())}, {match[0]!r}: write {better}"
        for banned, better in BANNED.items()
        for match in re.finditer(banned, prose, re.IGNORECASE | re.MULTILINE)
    ]


@pytest.mark.parametrize("path", [*PAGES, *PROGRAMS], ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_texts_are_plain_english(path):
    assert [found for line, text in texts_of(path) for found in found_in(text, line)] == []


@pytest.mark.parametrize(
    "phrase", ["A CSV with a row an item.", "so many records are kept", "Which row it is is not told.", "default else"]
)
def test_a_banned_phrase_is_found(phrase, tmp_path):
    program = tmp_path / "program.py"
    for source in (f'"""{phrase}"""', f"call(f'{phrase}')", f"# {phrase}"):
        program.write_text(source, encoding="utf-8")
        assert [found_in(text) for _line, text in texts_of(program)] != [[]]
    assert found_in(phrase)


def test_code_is_not_prose():
    assert found_in("`a row an item`\n```\ndefault else\n```\n") == []
