"""Trials that the tests of attacks look at, each run once."""

from functools import cache

from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.sample import sample
from setveil.presence.trial import policy_of, simulate


def keys(seed):
    return Keys(bytes([seed]) * 32, bytes([seed + 100]) * 32)


def method(**values):
    limits = {"max_a": "0.9", "min_a": "0.1", "max_b": "0.9", "min_b": "0.1", "backend": "clear"}
    return DummyUsers(**limits | values)


@cache
def originals(people=4_000):
    return sample(people, 3).originals


@cache
def trial(seed=1, people=4_000, **values):
    there = originals(people)
    return simulate(policy_of(method(**values), there), there, keys(seed))
