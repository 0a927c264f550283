"""One declaration, many faces: the base of methods, guarantees and metrics.

A declaration is a frozen pydantic model. Its fields carry limits, a description and whether they are public, and from these come the
constructor's errors, the command-line options, the job file, the web form, the tables of the docs and what the card may say.
"""

from __future__ import annotations

from inspect import cleandoc
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticUndefined

from setveil.base import progress
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # pydantic does not publish its name


def parameter(default: Any = ..., *, public: bool, description: str, inferable: bool = False, **limits: Any) -> Any:
    """Declare a parameter; `public` says whether it may stand on the card of a release.

    `inferable` says of one that may not that the data of a release show it all the same, in whole or in part: card and pages say so.
    """
    return Field(
        default, description=description, json_schema_extra={"public": public, "inferable": inferable}, **limits
    )


def split_commas(value: Any) -> Any:
    """Let a tuple parameter be given as one comma-separated text, as on the command line."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


class DeclarationType(ModelMetaclass):
    """The type of declarations: makes their help pages when somebody asks for one."""

    @property
    def __doc__(self) -> str:  # type: ignore[override] # it is a str, only not a constant
        """Return the page that `help` shows; of a class without a name, what it says of itself."""
        from setveil.base.help_pages import help_page  # noqa: PLC0415 - only when somebody asks for help

        kind = cast("type[Declaration]", self)
        return help_page(kind) if kind.name else kind.own_docstring()

    def __dir__(self) -> list[str]:
        """List the public names of the declaration, without those that every pydantic model has: help pages stay short."""
        return [name for name in super().__dir__() if not name.startswith("_") and not hasattr(BaseModel, name)]


class Declaration(BaseModel, metaclass=DeclarationType):
    """A recipe: printable, comparable, JSON; wrong values are refused when it is made, in one sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: ClassVar[str] = ""
    """The name on the command line."""
    removed: ClassVar[dict[str, str]] = {}
    """Parameters that earlier versions had, each with why it was removed."""
    renamed: ClassVar[dict[str, str]] = {}
    """Former names of parameters, each with the name that it has now; they are accepted, with a note, until version 0.3."""
    example_lines: ClassVar[tuple[str, ...]] = ("{call}",)
    """The example on the help page; `{call}` becomes the call that makes one, with its required parameters."""

    def __init__(self, **values: Any) -> None:
        for former, name in self.renamed.items():
            if former in values:
                progress.note(
                    f"{self.name}: {former} is now called {name}; the former name is accepted until version 0.3"
                )
        values = self.with_current_names(values)
        for name, value in values.items():
            field = type(self).model_fields.get(name)
            if isinstance(value, bool) and field is not None and _is_number(field.annotation):
                allowed = Parameter(type(self), name).allowed
                raise BadParameter(f"{self.name}: {name} is {value}; allowed is {allowed}")
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise BadParameter(_sentence(type(self), error)) from None

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a class with a parameter that does not say whether it is public."""
        super().__pydantic_init_subclass__(**options)
        cls.parameters()

    @classmethod
    def with_current_names(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values of parameters, those with a former name under the name that they have now."""
        for former, name in cls.renamed.items():
            if former in values and name in values:
                raise BadParameter(f"{cls.name}: {former} is the former name of {name}; give {name} only")
        return {cls.renamed.get(name, name): value for name, value in values.items()}

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return what can be set, for help texts, forms and docs."""
        return [Parameter(cls, name) for name in cls.model_fields]

    def public_parameters(self) -> dict[str, Any]:
        """Return the values that may be handed over."""
        everything = self.model_dump(mode="json")
        return {p.name: everything[p.name] for p in self.parameters() if p.public}

    def private_parameters(self) -> dict[str, Any]:
        """Return the values that may not be handed over."""
        everything = self.model_dump(mode="json")
        return {p.name: everything[p.name] for p in self.parameters() if not p.public}

    @classmethod
    def inferable_parameters(cls) -> tuple[str, ...]:
        """Return the names of the private parameters that the data of a release show all the same."""
        return tuple(p.name for p in cls.parameters() if p.inferable)

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the class's description."""
        return cls.own_docstring().splitlines()[0]

    @classmethod
    def own_docstring(cls) -> str:
        """Return what is written in the class; `__doc__` is the whole help page."""
        return cleandoc(cls.__dict__["__doc__"] or "")

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Return what this kind of declaration adds to its help page, as headings with paragraphs."""
        return {}


class Parameter:
    """One field of a declaration, as people see it."""

    def __init__(self, owner: type[Declaration], name: str) -> None:
        field = owner.model_fields[name]
        extra = field.json_schema_extra
        if not isinstance(extra, dict) or "public" not in extra:
            raise TypeError(f"{owner.__name__}.{name} does not declare whether it is public")
        self.name = name
        self.public = bool(extra["public"])
        self.inferable = bool(extra["inferable"])
        self.description = field.description or ""
        self.required = field.is_required()
        self.annotation = field.annotation
        self.default = None if field.default is PydanticUndefined else field.default
        self._metadata = field.metadata
        self._examples = field.examples

    @property
    def allowed(self) -> str:
        """Say in words what may be given."""
        return " and ".join([_type_in_words(self.annotation), *self.limits])

    @property
    def limits(self) -> list[str]:
        """Return the limits of a number in words."""
        return [
            f"{words} {getattr(rule, key)}"
            for rule in self._metadata
            for key, words in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than"))
            if getattr(rule, key, None) is not None
        ]

    @property
    def example(self) -> str:
        """Return a value as Python code: the one that the parameter gives as an example, or that of its kind."""
        return repr(self._examples[0]) if self._examples else str(getattr(self.annotation, "example", "..."))

    @property
    def default_text(self) -> str:
        """Return the default as a person would type it."""
        if self.default is None and not self.required:
            return "none"
        if isinstance(self.default, tuple):
            return ",".join(map(str, self.default)) or "none"
        return str(self.default).lower() if isinstance(self.default, bool) else str(self.default)


def _is_number(annotation: Any) -> bool:
    """Tell whether a parameter is a number, for which true and false would pass as 1 and 0."""
    kinds = get_args(annotation) or (annotation,)
    return bool not in kinds and (int in kinds or float in kinds)


def _type_in_words(annotation: Any) -> str:
    origin = get_origin(annotation)
    if annotation is bool:
        return "true or false"
    if annotation is int:
        return "a whole number"
    if annotation is float:
        return "a number"
    if annotation is str:
        return "a text"
    if origin in (Union, UnionType):  # what may be left out is None then
        return " or ".join(_type_in_words(one) for one in get_args(annotation) if one is not type(None))
    if origin is tuple:
        return "a comma-separated list of " + _type_in_words(get_args(annotation)[0])
    if origin is not None and str(origin).endswith("Literal"):
        return " | ".join(map(str, get_args(annotation)))
    words = getattr(annotation, "in_words", None)
    return words if isinstance(words, str) else getattr(annotation, "__name__", str(annotation))


def _sentence(owner: type[Declaration], error: ValidationError) -> str:
    """Turn pydantic's first complaint into one sentence: what was given, what is allowed."""
    first = error.errors(include_url=False)[0]
    place = str(first["loc"][0]) if first["loc"] else ""
    known = {p.name: p for p in owner.parameters()}
    if first["type"] == "extra_forbidden":
        allowed = ", ".join(known) or "none"
        why = f", which was removed: {owner.removed[place]}" if place in owner.removed else ""
        return f"{owner.name} has no parameter {place!r}{why}; its parameters are: {allowed}"
    if place not in known:
        return f"{owner.name}: {str(first['msg']).removeprefix('Value error, ')}"
    parameter_ = known[place]
    if first["type"] == "missing":
        return f"{owner.name} needs {place}: {parameter_.description}"
    if first["type"] == "value_error":
        return f"{owner.name}: {place}: {str(first['msg']).removeprefix('Value error, ')}"
    return f"{owner.name}: {place} is {_shown(first['input'])}; allowed is {parameter_.allowed}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
