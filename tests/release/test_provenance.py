"""Re-associated data must be the random draw of their seed: true records that fit the chunks are not."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import setveil as sv
from setveil.data.records.alignment import Alignment
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_release
from setveil.release.provenance import draw_again
from setveil.release.seed import canonical_json

from support.program import call
from support.random_data import as_sets, make
from support.renewing import edit_json

FIXTURES = Path(__file__).parents[1] / "fixtures" / "releases-1"


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """Publish a disassociated release and keep which record stands at which place of its clusters."""
    folder = tmp_path_factory.mktemp("apart")
    rng = np.random.default_rng(3)
    data = sv.from_lists([sorted({f"i{n}" for n in rng.geometric(0.15, 4)}) for _ in range(80)])
    release = sv.publish(data, sv.Disassociation(k=3, m=2, delta=12), metrics=[])
    release.save(folder / "apart")
    opened = open_release(folder / "apart").data
    assert opened == release.data
    assert opened.chunks > opened.clusters > 4
    assert len(opened.terms)
    return SimpleNamespace(folder=folder / "apart", data=opened, original=data, records=release.alignment.rows)


def true_records(apart):
    """Return the records of the original less the items in their cluster's term chunk, and their places in the clusters."""
    cluster_of = np.repeat(np.arange(apart.data.clusters), apart.data.sizes)
    terms = [set(cluster["term_chunk"]) for cluster in apart.data.to_clusters()]
    whole = as_sets(apart.original)
    rows = [
        (sorted(whole[record] - terms[cluster]), place)
        for place, (record, cluster) in enumerate(zip(apart.records, cluster_of, strict=True))
    ]
    rows = sorted(row for row in rows if row[0])
    return sv.from_lists([items for items, _place in rows]), np.array([place for _items, place in rows])


def checked(out, apart, **changed):
    opened, private = open_release(out), Private.load(out.with_name(out.name + ".private"))
    private = replace(private, dossier=private.dossier | changed)
    return check_release(opened, guarantee_of(opened, private), original=apart.data, private=private)


def drawn(apart, term_chunk="drop", **parameters):
    method = sv.Reassociation(term_chunk=term_chunk, **parameters)
    return sv.publish(apart.data, method, seed=2**90, metrics=[])


@pytest.fixture(scope="module")
def forged(apart):
    """Save the true records as if they were the draw: data, card, alignment and dossier agree with each other."""
    records, places = true_records(apart)
    assert sum(row in as_sets(apart.original) for row in as_sets(records)) > 10
    release = replace(drawn(apart), data=sv.Reassociated((records,)), alignment=Alignment(places))
    out = apart.folder.with_name("forged")
    release.save(out)
    return out


def test_true_records_do_not_pass_as_a_random_draw(apart, forged):
    verdict = checked(forged, apart)
    assert verdict.status == "violated"
    assert verdict.violations == {"not-the-noted-draw": 2}
    assert [w.place for w in verdict.witnesses] == [
        str(forged / "data-1.dat"),
        str(forged.with_name("forged.private") / "alignment.parquet"),
    ]
    assert verdict.reach.covered == 0
    assert not verdict.acceptable(10**6)


def test_the_command_line_refuses_them(apart, forged):
    options = ("--original", apart.folder, "--private", f"{forged}.private", "--witnesses", 5)
    ended = call("check", forged, *options)
    assert ended.code == 3
    assert "not the noted draw" in ended.out
    assert f"{forged / 'data-1.dat'}" in ended.out


@pytest.mark.parametrize(
    "parameters",
    [{}, {"copies": 3}, {"term_chunk": "place"}, {"copies": 3, "choose": "centroid", "term_chunk": "place"}],
    ids=str,
)
def test_what_was_drawn_holds(apart, parameters, tmp_path):
    drawn(apart, **parameters).save(tmp_path / "again")
    verdict = checked(tmp_path / "again", apart)
    assert verdict.status == "holds"
    assert verdict.reason == ""


