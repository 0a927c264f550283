"""PartSwap: records exchange the items of the category they lean to, with a record as different as can be.

Paper    gunawan2019 (references.bib), algorithms 1 to 4.
Departs  `reading='paper'` keeps to the text: file order, one-sided collision rule (so that items can be lost), nobody left over is
         treated. Algorithm 2 to the letter pairs nobody: it removes each record from its own candidates. Ours: both blocks must be new
         to the other record, so that no item is lost; hard records choose first; records without a partner join another exchange or
         find a helper; what cannot be hidden is reported with the bound that says why. See docs/methods/part-swap.md and
         docs/decisions/0004.
Cost     one pass to classify, a sort, and a partner search that grows nearly linearly; at worst quadratic in the records of a data set
         in which most records share hot items. Measured in benchmarks/bench_partners.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, model_validator

from setveil.base import progress
from setveil.base.declaration import parameter, split_commas
from setveil.data.records.alignment import Alignment
from setveil.errors import BadParameter
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.methods.base import Outcome
from setveil.methods.tendency.base import OverCategories
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions

FEW_CATEGORIES = 5
FEWEST_CATEGORIES = 3


class PartSwap(OverCategories):
    """Exchange the items of the category each record leans to with a record as different as can be."""

    name = "part-swap"
    title = "PartSwap"
    paper = "gunawan2019"
    truthful = "no"
    about_people = True

    order: Literal["hard", "seeded", "file"] = parameter(
        "hard",
        public=True,
        description="Who chooses a partner first: those with the most common items (hard), anyone (seeded), or as in the file.",
    )
    same: Literal["top", "any"] = parameter(
        "top",
        public=True,
        description="Partners must differ in the heaviest category (top), or in all categories above the mean (any).",
    )
    ties: Literal["first", "all"] = parameter(
        "first",
        public=True,
        description="Which of several equally heavy categories of a record are hidden: the first by name, or all.",
    )
    full_min: int = parameter(
        2,
        public=True,
        ge=1,
        le=2,
        description="From how many items on a record of one category is exchanged whole; 1 includes single items.",
    )
    whole_records: bool = parameter(
        True,
        public=True,
        description="Exchange records of one category whole. Without ids on the rows that changes nothing, and is turned off.",
    )
    leftovers: Annotated[tuple[Literal["cycle", "helper", "adopt", "suppress"], ...], BeforeValidator(split_commas)] = (
        parameter(
            ("cycle", "helper"),
            public=True,
            description="What to try, in this order, for a record without a partner; an empty text for nothing.",
        )
    )
    reading: Literal["ours", "paper"] = parameter(
        "ours", public=True, description="Ours, or the paper's text as it stands: for experiments, items can get lost."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.reading == "paper" and (clash := self.model_fields_set & {"order", "leftovers", "same"}):
            raise ValueError(
                f"{', '.join(sorted(clash))} cannot be chosen with reading 'paper', which fixes file order and no leftovers"
            )
        if self.reading == "paper" and self.ties != "first":
            raise ValueError(f"ties is {self.ties!r}; with reading 'paper' only 'first' is allowed")
        if len(set(self.leftovers)) != len(self.leftovers):
            raise ValueError("leftovers names a step twice")
        last = [step for step in self.leftovers if step in ("adopt", "suppress")]
        if last and (self.leftovers[-len(last) :] != tuple(last) or last == ["suppress", "adopt"]):
            raise ValueError("in leftovers adopt and then suppress come last: they work on what the other steps made")
        return self

    @property
    def guarantee(self) -> HiddenTendency:
        """What the release is checked for."""
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
                "rows without ids stand for nobody, so that exchanging whole records would change nothing: "
                "records of one category are published unchanged"
            )
            return self.model_copy(update={"whole_records": False})
        return self

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Pair, exchange, treat who is left over, and put the records together again."""
        from setveil.methods.tendency._exchange import Exchange  # noqa: PLC0415 - imports Numba: only when a kernel runs

        exchange = Exchange(data, self.categories, ties=self.ties)
        exchange.enlist_mixed(self.order if self.reading == "ours" else "file", rng)
        if self.whole_records:
            exchange.enlist_whole(self.full_min, rng)
        exchange.find_partners(strict=self.same == "any", one_sided=self.reading == "paper")
        exchange.rotate_whole(rng)
        for step in self.leftovers if self.reading == "ours" else ():
            exchange.treat_leftovers(step, rng)
        published = exchange.result()
        return Outcome(published, Alignment.identity(data.records), exchange.account(), exchange.advice())


def check_categories(method: str, categories: Categories, data: Transactions) -> None:
    """Refuse too few categories, and warn of few: that a category is absent from a row then tells much."""
    _codes, names = categories.bind(data)
    if len(names) < FEWEST_CATEGORIES:
        raise BadParameter(
            f"{method}: the items of the data are in {len(names)} categories; there must be at least {FEWEST_CATEGORIES}, "
            "since with two the one that is absent from a row is the one that was hidden"
        )
    if len(names) <= FEW_CATEGORIES:
        progress.note(
            f"the data has only {len(names)} categories: which of them is absent from a row tells much; "
            "see tendency-posterior in the report"
        )
