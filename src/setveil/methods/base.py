"""The base classes of methods and baselines, and what a method returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args, get_type_hints

from setveil.base.advice import Advice
from setveil.base.declaration import Declaration
from setveil.data.records.transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.guarantees.base import Guarantee


@dataclass(frozen=True)
class Outcome:
    """The result of a method: the data in its published form, the original record of each row, and the method's own account.

    The account holds the method's own figures. It is stored in the private dossier and explains refusals. No check relies on it.
    """

    published: Published
    alignment: Alignment
    account: dict[str, Any] = field(default_factory=dict)
    advice: Advice = field(default_factory=Advice)
    """Why the guarantee was not reached, which bound applies, and what to do; empty if it was reached."""

    @property
    def rows(self) -> Transactions:
        """The published data as plain records, for forms that have them."""
        return self.published.as_records()


TRUTHFUL_TEXTS = {
    "yes": "Yes: released records are true and complete.",
    "subset": "Yes: nothing is invented, but parts of a record can be missing or less exact.",
    "no": "No: a released record can hold items of other records.",
}
"""The texts for the values of `Method.truthful`."""
SOMETIMES_NONE = " With some settings or data there is no guarantee."


class Method(Declaration, ABC):
    """A method with its parameters: turns an original into a release."""

    title: ClassVar[str]
    paper: ClassVar[str]
    truthful: ClassVar[Literal["yes", "subset", "no"]]
    """How true a release is. `subset`: no item is false. `yes`: no item is false or missing. `no`: records may hold items of other records.
    `publish` compares every release with its original and refuses a release that is less true (`release/truthfulness.py`)."""
    accepts: ClassVar[tuple[type[Published], ...]] = (Transactions,)
    form: ClassVar[type[Published]] = Transactions
    """The form of the published data: plain records, or another published form."""
    about_people: ClassVar[bool] = False
    """Whether the method protects the link between a person and a row. If so, rows get pseudonyms by default where the data has ids."""
    runs_in_blocks: ClassVar[bool] = False
    """Whether the method can publish data larger than memory: it overrides `apply_in_blocks`, or it is the `same_in_blocks`."""
    same_in_blocks: ClassVar[bool] = False
    """Whether `apply` itself takes memory for a few blocks only. The result then does not depend on the size of blocks."""
    example_lines: ClassVar[tuple[str, ...]] = (
        'data = sv.read("sample:supermarket?records=1000")',
        "method = {call}",
        "release = sv.publish(data, method)",
    )

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """The guarantee that the release is checked for; None for a baseline."""

    @classmethod
    def declared_guarantees(cls) -> tuple[list[type[Guarantee]], bool]:
        """Return the guarantees that the method can have, and whether some settings or data have none; a baseline has an empty list."""
        declared = get_type_hints(cls.guarantee.fget)["return"]  # type: ignore[attr-defined] # mypy sees the value, not the property
        alternatives = get_args(declared) or (declared,)
        kinds = [kind for kind in alternatives if kind is not type(None)]
        return kinds, 0 < len(kinds) < len(alternatives)

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Return the section of the help page that names the guarantee."""
        kinds, sometimes_none = cls.declared_guarantees()
        if not kinds:
            return {"Guarantee": ["None: this is a baseline. Publish it with `no_guarantee=True`."]}
        exception = SOMETIMES_NONE if sometimes_none else ""
        return {"Guarantee": [f"{kind.name} (`{kind.__name__}`): {kind.summary()}{exception}" for kind in kinds]}

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check the parameters against the data before any work, and return the method as it will run.

        `linked` says whether released rows carry an id or a pseudonym, that is, whether a row represents a person. `rng` draws secret
        values that the guarantee needs, such as targets.
        """
        del data, linked, rng
        return self

    def bound_in(self, data: Transactions) -> str:
        """Return what the guarantee costs at least on these data, whatever the method draws, as a sentence; empty if no bound is known."""
        del data
        return ""

    @abstractmethod
    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Produce the published data. The result depends on the generator's state, never on the number of threads."""

    def apply_in_blocks(self, data: Transactions, *, rng_of: Callable[[int], Generator]) -> Outcome:
        """Produce the published data of more records than a block of the current engine has, with memory for a few blocks.

        `rng_of` returns the generator of a block, and that of work on all blocks for -1. The result depends on the size of blocks, and not
        on the engine.
        """
        del data, rng_of
        raise NotImplementedError(f"{self.name} does not run in blocks")


class Baseline(Method, ABC):
    """A method that guarantees nothing, for comparison."""

    example_lines: ClassVar[tuple[str, ...]] = (
        *Method.example_lines[:-1],
        "release = sv.publish(data, method, no_guarantee=True)",
    )

    @property
    def guarantee(self) -> None:
        """None: a baseline guarantees nothing."""
        return
