"""PartSwap: records swap the items of the category that they lean to (their blocks) with the least similar record.

Paper    gunawan2019 (references.bib), algorithms 1 to 4.
Departs  `reading='paper'` follows the text of the paper: file order, a one-sided collision rule (so that items can be lost), and no step
         for records without a partner. Taken literally, algorithm 2 pairs no records: it removes each record from its own candidates.
         Here both blocks must be new to the other record, so that no item is lost; records with the most frequent items choose first;
         records without a partner join another swap or use a helper; a refusal names the bound that explains it. See
         docs/methods/part-swap.md and docs/decisions/0004.
Cost     one pass to classify the records, a sort, and a partner search that grows nearly linearly. In the worst case, where most records
         share frequent items, the search is quadratic in the number of records. Measured in benchmarks/bench_partners.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, model_validator

from setveil.base import progress
from setveil.base.declaration import parameter, split_commas
from setveil.base.display import quantity
from setveil.errors import BadParameter
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.methods.tendency.base import Order, Step, SwapPlan, SwapsOfBlocks, Ties
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions

FEW_CATEGORIES = 5
"""Up to this number of categories, a note warns of what absent categories reveal."""
FEWEST_CATEGORIES = 3
"""Minimum number of categories: with two, the absent one is the hidden one."""


class PartSwap(SwapsOfBlocks):
    """Swap the items of the category that each record leans to with the least similar record."""

    name = "part-swap"
    title = "PartSwap"
    paper = "gunawan2019"
    truthful = "no"
    about_people = True

    order: Order = parameter(
        "hard",
        public=True,
        description="Order in which records choose a partner: records with the most frequent items in their block first, by the sum of "
        "supports (hard); a random order (seeded); or the order of the file (file).",
    )
    same: Literal["top", "any"] = parameter(
        "top",
        public=True,
        description="Two records can be partners if their heaviest categories differ (top), or if no category is above average in both "
        "(any). A category is above average if it has more items than the mean of the record's categories.",
    )
    ties: Ties = parameter(
        "first",
        public=True,
        description="Which category to hide if several share the first place in a record: the first of them by name (first), or all (all).",
    )
    full_min: int = parameter(
        2,
        public=True,
        ge=1,
        le=2,
        description="Minimum number of items in a record that is swapped whole; 1 includes single items.",
    )
    whole_records: bool = parameter(
        True,
        public=True,
        description="Swap records of a single category whole. This is off if rows carry neither ids nor pseudonyms: it would change "
        "nothing.",
    )
    leftovers: Annotated[tuple[Step, ...], BeforeValidator(split_commas)] = parameter(
        ("cycle", "helper"),
        public=True,
        description="Steps to try, in the given order, for a record without a partner; empty for none. Write adopt and suppress last.",
    )
    reading: Literal["ours", "paper"] = parameter(
        "ours",
        public=True,
        description="Our version (ours), or the text of the paper (paper): for experiments only, since items can be lost.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.reading == "paper" and (clash := self.model_fields_set & {"order", "leftovers", "same"}):
            raise ValueError(
                f"{', '.join(sorted(clash))} cannot be chosen with reading 'paper', which uses file order, same 'top' and no leftovers; "
                "remove the choice, or use `reading='ours'`"
            )
        if self.reading == "paper" and self.ties != "first":
            raise ValueError(
                f"ties is {self.ties!r}; with reading 'paper' only 'first' is allowed; use `ties='first'` or `reading='ours'`"
            )
        if len(set(self.leftovers)) != len(self.leftovers):
            raise ValueError(f"leftovers names a step twice: {','.join(self.leftovers)}; name each step once")
        last = [step for step in self.leftovers if step in ("adopt", "suppress")]
        if last and (self.leftovers[-len(last) :] != tuple(last) or last == ["suppress", "adopt"]):
            raise ValueError(
                f"leftovers is {','.join(self.leftovers)}; adopt and then suppress must come last, because they work on the result of the "
                "other steps"
            )
        return self

    @property
    def guarantee(self) -> HiddenTendency:
        """The guarantee that the release is checked for."""
        return HiddenTendency(
            categories=self.categories,
            records="all" if self.whole_records else "mixed",
            ties=self.ties,
            full_min=self.full_min,
            lossless=self.reading == "ours" and "suppress" not in self.leftovers,
        )

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that every item has a category and that there are enough of them."""
        del rng
        check_categories(self.name, self.categories, data)
        if not linked and self.whole_records:
            progress.note(
                "rows have no ids, so swapping whole records would change nothing: records of a single category are published unchanged"
            )
            return self.model_copy(update={"whole_records": False})
        return self

    @property
    def plan(self) -> SwapPlan:
        """Which records swap, and how."""
        ours = self.reading == "ours"
        return SwapPlan(
            self.categories,
            mixed=True,
            full_min=self.full_min if self.whole_records else 0,
            order=self.order if ours else "file",
            ties=self.ties,
            strict=self.same == "any",
            one_sided=not ours,
            steps=self.leftovers if ours else (),
        )


def check_categories(method: str, categories: Categories, data: Transactions) -> None:
    """Refuse fewer than three categories, and note few categories: an absent category is then a strong clue."""
    _codes, names = categories.bind(data)
    if len(names) < FEWEST_CATEGORIES:
        raise BadParameter(
            f"{method}: the items of the data are in {quantity(len(names), 'category', 'categories')}; there must be at least "
            f"{FEWEST_CATEGORIES}, because with two the category that is absent from a row is the hidden one. Use finer categories"
        )
    if len(names) <= FEW_CATEGORIES:
        progress.note(
            f"the data has only {len(names)} categories, so the categories that are absent from a row reveal much about the hidden one; "
            "see tendency-posterior in the report"
        )
