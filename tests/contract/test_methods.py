"""What every method must pass; standing in the catalog is enough to be tested."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.catalog import GUARANTEES, METHODS
from setveil.cli.options import of_declaration
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_release
from setveil.release.provenance import draw_again
from setveil.release.truthfulness import NOT_TRUTHFUL

from contract.filling import bad_values, edge_cases, filled, oracle_reach, oracle_violations, ways
from contract.forms import is_in_order, made_from, untrue_by_oracle
from support.exhaustive import examples
from support.random_data import make, seeds

EVERY = pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS.keys())
EVERY_WAY = pytest.mark.parametrize(("kind", "chosen"), ways(METHODS)[0], ids=ways(METHODS)[1])
DOCS = Path(__file__).parents[2] / "docs"


def ids_for(kind, ids="pseudonym"):
    """Return what may become of ids: rows of some forms carry none."""
    return "drop" if kind.form.why_nameless else ids


def published(data, kind, method, **terms):
    """Publish what the method takes of the data; seeds may be short."""
    return sv.publish(made_from(kind, data), method, experiment=True, **terms)


def usual(seed=7):
    data, _categories = make(seed, records=50, items=40, categories=4, hot=0.7)
    return data.with_ids([f"person-{r}" for r in range(data.records)])


@EVERY
def test_bad_parameters_are_refused_in_one_sentence(kind):
    for parameter in kind.parameters():
        for value in bad_values(parameter):
            with pytest.raises(sv.BadParameter) as refused:
                filled(kind, usual(), **{parameter.name: value})
            sentence = str(refused.value)
            assert kind.name in sentence
            assert parameter.name in sentence
            assert "\n" not in sentence


@EVERY
def test_unknown_and_missing_parameters_are_refused(kind):
    with pytest.raises(sv.BadParameter, match="has no parameter 'colour'"):
        filled(kind, usual(), colour="red")
    if any(p.required for p in kind.parameters()):
        with pytest.raises(sv.BadParameter, match="needs"):
            kind()


@EVERY_WAY
def test_it_is_a_recipe(kind, chosen):
    method = filled(kind, usual(), **chosen)
    assert kind(**json.loads(method.model_dump_json())) == method
    assert kind.name
    assert kind.summary().endswith(".")
    assert kind.title in repr(method) or kind.__name__ in repr(method)
    with pytest.raises(Exception, match="frozen"):
        setattr(method, next(iter(kind.model_fields)), None)


@EVERY_WAY
@settings(max_examples=examples(25), deadline=None)
@given(seed=seeds, ids=st.sampled_from(["pseudonym", "keep", "drop"]))
def test_the_guarantee_holds_by_the_oracle_on_whatever_is_published(kind, chosen, seed, ids):
    data, _categories = make(seed)
    data = data.with_ids([f"p{r}" for r in range(data.records)])
    try:
        release = published(
            data, kind, filled(kind, data, **chosen), ids=ids_for(kind, ids), seed=seed, no_guarantee=True, metrics=[]
        )
    except sv.SetveilError:
        return
    assert type(release.data) is kind.form
    guarantee = release.method.guarantee
    if guarantee is not None:
        assert guarantee.name in GUARANTEES
        assert oracle_violations(guarantee, data, release.data, release.alignment) == set()
        reach = release.verdict.reach
        assert (reach.covered, reach.total) == oracle_reach(guarantee, data, release.data, release.alignment)


@EVERY_WAY
@settings(max_examples=examples(25), deadline=None)
@given(seed=seeds)
def test_what_it_says_of_the_truth_of_its_rows_is_so(kind, chosen, seed):
    data, _categories = make(seed)
    try:
        release = published(
            data, kind, filled(kind, data, **chosen), ids=ids_for(kind), seed=seed, no_guarantee=True, metrics=[]
        )
    except sv.SetveilError as refused:
        verdict = getattr(refused, "verdict", None)
        assert verdict is None or NOT_TRUTHFUL not in verdict.violations
        return
    if kind.truthful != "no":
        assert not untrue_by_oracle(release.data, data, release.alignment.rows, whole=kind.truthful == "yes")


@EVERY_WAY
def test_the_input_is_untouched(kind, chosen):
    data = usual()
    before = data.checksum()
    published(
        data, kind, filled(kind, data, **chosen), seed=1, allow_failures=data.records, no_guarantee=True, metrics=[]
    )
    assert data.checksum() == before


@EVERY_WAY
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(kind, chosen, tmp_path):
    data = usual()
    made = []
    for number, (seed, threads) in enumerate(((5, 1), (5, 2), (5, 3), (6, 2))):
        release = published(
            data,
            kind,
            filled(kind, data, **chosen),
            ids=ids_for(kind),  # pseudonyms differ with the seed even where a method draws nothing
            seed=seed,
            threads=threads,
            allow_failures=data.records,
            no_guarantee=True,
            metrics=[],
        )
        release.save(tmp_path / f"{number}")
        made.append({path.name: path.read_bytes() for path in (tmp_path / f"{number}").iterdir()})
        made[-1]["alignment"] = (tmp_path / f"{number}.private" / "alignment.parquet").read_bytes()
    assert made[0] == made[1] == made[2]
    assert made[0].keys() == made[3].keys()
    assert made[0]["card.json"] != made[3]["card.json"]  # it names the run
    assert made[0]["alignment"] != made[3]["alignment"] or ids_for(kind) == "drop"


@EVERY_WAY
@pytest.mark.parametrize("case", edge_cases())
def test_edge_cases_end_in_a_release_or_a_clear_refusal(kind, chosen, case):
    data = edge_cases()[case]
    data = data.with_ids([f"p{r}" for r in range(data.records)])
    for ids in {ids_for(kind), "drop"}:
        try:
            release = published(data, kind, filled(kind, data, **chosen), ids=ids, seed=1, no_guarantee=True)
        except sv.SetveilError:
            continue
        guarantee = release.method.guarantee
        assert guarantee is None or not oracle_violations(guarantee, data, release.data, release.alignment)


@EVERY_WAY
def test_saved_and_opened_again_it_is_the_same_and_tells_nothing_private(kind, chosen, tmp_path):
    data = usual()
    release = published(data, kind, filled(kind, data, **chosen), allow_failures=data.records, no_guarantee=True)
    release.save(tmp_path / "out")
    opened, private = open_release(tmp_path / "out"), Private.load(tmp_path / "out.private")
    assert opened.data == release.data
    if release.verdict is not None:
        verdict = check_release(opened, guarantee_of(opened, private), original=made_from(kind, data), private=private)
        assert verdict.failures == release.verdict.failures
        assert verdict.violations == release.verdict.violations
    again, alignment = draw_again(private.randomness, made_from(kind, data))
    assert again == opened.data
    assert alignment.rows.tolist() == private.alignment.rows.tolist()
    handed_over = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert str(release.randomness.seed.value).encode() not in handed_over
    assert b"person-" not in handed_over
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    private_names = {p.name for p in kind.parameters() if not p.public}
    assert not private_names & card["method"]["parameters"].keys()
    assert card["method"]["parameters"].keys() == {p.name for p in kind.parameters() if p.public}


@EVERY_WAY
def test_rows_carry_names_only_where_the_release_is_about_people(kind, chosen):
    data = usual()
    release = published(
        data, kind, filled(kind, data, **chosen), allow_failures=data.records, no_guarantee=True, metrics=[]
    )
    rows = release.data.row_parts
    assert (rows is not None and rows.ids is not None) == kind.about_people
    assert release.terms.ids == ("pseudonym" if kind.about_people else "drop")
    guarantee = release.method.guarantee
    assert guarantee is None or guarantee.protects == "people" or not kind.about_people
    given_ = {"allow_failures": data.records, "no_guarantee": True, "metrics": []}
    if ids_for(kind) == "drop":
        for ids in ("pseudonym", "keep"):
            with pytest.raises(sv.BadParameter, match="have no ids"):
                published(data, kind, filled(kind, data, **chosen), ids=ids, **given_)
    else:
        assert (
            published(data, kind, filled(kind, data, **chosen), ids="pseudonym", **given_).data.row_parts.ids
            is not None
        )


@EVERY_WAY
def test_rows_stand_in_an_order_that_tells_nothing(kind, chosen):
    data = usual()
    method = filled(kind, data, **chosen)
    release = published(
        data, kind, method, ids=ids_for(kind), allow_failures=data.records, no_guarantee=True, metrics=[]
    )
    rows = release.data.row_parts
    if rows is not None and rows.ids is not None:
        names = rows.ids.to_pylist()
        assert names == sorted(names)
    else:
        assert is_in_order(release.data)
    assert (release.data.supports > 0).all()


@EVERY
def test_it_is_documented_and_offered(kind):
    page = (DOCS / "methods" / f"{kind.name}.md").read_text(encoding="utf-8")
    options = {option.name for option in of_declaration(kind)}
    for parameter in kind.parameters():
        assert f"`{parameter.name}`" in page, parameter.name
        assert parameter.name in options
        assert parameter.description.endswith(".")
    assert kind.paper in page
    assert re.search(
        rf"^@\w+{{{kind.paper},$",
        (DOCS.parent / "src" / "setveil" / "references.bib").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
