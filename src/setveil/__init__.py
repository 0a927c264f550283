"""Publish set-valued data so that people stay protected and the data stays useful.

    import setveil as sv

    data = sv.read("sample:supermarket")
    method = sv.PartSwap(categories=sv.read_categories("sample:supermarket"))
    release = sv.publish(data, method)          # checked, or raises GuaranteeViolated with the verdict
    release.save("release")                     # two folders: one to hand over, one to keep

Names are looked up when they are used, so that importing the package stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from setveil.data.categories import Categories, read_categories
    from setveil.data.disassociated import Disassociated
    from setveil.data.disassociated_files import read_disassociated
    from setveil.data.generalized import Generalized
    from setveil.data.grouped import Grouped
    from setveil.data.grouped_files import read_grouped
    from setveil.data.hierarchy import Hierarchy
    from setveil.data.hierarchy_files import read_hierarchy
    from setveil.data.joined.attributes import NumericAttribute, OrderedAttribute, TaxonomyAttribute
    from setveil.data.joined.joined_files import read_joined, write_joined
    from setveil.data.joined.joined_table import JoinedTable
    from setveil.data.joined.originals import BothGroups, Originals, SideGroups
    from setveil.data.joined.population import Population
    from setveil.data.joined.predicates import Predicates, read_predicates
    from setveil.data.joined.provider_table import ProviderTable
    from setveil.data.joined.schema import Schema
    from setveil.data.joined.table_files import read_population, read_provider_table
    from setveil.data.named_itemsets import NamedItemsets
    from setveil.data.neighbours import Neighbours
    from setveil.data.sensitive_items import SensitiveItems
    from setveil.data.side_files import read_itemsets, read_sensitive
    from setveil.data.source import read
    from setveil.data.tables import from_arrow, from_pandas, from_polars, from_scipy
    from setveil.data.transactions import Transactions, from_lists
    from setveil.errors import (
        BadData,
        BadParameter,
        GuaranteeBroken,
        GuaranteeViolated,
        InputError,
        Missing,
        OutputRefused,
        PeerFailed,
        SetveilError,
        TooManyItemsets,
        UnknownName,
    )
    from setveil.export import convert, write, write_hierarchy
    from setveil.guarantees.base import Reach, Verdict, Witness
    from setveil.guarantees.hidden_itemsets import HiddenItemsets
    from setveil.guarantees.hidden_tendency import HiddenTendency
    from setveil.guarantees.k_anonymity import KAnonymity
    from setveil.guarantees.km_anonymity import KmAnonymity
    from setveil.guarantees.permutation_privacy import PermutationPrivacy
    from setveil.guarantees.reconstruction import Reconstruction
    from setveil.guarantees.rho_uncertainty import RhoUncertainty
    from setveil.guarantees.site_presence import SitePresence
    from setveil.methods.disassociation.apriori_generalization import AprioriGeneralization
    from setveil.methods.disassociation.disassociation import Disassociation
    from setveil.methods.disassociation.reassociation import Reassociation
    from setveil.methods.itemsets.exact_swap import ExactSwap
    from setveil.methods.itemsets.heu import HEU
    from setveil.methods.itemsets.naive import Naive
    from setveil.methods.itemsets.swap_itemsets import SwapItemsets
    from setveil.methods.tendency.full_swap import FullSwap
    from setveil.methods.tendency.part_supp import PartSupp
    from setveil.methods.tendency.part_swap import PartSwap
    from setveil.methods.tendency.rand_swap import RandSwap
    from setveil.methods.tendency.split_person import SplitPerson
    from setveil.methods.uncertainty.global_suppression import GlobalSuppression
    from setveil.methods.uncertainty.insert import Insert
    from setveil.methods.uncertainty.partial_suppression import PartialSuppression
    from setveil.methods.uncertainty.permutation import Permutation
    from setveil.methods.uncertainty.td_control import TDControl
    from setveil.metrics.joined_queries import RangeQueryError
    from setveil.mining.disassociated_itemsets import mine_bounds
    from setveil.mining.frequent import mine
    from setveil.mining.itemsets import Itemsets
    from setveil.mining.rules import association_rules
    from setveil.mining.support_bounds import support_bounds
    from setveil.mining.supports import supports
    from setveil.mining.threshold import MinSupport
    from setveil.presence.home import Home
    from setveil.presence.methods.base import JoinedOutcome, Keys
    from setveil.presence.methods.dummy_users import DummyUsers
    from setveil.presence.methods.extended_mondrian import ExtendedMondrian
    from setveil.presence.methods.mondrian import Mondrian
    from setveil.presence.methods.mpalm import Mpalm
    from setveil.presence.network_run import Places
    from setveil.presence.policy import Policy, read_policy
    from setveil.presence.trial import simulate
    from setveil.profiling import profile
    from setveil.release.checking import check
    from setveil.release.joined_release import open_joined
    from setveil.release.joint_run import collect, provide
    from setveil.release.measuring import measure
    from setveil.release.opening import open_release
    from setveil.release.publishing import Release, publish

_HOME = {
    "setveil.data.categories": ("Categories", "read_categories"),
    "setveil.data.disassociated": ("Disassociated",),
    "setveil.data.disassociated_files": ("read_disassociated",),
    "setveil.data.generalized": ("Generalized",),
    "setveil.data.grouped": ("Grouped",),
    "setveil.data.grouped_files": ("read_grouped",),
    "setveil.data.hierarchy": ("Hierarchy",),
    "setveil.data.hierarchy_files": ("read_hierarchy",),
    "setveil.data.joined.attributes": ("NumericAttribute", "OrderedAttribute", "TaxonomyAttribute"),
    "setveil.data.joined.joined_files": ("read_joined", "write_joined"),
    "setveil.data.joined.joined_table": ("JoinedTable",),
    "setveil.data.joined.originals": ("BothGroups", "Originals", "SideGroups"),
    "setveil.data.joined.population": ("Population",),
    "setveil.data.joined.predicates": ("Predicates", "read_predicates"),
    "setveil.data.joined.provider_table": ("ProviderTable",),
    "setveil.data.joined.schema": ("Schema",),
    "setveil.data.joined.table_files": ("read_population", "read_provider_table"),
    "setveil.data.named_itemsets": ("NamedItemsets",),
    "setveil.data.neighbours": ("Neighbours",),
    "setveil.data.sensitive_items": ("SensitiveItems",),
    "setveil.data.side_files": ("read_itemsets", "read_sensitive"),
    "setveil.data.source": ("read",),
    "setveil.data.tables": ("from_arrow", "from_pandas", "from_polars", "from_scipy"),
    "setveil.data.transactions": ("Transactions", "from_lists"),
    "setveil.errors": (
        "BadData",
        "BadParameter",
        "GuaranteeBroken",
        "GuaranteeViolated",
        "InputError",
        "Missing",
        "OutputRefused",
        "PeerFailed",
        "SetveilError",
        "TooManyItemsets",
        "UnknownName",
    ),
    "setveil.export": ("convert", "write", "write_hierarchy"),
    "setveil.guarantees.base": ("Reach", "Verdict", "Witness"),
    "setveil.guarantees.hidden_itemsets": ("HiddenItemsets",),
    "setveil.guarantees.hidden_tendency": ("HiddenTendency",),
    "setveil.guarantees.k_anonymity": ("KAnonymity",),
    "setveil.guarantees.km_anonymity": ("KmAnonymity",),
    "setveil.guarantees.permutation_privacy": ("PermutationPrivacy",),
    "setveil.guarantees.reconstruction": ("Reconstruction",),
    "setveil.guarantees.rho_uncertainty": ("RhoUncertainty",),
    "setveil.guarantees.site_presence": ("SitePresence",),
    "setveil.methods.disassociation.disassociation": ("Disassociation",),
    "setveil.methods.disassociation.reassociation": ("Reassociation",),
    "setveil.methods.disassociation.apriori_generalization": ("AprioriGeneralization",),
    "setveil.methods.itemsets.exact_swap": ("ExactSwap",),
    "setveil.methods.itemsets.heu": ("HEU",),
    "setveil.methods.itemsets.naive": ("Naive",),
    "setveil.methods.itemsets.swap_itemsets": ("SwapItemsets",),
    "setveil.methods.tendency.full_swap": ("FullSwap",),
    "setveil.methods.tendency.part_supp": ("PartSupp",),
    "setveil.methods.tendency.part_swap": ("PartSwap",),
    "setveil.methods.tendency.rand_swap": ("RandSwap",),
    "setveil.methods.tendency.split_person": ("SplitPerson",),
    "setveil.methods.uncertainty.global_suppression": ("GlobalSuppression",),
    "setveil.methods.uncertainty.insert": ("Insert",),
    "setveil.methods.uncertainty.partial_suppression": ("PartialSuppression",),
    "setveil.methods.uncertainty.permutation": ("Permutation",),
    "setveil.methods.uncertainty.td_control": ("TDControl",),
    "setveil.metrics.joined_queries": ("RangeQueryError",),
    "setveil.mining.disassociated_itemsets": ("mine_bounds",),
    "setveil.mining.frequent": ("mine",),
    "setveil.mining.itemsets": ("Itemsets",),
    "setveil.mining.rules": ("association_rules",),
    "setveil.mining.support_bounds": ("support_bounds",),
    "setveil.mining.supports": ("supports",),
    "setveil.mining.threshold": ("MinSupport",),
    "setveil.presence.home": ("Home",),
    "setveil.presence.methods.base": ("JoinedOutcome", "Keys"),
    "setveil.presence.methods.dummy_users": ("DummyUsers",),
    "setveil.presence.methods.extended_mondrian": ("ExtendedMondrian",),
    "setveil.presence.methods.mondrian": ("Mondrian",),
    "setveil.presence.methods.mpalm": ("Mpalm",),
    "setveil.presence.network_run": ("Places",),
    "setveil.presence.policy": ("Policy", "read_policy"),
    "setveil.presence.trial": ("simulate",),
    "setveil.profiling": ("profile",),
    "setveil.release.checking": ("check",),
    "setveil.release.joined_release": ("open_joined",),
    "setveil.release.joint_run": ("collect", "provide"),
    "setveil.release.measuring": ("measure",),
    "setveil.release.opening": ("open_release",),
    "setveil.release.publishing": ("Release", "publish"),
}
_HOME_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "HEU",
    "AprioriGeneralization",
    "BadData",
    "BadParameter",
    "BothGroups",
    "Categories",
    "Disassociated",
    "Disassociation",
    "DummyUsers",
    "ExactSwap",
    "ExtendedMondrian",
    "FullSwap",
    "Generalized",
    "GlobalSuppression",
    "Grouped",
    "GuaranteeBroken",
    "GuaranteeViolated",
    "HiddenItemsets",
    "HiddenTendency",
    "Hierarchy",
    "Home",
    "InputError",
    "Insert",
    "Itemsets",
    "JoinedOutcome",
    "JoinedTable",
    "KAnonymity",
    "Keys",
    "KmAnonymity",
    "MinSupport",
    "Missing",
    "Mondrian",
    "Mpalm",
    "Naive",
    "NamedItemsets",
    "Neighbours",
    "NumericAttribute",
    "OrderedAttribute",
    "Originals",
    "OutputRefused",
    "PartSupp",
    "PartSwap",
    "PartialSuppression",
    "PeerFailed",
    "Permutation",
    "PermutationPrivacy",
    "Places",
    "Policy",
    "Population",
    "Predicates",
    "ProviderTable",
    "RandSwap",
    "RangeQueryError",
    "Reach",
    "Reassociation",
    "Reconstruction",
    "Release",
    "RhoUncertainty",
    "Schema",
    "SensitiveItems",
    "SetveilError",
    "SideGroups",
    "SitePresence",
    "SplitPerson",
    "SwapItemsets",
    "TDControl",
    "TaxonomyAttribute",
    "TooManyItemsets",
    "Transactions",
    "UnknownName",
    "Verdict",
    "Witness",
    "association_rules",
    "check",
    "collect",
    "convert",
    "from_arrow",
    "from_lists",
    "from_pandas",
    "from_polars",
    "from_scipy",
    "measure",
    "mine",
    "mine_bounds",
    "open_joined",
    "open_release",
    "profile",
    "provide",
    "publish",
    "read",
    "read_categories",
    "read_disassociated",
    "read_grouped",
    "read_hierarchy",
    "read_itemsets",
    "read_joined",
    "read_policy",
    "read_population",
    "read_predicates",
    "read_provider_table",
    "read_sensitive",
    "simulate",
    "support_bounds",
    "supports",
    "write",
    "write_hierarchy",
    "write_joined",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"setveil has no {name!r}")
    found = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
