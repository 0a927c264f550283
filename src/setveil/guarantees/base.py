"""The base class of all guarantees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.base.declaration import Declaration
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter
from setveil.guarantees.recounts import Recounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setveil.base.verdict import Verdict
    from setveil.data.forms.base import Form


@dataclass(frozen=True)
class Coverage:
    """What a guarantee protects against, as texts for the card."""

    attacker: str
    singling_out: str
    linking: str
    inference: str
    not_covered: tuple[str, ...]


class Guarantee(Declaration, ABC):
    """A property that a release must have, with the check for it."""

    title: ClassVar[str]
    paper: ClassVar[str]
    protects: ClassVar[Literal["people", "itemsets"]] = "people"
    coverage: ClassVar[Coverage]
    needs: ClassVar[tuple[str, ...]] = ()
    """What a check needs in addition to the release: `original`, `alignment`."""
    rests_on_draw: ClassVar[bool] = False
    """Whether it rests on a random draw, which the file alone cannot show; a check of a release repeats the draw from the recorded seed."""
    takes: ClassVar[tuple[type[Form], ...]] = (Transactions,)
    """The published forms to which it applies."""
    counts_of_one_kind: ClassVar[bool] = True
    """Whether a check counts one kind of thing only (all records, or all itemsets), so that one chart can show all counts."""
    example_lines: ClassVar[tuple[str, ...]] = (
        'data = sv.read("sample:supermarket?records=1000")',
        "guarantee = {call}",
        "verdict = guarantee.check(data)",
    )

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Return the section of the help page that describes the protection."""
        coverage = cls.coverage
        bounds = {"Singling out": coverage.singling_out, "Linking": coverage.linking, "Inference": coverage.inference}
        needs = [f"In addition to the release, a check needs the {' and the '.join(cls.needs)}."] if cls.needs else []
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
        """The guarantee in one sentence, for the card; it names no private parameter."""

    @property
    def not_protected(self) -> str:
        """What is not protected, in one line for the user who publishes; the card lists all of `coverage`."""
        return "; ".join(self.coverage.not_covered[:2])

    def coverage_for(self, form: type) -> Coverage:
        """Return what the guarantee, with these parameters, protects against in a release of a form to which it applies."""
        del form
        return self.coverage

    def statement_for(self, form: type) -> str:
        """Return the guarantee in one sentence, worded for a form to which it applies."""
        del form
        return self.statement

    def recounts(self, form: type, labels: Sequence[str]) -> Recounts:
        """Return what can be counted again with SQL in a release of a form; `labels` are the items of the original."""
        del form, labels
        return Recounts(not_counted=f"{self.title}: nothing of it can be counted with SQL.")

    @abstractmethod
    def check(self, published: Any, *, original: Any = None, alignment: Any = None) -> Verdict:
        """Check the whole definition on a release, without relying on the method that made it.

        Parameters
        ----------
        published : Transactions, Disassociated, Generalized, Grouped, Reassociated or JoinedTable
            The release, in a form to which the guarantee applies.
        original : Transactions, Disassociated or Originals, optional
            The data from which the release was made.
        alignment : Alignment or BothGroups, optional
            Which original record each released row came from.

        Returns
        -------
        Verdict
            Whether the guarantee holds, with counts and witnesses.

        Raises
        ------
        BadParameter
            If the guarantee does not apply to data of this form.
        Missing
            If the check needs `original` or `alignment` and it is not given.

        Examples
        --------
        >>> import setveil as sv
        >>> data = sv.from_lists([["tea", "milk"], ["tea", "milk"], ["tea"]])
        >>> print(sv.KmAnonymity(k=2, m=2).check(data))
        km-anonymity: holds for 3 of 3 records
        """

    def before(self, original: Transactions) -> Verdict | None:
        """Check the original, for the private report; None if such a check is meaningless."""
        del original
        return None

    @classmethod
    def refuse_other_form(cls, published: Any) -> None:
        """Raise `BadParameter` for data of a form to which the guarantee does not apply; every check begins with this."""
        if not isinstance(published, cls.takes):
            taken = " or ".join(kind.form_title for kind in cls.takes)
            raise BadParameter(
                f"{cls.name} applies to {taken} only, but this is {published.form_title}; choose a guarantee for this form"
            )
