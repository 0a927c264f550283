"""Colours keep their meaning, and can be distinguished with any kind of colour vision, on light and on dark screens."""

import itertools
import re

import numpy as np
import pytest

from setveil.report.page import render
from setveil.report.release_charts import ITEMSETS
from setveil.report.theme import DARK, LIGHT, styles

from report.test_page import embedded

MEANINGS = ("original", "release", "lost", "new", "protected", "violated", "neutral", "control")
VISIONS = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
"""How a colour in linear RGB appears (Machado, Oliveira and Fernandes 2009, severity 1)."""
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
LEAST_DISTANCE = 18
"""Of two colours in CIE L*a*b*; about 2 can just be distinguished side by side."""


def linear(colour):
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    relative = TO_XYZ @ np.clip(rgb, 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one, other):
    darker, lighter = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_colours_can_be_distinguished(theme, vision):
    seen = {name: lab(np.array(VISIONS[vision]) @ linear(theme[name])) for name in MEANINGS}
    for one, other in itertools.combinations(MEANINGS, 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= LEAST_DISTANCE, (one, other)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_from_the_page_and_texts_can_be_read(theme):
    for name in MEANINGS:
        assert contrast(theme[name], theme["paper"]) >= 3, name
    for name, paper in itertools.product(("ink", "soft"), ("paper", "raised")):
        assert contrast(theme[name], theme[paper]) >= 4.5, (name, paper)


def test_both_themes_have_the_same_colours_and_print_is_light():
    assert LIGHT.keys() == DARK.keys() >= set(MEANINGS)
    assert styles().count("@media screen and (prefers-color-scheme: dark)") == 1
    assert styles().index(LIGHT["paper"]) < styles().index("@media") < styles().index(DARK["paper"])


def test_charts_of_a_release_name_colours_by_meaning_only(dossier):
    page = render(dossier)
    text = str(embedded(page))
    assert not re.findall(r"#[0-9a-fA-F]{6}", text)
    assert set(re.findall(r"var\(--([a-z]+)\)", text)) <= {*MEANINGS, "ink", "paper", "line"}


def test_lost_and_new_have_colours_of_their_own():
    assert ITEMSETS.palette == ["var(--neutral)", "var(--lost)", "var(--new)"]
