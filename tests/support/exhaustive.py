"""How thorough a run of the tests is.

`make test` runs on every change. `make test-all` sets SETVEIL_EXHAUSTIVE=1 and also runs the tests marked `exhaustive`, with all random
examples.
"""

import os

IS_EXHAUSTIVE = os.environ.get("SETVEIL_EXHAUSTIVE") == "1"


def examples(number):
    """Return how many random examples to try: all of them in an exhaustive run, otherwise a fifth, from 5 to 60."""
    return number if IS_EXHAUSTIVE else min(number, max(5, min(60, number // 5)))
