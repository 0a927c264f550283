"""Site presence, slowly: in fractions, for every set of attributes, straight from definition 1 of the paper.

A user is told by the group it is in. Users in no group are a part of their own, in which nobody is common.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations


def within(common, users, least, most):
    """Nothing over nothing holds."""
    if users == 0:
        return common == 0
    return Fraction(least) <= Fraction(common, users) <= Fraction(most)


def finest_cells(side, a, b, group_of, by_value):
    """Yield common and all users of a provider for each group, or each group and sensitive value."""
    own = a if side == "a" else b
    users, common = Counter(), Counter()
    for one in own:
        cell = (group_of.get(one, "none"), b[one][1] if by_value and side == "b" else "any")
        users[cell] += 1
        if one in a and one in b:
            common[cell] += 1
    return {cell: (common[cell], number) for cell, number in users.items()}


def finest_violations(limits, a, b, group_of, scope):
    """Return how many cells have too few or too many, by provider."""
    found = Counter()
    for side in "ab":
        least, most = limits[side]
        for common, users in finest_cells(side, a, b, group_of, scope == "qi+sa").values():
            share = Fraction(common, users)
            if share < Fraction(least):
                found[f"too-few-of-{side}"] += 1
            if share > Fraction(most):
                found[f"too-many-of-{side}"] += 1
    return dict(found)


def definition_holds(side, limits, records, own, boxes, group_of, scope):
    """Go through every set of a provider's attributes, and every combination of their values that a group or record shows.

    `records` are (box at A, box at B, sensitive value); `own` gives the sensitive value of each of the provider's users, None at A.
    """
    place = "ab".index(side)
    least, most = limits[side]
    width = len(boxes[0][place])
    with_value = (False, True) if side == "b" and scope == "qi+sa" else (False,)
    for size in range(width + 1):
        for chosen in combinations(range(width), size):
            for valued in with_value:
                in_table = Counter(
                    (tuple(record[place][x] for x in chosen), record[2] if valued else None) for record in records
                )
                in_own = Counter(
                    (tuple(boxes[group_of[one]][place][x] for x in chosen), value if valued else None)
                    for one, value in own.items()
                    if one in group_of
                )
                for shown in in_table.keys() | in_own.keys():
                    if not within(in_table[shown], in_own[shown], least, most):
                        return False
    left_out = Counter(value if with_value[-1] else None for one, value in own.items() if one not in group_of)
    return all(within(0, users, least, most) for users in left_out.values())


def is_true(records, a, b, group_of, boxes):
    """Tell whether the records are exactly those of the common users."""
    common = [one for one in a if one in b]
    if any(one not in group_of for one in common):
        return False
    return Counter(records) == Counter((*boxes[group_of[one]], b[one][1]) for one in common)


def inside(a, b, group_of, boxes):
    """Tell whether every user lies in the intervals of its group."""
    for place, cells_of in enumerate((a, {one: cells for one, (cells, _value) in b.items()})):
        for one, cells in cells_of.items():
            if one in group_of:
                box = boxes[group_of[one]][place]
                if not all(low <= cell < high for cell, (low, high) in zip(cells, box, strict=True)):
                    return False
    return True
