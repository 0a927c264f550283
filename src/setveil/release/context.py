"""The context of a release: the answers to seven questions about who gets it, what it must hide and what it is for.

`advise` recommends set-ups from it, and the dossier of a release keeps it. The questions and answers are declared here once: options,
prompts, messages and reports show these texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from setveil.base.arguments import describe
from setveil.base.atomic import make_file, refuse_file
from setveil.base.declaration import Declaration, parameter, split_commas
from setveil.data.files.toml_files import parse_toml, read_settings
from setveil.errors import BadData, BadParameter, InputError, Missing, OutputRefused
from setveil.release import CARD_NAME

if TYPE_CHECKING:
    from typing import Self

EXPECTED = "a file with the answers to the questions of advise"
HIDDEN = Literal["identity", "preference", "sensitive-items", "itemsets", "customers"]
WORK = Literal["counts", "rules", "recommendation", "prediction"]

ANSWERS: dict[str, dict[str, str]] = {
    "record": {
        "person": "all items of one person",
        "event": "one visit, order or session; a person can have several records",
    },
    "recipients": {
        "everyone": "anyone: the release is published",
        "contract": "named recipients who are bound by a contract",
        "inside": "people of your own organization",
        "provider": "another provider, who joins it with a table of its own",
    },
    "hide": {
        "identity": "which record belongs to a person",
        "preference": "which category of items a person prefers",
        "sensitive-items": "that a person has an item of a list",
        "itemsets": "that the itemsets of a list are frequent",
        "customers": "who is a customer of a provider",
    },
    "known": {
        "1": "one item of a person",
        "2": "two items of a person",
        "3": "three items of a person",
        "whole": "all items of a person, except those to be hidden",
    },
    "rows": {
        "true": "every item of a released record is the person's own; items may be missing",
        "counts": "counts must be right; a record may hold items of other people",
    },
    "work": {
        "counts": "count items and pairs of items",
        "rules": "find frequent itemsets and rules",
        "recommendation": "recommend items",
        "prediction": "predict an item from the others",
    },
    "earlier": {
        "no": "this is the only release of data about these people",
        "once": "data about these people were released before",
        "regularly": "data about these people are released again and again, such as every month",
    },
}
"""What each answer means."""


def _as_text(value: Any) -> Any:
    """Return a number of items as it is written among the answers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Context(Declaration):
    """The answers to seven questions about a release: who gets it, what it must hide and what it is for."""

    name = "context"
    example_lines = (
        'context = sv.Context(record="person", recipients="contract", hide="identity", known="2",',
        '                     rows="true", work="recommendation", earlier="no")',
    )

    record: Literal["person", "event"] = parameter(public=False, description="What is one record?")
    recipients: Literal["everyone", "contract", "inside", "provider"] = parameter(
        public=False, description="Who gets the release?"
    )
    hide: Annotated[tuple[HIDDEN, ...], BeforeValidator(split_commas)] = parameter(
        public=False, description="What must they not learn? The most important first."
    )
    known: Annotated[Literal["1", "2", "3", "whole"], BeforeValidator(_as_text)] = parameter(
        public=False, description="What may an attacker know of a person? That the method is known is always assumed."
    )
    rows: Literal["true", "counts"] = parameter(public=False, description="How true must a released record be?")
    work: Annotated[tuple[WORK, ...], BeforeValidator(split_commas)] = parameter(
        public=False, description="Which work must the release still serve? The most important first."
    )
    earlier: Literal["no", "once", "regularly"] = parameter(
        public=False, description="Are there other releases of data about the same people?"
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for name in ("hide", "work"):
            given = getattr(self, name)
            if not given or len(set(given)) < len(given):
                fault = "names an answer twice" if given else "names nothing"
                raise ValueError(f"{name} {fault}; allowed are one or more of: {', '.join(ANSWERS[name])}")
        return self

    @classmethod
    def of(cls, given: Context | str | Path | Mapping[str, Any]) -> Context:
        """Return a context as it is, from a file (TOML or JSON), or from a dictionary of answers."""
        if isinstance(given, Context):
            return given
        if isinstance(given, str | Path):
            return cls.read(given)
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise BadParameter(
                f"context is {describe(given)}; expected {EXPECTED}, a Context, or a dictionary of answers"
            )
        lacking = [one for one in cls.parameters() if one.name not in given]
        if lacking and not given.keys() - {one.name for one in cls.parameters()}:
            questions = "; ".join(
                f"`{one.name}=`: {one.description} ({', '.join(ANSWERS[one.name])})" for one in lacking
            )
            raise Missing(f"the context lacks {len(lacking)} of {len(ANSWERS)} answers: {questions}")
        return cls(**given)

    @classmethod
    def read(cls, file: str | Path) -> Context:
        """Read the answers from a file."""
        path = Path(file)
        text = read_settings(path, EXPECTED)
        if text.lstrip().startswith("{"):
            try:
                content = json.loads(text)
            except ValueError as error:
                raise BadData(f"is not valid JSON ({error}); expected {EXPECTED}", file=str(path)) from None
        else:
            content = parse_toml(text, path, EXPECTED)
        try:
            return cls.of(content)
        except InputError as error:
            raise BadData(str(error), file=str(path)) from None

    def save(self, file: str | Path, *, force: bool = False) -> None:
        """Write the answers to a file; `force` replaces an existing one that holds answers."""
        path = Path(file)
        self.refuse_saving(path, force=force)
        with make_file(path, force=force) as staged:
            staged.touch(mode=0o600)
            staged.write_text(self.to_toml(), encoding="utf-8")

    @classmethod
    def refuse_saving(cls, file: Path, *, force: bool) -> None:
        """Refuse to write answers inside a release folder, or over an existing file; `force` allows replacing answers only."""
        if (file.parent / CARD_NAME).exists():
            raise OutputRefused(
                f"{file} would be inside a release folder, and answers are private; choose another path"
            )
        refuse_file(file, force=force)
        if file.exists():
            try:
                cls.read(file)
            except InputError:
                raise OutputRefused(
                    f"{file} is not a file with answers and is not replaced; choose another path"
                ) from None

    def to_toml(self) -> str:
        """Return the content of a file, with each question as a comment."""
        values = self.model_dump(mode="json")
        lines = [
            f"# {one.description} ({' | '.join(ANSWERS[one.name])})\n{one.name} = {json.dumps(values[one.name])}\n"
            for one in self.parameters()
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers, and the texts of questions and answers."""
        return {"answers": self.model_dump(mode="json"), "texts": [list(one) for one in self.answers()]}

    def answers(self) -> list[tuple[str, str]]:
        """Return each question with what its answer means, for people."""
        values = self.model_dump(mode="json")
        listed = {name: value if isinstance(value, list) else [value] for name, value in values.items()}
        return [
            (one.description, "; ".join(ANSWERS[one.name][answer] for answer in listed[one.name]))
            for one in self.parameters()
        ]
