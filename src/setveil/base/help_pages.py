"""Help pages in NumPy style, such as `help(setveil.PartSwap)`, from a declaration and the docstring of its module."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import fill
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.base.declaration import Declaration, Parameter

WIDTH = 76
"""Width of a page; `help` indents it by four more columns."""
_HEADING = re.compile(r"([A-Z][a-z]+) {2,}(.*)")
_KEY = re.compile(r"\b[a-z]+[0-9]{4}\b")
_BIBTEX_ENTRY = re.compile(r"^@\w+\{(\w+),$(.*?)^\}$", re.MULTILINE | re.DOTALL)
_BIBTEX_FIELD = re.compile(r"^ *(\w+) *= \{(.*)\},?$", re.MULTILINE)


def help_page(kind: type[Declaration]) -> str:
    """Return the help page of a method, a guarantee or a metric."""
    notes = _read_notes(getattr(sys.modules.get(kind.__module__), "__doc__", None) or "")
    papers = [text.replace(" (references.bib)", "") for heading, text in notes if heading in ("Paper", "Papers")]
    others = [
        f"{heading}: {text}" if heading else text for heading, text in notes if heading not in ("Paper", "Papers")
    ]
    cited = _KEY.findall(" ".join([getattr(kind, "paper", ""), *papers]))
    sections = {
        "Parameters": "\n".join(map(_describe_parameter, kind.parameters())) or "None.",
        **{heading: _wrap(texts) for heading, texts in kind.help_sections().items()},
        "Notes": _wrap(others),
        "References": "\n\n".join(filter(None, [_wrap(papers), *_citations(dict.fromkeys(cited))])),
        "Examples": "\n".join(f">>> {line}" for line in example_lines(kind)),
    }
    texts = [f"{heading}\n{'-' * len(heading)}\n{text}" for heading, text in sections.items() if text]
    return "\n\n".join([_wrap(kind.own_docstring().split("\n\n")), *texts])


def _read_notes(docstring: str) -> list[tuple[str, str]]:
    """Return the paragraphs after the first line of a module docstring, each with its heading, such as `Departs`, or an empty one."""
    notes = [("", "")]
    for line in docstring.splitlines()[1:]:
        heading = _HEADING.fullmatch(line)
        if heading or not line.strip():
            notes.append((heading[1], heading[2]) if heading else ("", ""))
        else:
            notes[-1] = (notes[-1][0], f"{notes[-1][1]} {line.strip()}".strip())
    return [note for note in notes if note[1]]


def _describe_parameter(parameter: Parameter) -> str:
    """Return the entry of a parameter: its allowed values, and its description below."""
    needed = "required" if parameter.required else f"default: {_show_default(parameter.default)}"
    allowed = ", ".join(filter(None, [_name_type(parameter.annotation), " and ".join(parameter.limits)]))
    head = fill(f"{parameter.name} : {allowed}, {needed}", WIDTH, subsequent_indent=" " * 8, break_on_hyphens=False)
    return f"{head}\n{_wrap([f'{parameter.description} {parameter.visibility}'], indent=' ' * 4)}"


def _name_type(annotation: Any) -> str:
    """Return the Python type of a parameter, or all values of a choice."""
    inner = get_args(annotation)
    if get_origin(annotation) is Literal:
        return f"{{{', '.join(map(repr, inner))}}}"
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(map(_name_type, inner))
    if get_origin(annotation) is tuple:
        return f"tuple of {_name_type(inner[0])}"
    if annotation is NoneType:
        return "None"
    names = (getattr(annotation, name, None) for name in ("python_type", "allowed_text", "__name__"))
    return next((name for name in names if isinstance(name, str)), str(annotation))


def _show_default(value: Any) -> str:
    return str(value) if hasattr(value, "allowed_text") else repr(value)


def _wrap(texts: Iterable[str], indent: str = "") -> str:
    """Return paragraphs wrapped to the width of a page."""
    return "\n\n".join(
        fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) for text in texts
    )


def _citations(keys: Iterable[str]) -> list[str]:
    """Return the bibliography entries for these keys; skip unknown keys."""
    texts = [f".. [{key}] {text}" for key in keys if (text := citation(key))]
    return [fill(text, WIDTH, subsequent_indent="   ", break_on_hyphens=False) for text in texts]


def citation(key: str) -> str:
    """Return the authors, year, title and place of a paper; empty if the bibliography has no such key."""
    bibliography = (Path(__file__).parents[1] / "references.bib").read_text(encoding="utf-8")
    entries = {name: dict(_BIBTEX_FIELD.findall(fields)) for name, fields in _BIBTEX_ENTRY.findall(bibliography)}
    if key not in entries:
        return ""
    entry = entries[key]
    authors, place = entry["author"].replace(" and ", "; "), entry.get("journal") or entry["booktitle"]
    return re.sub("[{}]", "", f"{authors} ({entry['year']}). {entry['title']}. {place}.")


def example_lines(kind: type[Declaration]) -> list[str]:
    """Return the lines of the example, with a constructor call that sets the required parameters."""
    given = ", ".join(f"{one.name}={one.example}" for one in kind.parameters() if one.required)
    call = f"sv.{kind.__name__}({given})"
    return ["import setveil as sv", *(line.replace("{call}", call) for line in kind.example_lines)]
