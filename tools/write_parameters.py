"""Write what each parameter is to the pages of methods in `docs/methods`, from the declarations.

An entry of the list under `## Parameters` starts with the name of a parameter. Its first paragraph is written here; lists and further
paragraphs below it, indented by two blanks, are written by hand and stay.
"""

import re
from pathlib import Path
from textwrap import fill
from typing import Literal, get_origin

from setveil import catalog
from setveil.base.declaration import Declaration, Parameter
from setveil.presence import catalog as joined

PAGES = Path(__file__).parents[1] / "docs" / "methods"
METHODS: dict[str, type[Declaration]] = {**catalog.METHODS, **joined.METHODS}
WIDTH = 100
_SECTION = re.compile(r"(?<=^## Parameters\n)(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^- \*\*`(\w+)`\*\*.*\n(?:  (?!- )\S.*\n)*", re.MULTILINE)


def entry_of(parameter: Parameter) -> str:
    """Return the first paragraph of a parameter's entry: allowed values, default, description."""
    allowed = parameter.allowed
    if get_origin(parameter.annotation) is Literal:
        allowed = ", ".join(f"`{value}`" for value in allowed.split(" | "))
    needed = "required" if parameter.required else f"default `{parameter.default_text}`"
    private = "" if parameter.public else f" {parameter.visibility}"
    text = f"- **`{parameter.name}`**: {allowed}; {needed}. {parameter.description}{private}"
    return fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False) + "\n"


def with_parameters(page: str, method: type[Declaration]) -> str:
    """Return the page with the first paragraph of every entry as declared; entries that are missing are added."""
    declared = {parameter.name: entry_of(parameter) for parameter in method.parameters()}
    (section,) = _SECTION.findall(page)
    missing = [declared[name] for name in declared if name not in _ENTRY.findall(section)]
    written = _ENTRY.sub(lambda entry: declared.get(entry[1], ""), section)
    if missing:
        written = written.rstrip("\n") + "\n" + "".join(missing) + "\n"
    return _SECTION.sub(lambda _old: written, page)


if __name__ == "__main__":
    for name, method in METHODS.items():
        path = PAGES / f"{name}.md"
        if path.exists():
            path.write_text(with_parameters(path.read_text(encoding="utf-8"), method), encoding="utf-8")
