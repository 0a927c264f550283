"""`--force` replaces releases, and nothing else."""

import pytest

import setveil as sv

from support.random_data import make


@pytest.fixture
def release():
    data, categories = make(9, records=40, items=40, categories=6)
    data = data.with_ids([f"p{r}" for r in range(data.records)])
    return sv.publish(data, sv.PartSwap(categories=categories), allow_failures=40)


@pytest.mark.parametrize("which", ["out", "out.private"])
def test_a_folder_of_something_else_is_never_replaced(release, tmp_path, which):
    (tmp_path / which).mkdir()
    (tmp_path / which / "thesis.tex").write_text("years of work")
    with pytest.raises(sv.OutputRefused, match="is not a folder of a release"):
        release.save(tmp_path / "out", force=True)
    assert (tmp_path / which / "thesis.tex").read_text() == "years of work"


def test_a_release_and_an_empty_folder_are_replaced(release, tmp_path):
    (tmp_path / "out").mkdir()
    release.save(tmp_path / "out", force=True)
    before = (tmp_path / "out.private" / "dossier.json").read_bytes()
    release.save(tmp_path / "out", force=True)
    assert (tmp_path / "out.private" / "dossier.json").exists()
    assert len(before) > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.private"]
