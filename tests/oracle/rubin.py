"""Supports of several sets of records combined by Rubin's rules, one itemset at a time."""

from math import sqrt
from statistics import mean, variance

from scipy.optimize import brentq
from scipy.stats import t as student


def interval(counts, records):
    """Return the mean support and the limits of its 95 % interval: where the distance of the mean is t standard errors."""
    sets, n = len(counts), mean(records)
    shares = [count / size for count, size in zip(counts, records, strict=True)]
    centre = mean(shares)
    within = mean(share * (1 - share) / size for share, size in zip(shares, records, strict=True))
    between = (1 + 1 / sets) * variance(shares)
    if not between:
        quantile, inflated = student.ppf(0.975, 10**9), 1
    elif not within:
        return mean(counts), 0, n
    else:
        quantile = student.ppf(0.975, (sets - 1) * (1 + within / between) ** 2)
        inflated = (within + between) / within

    def too_far(share):
        return abs(centre - share) - quantile * sqrt(share * (1 - share) * inflated / n)

    low = 0 if centre == 0 else brentq(too_far, 0, centre - 1e-12)
    high = 1 if centre == 1 else brentq(too_far, centre + 1e-12, 1)
    return mean(counts), low * n, high * n
