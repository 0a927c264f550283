"""The page that `help(setveil.PartSwap)` shows, in NumPy style, made from the declaration and from the first lines of its module."""

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
"""Columns of a page: `help` puts four more in front."""
_HEADING = re.compile(r"([A-Z][a-z]+) {2,}(.*)")
_KEY = re.compile(r"\b[a-z]+[0-9]{4}\b")
_BIBTEX_ENTRY = re.compile(r"^@\w+\{(\w+),$(.*?)^\}$", re.MULTILINE | re.DOTALL)
_BIBTEX_FIELD = re.compile(r"^ *(\w+) *= \{(.*)\},?$", re.MULTILINE)


def help_page(kind: type[Declaration]) -> str:
    """Return the page of a method, a guarantee or a metric."""
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
        "Examples": "\n".join(f">>> {line}" for line in _example_lines(kind)),
    }
    texts = [f"{heading}\n{'-' * len(heading)}\n{text}" for heading, text in sections.items() if text]
    return "\n\n".join([_wrap(kind.own_docstring().split("\n\n")), *texts])


def _read_notes(docstring: str) -> list[tuple[str, str]]:
    """Return what follows the first line of a module: texts with their headings, such as `Departs`, or with none."""
    notes = [("", "")]
    for line in docstring.splitlines()[1:]:
        heading = _HEADING.fullmatch(line)
        if heading or not line.strip():
            notes.append((heading[1], heading[2]) if heading else ("", ""))
        else:
            notes[-1] = (notes[-1][0], f"{notes[-1][1]} {line.strip()}".strip())
    return [note for note in notes if note[1]]


def _describe_parameter(parameter: Parameter) -> str:
    """Return a parameter's line with what is allowed, and its description below it."""
    needed = "required" if parameter.required else f"default: {_show_default(parameter.default)}"
    allowed = ", ".join(filter(None, [_name_type(parameter.annotation), " and ".join(parameter.limits)]))
    card = (
        "Public."
        if parameter.public
        else "Private: not on the card, but the release shows it in whole or in part."
        if parameter.inferable
        else "Private: not on the card."
    )
    head = fill(f"{parameter.name} : {allowed}, {needed}", WIDTH, subsequent_indent=" " * 8, break_on_hyphens=False)
    return f"{head}\n{_wrap([f'{parameter.description} {card}'], indent=' ' * 4)}"


def _name_type(annotation: Any) -> str:
    """Return what Python takes: the name of a type, or all values."""
    inner = get_args(annotation)
    if get_origin(annotation) is Literal:
        return f"{{{', '.join(map(repr, inner))}}}"
    if get_origin(annotation) in (Union, UnionType):
        return " or ".join(map(_name_type, inner))
    if get_origin(annotation) is tuple:
        return f"tuple of {_name_type(inner[0])}"
    if annotation is NoneType:
        return "None"
    names = (getattr(annotation, name, None) for name in ("python_type", "in_words", "__name__"))
    return next((name for name in names if isinstance(name, str)), str(annotation))


def _show_default(value: Any) -> str:
    return str(value) if hasattr(value, "in_words") else repr(value)


def _wrap(texts: Iterable[str], indent: str = "") -> str:
    """Return paragraphs no wider than a page."""
    return "\n\n".join(
        fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False) for text in texts
    )


def _citations(keys: Iterable[str]) -> list[str]:
    """Return the entries of the bibliography for these keys, as far as it has them."""
    bibliography = (Path(__file__).parents[1] / "references.bib").read_text(encoding="utf-8")
    entries = {key: dict(_BIBTEX_FIELD.findall(fields)) for key, fields in _BIBTEX_ENTRY.findall(bibliography)}
    texts = []
    for key in filter(entries.__contains__, keys):
        entry = entries[key]
        authors, place = entry["author"].replace(" and ", "; "), entry.get("journal") or entry["booktitle"]
        text = re.sub("[{}]", "", f".. [{key}] {authors} ({entry['year']}). {entry['title']}. {place}.")
        texts.append(fill(text, WIDTH, subsequent_indent="   ", break_on_hyphens=False))
    return texts


def _example_lines(kind: type[Declaration]) -> list[str]:
    """Return the example of a kind of declaration, with a call that gives the required parameters."""
    given = ", ".join(f"{one.name}={one.example}" for one in kind.parameters() if one.required)
    call = f"sv.{kind.__name__}({given})"
    return ["import setveil as sv", *(line.replace("{call}", call) for line in kind.example_lines)]
