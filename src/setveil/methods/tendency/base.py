"""Shared by methods that hide tendencies: the category of each item."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Self

from setveil.base.declaration import parameter
from setveil.methods.base import Method
from setveil.parameters.categories import Categories

if TYPE_CHECKING:
    from numpy.random import Generator

    from setveil.data.records.transactions import Transactions


class OverCategories(Method, ABC):
    """A method that requires a category for each item."""

    categories: Categories = parameter(public=False, description="The category of each item.")

    def bind(self, data: Transactions, *, linked: bool, rng: Generator) -> Self:
        """Check that every item has a category."""
        del linked, rng
        self.categories.bind(data)
        return self
