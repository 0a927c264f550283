"""Descriptions of methods for people and machines, generated from their declarations: what `setveil methods NAME` shows."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from setveil.base.help_pages import citation, example_lines
from setveil.catalog import METHODS
from setveil.methods.base import SOMETIMES_NONE, TRUTHFUL_TEXTS, Method
from setveil.parameters import CommandExample, kind_of
from setveil.presence.tables.joined_table import JoinedTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.base.declaration import Declaration, Parameter
    from setveil.presence.methods.base import JoiningMethod

NO_GUARANTEE: Final = "none: a baseline"
SAMPLE: Final = "sample:supermarket"
JOINED_TRUTHFUL_TEXT: Final = (
    "Yes: every row is a common user of both providers, with intervals that contain the true values."
)
_TRIAL_OPTIONS: Final = (("population", "trial/population.csv"), ("policy", "trial/policy.toml"))


@dataclass(frozen=True)
class GuaranteeFact:
    """A guarantee that a method gives, in one sentence."""

    name: str
    summary: str


@dataclass(frozen=True)
class FileFact:
    """A parameter that is given as a file."""

    parameter: str
    content: str
    required: bool = True

    def __str__(self) -> str:
        return f"{self.parameter}: {self.content}{'' if self.required else ' (optional)'}"


TRIAL_FILES: Final = (
    FileFact("a", "the table of provider A"),
    FileFact("b", "the table of provider B"),
    FileFact("population", "a list of all people whom the providers could have"),
    FileFact("policy", "the policy that both providers and the collector agree on"),
)
"""What a method of joined tables reads in a trial, beside its parameters."""


@dataclass(frozen=True)
class MethodDescription:
    """What a person needs to know to choose a method and to run it."""

    title: str
    guarantees: tuple[GuaranteeFact, ...]
    """Empty for a baseline."""
    sometimes_none: bool
    """Whether some settings or some data have no guarantee."""
    form_title: str
    files: tuple[FileFact, ...]
    truthful_text: str
    example: tuple[CommandExample, ...]
    """Commands that work as printed, in their order."""
    python: tuple[str, ...]
    page: str
    citation: str

    @property
    def guarantee_text(self) -> str:
        """The guarantees with one sentence each, or that there is none."""
        if not self.guarantees:
            return NO_GUARANTEE
        exception = SOMETIMES_NONE if self.sometimes_none else ""
        return " ".join(f"{one.name}: {one.summary}" for one in self.guarantees) + exception

    @property
    def files_text(self) -> str:
        """The files to give, or `none`."""
        return "; ".join(map(str, self.files)) or "none"

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain values, except the example, which the command line writes as text."""
        return {name: value for name, value in asdict(self).items() if name != "example"}


def describe_method(kind: type[Method | JoiningMethod]) -> MethodDescription:
    """Describe a method of records or of joined tables.

    >>> from setveil.methods.disassociation.disassociation import Disassociation
    >>> found = describe_method(Disassociation)
    >>> found.form_title, found.page
    ('disassociated data', 'docs/methods/disassociation.md')
    >>> found.example[0].options
    (('method', 'disassociation'), ('k', '3'), ('m', '2'), ('out', 'release'))
    """
    if issubclass(kind, Method):
        guarantees, sometimes_none = kind.declared_guarantees()
        form_title, truthful_text = kind.form.form_title, TRUTHFUL_TEXTS[kind.truthful]
        files, example = _files_of(kind.parameters()), _publish_commands(kind)
    else:
        guarantees, sometimes_none = [type(one) for one in _with_examples(kind).guarantees], False
        form_title, truthful_text = JoinedTable.form_title, JOINED_TRUTHFUL_TEXT
        files = TRIAL_FILES
        example = (
            CommandExample("presence sample", options=(("out", "trial"),)),
            CommandExample(
                "presence compare", ("trial/a.csv", "trial/b.csv"), (*_TRIAL_OPTIONS, ("methods", kind.name))
            ),
        )
    return MethodDescription(
        title=kind.title,
        guarantees=tuple(GuaranteeFact(one.name, one.summary()) for one in guarantees),
        sometimes_none=sometimes_none,
        form_title=form_title,
        files=files,
        truthful_text=truthful_text,
        example=example,
        python=tuple(example_lines(kind)),
        page=f"docs/methods/{kind.name}.md",
        citation=citation(kind.paper),
    )


def _files_of(parameters: Iterable[Parameter]) -> tuple[FileFact, ...]:
    """Return the parameters that are given as files, the required ones first."""
    found = []
    for one in parameters:
        value_kind = kind_of(one.annotation)
        if value_kind is not None and value_kind.ending:
            found.append(FileFact(one.name, value_kind.allowed_text, one.required))
    return tuple(sorted(found, key=lambda one: not one.required))


def _publish_commands(kind: type[Method]) -> tuple[CommandExample, ...]:
    """Return the commands that publish with the required parameters, after those that make what they read."""
    before: list[CommandExample] = []
    source, out = SAMPLE, "release"
    if kind.accepts != Method.accepts:  # it takes a release of another method
        maker = next(one for one in METHODS.values() if one.form in kind.accepts)
        before += _publish_commands(maker)
        source, out = "release", "again"
    options: list[tuple[str, str | bool]] = [("method", kind.name)]
    for one in _required(kind):
        value_kind = kind_of(one.annotation)
        if value_kind is not None and value_kind.example_command is not None:
            before.append(value_kind.example_command)
        options.append((one.name, _typed_example(one)))
    if not kind.declared_guarantees()[0]:
        options.append(("no_guarantee", True))
    return (*before, CommandExample("publish", (source,), (*options, ("out", out))))


def _required(kind: type[Declaration]) -> list[Parameter]:
    return [one for one in kind.parameters() if one.required]


def _typed_example(parameter: Parameter) -> str:
    """Return an example value as a person types it on the command line."""
    value_kind = kind_of(parameter.annotation)
    typed = "" if value_kind is None else value_kind.option_example
    return typed or str(literal_eval(parameter.example))


def _with_examples(kind: type[JoiningMethod]) -> JoiningMethod:
    """Return a method with the example values of its required parameters."""
    return kind(**{one.name: literal_eval(one.example) for one in _required(kind)})