def test_one_set_of_several_that_was_not_drawn_is_named(apart, tmp_path):
    records, places = true_records(apart)
    release = drawn(apart, copies=3)
    sets = list(release.data.datasets)
    rows = np.split(release.alignment.rows, release.data.starts[1:-1])
    sets[1], rows[1] = records, places
    replace(release, data=sv.Reassociated(sets), alignment=Alignment(np.concatenate(rows))).save(tmp_path / "again")
    verdict = checked(tmp_path / "again", apart)
    assert [w.place for w in verdict.witnesses] == [
        str(tmp_path / "again" / "data-2.dat"),
        str(tmp_path / "again.private" / "alignment.parquet"),
    ]


def test_a_release_of_a_version_that_noted_neighbours_is_drawn_again(apart, tmp_path, notes):
    release = drawn(apart, copies=2)
    recipe = json.loads(release.randomness.recipe)
    recipe["parameters"]["neighbours"] = recipe["parameters"].pop("copies")
    former = replace(release.randomness, recipe=canonical_json(recipe))
    published, alignment = draw_again(former, apart.data)
    assert len(published) == 2
    replace(release, data=published, alignment=alignment, randomness=former).save(tmp_path / "again")
    noted = {"parameters": recipe["parameters"]}
    edit_json(tmp_path / "again" / "card.json", lambda card: card["method"].update(noted))
    for part in (lambda dossier: dossier, lambda dossier: dossier["card"]):
        dossier = tmp_path / "again.private" / "dossier.json"
        edit_json(dossier, lambda whole, part=part: part(whole)["method"].update(noted))
    verdict = checked(tmp_path / "again", apart)
    assert (verdict.status, verdict.reason) == ("holds", "")
    assert "neighbours" not in notes()


@pytest.mark.parametrize("kept", [[0], [0, 1, 2]], ids=["a set is missing", "a set is there twice"])
def test_another_number_of_sets_than_was_drawn_is_violated(apart, tmp_path, kept):
    release = drawn(apart, copies=2)
    sets = [*release.data.datasets, release.data.datasets[-1]]
    rows = np.split(release.alignment.rows, release.data.starts[1:-1])
    rows.append(rows[-1])
    taken = sv.Reassociated([sets[n] for n in kept])
    replace(release, data=taken, alignment=Alignment(np.concatenate([rows[n] for n in kept]))).save(tmp_path / "again")
    verdict = checked(tmp_path / "again", apart)
    assert verdict.status == "violated"
    assert verdict.witnesses[0].place == str(tmp_path / "again")
    assert f"it has {len(kept)} data file" in verdict.witnesses[0].detail


def test_another_seed_than_the_noted_one_is_refused(apart, tmp_path):
    """The same files, and a dossier with another seed: the run id is not that of the seed."""
    drawn(apart).save(tmp_path / "again")
    with pytest.raises(sv.BadData, match=r"again\.private/dossier\.json: notes a seed or a recipe that does not give"):
        checked(tmp_path / "again", apart, seed=str(2**90 + 1))


def test_a_recipe_that_cannot_be_run_leaves_it_undecided(apart, forged, tmp_path):
    """Whoever spoils the recipe to avoid the comparison gets no verdict that holds."""
    noted = Private.load(forged.with_name("forged.private")).dossier["randomness"]
    other = {**noted, "recipe": {**noted["recipe"], "method": "no such method"}}
    with pytest.raises(sv.BadData, match="notes a seed or a recipe that does not give its run id"):
        checked(forged, apart, randomness=other)
    drawn(apart).save(tmp_path / "again")
    bare = replace(apart.data, stated={})
    opened, private = open_release(tmp_path / "again"), Private.load(tmp_path / "again.private")
    verdict = check_release(opened, guarantee_of(opened, private), original=bare, private=private)
    assert verdict.status == "undecided"
    assert verdict.reason.startswith(
        "draw not checked: the disassociated data do not state the k and m of their guarantee"
    )


