"""The base class of all metrics, and the result of a measurement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.base.declaration import Declaration
from setveil.base.display import quantity, share
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, Missing
from setveil.metrics.mined import Undefined
from setveil.metrics.pair import Pair

if TYPE_CHECKING:
    from setveil.data.forms.base import Form


Direction = Literal["lower", "higher", "like the original"]
About = Literal["utility", "privacy"]
NOT_COMPUTED = "not computed, "
"""Beginning of the reason of a metric that was not computed; tables list metrics with the same reason together."""


Status = Literal["exact", "estimate", "optimistic estimate", "upper bound"]


@dataclass(frozen=True)
class Measurement:
    """One figure. `value` is None if the metric is not defined for these data; `reason` then states why."""

    name: str
    value: float | None
    unit: str
    better: str
    parameters: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    status: Status = "exact"
    """Whether the value is exact, an estimate from a sample, or an upper bound. An optimistic estimate tested a model on people whom it may
    have been trained on."""
    interval: tuple[float, float] | None = None
    """The 95 % interval of an estimate: lower and upper limit. None for other values."""

    @property
    def remark(self) -> str:
        """What a reader must know about the value: why there is none, or that it is not exact."""
        if self.value is None or self.status == "exact":
            return self.reason
        if self.interval is None:
            return self.status
        low, high = (_figure(limit, self.unit) for limit in self.interval)
        which = " of the same people" if self.status == "optimistic estimate" else ""
        return f"{self.status} from {self.details['sample']:,} records{which}, 95 % interval {low} to {high}"

    @property
    def title(self) -> str:
        """The name with the settings of the measurement."""
        return f"{self.name} ({self.settings})" if self.settings else self.name

    @property
    def settings(self) -> str:
        """The parameters of the measurement, as one text."""
        return ", ".join(f"{key}={value}" for key, value in self.parameters.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as plain values."""
        return asdict(self)


def _figure(value: float, unit: str) -> str:
    """Return a figure for a sentence; a share is in percent."""
    return share(value) if unit.startswith("share of ") else f"{value:,.4g}"


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
    """The settings that are measured by default."""
    quick: ClassVar[bool] = False
    """Whether the level `quick` measures it: the summary shows it, or it is counted in one pass over the supports or the rows."""
    tests_people: ClassVar[bool] = False
    """Whether it tests a model on held-out people. Levels measure it only if such people are given: others make it optimistic."""
    only_if_named: ClassVar[tuple[type[Form], ...]] = ()
    """Forms for which it is measured only if the user names it, because it is slow and other metrics show as much."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What it needs in addition to both data sets: `alignment`, `categories`."""
    takes: ClassVar[tuple[type[Form], ...]] = (Transactions,)
    """The published forms to which it applies."""
    example_lines: ClassVar[tuple[str, ...]] = (
        'data = sv.read("sample:supermarket?records=1000")',
        "release = sv.publish(data, sv.RandSwap(), no_guarantee=True, metrics=[])",
        "metric = {call}",
        "(measured,) = sv.measure(data, release, [metric])",
    )

    @classmethod
    def help_sections(cls) -> dict[str, list[str]]:
        """Return the section of the help page that defines the figure."""
        needs = [f"In addition to both data sets, it needs the {' and the '.join(cls.needs)}."] if cls.needs else []
        return {
            "Figure": [
                f"Unit: {cls.unit}. Better: {cls.better}. About: {cls.about}.",
                f"Formula: {cls.formula}.",
                f"Cannot see: {cls.blind_to}.",
                *needs,
            ]
        }

    def __call__(self, original: Any, published: Any, alignment: Any = None) -> Measurement:
        """Compare a release with its original.

        Parameters
        ----------
        original : Transactions
            The original records.
        published : Transactions, Disassociated, Generalized, Grouped or Reassociated
            The release. For re-associated data the figure is the mean over the sets of records.
        alignment : Alignment, optional
            Which original record each released row came from; some metrics need it.

        Returns
        -------
        Measurement
            The figure with its details, or the reason why there is none.

        Raises
        ------
        Missing
            If the metric needs the alignment and it is not given.
        BadData
            If the alignment does not belong to these data.

        Examples
        --------
        >>> import setveil as sv
        >>> before, after = sv.from_lists([["tea", "milk"], ["tea"]]), sv.from_lists([["tea"], ["tea"]])
        >>> round(sv.InfoLoss()(before, after).value, 3)
        0.333
        """
        return self.of(Pair(original, published, alignment, metrics=[self]))

    def of(self, pair: Pair) -> Measurement:
        """Measure a release; metrics that measure the same `Pair` share their work. See `Metric.__call__`."""
        original, published, alignment = pair.original, pair.published, pair.alignment
        if not isinstance(published, self.takes):
            if self.applies_to(type(published)):
                return self._of_each(pair)
            return self.not_computed(f"does not apply to {published.form_title}")
        if "alignment" in self.needs:
            if alignment is None:
                raise Missing(
                    f"{self.name} needs the alignment of released rows, which is in the private folder; give `alignment`"
                )
            rows = alignment.rows
            if len(rows) != published.records or (len(rows) and not 0 <= rows.min() <= rows.max() < original.records):
                raise BadData(
                    f"the alignment does not belong to these data: it has {quantity(len(rows), 'row')}, the release has "
                    f"{published.records:,} and the original {original.records:,}; give the alignment of this release"
                )
        try:
            value, details = self.measure(pair)
        except Undefined as undefined:
            value, details = None, {"reason": str(undefined)}
        except BadData as error:  # overlapping chunks have no supports; a check reports what is wrong
            if not published.has_support_bounds:
                raise
            value, details = None, {"reason": str(error)}
        reason = str(details.pop("reason", "")) if value is None else ""
        status, interval = details.pop("status", "exact"), details.pop("interval", None)
        parameters = self.public_parameters()
        return Measurement(self.name, value, self.unit, self.better, parameters, details, reason, status, interval)

    def plan(self, pair: Pair) -> None:
        """Plan the frequent itemsets that it will ask for, with `pair.before.plan` and `pair.after.plan`; by default none."""

    @classmethod
    def applies_to(cls, form: type[Form]) -> bool:
        """Return whether the metric applies to a form, or to each of the sets of records of a form."""
        return form in cls.takes or (form.sets_of in cls.takes and "alignment" not in cls.needs)

    def _of_each(self, pair: Pair) -> Measurement:
        """Return the mean over several sets of records."""
        each = [self.of(one) for one in pair.sets]
        first, values = each[0], [one.value for one in each if one.value is not None]
        if len(each) == 1 or len(values) < len(each):
            return next((one for one in each if one.value is None), first)
        status: Status = next((one.status for one in each if one.status != "exact"), "exact")
        mean = sum(values) / len(values)
        return replace(first, value=mean, details=first.details | {"each": values}, status=status)

    @classmethod
    def not_computed(cls, why: str) -> Measurement:
        """Return the measurement of a metric that could not be computed."""
        return Measurement(cls.name, None, cls.unit, cls.better, {}, {}, NOT_COMPUTED + why)

    @abstractmethod
    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Return the figure and its details; None with a `reason` if it is not defined.

        The details of a figure that is not exact also have its `status`; those of an estimate have an `interval` and the number of records
        in the `sample`.
        """
