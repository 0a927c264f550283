"""Random trees over items for tests: from one item to a few dozen nodes, with names that are hard on files."""

from hypothesis import strategies as st

NAMES = st.text('*a1,"/ é-', max_size=4).map(str.strip).filter(bool)


@st.composite
def mappings(draw):
    """Draw a mapping from node to parent without circles; there may be several nodes without parent."""
    names = draw(st.lists(NAMES | st.integers(-3, 30).map(str), min_size=2, max_size=25, unique=True))
    above = [0, *(draw(st.none() | st.integers(0, i - 1)) for i in range(2, len(names)))]
    return {names[i]: names[parent] for i, parent in enumerate(above, start=1) if parent is not None}


@st.composite
def level_rows(draw):
    """Draw rows (item, most specific name, ..., most general name), some of them without the specific names."""
    height = draw(st.integers(1, 4))
    items = draw(st.lists(st.integers(0, 99).map(lambda number: f"i{number}"), min_size=1, max_size=12, unique=True))
    rows = []
    for item in items:
        named = draw(st.integers(1, height))
        names = draw(st.lists(st.sampled_from(["a", "b", "c/d", "i"]), min_size=named, max_size=named))
        rows.append([item, *[""] * (height - named), *names])
    return rows


def some_tree(items, rng):
    """Lay a random tree over items: uneven, with nodes of one child."""
    level, parent_of = list(items), {}
    while len(level) > 1 or not parent_of:
        rng.shuffle(level)
        above = []
        while level:
            size = int(rng.integers(1, 4))
            group, level = level[:size], level[size:]
            if len(group) == 1 and above and rng.random() < 0.5:
                above += group
                continue
            name = f"n{len(parent_of)}"
            parent_of |= dict.fromkeys(group, name)
            above.append(name)
        level = above
    return parent_of
