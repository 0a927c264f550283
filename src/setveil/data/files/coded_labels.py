"""Labels as numbers while a file is read, before all of them are known."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from setveil.data.files.side_files import shown, unusable


class CodedLabels:
    """Labels as numbers, in the order in which they come."""

    def __init__(self) -> None:
        self.code_of: dict[str, int] = {}
        self.codes = array("q")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that came so far."""
        return tuple(self.code_of)

    def add(self, label: str) -> None:
        """Note one label more, or raise ValueError with what is wrong with it."""
        code = self.code_of.get(label)
        if code is None:
            if wrong := unusable(label):
                raise ValueError(f"the item {shown(label)} {wrong}")
            code = len(self.code_of)
            self.code_of[str(label)] = code  # a plain text also where a whole number was written
        self.codes.append(code)


def as_array(numbers: array[int]) -> Any:
    """Return whole numbers as a NumPy array of their own."""
    return np.array(numbers, dtype=np.int64)
