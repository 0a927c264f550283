"""The headline figures of a release: at most ten, in plain words, each beside what it is to be compared with.

`CANDIDATES` declares which figures can be in the headline, the most important first. A metric is measured only if it applies to the form
and its parameters are known, so the list of what was measured decides what is shown: a release that hides itemsets has other figures
than disassociated data. Of several candidates that answer the same question, the first one that has a figure is shown.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from setveil.base.display import ShownTable, quantity, share, to_html
from setveil.base.frames import as_pandas

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import SupportsIndex

    from setveil.metrics.base import Measurement

MOST: Mapping[str, int] = {"utility": 6, "privacy": 4}
"""The groups of the headline and the maximum number of figures of each; one group may use what the other does not need."""
TITLES = {"utility": "Utility: what the release costs", "privacy": "Privacy: what can still be inferred"}
NO_FIGURE = "no figure was measured"


class Candidate(NamedTuple):
    """A figure that can be in the headline. Texts name details and settings of the measurement in braces."""

    metric: str
    text: str
    base: str = ""
    """What to compare the figure with, or the counts behind it."""
    about: str = "utility"
    question: str = ""
    """Of the candidates with the same question, only the first one with a figure is shown; by default, the text."""
    repeats: str = ""
    """A question whose figure this one only repeats, under another name, if both have the same value."""
    settings: Mapping[str, Any] = {}
    """The settings of the measurement that is shown."""
    figure: tuple[str, str] | str = ""
    """The detail to show instead of the value, or a pair of counts to show the share of."""
    is_share: bool = False
    """Whether to show a value whose unit is no share in percent."""


def _at_supports(metric: str, text: str, *supports: str, question: str) -> list[Candidate]:
    """Return a candidate per minimum support, the preferred one first."""
    base = "{kept} kept, {lost} lost, {new} new"
    return [Candidate(metric, text, base, question=question, settings={"min_support": one}) for one in supports]


CANDIDATES: tuple[Candidate, ...] = (
    Candidate("ease", "gain of recommendations over popularity that is kept", question="recommendations"),
    Candidate("item-knn", "gain of recommendations over popularity that is kept", question="recommendations"),
    Candidate("item-prediction", "gain of predictions over chance that is kept"),
    Candidate("items-lost", "sensitive occurrences lost", "{sensitive-lost} of {sensitive}", figure=("sensitive-lost", "sensitive")),
    Candidate("items-lost", "occurrences lost", "{lost} of {occurrences}", question="lost"),
    Candidate("info-loss", "occurrences lost", "{lost} of {occurrences}", question="lost"),
    Candidate("loss-split", "occurrences lost or generalized", "{suppression} and {generalization}", question="lost"),
    Candidate("tlost", "items in at least {k:record} that no record chunk shows", "{lost} of {items}"),
    Candidate("dissimilarity", "item counts changed", repeats="lost", settings={"form": "per-item"}),
    Candidate("records-touched", "records changed", "{records:record}", question="records"),
    Candidate("record-loss", "mean change of a record", "{records-changed:record} changed", question="records", is_share=True),
    Candidate("false-content", "occurrences that are not the record's own", "{untrue-occurrences:occurrence}"),
    Candidate("misses-cost", "other frequent itemsets lost", "{lost} of {before}", settings={"which": "avoidable"}),
    Candidate("artificial-itemsets", "frequent itemsets that are new", "{new} of {after}"),
    *_at_supports(
        "fi-similarity", "same frequent itemsets, at {min_support}", "1%", "0.5%", "0.2%", "2%", "5%", question="itemsets"
    ),
    *_at_supports("non-sensitive-rules", "same rules without sensitive items, at {min_support}", "0.5%", "2%", question="rules"),
    *_at_supports("rule-similarity", "same association rules, at {min_support}", "0.5%", "2%", question="rules"),
    Candidate(
        "query-error",
        "median error of counts of up to {max_length} items",
        "mean {value}",
        settings={"max_length": 4},
        figure="median",
        is_share=True,
    ),
    Candidate(
        "frequent-ranks",
        "mean change of the counts of the most frequent pairs",
        "{itemsets:pair}",
        settings={"length": 2},
        figure="support-change",
        is_share=True,
    ),
    Candidate("top-rules", "mean change of the counts of the most frequent rules", "{rules:rule}", is_share=True),
    Candidate("alpha-confidence", "support that utility rules keep", "{lost} of {rules-held:rule} lost", is_share=True),
    Candidate("reconstruction-kl", "error of reconstructed counts of sensitive items", "at most {largest} for an item"),
    Candidate("tendency-posterior", "hidden category guessed right", "{base-rate} without the release", "privacy"),
    Candidate("still-on-top", "hidden category still the heaviest", "{records} of {of:record}", "privacy"),
    Candidate("hiding-failure", "named itemsets still frequent", "{failed} of {frequent-before}", "privacy"),
    Candidate("residual-itemsets", "named itemsets that a record still holds", "{held} of {named}", "privacy"),
    Candidate(
        "border-exposure",
        "named itemsets guessed at the border",
        "of {frequent-before}; {base-rate} without the release",
        "privacy",
    ),
    Candidate("exact-basket-exposure", "sensitive items implied by exact baskets", "{before} in the original", "privacy"),
    Candidate("saturated-rules", "sensitive occurrences at the confidence limit", "{before} in the original", "privacy"),
    Candidate("singled-out", "records that {known} known items single out", "{before} in the original", "privacy"),
)  # fmt: skip
"""All figures that can be in the headline, the most important of each group first."""


@dataclass(frozen=True)
class HeadlineFigure:
    """A headline figure in plain words; `str` returns it as one line."""

    about: str
    """`utility` or `privacy`."""
    text: str
    shown: str
    """The figure as text, with its unit."""
    base: str
    """What to compare it with, such as `17 % without the release`, or the counts behind it."""
    value: float
    metric: str
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.text}: {self.shown}" + (f" ({self.base})" if self.base else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain values."""
        return asdict(self)


