"""What exists: explicit tables that the command line, job files, forms, docs and contract tests read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from setveil.data.disassociated import Disassociated
from setveil.data.formats import FORMATS
from setveil.data.generalized import Generalized
from setveil.data.grouped import Grouped
from setveil.data.neighbours import Neighbours
from setveil.data.transactions import Transactions
from setveil.errors import UnknownName
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
from setveil.metrics.associations import AlphaConfidence, RelativeAssociationError, TLost
from setveil.metrics.border import BorderExposure
from setveil.metrics.distance import TreeEditDistance
from setveil.metrics.distribution import Dissimilarity, KullbackLeibler, SymmetricKl
from setveil.metrics.generalization import LossSplit
from setveil.metrics.hiding import ArtificialItemsets, HidingFailure, MissesCost, RecordsTouched, ResidualItemsets
from setveil.metrics.inference import ExactBasketExposure, SaturatedRules
from setveil.metrics.itemsets import FiSimilarity, FrequentItemsets, NonSensitiveRules, RuleSimilarity
from setveil.metrics.joined_queries import RangeQueryError
from setveil.metrics.queries import QueryError
from setveil.metrics.ranks import FrequentRanks, TopKDeviation, TopRules
from setveil.metrics.reconstruction import ReconstructionKL
from setveil.metrics.records import FalseContent, RecordLoss
from setveil.metrics.suppression import InfoLoss, ItemsLost
from setveil.metrics.tendency import StillOnTop, TendencyPosterior
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.methods.extended_mondrian import ExtendedMondrian
from setveil.presence.methods.mondrian import Mondrian
from setveil.presence.methods.mpalm import Mpalm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.declaration import Declaration
    from setveil.guarantees.base import Guarantee
    from setveil.methods.base import Method
    from setveil.metrics.base import Metric
    from setveil.presence.methods.base import JoiningMethod

__all__ = [
    "FORMATS",
    "FORMS",
    "GUARANTEES",
    "JOINED_GUARANTEES",
    "JOINED_METHODS",
    "JOINED_METRICS",
    "METHODS",
    "METRICS",
    "named",
]

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        PartSwap,
        FullSwap,
        RandSwap,
        PartSupp,
        SplitPerson,
        ExactSwap,
        SwapItemsets,
        HEU,
        Naive,
        Insert,
        PartialSuppression,
        Permutation,
        GlobalSuppression,
        TDControl,
        Disassociation,
        Reassociation,
        AprioriGeneralization,
    )
}

JOINED_METHODS: dict[str, type[JoiningMethod]] = {
    method.name: method for method in (DummyUsers, ExtendedMondrian, Mpalm, Mondrian)
}
"""Those that make a table of the tables of two providers."""

GUARANTEES: dict[str, type[Guarantee]] = {
    guarantee.name: guarantee
    for guarantee in (
        HiddenTendency,
        HiddenItemsets,
        RhoUncertainty,
        PermutationPrivacy,
        KmAnonymity,
        Reconstruction,
    )
}

METRICS: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (
        Dissimilarity,
        KullbackLeibler,
        SymmetricKl,
        InfoLoss,
        RecordLoss,
        LossSplit,
        RecordsTouched,
        FalseContent,
        FrequentItemsets,
        FiSimilarity,
        RuleSimilarity,
        QueryError,
        StillOnTop,
        TendencyPosterior,
        HidingFailure,
        ResidualItemsets,
        BorderExposure,
        MissesCost,
        ArtificialItemsets,
        ItemsLost,
        NonSensitiveRules,
        ExactBasketExposure,
        SaturatedRules,
        ReconstructionKL,
        RelativeAssociationError,
        AlphaConfidence,
        TLost,
        TreeEditDistance,
        TopKDeviation,
        FrequentRanks,
        TopRules,
    )
}

JOINED_GUARANTEES: dict[str, type[Guarantee]] = {guarantee.name: guarantee for guarantee in (KAnonymity, SitePresence)}
"""Those of tables that two providers join."""

JOINED_METRICS: dict[str, type[Metric]] = {metric.name: metric for metric in (RangeQueryError,)}
"""Those of the same tables."""

FORMS: dict[str, type] = {
    "transactions": Transactions,
    "generalized": Generalized,
    "grouped": Grouped,
    "disassociated": Disassociated,
    "reassociated": Neighbours,
}
"""The forms in which data are published."""

Kind = TypeVar("Kind", bound="Declaration")


def named(kind: str, table: Mapping[str, type[Kind]], name: str) -> type[Kind]:
    """Return the entry of that name, or say which there are."""
    if name not in table:
        raise UnknownName(kind, name, table)
    return table[name]
