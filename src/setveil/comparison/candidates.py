"""Which set-ups to try for a context: methods with parameters, and what no set-up can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from setveil.base.declaration import Declaration, parameter
from setveil.base.display import quantity
from setveil.methods.disassociation.apriori_generalization import AprioriGeneralization
from setveil.methods.disassociation.disassociation import Disassociation
from setveil.methods.itemsets.exact_swap import ExactSwap
from setveil.methods.tendency.part_swap import PartSwap
from setveil.methods.uncertainty.insert import Insert
from setveil.methods.uncertainty.permutation import Permutation
from setveil.parameters.categories import Categories
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.parameters.shares import MinSupport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.methods.base import Method
    from setveil.release.context import Context

LEAST_RECORDS: Final = {"everyone": 10, "contract": 5, "inside": 3, "provider": 10}
"""The minimum number of records that known items should lead to, by recipients. Agencies ask for about 10 before health data are public and
for less where a contract forbids attacks."""
HIGHEST_CONFIDENCE: Final = {"everyone": "20%", "contract": "33%", "inside": "50%", "provider": "20%"}
"""The highest confidence with which a sensitive item should be inferred, by recipients."""
GROUPS: Final = {"everyone": 5, "contract": 3, "inside": 2, "provider": 5}
"""The same as the size of groups: one record in this number may hold the item."""
MOST_KNOWN: Final = 3
"""The largest number of known items for which a set-up is recommended: with more, few items stay in record chunks."""


class SideFiles(Declaration):
    """What is known about the items; which of it is needed depends on what is to be hidden."""

    name = "side-files"

    categories: Categories | None = parameter(
        None, public=False, description="The category of each item, to hide what people prefer."
    )
    sensitive: SensitiveItems | None = parameter(None, public=False, description="The items that must not be inferred.")
    itemsets: NamedItemsets | None = parameter(None, public=False, description="The itemsets to hide.")
    min_support: MinSupport | None = parameter(
        None, public=False, description="Minimum support of a frequent itemset, for itemsets to hide."
    )
    hierarchy: Hierarchy | None = parameter(
        None, public=False, description="A tree over the items: a release may then show groups of items."
    )


@dataclass(frozen=True)
class Candidate:
    """A set-up to try, which of the things to hide it hides, and why it is considered."""

    method: Method
    hides: str
    why: str
    then: str = ""
    """What can be done with the release; empty if it is plain records."""


@dataclass(frozen=True)
class Gap:
    """A thing to hide that no set-up hides here, why, and what to do."""

    hides: str
    text: str


def candidates(context: Context, files: SideFiles) -> list[Candidate | Gap]:
    """Return the set-ups to try for each thing to hide, in the order of the answers; a gap states why there is none."""
    return [one for hidden in context.hide for one in _FOR[hidden](context, files)]


def warnings(context: Context) -> list[str]:
    """Return what a person who answers like this must know, whatever the set-up."""
    found = []
    if context.record == "event":
        found.append(
            "A guarantee protects a record, and a person can have several: together they can single the person out. Group the records of "
            "each person first, and read them with `person=`."
        )
    if context.known == "whole" and "identity" in context.hide:
        found.append(
            f"No set-up bounds an attacker who knows all items of a person. Those below bound an attacker who knows {MOST_KNOWN}; the card "
            "says so."
        )
    if context.earlier != "no":
        found.append(
            "A guarantee covers one release. Use the same register for all releases of these people (`register=`): it repeats the same "
            "release for the same data, and refuses one that reveals too much together with earlier ones."
        )
    if len(context.hide) > 1:
        found.append(
            "No method gives two of these guarantees at once. Each set-up hides one of the things you named; what the others find is below "
            "it."
        )
    return found


def items_known(context: Context) -> int:
    """Return the number of known items that set-ups are recommended for."""
    return MOST_KNOWN if context.known == "whole" else int(context.known)


def _for_identity(context: Context, files: SideFiles) -> Iterator[Candidate]:
    least = LEAST_RECORDS[context.recipients]
    m = items_known(context)
    known = f"{quantity(m, 'known item')} {'leads' if m == 1 else 'lead'} to at least"
    for k, delta, why in (
        (least, 50, "every published item is true; rare items lose the link to the other items of their records"),
        (least, 20 * least, "larger clusters, which keep more items in record chunks and blur links more"),
        (2 * least, 50, "a wider margin, at a higher price"),
    ):
        yield Candidate(
            Disassociation(k=k, m=m, delta=delta),
            "identity",
            f"{known} {k} records: {why}",
            "publish the release again with reassociation for programs that need plain records, or mine it as it is",
        )
    if files.hierarchy is not None:
        yield Candidate(
            AprioriGeneralization(k=least, m=m, hierarchy=files.hierarchy),
            "identity",
            f"{known} {least} records: plain records of true groups of items, for programs that need one row per person",
        )


def _for_preference(context: Context, files: SideFiles) -> Iterator[Candidate | Gap]:
    if context.rows == "true":
        yield Gap(
            "preference",
            "no method hides the preferred category and keeps every item true, because the items of that category must go elsewhere. Allow "
            "records with items of other people (answer counts), or publish itemsets and their supports instead of records (mine)",
        )
    elif files.categories is None:
        yield Gap("preference", "every method needs the category of each item; give `categories=`")
    else:
        why = "no record shows an item of the category that it has most of, and every item is in as many records as before"
        yield Candidate(PartSwap(categories=files.categories, ties="all"), "preference", f"{why}; ties are hidden too")
        yield Candidate(PartSwap(categories=files.categories), "preference", f"{why}; of tied categories one is hidden")
        yield Candidate(
            PartSwap(categories=files.categories, ties="all", same="any"),
            "preference",
            f"{why}; partners differ in all categories above their average",
        )


def _for_sensitive_items(context: Context, files: SideFiles) -> Iterator[Candidate | Gap]:
    if files.sensitive is None:
        yield Gap("sensitive-items", "every method needs the list of sensitive items; give `sensitive=`")
        return
    rho, p = HIGHEST_CONFIDENCE[context.recipients], GROUPS[context.recipients]
    given: dict[str, Any] = {"sensitive": files.sensitive, "knows": "whole" if context.known == "whole" else "subset"}
    why = "no known items, sensitive ones included, reveal a sensitive item with a higher confidence than"
    yield Candidate(Insert(rho=rho, **given), "sensitive-items", f"{why} {rho}; all other items stay, in plain records")
    yield Candidate(
        Permutation(sensitive=files.sensitive, p=p),
        "sensitive-items",
        f"no sensitive occurrence is lost: each group of at least {p} similar records lists them together, and each "
        f"belongs to at most one record in {p} of its group",
    )
    half = f"{int(rho.removesuffix('%')) // 2}%"
    yield Candidate(Insert(rho=half, **given), "sensitive-items", f"{why} {half}: a wider margin, at a higher price")


def _for_itemsets(context: Context, files: SideFiles) -> Iterator[Candidate | Gap]:
    if files.itemsets is None or files.min_support is None:
        yield Gap("itemsets", "every method needs the list and the threshold; give `itemsets=` and `min_support=`")
        return
    given: dict[str, Any] = {"itemsets": files.itemsets, "min_support": files.min_support}
    if context.rows == "counts":
        why = "no named itemset is frequent, and few records change; every item is in as many records as before"
        yield Candidate(ExactSwap(**given), "itemsets", why)
        yield Candidate(ExactSwap(afi="forbid", **given), "itemsets", f"{why}, and no other itemset becomes frequent")
    yield Candidate(
        ExactSwap(repair="suppress", **given),
        "itemsets",
        "no named itemset is frequent, and every item that is left is true: items are suppressed, not swapped",
    )


def _for_customers(_context: Context, _files: SideFiles) -> Iterator[Gap]:
    yield Gap(
        "customers",
        "this takes two providers and a collector, who join their tables without showing them to each other: see the walk-through of "
        "presence (docs/presence/walk-through.md)",
    )


_FOR: Final = {
    "identity": _for_identity,
    "preference": _for_preference,
    "sensitive-items": _for_sensitive_items,
    "itemsets": _for_itemsets,
    "customers": _for_customers,
}
