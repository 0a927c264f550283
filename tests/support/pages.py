"""Pages of documentation as programs: the files, commands and Python blocks on a page, in their order."""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.program import call

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = re.compile(r"(setveil|tail|sed|cat|make|pip|\.venv/bin/python) ")
NOT_RUN = re.compile(r"(make|pip|\.venv/bin/python) ")
"""Installing needs a network, and `make` runs the tests themselves."""
_BLOCK = re.compile(r"(?:^`(?P<file>[\w.-]+)`:\n\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of a page: a named file, Python, commands, or text that is only shown."""

    file: str | None
    kind: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Return the commands, one per line; none if the block does not start with one."""
        lines = [line for line in self.text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
        return lines if not self.kind and not self.file and lines and COMMAND.match(lines[0]) else []


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page, by its name in `docs`."""
    return blocks_in((DOCS / page).read_text(encoding="utf-8"))


def blocks_in(text: str) -> list[Block]:
    """Return the blocks in the text of a page."""
    return [Block(**match.groupdict()) for match in _BLOCK.finditer(text)]


def run_command(line: str, folder: Path, *more: object) -> None:
    """Run a line as printed, with further arguments; fail unless it ends well.

    A check of a guarantee that the user names, or of several releases, may end with 3: pages also show what does not hold.
    """
    words = [*shlex.split(line, comments=True), *more]
    if words[0] != "setveil":
        subprocess.run(line, shell=True, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S602 - our own page
        return
    ended = call(*words[1:], cwd=folder)
    assert ended.code in ((0, 3) if {"--guarantee", "--together"} & set(words) else (0,)), (
        f"{line}\n{ended.out}{ended.err}"
    )


def run_python(block: Block, page: str, folder: Path) -> None:
    """Run a block of Python as a script of its own in the folder."""
    with contextlib.chdir(folder):
        exec(compile(block.text, page, "exec"), {})  # noqa: S102 - our own page
