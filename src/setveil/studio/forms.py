"""Forms that are generated from declarations: the fields of a method, and what a person typed as the table of a job file.

A field of a form has the name of its parameter; the fields of a side file are `NAME.from`, `NAME.typed` and `NAME.OPTION`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_origin

from setveil.base.display import size_text
from setveil.parameters import extra_options, kind_of
from setveil.studio.refusals import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setveil.base.declaration import Declaration, Parameter
    from setveil.parameters.kind import Option, ParameterKind
    from setveil.studio.database import Source, Upload
    from setveil.studio.sources import FileEntry, Sample

Given = Mapping[str, list[str]]
"""The fields of a form as they were sent."""
Look = Literal["number", "text", "choice", "several", "flag", "file"]

TYPED: Final = "typed"
"""The choice of a side file whose values are typed."""
MOST_BESIDE: Final = 4
"""As many choices are shown beside each other; more are a list."""
_MADE: Final = re.compile(r"(random|balanced|prefix):\S+|icd10cm(:\S+)?")
"""Texts that make categories or a hierarchy without a file."""
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?")
_HINTS: Final = {
    ".txt": "One item per line.",
    ".jsonl": "One itemset per line, with commas between its items.",
    ".csv": "One item per line with a comma and its group, or a text such as prefix:3.",
}


@dataclass(frozen=True)
class Choice:
    """A value to choose, and what it is called."""

    value: str
    title: str


@dataclass(frozen=True)
class Choices:
    """Choices under a common heading."""

    title: str
    choices: Sequence[Choice]


@dataclass(frozen=True)
class Field:
    """A field of a form."""

    name: str
    label: str
    about: str
    look: Look
    allowed: str = ""
    value: Any = ""
    """A text; for a flag, whether it is set; for several choices, a list of texts."""
    required: bool = False
    visibility: str = ""
    """What recipients of a release see of the value."""
    choices: Sequence[Choice] = ()
    least: float | None = None
    most: float | None = None
    whole: bool = True
    """Whether only whole numbers are allowed."""
    places: Sequence[Choices] = ()
    """Where a side file can come from."""
    typed: str = ""
    hint: str = ""
    more: Sequence[Field] = ()
    """How to read the side file."""
    changed: bool = False
    """Whether the value differs from the default."""


@dataclass(frozen=True)
class Places:
    """What a side file can be chosen from."""

    samples: Sequence[Sample] = ()
    files: Sequence[FileEntry] = ()
    uploads: Sequence[Upload] = ()

    def of(self, parameter: str) -> list[Choices]:
        """Return the places for a parameter."""
        found = [
            Choices("Samples", [Choice(one.name, one.title) for one in self.samples if parameter in one.side_files]),
            Choices(
                "Uploads", [Choice(f"upload:{one.id}", f"{one.title} ({size_text(one.bytes)})") for one in self.uploads]
            ),
        ]
        roots = dict.fromkeys(one.root for one in self.files)
        found += [
            Choices(f"Files in {root}", [Choice(f"file:{one.id}", one.name) for one in self.files if one.root == root])
            for root in roots
        ]
        return [one for one in found if one.choices]

    def preferred(self, parameter: str, source: Source) -> str:
        """Return the list that comes with a sample, if the data are one."""
        name = source.place.partition("?")[0]
        fits = any(one.name == name and parameter in one.side_files for one in self.samples)
        return name if source.kind == "sample" and fits else ""


def fields_of(kind: type[Declaration], given: Mapping[str, Any], places: Places) -> list[Field]:
    """Return the fields of a declaration, filled with the values of a table of a job file."""
    return [_field(one, given, places) for one in kind.parameters()]


def _field(one: Parameter, given: Mapping[str, Any], places: Places) -> Field:
    value = given.get(one.name)
    shared: dict[str, Any] = {
        "name": one.name,
        "label": label(one.name),
        "about": one.description,
        "allowed": one.allowed,
        "required": one.required,
        "visibility": one.visibility,
        "changed": value is not None and not one.required,
    }
    kind = kind_of(one.annotation)
    if kind is not None and kind.ending:
        chosen, typed = _as_place(value, kind)
        more = [_reading_field(one.name, option, given) for option in extra_options(one)]
        return Field(
            **shared,
            look="file",
            value=chosen,
            typed=typed,
            hint=_HINTS[kind.ending],
            places=places.of(one.name),
            more=more,
        )
    if one.annotation is bool:
        return Field(**shared, look="flag", value=bool(one.default if value is None else value))
    shown = _shown(one.default if value is None and not one.required else value)
    least, most = _limits(one)
    if one.choices and _is_list(one.annotation):
        chosen_ones = [part.strip() for part in shown.split(",") if part.strip()]
        ordered = dict.fromkeys([*chosen_ones, *one.choices])
        return Field(**shared, look="several", value=chosen_ones, choices=[Choice(name, name) for name in ordered])
    if one.choices and kind is None and not _is_list(one.annotation):
        return Field(**shared, look="choice", value=shown, choices=[Choice(name, name) for name in one.choices])
    if one.annotation in (int, float):
        return Field(**shared, look="number", value=shown, least=least, most=most, whole=one.annotation is int)
    return Field(**shared, look="text", value=shown)


LABELS: Final = {
    "categories": "Category of each item",
    "sensitive": "Sensitive items",
    "itemsets": "Itemsets to hide",
    "hierarchy": "Hierarchy of items",
    "min_support": "Minimum support",
    "rho": "Highest confidence (ρ)",
    "afi": "New frequent itemsets",
    "t_max": "Most trials",
    "full_min": "Smallest whole record",
    "max_scan": "Most swaps to try",
}
"""Labels of fields that say more than the name of the parameter."""


def label(name: str) -> str:
    """Return the label of the field of a parameter."""
    if name in LABELS:
        return LABELS[name]
    words = name.replace("_", " ")
    return words if len(words) < 3 else words.capitalize()


def _reading_field(parameter: str, option: Option, given: Mapping[str, Any]) -> Field:
    value = given.get(option.name, option.default)
    look: Look = "flag" if option.type is bool else "text"
    shown = bool(value) if look == "flag" else _shown(value)
    return Field(
        f"{parameter}.{option.name}", label(option.name), option.help, look, value=shown, changed=option.name in given
    )


def _is_list(annotation: Any) -> bool:
    return get_origin(annotation) is tuple


def _limits(one: Parameter) -> tuple[float | None, float | None]:
    """Return the smallest and the largest number that is allowed, for the browser; a declaration checks them again."""
    found: dict[str, float] = {}
    for rule in one.rules:
        for name in ("ge", "gt", "le", "lt"):
            limit = getattr(rule, name, None)
            if limit is not None:
                found[name] = limit
    return found.get("ge", found.get("gt")), found.get("le", found.get("lt"))


def _shown(value: Any) -> str:
    """Return a value as a person types it."""
    if value is None:
        return ""
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_place(value: Any, kind: type[ParameterKind]) -> tuple[str, str]:
    """Return the choice of a side file and the typed text."""
    if value is None:
        return "", ""
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, number),) = value.items()
        if name == "sample":
            return str(number), ""
        if name in ("file", "upload"):
            return f"{name}:{number}", ""
    if isinstance(value, str):
        return (value, "") if value.startswith("sample:") else (TYPED, value)
    return TYPED, _WRITERS[kind.ending](value)


def table_of(kind: type[Declaration], given: Given) -> dict[str, Any]:
    """Return the values of a form as the table of a job file; what equals its default is not named."""
    found: dict[str, Any] = {}
    for one in kind.parameters():
        value = _value(one, given)
        if value is not None and (one.required or not _is_default(one, value)):
            found[one.name] = value
            for option in extra_options(one):
                typed = _first(given, f"{one.name}.{option.name}")
                if typed:
                    found[option.name] = True if option.type is bool else typed
    return found


def _value(one: Parameter, given: Given) -> Any:
    kind = kind_of(one.annotation)
    if kind is not None and kind.ending:
        return side_file(one.name, kind.ending, given)
    if one.annotation is bool:
        return one.name in given
    typed = ", ".join(given.get(one.name, [])) if one.choices and _is_list(one.annotation) else _first(given, one.name)
    if _is_list(one.annotation):
        parts = [part.strip() for part in typed.split(",") if part.strip()]
        return parts if parts or one.name in given or one.choices else None
    if not typed:
        return None
    if one.annotation is int or (kind is not None and _WHOLE.fullmatch(typed)):
        return int(typed) if _WHOLE.fullmatch(typed) else typed
    if one.annotation is float:
        return float(typed) if _NUMBER.fullmatch(typed) else typed
    return typed


def _is_default(one: Parameter, value: Any) -> bool:
    return _shown(value) == _shown(one.default)


def side_file(name: str, ending: str, given: Given) -> Any:
    """Return a side file as jobs take it: an id, a sample, a text that makes one, or the values that were typed."""
    chosen, typed = _first(given, f"{name}.from"), _first(given, f"{name}.typed")
    if chosen.startswith("sample:"):
        return {"sample": chosen}
    what, _, number = chosen.partition(":")
    if what in ("file", "upload") and number:
        return {what: number}
    if chosen not in ("", TYPED):
        raise BadRequest(f"{name} is not one of the files to choose from; choose again")
    if not typed:
        return None
    return typed if _MADE.fullmatch(typed) else _READERS[ending](typed)


def _first(given: Given, name: str) -> str:
    return given.get(name, [""])[0].strip()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _itemsets(text: str) -> list[list[str]]:
    return [[part.strip() for part in row if part.strip()] for row in csv.reader(_lines(text))]


def _pairs(text: str) -> dict[str, str]:
    rows = [[part.strip() for part in row] for row in csv.reader(_lines(text))]
    for row in rows:
        if len(row) != 2 or not all(row):
            raise BadRequest(
                f"{', '.join(row)!r} is not an item and its group; type them with a comma between, one pair per line"
            )
    return dict(rows)


_READERS: Final[dict[str, Callable[[str], Any]]] = {".txt": _lines, ".jsonl": _itemsets, ".csv": _pairs}
"""What typed text means, by the extension of the file that it replaces."""


def _quoted(parts: Iterable[str]) -> str:
    return ", ".join(f'"{part}"' if "," in part else str(part) for part in parts)


_WRITERS: Final[dict[str, Callable[[Any], str]]] = {
    ".txt": "\n".join,
    ".jsonl": lambda value: "\n".join(map(_quoted, value)),
    ".csv": lambda value: "\n".join(_quoted(pair) for pair in value.items()),
}
