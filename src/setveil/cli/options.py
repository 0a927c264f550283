"""Options that several commands share, and options generated from declarations.

A command is a function. Its arguments are positional, its options are keyword-only, and each annotation carries the help text. Options
that belong together are the fields of a frozen dataclass, which the command takes as one parameter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from cyclopts import Parameter as CycloptsParameter

from setveil.base.translation import option_of
from setveil.cli.raw_arguments import named_in
from setveil.engines.blocks import BLOCK_RECORDS
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from setveil.base.declaration import Declaration, Parameter
    from setveil.data.records.transactions import Transactions


def about(text: str) -> CycloptsParameter:
    """Return the help text of an argument or an option, for its annotation."""
    return CycloptsParameter(help=text)


def about_separator(text: str) -> CycloptsParameter:
    r"""Return the help text of an option for a separator; `\t` in the shell is a tab, as messages write it."""
    return CycloptsParameter(
        help=text, converter=lambda _type, tokens: "\t" if tokens[0].value == r"\t" else tokens[0].value
    )


Value = str | bool
"""The value of a declared parameter: a text, which the declaration checks, or a flag."""
together = CycloptsParameter(name="*")
"""Marks a dataclass whose fields are options of the command that takes it."""

ForceOption = Annotated[bool, about("Replace existing output.")]
ThreadsOption = Annotated[
    int | None, about("Number of threads (default: all cores). The result does not depend on it.")
]
BlockRecordsOption = Annotated[
    int | None,
    about(
        f"Publish data of more records than this in blocks of this size (default: {BLOCK_RECORDS:,}). The result depends on it."
    ),
]
EngineOption = Annotated[
    Literal["local", "spark"],
    about("Where blocks are worked on: this machine, or a Spark cluster. The result does not depend on it."),
]
SparkRemoteOption = Annotated[
    str | None,
    about("With --engine spark: the address of the Spark Connect server (default: the variable SPARK_REMOTE)."),
]
SparkFolderOption = Annotated[
    str | None,
    about(
        "With --engine spark: a folder that all machines of the cluster reach, for blocks between steps (default: in its folder for "
        "tables). It holds original data: keep it private."
    ),
]
ScratchOption = Annotated[
    str | None,
    about(
        "Folder for temporary files of data larger than memory (default: the folder of the system, TMPDIR). A run that was killed resumes "
        "from it. It holds original data: keep it private."
    ),
]
DistinctLabelsOption = Annotated[
    bool,
    about(
        "Treat labels that look alike as different items, even if only one is named in a list or their categories differ."
    ),
]
ItemColumnOption = Annotated[
    str | None,
    about("Column of a side file that holds the items (default: item, or the one that matches the data)."),
]
SideEncodingOption = Annotated[
    str | None, about("Encoding of side files that are not UTF-8, such as cp1252 or utf-16.")
]
MeasureOption = Annotated[
    Literal["none", "quick", "full"] | None,
    about(
        "What to measure: nothing, what the summary shows and what costs little, or all metrics and the guarantee on the original."
    ),
]
MetricOption = Annotated[
    list[str] | None,
    about("A metric to compute in addition, NAME or NAME:parameter=value,...; can be repeated. See: setveil metrics."),
]
NamesOption = Annotated[
    str | None,
    about(
        "File with the columns item and name, sample:NAME or icd10cm: show names beside items that are codes. Names are never published."
    ),
]
ReleaseFolderOption = Annotated[str, about("The release folder to write.")]
PrivateFolderOption = Annotated[str | None, about("The private folder to write (default: OUT.private).")]


@together
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """How a command prints its result; every command has these options."""

    quiet: Annotated[bool, about("Print neither progress nor notes.")] = False
    json: Annotated[bool, about("Print the result as JSON on standard output; an error too.")] = False
    progress: Annotated[
        Literal["text", "json", "none"] | None,
        about("How to show progress on standard error (default: text). json: one event per line, for programs."),
    ] = None
    verbose: Annotated[
        bool, about("Also show how long each step took, the files that are opened and which loops are compiled.")
    ] = False
    log_file: Annotated[
        str | None,
        about("File to append steps, notes and the outcome to, with times. It holds no values of the data."),
    ] = None


@together
@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How to read the data."""

    format: Annotated[
        str | None,
        about("Format of the data (default: found in the file): basket | long | list | wide | matrix | attributes."),
    ] = None
    id: Annotated[str | None, about("Column with the id of the record (default: id).")] = None
    item: Annotated[
        str | None,
        about(
            "Column with the item, for data with one row per item (default: item). In JSON Lines, a path such as code.coding.code."
        ),
    ] = None
    items: Annotated[
        str | None,
        about(
            "Column with all items, for data with one row per record (default: items). Formats matrix and attributes: the columns to use, "
            "such as workclass,education (default: all)."
        ),
    ] = None
    separator: Annotated[
        str | None,
        about_separator(
            "What separates the items of a basket line or of a wide cell (default: blanks), or the columns of other CSV files "
            "(default: found in the file, otherwise a comma)."
        ),
    ] = None
    ragged: Annotated[
        bool, about("Read a CSV where each line is a list of items, without a header or, with --id, below one.")
    ] = False
    no_header: Annotated[
        bool,
        about("Read a CSV without a header, where each line is an id and an item. The columns are called 1, 2, ..."),
    ] = False
    encoding: Annotated[
        str | None, about("Character encoding of a text file, such as cp1252, latin-1 or utf-16 (default: utf-8).")
    ] = None
    query: Annotated[
        str | None,
        about('Query for a database, such as "SELECT customer AS id, product AS item FROM sales ORDER BY 1".'),
    ] = None
    missing: Annotated[
        Literal["error", "drop"], about("Refuse missing items (empty cells and nulls), or drop them.")
    ] = "error"
    empty: Annotated[Literal["keep", "drop"], about("Keep or drop records without items.")] = "keep"
    unit: Annotated[
        Literal["person", "record"] | None,
        about(
            "person: each record is one person; record: a person can have several records (default: record, except for samples)."
        ),
    ] = None
    person: Annotated[str | None, about("Column with the id of the person; short for --id COLUMN --unit person.")] = (
        None
    )

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by their names in `setveil.read`."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}


