"""How fast `sample:supermarket` is made, beside the same model written as a plain loop over people.

Both draw from the same tables; the loop is timed at 10,000 records. Peak memory is that of the process so far,
interpreter and libraries included: sizes run from small to large, so that each line's peak is its own.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from bisect import bisect_right

from setveil.data import samples
from setveil.data.samples import read_sample

LOOP_RECORDS = 10_000
SIZES = (10_000, 100_000, 1_000_000)
REPEATS = 3


def baskets_by_a_loop(records):
    rng = random.Random(0)  # noqa: S311 - a benchmark
    shop = samples._open_shop()  # noqa: SLF001 - the same tables, as lists
    popularity_up_to, bundle_up_to = shop.popularity_up_to.tolist(), shop.bundle_up_to.tolist()
    start, width = shop.shelf_start.tolist(), shop.shelf_width.tolist()
    codes, bundles, sizes = shop.code_on_shelf.tolist(), shop.bundle_codes.tolist(), shop.bundle_sizes.tolist()
    favourite_borders = start[1:-1]
    baskets = []
    for _ in range(records):
        draws = min(max(int(rng.lognormvariate(*samples._LOG_LENGTH)), 1), samples._MOST_DRAWS)  # noqa: SLF001
        first = second = bisect_right(favourite_borders, rng.random())
        if rng.random() < samples._TWO_FAVOURITES:  # noqa: SLF001
            second = bisect_right(favourite_borders, rng.random())
        loyalty = rng.uniform(*samples._LOYALTY)  # noqa: SLF001
        bundle = bisect_right(bundle_up_to, rng.random())
        basket = set(bundles[bundle][: sizes[bundle]]) if 0 < sizes[bundle] <= draws else set()
        for _ in range(draws - len(basket)):
            whim = rng.random()
            shelf = first if whim < samples._FIRST_FAVOURITE * loyalty else second if whim < loyalty else -1  # noqa: SLF001
            place = bisect_right(popularity_up_to, start[shelf] + width[shelf] * rng.random())
            basket.add(codes[min(place, len(codes) - 1)])
        baskets.append([shop.vocabulary[code] for code in sorted(basket)])
    return baskets


def best_seconds(work):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main():
    print(f"sample:supermarket, best of {REPEATS}")
    print(f"{'made by':<16}{'records':>12}{'seconds':>10}{'records/s':>14}{'times the loop':>16}{'peak MiB':>10}")
    seconds = best_seconds(lambda: baskets_by_a_loop(LOOP_RECORDS))
    loop_rate = LOOP_RECORDS / seconds
    print(f"{'a plain loop':<16}{LOOP_RECORDS:>12,}{seconds:>10.3f}{loop_rate:>14,.0f}{1:>16.1f}{peak_mib():>10.0f}")
    for records in SIZES:
        seconds = best_seconds(lambda: read_sample(f"sample:supermarket?records={records}"))  # noqa: B023 - called at once
        rate = records / seconds
        print(
            f"{'setveil':<16}{records:>12,}{seconds:>10.3f}{rate:>14,.0f}{rate / loop_rate:>16.1f}{peak_mib():>10.0f}"
        )


if __name__ == "__main__":
    main()
