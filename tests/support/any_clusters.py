"""Clusters of disassociated data for Hypothesis, of any shape that a file can hold."""

from hypothesis import strategies as st

TEXTS = (
    st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc")), max_size=5).map(str.strip).filter(bool)
)


@st.composite
def some_clusters(draw):
    """Draw clusters, safe or not: chunks may overlap, subrecords may be empty, and equal ones may stand twice."""
    labels = st.sampled_from(draw(st.lists(TEXTS | st.integers(-5, 200).map(str), min_size=1, max_size=6, unique=True)))
    parts = st.tuples(st.sets(labels, max_size=3).map(sorted), st.integers(1, 5))
    chunks = st.lists(st.lists(parts, min_size=1, max_size=3), max_size=3)
    clusters = st.fixed_dictionaries(
        {"size": st.integers(1, 9), "record_chunks": chunks, "term_chunk": st.sets(labels, max_size=3).map(sorted)}
    )
    return draw(st.lists(clusters, min_size=1, max_size=4))
