"""Labels that look alike, straight from what is meant, slow and obvious. Nothing is imported from the package.

Two labels look alike if they are the same once both are in Unicode's compatibility form, without case, without format characters
(zero-width joiners, soft hyphens, byte order marks, marks of direction), without what else Unicode says may be ignored, and without
white space at their ends. ASCII control characters such as tabs are no white space here: a label that holds one is refused.
"""

import unicodedata
from itertools import combinations

IGNORABLE = [(0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2060, 0x206F), (0x2800, 0x2800)]
IGNORABLE += [(0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF)]
"""Default_Ignorable_Code_Point of Unicode 16 beside format characters, as ranges, and the empty braille pattern."""
WHITE_SPACE = "".join(char for char in map(chr, range(32, 0x110000)) if char.isspace())


def is_invisible(char):
    code = ord(char)
    return unicodedata.category(char) == "Cf" or any(first <= code <= last for first, last in IGNORABLE)


def look(label):
    seen = ""
    for char in unicodedata.normalize("NFKC", label):
        if not is_invisible(char):
            seen += char
    return unicodedata.normalize("NFKC", seen.casefold()).strip(WHITE_SPACE)


def pairs(labels):
    """Every two labels that look alike, as a set of pairs in code point order."""
    return {(a, b) for a, b in combinations(sorted(set(labels)), 2) if look(a) == look(b)}


def without_blanks(records):
    """The records with labels stripped, each label once in a record."""
    return [{label.strip() for label in record} for record in records]
