"""Options, declared once and put together to commands."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter as CycloptsParameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setveil.base.declaration import Declaration, Parameter
    from setveil.data.records.transactions import Transactions

REQUIRED = object()


@dataclass(frozen=True)
class Option:
    """One option or argument of a command."""

    name: str
    kind: Any
    help: str
    default: Any = None
    argument: bool = False

    def parameter(self) -> inspect.Parameter:
        """Return it as cyclopts wants it: always by name unless it is an argument."""
        shown = self.default is not None and self.default is not REQUIRED and self.default is not False
        described = CycloptsParameter(help=self.help, show_default=shown, negative="")
        place = inspect.Parameter.POSITIONAL_ONLY if self.argument else inspect.Parameter.KEYWORD_ONLY
        default = inspect.Parameter.empty if self.default is REQUIRED else self.default
        kind = self.kind if self.default is REQUIRED else self.kind | None
        return inspect.Parameter(self.name, place, annotation=Annotated[kind, described], default=default)


def argument(name: str, text: str, *, default: Any = REQUIRED) -> Option:
    """Declare an argument, given by place."""
    return Option(name, str, text, default, argument=True)


READING = (
    Option("format", str, "Format of the data, where the extension does not tell: basket | long | list | wide."),
    Option("id", str, "Column that names the record (default: id)."),
    Option("item", str, "Column with one item, of data with a row an item (default: item)."),
    Option("items", str, "Column with all items of a record, of data with a row a record (default: items)."),
    Option(
        "separator",
        str,
        "What separates the items of a basket line or of a wide cell (default: blanks), or the columns of a long CSV (default: a comma).",
    ),
    Option("ragged", bool, "A CSV without header, whose lines are lists of items.", default=False),
    Option(
        "query", str, 'What to ask a database, such as "SELECT customer AS id, product AS item FROM sales ORDER BY 1".'
    ),
    Option("empty", Literal["keep", "drop"], "What to do with records without an item.", "keep"),
    Option(
        "unit",
        Literal["person", "record"],
        "Whether a record is a person, or a record of which a person may have several (default, except for samples: record).",
    ),
    Option("person", str, "Column that names the person; short for --id COLUMN --unit person."),
)
DISTINCT_LABELS = Option(
    "distinct_labels",
    bool,
    "Labels that look alike are different items, even if one is named in a list or they have different categories.",
    default=False,
)
QUIET = Option("quiet", bool, "No progress and no notes.", False)
JSON = Option("json", bool, "Print the result as JSON on standard output.", False)
THREADS = Option("threads", int, "How many threads to use (default: all cores). Results do not depend on it.")
FORCE = Option("force", bool, "Replace what is there.", False)


def of_declaration(kind: type[Declaration]) -> list[Option]:
    """Return a method's, guarantee's or metric's parameters as options; all are texts, which the declaration itself checks."""
    options: dict[str, Option] = {}
    for p in kind.parameters():
        default = "required" if p.required else f"default: {p.default_text}"
        options |= of_parameter(p, f"{p.description} ({p.allowed}; {default})")
    for former, name in kind.renamed.items():
        option = "--" + name.replace("_", "-")
        options[former] = Option(former, str, f"Former name of {option}, accepted until version 0.3.")
    return list(options.values())


def of_parameter(parameter: Parameter, text: str) -> dict[str, Option]:
    """Return a parameter as an option, and what can be said about how to read it as others, by name."""
    from setveil.parameters import extra_options  # noqa: PLC0415 - only commands with declared parameters need it

    beside = {one.name: Option(one.name, one.type, one.help, one.default) for one in extra_options(parameter)}
    return {parameter.name: Option(parameter.name, str, text)} | beside


def signature(options: Iterable[Option]) -> inspect.Signature:
    """Return the signature of a command."""
    ordered = sorted(options, key=lambda option: not option.argument)
    return inspect.Signature([option.parameter() for option in ordered])


def named_in(arguments: list[str], option: str) -> str | None:
    """Look up an option's value before parsing: `--method` decides which other options there are."""
    for i, text in enumerate(arguments):
        if text == option and i + 1 < len(arguments):
            return arguments[i + 1]
        if text.startswith(option + "="):
            return text.partition("=")[2]
    return None


def reading_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading options that were given."""
    return {option.name: given[option.name] for option in READING if given[option.name] != option.default}


def declared(kind: type[Declaration], given: Mapping[str, Any], data: Transactions | None) -> Any:
    """Make a method, guarantee or metric from its options."""
    from setveil.parameters import from_texts  # noqa: PLC0415 - not for --help

    return from_texts(kind, given, data=data, separator=list_separator(given))


def list_separator(given: Mapping[str, Any]) -> str | None:
    """Return what separates the items of lists that are given beside the data."""
    from setveil.data.formats import Layout  # noqa: PLC0415 - the same
    from setveil.data.reading import source  # noqa: PLC0415 - not for --help

    if not given.get("separator"):
        return None
    format_of = {"data": "format", "original": "format", "release": "release_format"}
    files = [
        (given[place], given[form] if form in given else given.get("format"))
        for place, form in format_of.items()
        if given.get(place)
    ]
    return source.list_separator(given["separator"], files, Layout.chosen(given))
