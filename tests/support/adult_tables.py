"""Adult dealt out to two providers, read once a session; the folder comes from the fixture `real_folder`."""

from functools import cache

from setveil.reproduce.adult import adult_tables


@cache
def adult(folder, sensitive="income", **sizes):
    """Return the tables, and the true cells of everybody."""
    return adult_tables(folder, sensitive=sensitive, **sizes)