class Headline(list[HeadlineFigure]):
    """The headline figures of a release, as `Measurements.headline` returns them: utility first, then privacy.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.read("sample:supermarket?records=1000")
    >>> release = sv.publish(data, sv.RandSwap(), no_guarantee=True, seed=2**64, experiment=True)
    >>> print(sv.measure(data, release).headline[0])
    occurrences lost: 0.8 % (62 of 8,050)
    """

    @overload
    def __getitem__(self, place: SupportsIndex) -> HeadlineFigure: ...
    @overload
    def __getitem__(self, place: slice) -> Headline: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        return Headline(super().__getitem__(place)) if isinstance(place, slice) else super().__getitem__(place)

    def about(self, group: str) -> list[HeadlineFigure]:
        """Return the figures of a group, `utility` or `privacy`."""
        return [one for one in self if one.about == group]

    def __repr__(self) -> str:
        return "\n\n".join(table.to_text() for table in self.tables())

    def _repr_html_(self) -> str:
        return to_html(*self.tables())

    def tables(self) -> list[ShownTable]:
        """Return a table per group: text, figure and base."""
        return [
            ShownTable(
                [[one.text, one.shown, one.base and f"({one.base})"] for one in self.about(group)],
                title=title,
                note="" if self.about(group) else NO_FIGURE,
            )
            for group, title in TITLES.items()
        ]

    def to_table(self) -> Any:
        """Return an Arrow table with one row per figure: `about`, `text`, `shown`, `base`, `value`, `metric`."""
        import pyarrow as pa  # noqa: PLC0415 - imported only for tables

        kinds = dict.fromkeys(("about", "text", "shown", "base", "value", "metric"), pa.string()) | {
            "value": pa.float64()
        }
        return pa.Table.from_pylist(
            [{key: value for key, value in one.to_dict().items() if key in kinds} for one in self],
            schema=pa.schema(kinds),
        )

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with the columns of `to_table`. It requires pandas."""
        return as_pandas(self.to_table())


def headline_of(measurements: Iterable[Measurement]) -> Headline:
    """Choose the headline figures among measurements."""
    measured = [one for one in measurements if one.value is not None]
    chosen: dict[str, HeadlineFigure] = {}
    for candidate in CANDIDATES:
        question = candidate.question or candidate.text
        if question in chosen:
            continue
        found = next((one for one in measured if _is(candidate, one)), None)
        figure = None if found is None else _figure_of(candidate, found)
        before = chosen.get(candidate.repeats)
        if figure is not None and (before is None or before.value != figure.value):
            chosen[question] = figure
    groups = {group: [one for one in chosen.values() if one.about == group] for group in MOST}
    spare = {group: max(MOST[group] - len(found), 0) for group, found in groups.items()}
    return Headline(
        one for group, found in groups.items() for one in found[: MOST[group] + sum(spare.values()) - spare[group]]
    )


def _is(candidate: Candidate, measured: Measurement) -> bool:
    """Return whether a measurement is the one that a candidate shows."""
    return candidate.metric == measured.name and all(
        str(measured.parameters.get(name)) == str(value) for name, value in candidate.settings.items()
    )


def _figure_of(candidate: Candidate, measured: Measurement) -> HeadlineFigure | None:
    """Return the figure of a measurement; None if a detail is missing or the whole of a share is 0."""
    facts = {**measured.details, **measured.parameters, "value": measured.value}
    value = _value(candidate, measured, facts)
    if value is None:
        return None
    in_percent = candidate.is_share or isinstance(candidate.figure, tuple) or measured.unit.startswith("share of ")
    shown = share(value) if in_percent else _with_unit(value, measured.unit)
    texts = {name: _Shown(fact, in_percent=in_percent) for name, fact in facts.items()}
    base = _filled(candidate.base, texts)
    remark = measured.remark
    return HeadlineFigure(
        candidate.about,
        _filled(candidate.text, texts),
        shown,
        f"{base}; {remark}" if base and remark else base or remark,
        value,
        measured.name,
        measured.parameters,
    )


def _value(candidate: Candidate, measured: Measurement, facts: Mapping[str, Any]) -> float | None:
    if isinstance(candidate.figure, tuple):
        part, whole = (facts.get(name) for name in candidate.figure)
        return float(part / whole) if part is not None and whole else None
    value = facts.get(candidate.figure) if candidate.figure else measured.value
    return None if value is None else float(value)


def _with_unit(value: float, unit: str) -> str:
    """Return a value that is no share with three significant digits and its unit."""
    number = f"{value:,.0f}" if value.is_integer() or abs(value) >= 1000 else f"{value:.3g}"
    return f"{number} {unit.rpartition(' in ')[2]}"


def _filled(text: str, texts: Mapping[str, _Shown]) -> str:
    """Return a text with the facts in braces; empty if one is missing."""
    try:
        return text.format_map(texts)
    except KeyError:
        return ""


class _Shown:
    """A fact as a text shows it: a count with thousands separators, with a noun as the format, and a share in percent."""

    def __init__(self, fact: Any, *, in_percent: bool) -> None:
        self.fact, self.in_percent = fact, in_percent

    def __format__(self, noun: str) -> str:
        if isinstance(self.fact, float):
            return share(self.fact) if self.in_percent else f"{self.fact:.3g}"
        if isinstance(self.fact, int):
            return quantity(self.fact, noun) if noun else f"{self.fact:,}"
        return str(self.fact).replace("%", " %")
