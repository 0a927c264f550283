"""The README is true: its commands run as printed and print what stands below them; its figures come from these outputs."""

import re
from pathlib import Path

import pytest

from support.pages import Block, run_python
from support.program import call

README = Path(__file__).parents[1] / "README.md"
ANYTHING = "..."
SLOW = ("presence attack",)
"""Commands that other tests run and that take long."""
NUMBER = re.compile(r"(?<![\w.,^-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w^-])")
NOT_FIGURES = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|Python 3\.\d+|TLS 1\.3")


def sections():
    """Return each section of the README as its name and its parts: blocks of code and prose, in their order."""
    found = {}
    for section in re.split(r"^## ", README.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, text = section.partition("\n")
        found[name] = re.split(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    return found


def commands(block):
    """Return the commands of a block, each as its words and the lines printed below it."""
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((re.findall(r'"[^"]*"|\S+', line.partition("  #")[0])[1:], []))
        elif found:
            found[-1][1].append(line)
    return [([word.strip("\"'") for word in words], lines) for words, lines in found]


def unwrapped(text):
    """Return the text with each entry of a summary on one line."""
    return re.sub(r"\n {18}(?=\S)", " ", text)


def agrees(printed, said):
    """Return whether the lines of the README are those that were printed; `...` stands for any lines, or for the rest of one.

    The text beside a label of the summary may be wrapped elsewhere: the README is narrower than the output.
    """
    pattern = ""
    for line in filter(str.strip, unwrapped("\n".join(printed)).splitlines()):
        if line.strip() == ANYTHING:
            pattern += r"(?:.*\n)*?"
        else:
            parts = [r"\s+".join(map(re.escape, part.split())) for part in line.split(ANYTHING)]
            pattern += r"\s*" + r".*?".join(parts) + r"\s*\n"
    text = "".join(f"{line}\n" for line in unwrapped(said).splitlines() if line.strip())
    return re.fullmatch(pattern + (r"(?:.*\n)*" if not pattern else ""), text) is not None


RUNNABLE = [name for name, parts in sections().items() if any("$ setveil" in part for part in parts)]


def test_the_readme_has_examples():
    assert len(RUNNABLE) >= 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give one folder for all sections: later ones use files of earlier ones."""
    return tmp_path_factory.mktemp("readme")


@pytest.fixture(scope="module")
def outputs(folder):
    """Run every command of the README in its order; give what each printed."""
    found = {}
    for name in RUNNABLE:
        parts = sections()[name]
        for block in (part for part in parts if "$ setveil" in part):
            for words, lines in commands(block):
                if words[0] != "setveil" or " ".join(words[1:3]) in SLOW:
                    continue
                ended = call(*words[1:], cwd=folder)
                found.setdefault(name, []).append((words, lines, ended))
    return found


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_command_prints_what_the_readme_shows(name, outputs):
    for words, lines, ended in outputs[name]:
        assert ended.code in (0, 3), (words, ended.err)
        assert not any(map(str.strip, lines)) or agrees(lines, ended.out), (words, ended.out)


def test_the_python_of_the_readme_runs(folder, outputs):
    assert outputs
    (block,) = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    run_python(Block(None, "python", block), README.name, folder)
    assert (folder / "again" / "card.json").is_file()


@pytest.mark.parametrize("name", RUNNABLE)
def test_figures_in_the_text_are_printed_by_the_commands_above_it(name, outputs):
    printed = "\n".join(f"{' '.join(words)}\n{ended.out}" for words, _lines, ended in outputs[name])
    known = set(NUMBER.findall(printed))
    prose = "".join(sections()[name][::3])
    figures = {figure for figure in NUMBER.findall(NOT_FIGURES.sub("", prose)) if len(figure) > 1}
    assert figures <= known, sorted(figures - known)


def test_a_figure_that_no_command_prints_would_be_found():
    assert NUMBER.findall("4,116 of them, 46.2 % and k^2 or 3D, 12, 13.") == ["4,116", "46.2", "12", "13"]
    assert agrees(["a  b", "...", "c 1,000 ..."], "a b\nx\ny\nc 1,000 and more\n")
    assert agrees([f"  Cost{' ' * 12}a", f"{' ' * 18}b c", "..."], f"  Cost{' ' * 12}a b\n{' ' * 18}c\nd\n")
    assert not agrees(["a", "b c", "..."], "a b\nc\nd\n")
    assert not agrees(["a b", "c 1,001"], "a b\nc 1,000\n")
