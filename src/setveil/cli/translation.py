"""Messages of the library name Python arguments; people on the command line type options."""

from __future__ import annotations

import re

_PYTHON_ARGUMENT = re.compile(
    r"\b(again|compress|distinct_labels|empty|experiment|force|ids|missing_names|person|recover|term_chunk|unit)=(True|'\w+'|\"\w+\"|\w+)"
)


def as_options(text: str) -> str:
    """Return a message with the Python arguments in it written as options: `experiment=True` becomes `--experiment`."""

    def option(found: re.Match[str]) -> str:
        value = found[2].strip("'\"")
        return "--" + found[1].replace("_", "-") + ("" if value == "True" else f" {value}")

    return _PYTHON_ARGUMENT.sub(option, text)
