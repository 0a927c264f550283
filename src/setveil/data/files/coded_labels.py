"""Codes of labels while a file is read and not all labels are known."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from setveil.data.files.side_files import shown, unusable


class CodedLabels:
    """Labels as codes, in order of first appearance; several lists of codes can share them."""

    def __init__(self, shared: CodedLabels | None = None) -> None:
        self.code_of: dict[str, int] = {} if shared is None else shared.code_of
        self.codes = array("i")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels so far, by code."""
        return tuple(self.code_of)

    def add(self, label: str) -> None:
        """Add the code of a label, or raise `ValueError` if the label is invalid."""
        code = self.code_of.get(label)
        if code is None:
            if wrong := unusable(label):
                raise ValueError(f"the item {shown(label)} {wrong}")
            code = len(self.code_of)
            self.code_of[str(label)] = code  # `Whole` becomes a plain str
        self.codes.append(code)


def as_array(numbers: array[int]) -> Any:
    """Return whole numbers as a new NumPy array of the same type."""
    return np.array(numbers)
