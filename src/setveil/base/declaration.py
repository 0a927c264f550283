"""Declarations: the base class of methods, guarantees and metrics.

A declaration is a frozen pydantic model. Each field has limits, a description and a public flag. From these setveil generates the errors of
the constructor, the command-line options, the job file, the web form, the tables in the docs and the parameters on the card.
"""

from __future__ import annotations

from collections.abc import Sized
from inspect import cleandoc
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticUndefined

from setveil.base import progress
from setveil.errors import BadParameter, closest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pydantic._internal._model_construction import ModelMetaclass
    from pydantic_core import ErrorDetails
else:
    ModelMetaclass = type(BaseModel)  # pydantic does not export it


def parameter(default: Any = ..., *, public: bool, description: str, inferable: bool = False, **limits: Any) -> Any:
    """Declare a parameter of a method, guarantee or metric.

    `public` says whether the card of a release may show its value. `inferable` marks a private parameter that the released data reveal
    anyway, in whole or in part; the card and the help pages say so.
    """
    return Field(
        default, description=description, json_schema_extra={"public": public, "inferable": inferable}, **limits
    )


def split_commas(value: Any) -> Any:
    """Split a comma-separated text into a tuple, for tuple parameters given on the command line."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


class DeclarationType(ModelMetaclass):
    """The metaclass of declarations: generates their help pages on request."""

    @property
    def __doc__(self) -> str:  # type: ignore[override] # a str, but not a constant
        """Return the help page; for a class without a name, its own docstring."""
        from setveil.base.help_pages import help_page  # noqa: PLC0415 - only needed for help

        kind = cast("type[Declaration]", self)
        return help_page(kind) if kind.name else kind.own_docstring()

    def __dir__(self) -> list[str]:
        """Return the public names without those of every pydantic model, so that help pages stay short."""
        return [name for name in super().__dir__() if not name.startswith("_") and not hasattr(BaseModel, name)]


class Declaration(BaseModel, metaclass=DeclarationType):
    """A configured method, guarantee or metric: immutable, comparable and stored as JSON. The constructor refuses invalid values."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: ClassVar[str] = ""
    """The name on the command line."""
    removed: ClassVar[dict[str, str]] = {}
    """Removed parameters, each with the reason."""
    renamed: ClassVar[dict[str, str]] = {}
    """Former names of parameters and their current names; accepted with a note until version 0.3."""
    example_lines: ClassVar[tuple[str, ...]] = ("{call}",)
    """The example on the help page; `{call}` is replaced by a constructor call with the required parameters."""

    def __init__(self, **values: Any) -> None:
        for former, name in self.renamed.items():
            if former in values:
                progress.note(
                    f"{self.name}: {former} is now called {name}; the former name is accepted until version 0.3"
                )
        values = self.with_current_names(values)
        self._refuse_truth_values(values)
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _refusal(type(self), error.errors(include_url=False)) from None

    @classmethod
    def refuse_values(cls, values: Mapping[str, Any], *, later: Collection[str]) -> None:
        """Refuse invalid values, as the constructor does; the parameters in `later` are given later, such as from files."""
        given = cls.with_current_names(values)
        cls._refuse_truth_values(given)
        try:
            cls.__pydantic_validator__.validate_python(given, self_instance=cls.__new__(cls))
        except ValidationError as error:
            wrong = [
                one
                for one in error.errors(include_url=False)
                if not later or (one["loc"] and one["loc"][0] not in later)
            ]
            if wrong:
                raise _refusal(cls, wrong) from None

    @classmethod
    def _refuse_truth_values(cls, values: Mapping[str, Any]) -> None:
        """Refuse True and False for numbers."""
        for name, value in values.items():
            field = cls.model_fields.get(name)
            if isinstance(value, bool) and field is not None and _is_number(field.annotation):
                allowed = Parameter(cls, name).allowed
                message = f"{cls.name}: {name} is {value}; allowed is {allowed}"
                raise BadParameter(message, parameter=name, given=str(value), allowed=allowed)

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a class with a parameter that does not declare `public`."""
        super().__pydantic_init_subclass__(**options)
        cls.parameters()

    @classmethod
    def with_current_names(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values with former parameter names replaced by current ones."""
        for former, name in cls.renamed.items():
            if former in values and name in values:
                raise BadParameter(f"{cls.name}: {former} is the former name of {name}; give {name} only")
        return {cls.renamed.get(name, name): value for name, value in values.items()}

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """Return the parameters, for help texts, forms and docs."""
        return [Parameter(cls, name) for name in cls.model_fields]

    def public_parameters(self) -> dict[str, Any]:
        """Return the values of the public parameters, as JSON values."""
        everything = self.model_dump(mode="json")
        return {p.name: everything[p.name] for p in self.parameters() if p.public}

    def private_parameters(self) -> dict[str, Any]:
        """Return the values of the private parameters, as JSON values."""
        everything = self.model_dump(mode="json")
        return {p.name: everything[p.name] for p in self.parameters() if not p.public}

    @classmethod
    def inferable_parameters(cls) -> tuple[str, ...]:
        """Return the names of the private parameters that the released data reveal."""
        return tuple(p.name for p in cls.parameters() if p.inferable)

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring."""
        return cls.own_docstring().splitlines()[0]

    @classmethod
    def own_docstring(cls) -> str:
        """Return the docstring written in the class; `__doc__` is the generated help page."""
        return cleandoc(cls.__dict__["__doc__"] or "")

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Return further sections of the help page: headings with paragraphs."""
        return {}


