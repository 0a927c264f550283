"""Kinds of parameters, one file each: a kind knows how it is given, what it refuses, and an example.

A new kind is a new file; a field that is annotated with it is enough for options, files, help pages and tests.
"""

from setveil.parameters.kind import Option, ParameterKind, kind_of
from setveil.parameters.texts import extra_options, from_texts, values_of

__all__ = ["Option", "ParameterKind", "extra_options", "from_texts", "kind_of", "values_of"]
