"""Options, declared once and put together to commands."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter as CycloptsParameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from setveil.base.declaration import Declaration
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
LEVEL = Option(
    "level",
    str,
    "Level of the taxonomy in --categories, its column or, in an item,parent file, its number from the top; several, "
    "separated by commas, are joined to a path.",
)
LEVELS = Option(
    "levels",
    str,
    "Columns of --hierarchy to take, from the most specific to the most general, separated by commas (default: all as they stand).",
)
PATHS = Option(
    "paths", bool, "Name the nodes of --hierarchy by their paths, where one name stands in several places.", False
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
    options = []
    for p in kind.parameters():
        default = "required" if p.required else f"default: {p.default_text}"
        options.append(Option(p.name, str, f"{p.description} ({p.allowed}; {default})"))
        if p.name == "categories":
            options.append(LEVEL)
        if p.name == "hierarchy":
            options += [LEVELS, PATHS]
    for former, name in kind.renamed.items():
        option = "--" + name.replace("_", "-")
        options.append(Option(former, str, f"Former name of {option}, accepted until version 0.3."))
    return options


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
    from setveil.parameters.categories import read_categories  # noqa: PLC0415 - not for --help
    from setveil.parameters.hierarchy_files import read_hierarchy  # noqa: PLC0415 - the same
    from setveil.parameters.sensitive_items import read_sensitive  # noqa: PLC0415 - the same

    names = [*(p.name for p in kind.parameters()), *kind.renamed]
    values = {name: given[name] for name in names if given.get(name) is not None}
    if "categories" in values:
        values["categories"] = read_categories(values["categories"], level=given.get("level"), data=data)
    for name in ("itemsets", "rules"):
        if name in values:
            values[name] = named_itemsets(values[name], given)
    if "sensitive" in values:
        values["sensitive"] = read_sensitive(values["sensitive"])
    if "hierarchy" in values:
        paths = bool(given.get("paths"))
        values["hierarchy"] = read_hierarchy(values["hierarchy"], levels=given.get("levels"), paths=paths)
    return kind(**values)


def named_itemsets(
    file: str, given: Mapping[str, Any], data: Transactions | None = None
) -> tuple[tuple[str, ...], ...]:
    """Read a file of itemsets, whose items are separated as those of the data are."""
    from setveil.parameters.named_itemsets import read_itemsets  # noqa: PLC0415 - not for --help

    separator = given.get("separator")
    return read_itemsets(file, data, separator=separator if separator and _separates_items(given) else None)


def _separates_items(given: Mapping[str, Any]) -> bool:
    """Tell whether --separator stands between items; where all that is read is long, it stands between columns."""
    from setveil.data.formats import Layout  # noqa: PLC0415 - not for --help
    from setveil.data.reading.source import source_format  # noqa: PLC0415 - the same

    sources = [(given[place], given.get("format")) for place in ("data", "original") if given.get(place)]
    release = given.get("release")
    if release and not Path(release).is_dir():  # a folder has a card, which says how it is read
        sources.append((release, given["release_format" if "release_format" in given else "format"]))
    layout = Layout.chosen(given)
    return not sources or any(source_format(place, form, layout).name != "long" for place, form in sources)