class Parameter:
    """A parameter of a declaration, as help texts and forms show it."""

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
        self.rules = field.metadata
        self._examples = field.examples

    @property
    def allowed(self) -> str:
        """A description of the allowed values."""
        return ", ".join(filter(None, [_type_name(self.annotation), " and ".join(self.limits)]))

    @property
    def choices(self) -> list[str]:
        """The allowed values, if there is a list of them."""
        kinds = [self.annotation, *get_args(self.annotation)]
        return [str(one) for kind in kinds if get_origin(kind) is Literal for one in get_args(kind)]

    @property
    def limits(self) -> list[str]:
        """The limits of a number, such as `at least 2`."""
        return [
            f"{words} {getattr(rule, key):,}"
            for rule in self.rules
            for key, words in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than"))
            if getattr(rule, key, None) is not None
        ]

    @property
    def visibility(self) -> str:
        """A sentence about what recipients of a release see of the value."""
        if self.public:
            return "Public."
        revealed = (
            " The released data reveal the value of this parameter in whole or in part." if self.inferable else ""
        )
        return f"Private: not on the card.{revealed}"

    @property
    def example(self) -> str:
        """An example value as Python code, from the parameter or from its kind."""
        return repr(self._examples[0]) if self._examples else str(getattr(self.annotation, "example", "..."))

    @property
    def default_text(self) -> str:
        """The default value as typed on the command line."""
        if self.default is None and not self.required:
            return "none"
        if isinstance(self.default, Sized) and not len(self.default):
            return "none"
        if isinstance(self.default, tuple):
            return ",".join(map(str, self.default))
        return str(self.default).lower() if isinstance(self.default, bool) else str(self.default)


def _is_number(annotation: Any) -> bool:
    """Return whether a parameter is a number; such a parameter must refuse True and False, which Python treats as 1 and 0."""
    kinds = get_args(annotation) or (annotation,)
    return bool not in kinds and (int in kinds or float in kinds)


def _type_name(annotation: Any) -> str:
    origin = get_origin(annotation)
    if annotation is bool:
        return "true or false"
    if annotation is int:
        return "a whole number"
    if annotation is float:
        return "a number"
    if annotation is str:
        return "a text"
    if origin in (Union, UnionType):  # None means that the parameter is optional
        return " or ".join(_type_name(one) for one in get_args(annotation) if one is not type(None))
    if origin is tuple:
        return "a comma-separated list of " + _type_name(get_args(annotation)[0])
    if origin is not None and str(origin).endswith("Literal"):
        return " | ".join(map(str, get_args(annotation)))
    words = getattr(annotation, "allowed_text", None)
    return words if isinstance(words, str) else getattr(annotation, "__name__", str(annotation))


def no_such_parameter(owner: type[Declaration], name: str) -> BadParameter:
    """Return the error for a parameter that a method, guarantee or metric does not have."""
    known = [p.name for p in owner.parameters()]
    why = f", which was removed: {owner.removed[name]}" if name in owner.removed else ""
    near = None if why else closest(name, known)
    message = f"{owner.name} has no parameter {name!r}{why}; its parameters are: {', '.join(known) or 'none'}"
    return BadParameter(message, parameter=name, allowed=known, suggestion=near)


def _refusal(owner: type[Declaration], errors: Sequence[ErrorDetails]) -> BadParameter:
    """Return the first error of pydantic as one sentence: the given value and what is allowed.

    An unknown parameter comes first: a required one that is missing was probably misspelt.
    """
    first = min(errors, key=lambda one: one["type"] != "extra_forbidden")
    place = str(first["loc"][0]) if first["loc"] else ""
    known = {p.name: p for p in owner.parameters()}
    if first["type"] == "extra_forbidden":
        return no_such_parameter(owner, place)
    why = str(first["msg"]).removeprefix("Value error, ")
    if place not in known:
        return BadParameter(f"{owner.name}: {why}")
    parameter_ = known[place]
    allowed = parameter_.allowed
    if first["type"] == "missing":
        message = f"{owner.name} needs `{place}=`: {parameter_.description} Allowed is {allowed}"
        return BadParameter(message, parameter=place, allowed=allowed)
    if first["type"] == "value_error":
        return BadParameter(f"{owner.name}: {place}: {why}", parameter=place, allowed=allowed)
    given = first["input"]
    near = closest(given, parameter_.choices) if isinstance(given, str) else None
    message = f"{owner.name}: {place} is {_shown(given)}; allowed is {allowed}"
    choices = parameter_.choices or allowed
    return BadParameter(message, parameter=place, given=_text(given), allowed=choices, suggestion=near)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _shown(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
