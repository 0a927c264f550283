"""Posteriors of presence, slowly: every set of common users is tried.

Users are told by their kind (the sensitive value at B, one kind at A) and by whether they are in the lower part.
"""

from fractions import Fraction
from itertools import combinations, product


def possible_sets(users, common):
    """Yield every set of common users with the right number of each kind; users are (kind, in the lower part)."""
    by_kind = [[place for place, (kind, _lower) in enumerate(users) if kind == wanted] for wanted in range(len(common))]
    for chosen in product(*(combinations(of, many) for of, many in zip(by_kind, common, strict=True))):
        yield {place for some in chosen for place in some}


def keeps(users, together, rules):
    """Tell whether both parts keep k, the limits and the number of kinds."""
    least, most = Fraction(rules["least"]), Fraction(rules["most"])
    for part in (True, False):
        here = [place for place, (_kind, lower) in enumerate(users) if lower == part]
        common = [place for place in here if place in together]
        kinds = {users[place][0] for place in common}
        if len(common) < rules["k"] or len(kinds) < rules["kinds"]:
            return False
        cells = [(here, common)]
        if rules["by_kind"]:
            cells = [
                ([p for p in here if users[p][0] == kind], [p for p in common if users[p][0] == kind])
                for kind in {kind for kind, _lower in users}
            ]
        for of, both in cells:
            if of and not least <= Fraction(len(both), len(of)) <= most:
                return False
    return True


def posteriors(users, common, rules, other_fails):
    """Return for each user how likely it is common given that the check failed; None where it cannot fail."""
    weight = Fraction(0)
    present = [Fraction(0)] * len(users)
    for together in possible_sets(users, common):
        fails = Fraction(other_fails) if keeps(users, together, rules) else Fraction(1)
        weight += fails
        for place in together:
            present[place] += fails
    return None if weight == 0 else [one / weight for one in present]
