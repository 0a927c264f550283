"""What tests of comparisons share: a small grid, its whole result, and a browser."""

import pytest

from comparison.made import GRID
from support.program import call


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """Give the folder of a comparison that ran without a pause, beside its grid."""
    folder = tmp_path_factory.mktemp("comparison")
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
    ended = call("compare", "grid.toml", "--out", "whole", "--quiet", cwd=folder)
    assert ended.code == 0, ended.err
    return folder / "whole"