@dataclass(frozen=True)
class Option:
    """An option for a declared parameter."""

    name: str
    kind: Any
    help: str
    default: Any = None

    def parameter(self) -> inspect.Parameter:
        """Return the option as a parameter of a command."""
        kind: Any = self.kind | None
        annotation: Any = Annotated[kind, about(self.help)]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=self.default)


@dataclass(frozen=True)
class Declared:
    """Annotates the `**parameters` of a command: the options that a method, guarantee or metric declares."""

    kinds: type[Declaration] | Mapping[str, type[Declaration]] | Callable[[], list[Option]]
    """A declaration, a table of declarations from which the option `after` selects one, or a function that returns options."""
    after: str
    """The parameter of the command that these options follow on the help page."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Defaults for parameters that the declaration requires."""

    def options(self, arguments: list[str], *, every: bool = False) -> list[Option]:
        """Return the options of the declaration that the command line selects, or those of all declarations."""
        from setveil.catalog import named  # noqa: PLC0415 - only for commands that declare something

        if isinstance(self.kinds, Mapping) and every:
            options = list({one.name: one for kind in self.kinds.values() for one in of_declaration(kind)}.values())
        elif isinstance(self.kinds, Mapping):
            name = named_in(arguments, f"--{self.after}")
            options = of_declaration(named(self.after, self.kinds, name)) if name else []
        else:
            options = of_declaration(self.kinds) if isinstance(self.kinds, type) else self.kinds()
        return [Option(one.name, one.kind, one.help, self.defaults.get(one.name, one.default)) for one in options]


def of_declaration(kind: type[Declaration]) -> list[Option]:
    """Return the parameters of a method, guarantee or metric as options; all values are texts, which the declaration checks."""
    options: dict[str, Option] = {}
    for p in kind.parameters():
        default = "required" if p.required else f"default: {p.default_text}"
        options |= of_parameter(p, f"{p.description} ({p.allowed}; {default})")
    for former, name in kind.renamed.items():
        options[former] = Option(former, str, f"Former name of {option_of(name)}, accepted until version 0.3.")
    return list(options.values())


def of_parameter(parameter: Parameter, text: str) -> dict[str, Option]:
    """Return the option of a parameter, and the options for reading it, such as a column of its file, by name."""
    from setveil.parameters import extra_options  # noqa: PLC0415 - only commands with declared parameters need it

    beside = {one.name: Option(one.name, one.type, one.help, one.default) for one in extra_options(parameter)}
    return {parameter.name: Option(parameter.name, str, text)} | beside


def metrics_given(measure: str | None, metric: list[str] | None) -> list[str]:
    """Return what the options --measure and --metric choose."""
    return [*([] if measure is None else [measure]), *(metric or [])]


def refuse_negative(**numbers: int) -> None:
    """Refuse a negative count."""
    for name, number in numbers.items():
        if number < 0:
            raise BadParameter(f"{name.replace('_', '-')} is {number}; allowed is a whole number of at least 0")


def signature_of(command: Callable[..., Any], arguments: list[str], *, every: bool = False) -> inspect.Signature:
    """Return the signature of a command for these arguments, including its declared options; with `every`, of all declarations."""
    parameters = []
    declared = declared_of(command)
    for one in inspect.signature(command, eval_str=True).parameters.values():
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        if _has_defaults(one.annotation):
            parameters.append(one.replace(default=one.annotation()))
        else:
            parameters.append(one)
    if declared is not None:
        place = 1 + [one.name for one in parameters].index(declared.after)
        parameters[place:place] = [option.parameter() for option in declared.options(arguments, every=every)]
    return inspect.Signature(parameters)


def declared_of(command: Callable[..., Any]) -> Declared | None:
    """Return the declaration of a command's further options, if it has any."""
    annotations = [one.annotation for one in inspect.signature(command, eval_str=True).parameters.values()]
    return next((about for one in annotations for about in get_args(one) if isinstance(about, Declared)), None)


def _has_defaults(kind: Any) -> bool:
    """Return whether this is a group of optional options, for which cyclopts needs a default value."""
    return is_dataclass(kind) and all(one.default is not MISSING for one in fields(kind))


def declared(kind: type[Declaration], given: Mapping[str, Any], data: Transactions | None) -> Any:
    """Create a method, guarantee or metric from its options."""
    from setveil.parameters import from_texts  # noqa: PLC0415 - not for --help

    return from_texts(kind, given, data=data, separator=list_separator(given))


def list_separator(given: Mapping[str, Any]) -> str | None:
    """Return the separator of items in list files that are given with the data."""
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
