"""Mondrian, Extended Mondrian and MPALM in plain Python, straight from their definitions.

A user is a dict: `cells` (a list, None where the user has none), `a` (at A or not) and `s` (sensitive value, None if not at B).
"""

import hashlib
from fractions import Fraction

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


class NothingToRelease(Exception):
    pass


def drawn_number(key, context, block, below):
    """Return the number that an id draws."""
    own = hashlib.blake2b(context, key=key).digest()[:16]
    encryptor = Cipher(algorithms.AES(own), modes.ECB()).encryptor()  # noqa: S305 - one block
    return int.from_bytes(encryptor.update(block)[:8], "little") % below


def with_fixed_rows(users, ids, keys, first_of_b):
    """Give users who are not at a provider the row of one who is."""
    sides = []
    for role, key, exists in (("a", keys[0], lambda one: one["a"]), ("b", keys[1], lambda one: one["s"] is not None)):
        columns = slice(0, first_of_b) if role == "a" else slice(first_of_b, None)
        rows = [one["cells"][columns] for one in users if exists(one)]
        side = []
        for one, name in zip(users, ids, strict=True):
            block = hashlib.blake2b(name.encode(), digest_size=16).digest()
            context = f"setveil presence: fixed rows of {role}".encode()
            side.append(one["cells"][columns] if exists(one) else rows[drawn_number(key, context, block, len(rows))])
        sides.append(side)
    return [{**one, "cells": list(a) + list(b)} for one, a, b in zip(users, *sides, strict=True)]


def keeps(group, *, k, l, shares=None, by_value=True):  # noqa: E741 - what l-diversity calls it
    """Tell whether a group of users keeps the limits; `shares` has (least, most) of A and of B as fractions."""
    common = [one for one in group if one["a"] and one["s"] is not None]
    if len(common) < k or len({one["s"] for one in common}) < l:
        return False
    return keeps_shares(group, shares=shares, by_value=by_value)


def keeps_shares(group, *, shares=None, by_value=True, **_others):
    """Tell whether a group of users keeps the limits of presence."""
    common = [one for one in group if one["a"] and one["s"] is not None]
    if shares is None:
        return True
    of_a, of_b = shares
    if not within(len(common), sum(one["a"] for one in group), of_a):
        return False
    at_b = [one for one in group if one["s"] is not None]
    if not by_value:
        return within(len(common), len(at_b), of_b)
    return all(
        within(sum(one["s"] == s for one in common), sum(one["s"] == s for one in at_b), of_b)
        for s in {one["s"] for one in at_b}
    )


def within(part, whole, bounds):
    return whole == 0 or bounds[0] <= Fraction(part, whole) <= bounds[1]


def attributes_by_width(users, members, cells_of):
    """Return the attributes in which the members differ, the widest first."""
    widths = []
    for attribute, cells in enumerate(cells_of):
        there = [users[i]["cells"][attribute] for i in members if users[i]["cells"][attribute] is not None]
        if there and max(there) > min(there):
            widths.append((-Fraction(max(there) - min(there), cells - 1), attribute))
    return [attribute for _width, attribute in sorted(widths)]


def cuts_by_evenness(users, members, attribute, cells):
    """Return the cuts that make different parts, the most even first: (cell, lower, upper)."""
    made = {}
    for cut in range(1, cells):
        known = [i for i in members if users[i]["cells"][attribute] is not None]
        lower = tuple(i for i in known if users[i]["cells"][attribute] < cut)
        upper = tuple(i for i in known if users[i]["cells"][attribute] >= cut)
        if lower and upper:
            made.setdefault((lower, upper), []).append(cut)
    found = [((min(cuts) + max(cuts)) // 2, lower, upper) for (lower, upper), cuts in made.items()]
    return sorted(found, key=lambda one: (abs(len(one[1]) - len(one[2])), one[0]))


def divided(users, members, cells_of, *, every_attribute, every_cut, sees_counts, **limits):
    """Return the final groups as (members, intervals), and how many cuts were tried."""
    if not keeps([users[i] for i in members], **limits):
        raise NothingToRelease
    groups, tried = [], 0

    def split(members, box):
        nonlocal tried
        common = sum(users[i]["a"] and users[i]["s"] is not None for i in members)
        attributes = attributes_by_width(users, members, cells_of)
        if sees_counts and common < 2 * limits["k"]:
            attributes = []
        for attribute in attributes if every_attribute else attributes[:1]:
            cuts = cuts_by_evenness(users, members, attribute, cells_of[attribute])
            for cut, lower, upper in cuts if every_cut else cuts[:1]:
                tried += 1
                left = [users[i] for i in members if i not in lower and i not in upper]
                if all(keeps([users[i] for i in part], **limits) for part in (lower, upper)) and keeps_shares(
                    left, **limits
                ):
                    low, high = box[attribute]
                    split(lower, {**box, attribute: (low, cut)})
                    split(upper, {**box, attribute: (cut, high)})
                    return
        groups.append((sorted(members), [box[attribute] for attribute in range(len(cells_of))]))

    split(tuple(members), {attribute: (0, cells) for attribute, cells in enumerate(cells_of)})
    return groups, tried


def mondrian(users, cells_of, **limits):
    members = [i for i, one in enumerate(users) if one["a"] and one["s"] is not None]
    return divided(users, members, cells_of, every_attribute=True, every_cut=False, sees_counts=True, **limits)


def extended_mondrian(users, cells_of, *, retry, **limits):
    members = range(len(users))
    again = retry == "attributes"
    return divided(users, members, cells_of, every_attribute=again, every_cut=False, sees_counts=False, **limits)


def mpalm(users, cells_of, **limits):
    members = range(len(users))
    return divided(users, members, cells_of, every_attribute=True, every_cut=True, sees_counts=True, **limits)
