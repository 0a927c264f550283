"""What every method is and does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args, get_type_hints

from setveil.base.declaration import Declaration
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.guarantees.base import Guarantee


@dataclass(frozen=True)
class Outcome:
    """What a method made: the data in its published form, where each row came from, and the method's own account.

    The account is what the method says of itself. It goes to the private dossier and explains refusals; no check believes it.
    """

    published: Published
    alignment: Alignment
    account: dict[str, Any] = field(default_factory=dict)
    advice: str = ""
    """Where the guarantee was not reached: why, by which bound, and what would help."""

    @property
    def rows(self) -> Transactions:
        """What was published as plain records, of a form that has such."""
        return self.published.as_records()


class Method(Declaration, ABC):
    """A recipe for a release."""

    title: ClassVar[str]
    paper: ClassVar[str]
    truthful: ClassVar[Literal["yes", "subset", "no"]]
    """How true a release is: `subset` if nothing is invented, `yes` if nothing is left out either, `no` if records hold items of others.

    `publish` compares every release with its records and refuses one that is less true (`release/truthfulness.py`)."""
    accepts: ClassVar[tuple[type[Published], ...]] = (Transactions,)
    form: ClassVar[type[Published]] = Transactions
    """What it publishes: plain records, or another of the published forms."""
    about_people: ClassVar[bool] = False
    """Whether a release is about the link between a person and a row: then rows carry pseudonyms where the data has ids."""
    example_lines: ClassVar[tuple[str, ...]] = (
        'data = sv.read("sample:supermarket?records=1000")',
        "method = {call}",
        "release = sv.publish(data, method)",
    )

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """What the release will be checked for; None for a method that promises nothing."""

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Name the guarantee on the help page."""
        promised = get_type_hints(cls.guarantee.fget)["return"]  # type: ignore[attr-defined] # mypy takes it for its value
        kinds = [kind for kind in get_args(promised) or (promised,) if kind is not type(None)]
        if not kinds:
            return {"Guarantee": ["None: this is a baseline. Publish it with `no_guarantee=True`."]}
        some = " Some settings and some data have none." if len(kinds) < len(get_args(promised)) else ""
        return {"Guarantee": [f"{kind.name} (`{kind.__name__}`): {kind.summary()}{some}" for kind in kinds]}

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check names against the data before any work and return the method as it will run.

        `linked` says whether released rows carry an id or pseudonym, so that a row stands for a person. `rng` draws what the guarantee
        must know of and nobody else, such as targets.
        """
        del data, linked, rng
        return self

    @abstractmethod
    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Make the published form. The same generator state gives the same result, whatever the number of threads."""


class Baseline(Method, ABC):
    """A method that promises nothing: papers compare with it, and so can people."""

    example_lines: ClassVar[tuple[str, ...]] = (
        *Method.example_lines[:-1],
        "release = sv.publish(data, method, no_guarantee=True)",
    )

    @property
    def guarantee(self) -> None:
        """Nothing is promised."""
        return