def test_a_scheme_that_is_not_known_leaves_it_undecided(apart, tmp_path):
    drawn(apart).save(tmp_path / "again")
    noted = Private.load(tmp_path / "again.private").dossier["randomness"]
    verdict = checked(tmp_path / "again", apart, randomness={**noted, "scheme": 3})
    assert verdict.status == "undecided"
    assert verdict.reason.startswith("draw not checked: ")
    assert "names the scheme 3" in verdict.reason


def test_a_dossier_that_passes_as_an_older_one_leaves_it_undecided(apart, forged, tmp_path):
    private = Private.load(forged.with_name("forged.private"))
    older = {key: value for key, value in private.dossier.items() if key != "randomness"} | {"dossier_version": 2}
    (tmp_path / "dossier.json").write_text(json.dumps(older))
    private.alignment.save(tmp_path / "alignment.parquet")
    opened, private = open_release(forged), Private.load(tmp_path)
    verdict = check_release(opened, guarantee_of(opened, private), original=apart.data, private=private)
    assert verdict.status == "undecided"
    assert "names the scheme none" in verdict.reason


def test_a_difference_that_other_versions_may_explain_is_undecided(apart, forged, tmp_path):
    """numpy does not promise the same numbers in every version: an equal draw still holds, another one proves nothing."""
    versions = Private.load(forged.with_name("forged.private")).dossier["versions"]
    older = {**versions, "numpy": "1.0"}
    verdict = checked(forged, apart, versions=older)
    assert verdict.status == "undecided"
    assert verdict.reason.startswith("draw not checked: ")
    assert "numpy 1.0" in verdict.reason
    drawn(apart).save(tmp_path / "again")
    assert checked(tmp_path / "again", apart, versions=older).status == "holds"


def test_a_release_of_version_1_holds_and_says_that_its_draw_is_not_checked():
    folder = FIXTURES / "reassociation"
    opened, private = open_release(folder), Private.load(FIXTURES / "reassociation.private")
    original = open_release(FIXTURES / "disassociation").data
    verdict = check_release(opened, guarantee_of(opened, private), original=original, private=private)
    assert verdict.status == "holds"
    assert verdict.reason == "draw not checked: releases of card version 1 do not record how they were drawn"


@pytest.mark.parametrize("size", [13, 1 << 20])
def test_a_release_is_checked_with_the_blocks_that_it_was_made_in(size, tmp_path, monkeypatch):
    """The size is in the recipe, so whoever checks need not know it; pseudonyms and draw depend on it."""
    monkeypatch.setattr(sv.PartSwap, "runs_in_blocks", True)
    monkeypatch.setattr(sv.PartSwap, "apply_in_blocks", lambda self, data, *, rng_of: self.apply(data, rng=rng_of(0)))
    data, categories = make(7, records=60, items=20, categories=4, hot=0.0)
    data = data.with_ids([f"person {record}" for record in range(60)])
    method = sv.PartSwap(categories=categories)
    asked = {"metrics": [], "attacks": [], "seed": 2**100, "allow_failures": 60, "block_records": size}
    release = sv.publish(data, method, out=tmp_path / "out", **asked)
    private = Private.load(tmp_path / "out.private")
    recipe = private.dossier["randomness"]["recipe"]
    assert recipe.get("block_records") == (size if size < 60 else None)
    for other in (7, 1 << 20):
        with using_engine(LocalEngine(other)):
            published, alignment = draw_again(private.randomness, data)
            assert published == release.data
            assert alignment.rows.tolist() == release.alignment.rows.tolist()
            verdict = sv.check(tmp_path / "out", original=data)
            assert "not-the-pseudonym" not in verdict.violations
    whole = sv.publish(data, method, **asked | {"block_records": 60})
    assert (whole.data.ids == release.data.ids) == (size > 60)
