"""Labels that look alike, straight from what is meant, slow and obvious. Nothing is imported from the package.

Two labels look alike if they are the same once both are in Unicode's compatibility form, without case, without format characters
(zero-width joiners, soft hyphens, byte order marks, marks of direction), without joiners of letters and selectors of variants, and
without white space at their ends.
"""

import unicodedata
from itertools import combinations


def is_invisible(char):
    code = ord(char)
    selects = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    return unicodedata.category(char) == "Cf" or selects or code == 0x34F


def look(label):
    seen = ""
    for char in unicodedata.normalize("NFKC", label):
        if not is_invisible(char):
            seen += char
    return unicodedata.normalize("NFKC", seen.casefold()).strip()


def pairs(labels):
    """Every two labels that look alike, as a set of pairs in code point order."""
    return {(a, b) for a, b in combinations(sorted(set(labels)), 2) if look(a) == look(b)}


def without_blanks(records):
    """The records with labels stripped, each label once in a record."""
    return [{label.strip() for label in record} for record in records]
