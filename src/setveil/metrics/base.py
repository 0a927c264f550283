"""A metric, and what it measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.base.declaration import Declaration
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, Missing

if TYPE_CHECKING:
    from setveil.data.forms.base import Form, Published


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
    only_if_named: ClassVar[tuple[type[Form], ...]] = ()
    """Forms of which it is measured only where a person names it, since it takes long and others tell as much."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What it needs beside both data sets: `alignment`, `categories`."""
    takes: ClassVar[tuple[type[Form], ...]] = (Transactions,)
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
        if not isinstance(published, self.takes):
            if self.applies_to(type(published)):
                return self._of_each(original, published)
            return self.not_computed(f"does not apply to {published.form_in_words}")
        if "alignment" in self.needs:
            if alignment is None:
                raise Missing(f"{self.name} needs the alignment of released rows, which is in the private folder")
            rows = alignment.rows
            if len(rows) != published.records or (len(rows) and not 0 <= rows.min() <= rows.max() < original.records):
                raise BadData("the alignment does not belong to these data: its rows do not fit")
        try:
            value, details = self.measure(original, published, alignment)
        except BadData as error:  # chunks that overlap tell no supports; a check says what is wrong with them
            if not published.has_support_bounds:
                raise
            value, details = None, {"reason": str(error)}
        reason = str(details.pop("reason", "")) if value is None else ""
        return Measurement(self.name, value, self.unit, self.better, self.public_parameters(), details, reason)

    @classmethod
    def applies_to(cls, form: type[Form]) -> bool:
        """Return whether there is a figure for a form: several sets have one where each of them has."""
        return form in cls.takes or (form.sets_of in cls.takes and "alignment" not in cls.needs)

    def _of_each(self, original: Transactions, published: Published) -> Measurement:
        """Measure each of several sets; the figure is their mean."""
        each = [self(original, one) for one in published.sets]
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
