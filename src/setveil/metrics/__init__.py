"""What a release cost and what it still tells, one idea a file."""

MEMBERS = {
    "Dissimilarity": "distribution",
    "KullbackLeibler": "distribution",
    "SymmetricKl": "distribution",
    "InfoLoss": "suppression",
    "RecordLoss": "records",
    "LossSplit": "generalization",
    "RecordsTouched": "hiding",
    "FalseContent": "records",
    "FrequentItemsets": "itemsets",
    "FiSimilarity": "itemsets",
    "RuleSimilarity": "itemsets",
    "QueryError": "queries",
    "StillOnTop": "tendency",
    "TendencyPosterior": "tendency",
    "HidingFailure": "hiding",
    "ResidualItemsets": "hiding",
    "BorderExposure": "border",
    "MissesCost": "hiding",
    "ArtificialItemsets": "hiding",
    "ItemsLost": "suppression",
    "NonSensitiveRules": "itemsets",
    "ExactBasketExposure": "inference",
    "SaturatedRules": "inference",
    "ReconstructionKl": "reconstruction",
    "RelativeAssociationError": "associations",
    "AlphaConfidence": "associations",
    "TLost": "associations",
    "TreeEditDistance": "distance",
    "TopKDeviation": "ranks",
    "FrequentRanks": "ranks",
    "TopRules": "ranks",
}
"""The class of each metric and its module, in the order in which people see them."""
JOINED_MEMBERS = {
    "RangeQueryError": "joined_queries",
}
"""Those of tables that two providers join."""
