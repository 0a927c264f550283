"""Kinds of parameters, one file each: how a value is given, which values are invalid, and an example.

To add a kind, add a file. Annotating a field with the kind is enough for options, files, help pages and tests.
"""

from setveil.parameters.kind import CommandExample, Option, Origin, ParameterKind, kind_of
from setveil.parameters.texts import extra_options, from_texts, values_of

__all__ = ["CommandExample", "Option", "Origin", "ParameterKind", "extra_options", "from_texts", "kind_of", "values_of"]
