"""What a guarantee is and does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.base.declaration import Declaration
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from setveil.base.verdict import Verdict
    from setveil.data.forms.base import Form


@dataclass(frozen=True)
class Coverage:
    """What a guarantee protects against, in words for the card."""

    attacker: str
    singling_out: str
    linking: str
    inference: str
    not_covered: tuple[str, ...]


class Guarantee(Declaration, ABC):
    """What must hold of a release."""

    title: ClassVar[str]
    paper: ClassVar[str]
    protects: ClassVar[Literal["people", "itemsets"]] = "people"
    coverage: ClassVar[Coverage]
    needs: ClassVar[tuple[str, ...]] = ()
    """What a check needs beside the release: `original`, `alignment`."""
    rests_on_draw: ClassVar[bool] = False
    """Whether it promises a random draw, which the file alone cannot show: a check of a release repeats it from the noted seed."""
    takes: ClassVar[tuple[type[Form], ...]] = (Transactions,)
    """The published forms that it speaks of."""
    counts_of_one_kind: ClassVar[bool] = True
    """Whether all that a check counts are records, or all are itemsets, so that the numbers can stand in one chart."""
    example_lines: ClassVar[tuple[str, ...]] = (
        'data = sv.read("sample:supermarket?records=1000")',
        "guarantee = {call}",
        "verdict = guarantee.check(data)",
    )

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Describe on the help page what it protects against."""
        coverage = cls.coverage
        bounds = {"Singling out": coverage.singling_out, "Linking": coverage.linking, "Inference": coverage.inference}
        needs = [f"Beside the release, a check needs the {' and the '.join(cls.needs)}."] if cls.needs else []
        return {
            "Protection": [
                f"The attacker {coverage.attacker}.",
                *(f"{risk}: {bound}." for risk, bound in bounds.items()),
                f"Not covered: {'; '.join(coverage.not_covered)}.",
                *needs,
            ]
        }

    @property
    @abstractmethod
    def statement(self) -> str:
        """The promise in one sentence, for the card; names no private parameter."""

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line for the person who publishes; the card lists all of `coverage`."""
        return "; ".join(self.coverage.not_covered[:2])

    def coverage_for(self, form: type) -> Coverage:
        """Return what it protects against with these parameters in a release of a form that it takes, in the words of that form."""
        del form
        return self.coverage

    def statement_for(self, form: type) -> str:
        """Return the promise of a release of a form that it takes, in the words of that form."""
        del form
        return self.statement

    @abstractmethod
    def check(self, published: Any, *, original: Any = None, alignment: Any = None) -> Verdict:
        """Check the whole definition on a release of a form that it takes, trusting nothing that a method says of itself.

        `original` and `alignment` are what such a release was made from and how: records and an `Alignment`, or of a joined table
        `Originals` and `BothGroups`.
        """

    def before(self, original: Transactions) -> Verdict | None:
        """Tell how it stands with the original, for the private report; None where a check of the original says nothing."""
        del original
        return None

    @classmethod
    def refuse_other_form(cls, published: Any) -> None:
        """Refuse data of a form that the guarantee does not speak of; every check begins with this."""
        if not isinstance(published, cls.takes):
            taken = " or ".join(kind.form_in_words for kind in cls.takes)
            raise BadParameter(f"{cls.name} speaks of {taken}, and this is {published.form_in_words}")
