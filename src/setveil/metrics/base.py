"""A metric, and what it measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from setveil.base.declaration import Declaration
from setveil.data.disassociated import Disassociated
from setveil.data.neighbours import Neighbours
from setveil.data.published import rows_of
from setveil.data.records.ragged import owner_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.published import Published


Direction = Literal["lower", "higher", "like the original"]
About = Literal["utility", "privacy"]
NOT_COMPUTED = "not computed, "
"""How the reason of a metric begins that was not computed; such metrics share a line where they share the reason."""


@dataclass(frozen=True)
class Measurement:
    """One figure. `value` is None where the metric is not defined on these data; `reason` then says why."""

    name: str
    value: float | None
    unit: str
    better: str
    parameters: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def title(self) -> str:
        """The name with the settings that it was measured in."""
        return f"{self.name} ({self.settings})" if self.settings else self.name

    @property
    def settings(self) -> str:
        """The parameters that it was measured with, as one text."""
        return ", ".join(f"{key}={value}" for key, value in self.parameters.items())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


class Metric(Declaration, ABC):
    """A figure that compares a release with its original."""

    title: ClassVar[str]
    unit: ClassVar[str]
    better: ClassVar[Direction]
    about: ClassVar[About]
    formula: ClassVar[str]
    blind_to: ClassVar[str]
    """What the figure cannot see."""
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    """The settings in which it is measured when a person does not choose."""
    only_if_named: ClassVar[tuple[type, ...]] = ()
    """Forms of which it is measured only where a person names it, since it takes long and others tell as much."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What it needs beside both data sets: `alignment`, `categories`."""
    takes: ClassVar[tuple[type, ...]] = (Transactions,)
    """The published forms that it can be computed of."""
    example_lines: ClassVar[tuple[str, ...]] = (
        'data = sv.read("sample:supermarket?records=1000")',
        "release = sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=[])",
        "metric = {call}",
        "(measured,) = sv.measure(data, release, [metric])",
    )

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Define the figure on the help page."""
        needs = [f"Beside both data sets, it needs the {' and the '.join(cls.needs)}."] if cls.needs else []
        return {
            "Figure": [
                f"Unit: {cls.unit}. Better: {cls.better}. About: {cls.about}.",
                f"Formula: {cls.formula}.",
                f"Cannot see: {cls.blind_to}.",
                *needs,
            ]
        }

    def __call__(self, original: Any, published: Any, alignment: Any = None) -> Measurement:
        """Measure, or say why there is no figure."""
        if isinstance(published, Neighbours) and self.applies_to(Neighbours):
            return self._of_each(original, published)
        if not isinstance(published, self.takes):
            return self.not_computed(f"does not apply to {published.form_in_words}")
        if "alignment" in self.needs:
            if alignment is None:
                raise Missing(f"{self.name} needs the alignment of released rows, which is in the private folder")
            rows = alignment.rows
            if len(rows) != rows_of(cast("Published", published)) or (
                len(rows) and not 0 <= rows.min() <= rows.max() < original.records
            ):
                raise BadData("the alignment does not belong to these data: its rows do not fit")
        try:
            value, details = self.measure(original, published, alignment)
        except BadData as error:  # chunks that overlap tell no supports; a check says what is wrong with them
            if not isinstance(published, Disassociated):
                raise
            value, details = None, {"reason": str(error)}
        reason = str(details.pop("reason", "")) if value is None else ""
        return Measurement(self.name, value, self.unit, self.better, self.public_parameters(), details, reason)

    @classmethod
    def applies_to(cls, form: type) -> bool:
        """Tell whether there is a figure for a form: sets of records have one where single ones have."""
        return form in cls.takes or (form is Neighbours and Transactions in cls.takes and "alignment" not in cls.needs)

    def _of_each(self, original: Transactions, published: Neighbours) -> Measurement:
        """Measure each of several sets of records; the figure is their mean."""
        each = [self(original, one) for one in published.datasets]
        first, values = each[0], [one.value for one in each if one.value is not None]
        if len(each) == 1 or len(values) < len(each):
            return next((one for one in each if one.value is None), first)
        return replace(first, value=sum(values) / len(values), details=first.details | {"each": values})

    @classmethod
    def not_computed(cls, why: str) -> Measurement:
        """Return the line of a metric that could not be computed."""
        return Measurement(cls.name, None, cls.unit, cls.better, {}, {}, NOT_COMPUTED + why)

    @abstractmethod
    def measure(self, original: Any, published: Any, alignment: Any) -> tuple[float | None, dict[str, Any]]:
        """Return the figure and its details; None with a `reason` where it is not defined."""


def shared_items(original: Transactions, published: Transactions, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each released row how many of its items its original record held too."""
    width = max(len(original.vocabulary), 1)
    order = np.argsort(
        rows, kind="stable"
    )  # by original record: then both sides rise, and looking up goes on from place to place
    arranged = published.take(order, ids=None)
    row = owner_of(arranged.offsets)
    code = np.array([original.code_of.get(label, -1) for label in published.vocabulary], dtype=np.int64)
    codes = code[arranged.items] if len(code) else np.empty(0, np.int64)
    keys = rows[order][row] * width + codes
    true_keys = owner_of(original.offsets) * width + original.items
    at = np.searchsorted(true_keys, keys)
    true = codes >= 0
    true &= at < len(true_keys)
    true[true] = true_keys[at[true]] == keys[true]
    shared = np.empty(published.records, dtype=np.int64)
    shared[order] = np.bincount(row[true], minlength=published.records)
    return shared
