"""Attacks at publication and later: what the card names, where findings are stored, and that no release breaks an attack."""

import json

import numpy as np
import pytest

import setveil as sv
from setveil.attacks.membership import Membership
from setveil.catalog import ATTACKS, METHODS
from setveil.release import attack_runs
from setveil.release.dossier import Private

from contract.filling import filled
from contract.forms import made_from
from support.program import call
from support.random_data import make

SEED = 2**90 + 7
ODD = {
    "ids": lambda: make(3, records=40, items=15, categories=4)[0].with_ids([f"p{number}" for number in range(40)]),
    "one record": lambda: sv.from_lists([["a", "b", "c"]]),
    "one item": lambda: sv.from_lists([["a"]] * 5),
    "empty records": lambda: sv.from_lists([[], ["a", "b"], [], ["a", "b"], ["a", "b", "c"], ["c"]] * 4),
    "all equal": lambda: sv.from_lists([["a", "b", "c"]] * 12),
}


def baskets(records=80):
    return make(5, records=records, items=15, categories=4, hot=0.3)[0].without_empty()


def insert(data, **more):
    return sv.Insert(sensitive=list(data.vocabulary[-3:]), rho="50%", **more)


def facts(folder):
    return json.loads((folder / "dossier.json").read_text(encoding="utf-8"))


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def out(tmp_path):
    """Give the folder of a release with a private folder beside it, attacked quickly."""
    data = baskets()
    sv.write(data, tmp_path / "data.dat")
    sv.publish(tmp_path / "data.dat", insert(data), seed=SEED, metrics="none", out=tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("name", ODD)
def test_every_release_can_be_attacked(kind, name):
    data = ODD[name]()
    given = {"metrics": [], "allow_failures": data.records, "no_guarantee": True, "seed": SEED}
    try:
        release = sv.publish(made_from(kind, data), filled(kind, data), ids="pseudonym", **given)
    except sv.SetveilError:
        return  # the method does not take these data
    found = release.findings
    assert all(one.was_run and one.targets in (None, 500) and not one.shadow for one in found if one.main)
    if release.data.made_from is None:
        found = [*found, *sv.attack(release, targets=20)]
    for one in found:
        assert one.sentence
        assert one.main is not None or one.reason
        for trial in (one.main, one.naive, one.control):
            assert trial is None or 0 <= trial.rate <= 1 + 1e-9
    noted = sv.Findings(found).to_dict()
    assert sv.Findings.from_dict(json.loads(json.dumps(noted, allow_nan=False))) == found


def test_quick_fits_the_guarantee_and_full_is_everything_that_applies():
    data = baskets()

    def names(method, level):
        found = sv.publish(data, method, seed=SEED, metrics=[], attacks=level).findings
        return {one.title for one in found if one.was_run}

    assert names(insert(data), "none") == set()
    quick = {"find-record (known=2)", "near-the-limit", "which-sensitive (rows_per_item=200)"}
    assert names(insert(data), "quick") == quick
    assert names(sv.Disassociation(k=2, m=2), "quick") == {"find-record (known=2)"}
    itemsets = sv.ExactSwap(itemsets=[data.to_lists()[0][:2]], min_support="50%")
    assert names(itemsets, "quick") == {"find-record (known=2)", "holes (model=independence)"}
    full = names(sv.Disassociation(k=2, m=2), "full")
    assert full == {*(f"find-record (known={known})" for known in (1, 2, 3, 4)), "membership"}
    assert names(insert(data), ["none", "find-record:known=3", sv.FindRecord(known=3)]) == {"find-record (known=3)"}


def test_a_level_runs_no_attack_that_needs_much_memory(monkeypatch):
    data = sv.read("sample:supermarket?records=300")
    release = sv.publish(data, sv.Disassociation(k=2, m=2), metrics=[], attacks="none")
    monkeypatch.setattr(attack_runs, "MOST_BYTES", 60 * data.occurrences)
    assert sv.attack(release, targets=20)["membership"].was_run
    monkeypatch.setattr(attack_runs, "MOST_BYTES", 60 * data.occurrences - 1)
    found = sv.attack(release, targets=20)
    assert [one.name for one in found if not one.was_run and "memory" in one.reason] == ["membership"]
    assert found["membership"].reason.endswith("of memory for these data; name the attack to run it")
    for named in ("membership", Membership(), ["full", "membership"]):
        (one,) = [one for one in sv.attack(release, attacks=named, targets=20) if one.name == "membership"]
        assert one.was_run


def test_attacks_that_share_work_with_metrics_find_what_they_find_alone():
    data, categories = make(5, records=80, items=15, categories=4, hot=0.3)
    swap = sv.PartSwap(categories=categories)
    given = {"seed": SEED, "allow_failures": 80}
    with_metrics = sv.publish(data, swap, metrics="full", **given)
    alone = sv.publish(data, swap, metrics="none", **given)
    assert with_metrics.findings == alone.findings
    assert with_metrics.findings["absent-category"].main.rate == with_metrics.measurements["tendency-posterior"].value


def test_the_card_names_attacks_and_no_figure(out):
    attacks = json.loads((out / "card.json").read_text(encoding="utf-8"))["attacks"]
    assert attacks == [
        {"name": "find-record", "parameters": {"known": 2}, "targets": 500, "limit": None},
        {"name": "near-the-limit", "parameters": {}, "targets": 500, "limit": None},
        {"name": "which-sensitive", "parameters": {"rows_per_item": 200}, "targets": None, "limit": None},
    ]
    found = facts(out.with_name("out.private"))["attacks"]["findings"]
    assert [one["name"] for one in found] == [one["name"] for one in attacks]


def test_the_summary_has_a_phrase_for_every_attack():
    for kind in ATTACKS.values():
        for variant in kind.variants:
            assert kind.success_with(kind(**variant).public_parameters())


def test_no_setting_of_an_attack_is_private():
    """The card has the settings of the attacks that were run."""
    assert [p.name for kind in ATTACKS.values() for p in kind.parameters() if not p.public] == []


@pytest.mark.parametrize(("limit", "said"), [("1", "met"), (0.0001, "not met")])
def test_a_limit_is_on_the_card_and_above_it_the_release_is_still_written(limit, said, tmp_path):
    data = baskets()
    release = sv.publish(data, sv.Disassociation(k=2, m=2), seed=SEED, attack_limit=limit, out=tmp_path / "out")
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert card["attack_limit"] == float(limit)
    assert [one["limit"] for one in card["attacks"]] == [said]
    assert bool(release.findings.above_limit) == (said == "not met")
    assert sv.check(tmp_path / "out")


def test_an_attack_without_a_result_does_not_meet_a_limit(tmp_path):
    """Whether it has one can depend on private parameters, which the card must not show."""
    data = sv.from_lists([["a"], ["b"], ["a"]] * 5)
    release = sv.publish(data, sv.Disassociation(k=2, m=2), seed=SEED, attack_limit="1", out=tmp_path / "out")
    said = "No attack had a result, so the limit of 100.0 % was not tested."
    assert release.findings.judgement == said
    (found,) = facts(tmp_path / "out.private")["attacks"]["findings"]
    assert found["reason"] == "no record has 2 or more items"
    (noted,) = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))["attacks"]
    assert noted["limit"] == "not met"


@pytest.mark.parametrize("limit", ["high", "200%", -0.1])
def test_a_wrong_limit_is_refused_before_the_work_starts(limit):
    with pytest.raises(sv.BadParameter, match="attack_limit"):
        sv.publish([["a"]], sv.Disassociation(k=2, m=1), attack_limit=limit)


@pytest.mark.parametrize(
    ("attacks", "said"), [("magic", "there is no attack 'magic'"), (3, "neither an attack"), ([None], "none \\| quick")]
)
def test_wrong_attacks_are_refused(attacks, said):
    with pytest.raises((sv.BadParameter, sv.UnknownName), match=said):
        sv.publish([["a"]] * 2, sv.Disassociation(k=2, m=1), attacks=attacks)


@pytest.mark.parametrize(
    ("attack", "limit", "code"), [("holes", "90%", 3), ("find-record", "100%", 0), ("find-record", "0.01%", 3)]
)
def test_a_limit_is_met_only_if_an_attack_had_a_result(out, attack, limit, code):
    ended = call("attack", "out", "--attack", attack, "--targets", "20", "--limit", limit, cwd=out.parent)
    assert ended.code == code, ended.out
    assert ("was not tested" in ended.out) == (attack == "holes")


def test_attacks_later_add_to_the_dossier_and_the_report_and_change_no_release(out):
    private = out.with_name("out.private")
    released, before = bytes_of(out), facts(private)
    found = sv.attack(out, attacks=["find-record:known=2", "find-record:known=1"], targets=30, limit="10%")
    after = facts(private)
    assert bytes_of(out) == released
    assert {key for key in before if before[key] != after[key]} <= {"attacks", "summary"}
    stored = sv.Findings.from_dict(after["attacks"])
    assert [one.title for one in stored] == [
        "find-record (known=1)",
        "find-record (known=2)",
        "near-the-limit",
        "which-sensitive (rows_per_item=200)",
    ]
    assert stored["find-record (known=2)"] == found["find-record (known=2)"]
    assert stored["find-record (known=2)"].main.tried == 30
    assert stored.limit == 0.1
    report = (private / "report.html").read_text(encoding="utf-8")
    assert found[0].sentence.split(":")[1] in report
    assert sorted(path.name for path in private.iterdir()) == [
        "alignment.parquet",
        "dossier.json",
        "recount.sql",
        "report.html",
    ]
    again = sv.attack(out, attacks="which-sensitive")
    stored = sv.Findings.from_dict(facts(private)["attacks"])
    assert len(stored) == 4
    assert stored.limit == 0.1
    assert stored["which-sensitive"] == again[0]
    sv.write_report(out)
    assert sv.Findings.from_dict(facts(private)["attacks"]) == stored
    assert sv.check(out)


def test_attacks_stopped_half_way_change_nothing(out, monkeypatch):
    private = out.with_name("out.private")
    before = bytes_of(private)
    monkeypatch.setattr(
        "setveil.attacks.membership.Membership.run", lambda *_given: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        sv.attack(out, attacks=["find-record", "membership"], targets=20)
    assert bytes_of(private) == before


def test_attack_on_the_folder_finds_what_publish_found(out):
    private = Private.load(out.with_name("out.private"))
    noted = sv.Findings.from_dict(private.dossier["attacks"])
    assert sv.attack(out, attacks="quick", targets=500) == noted


def test_another_original_is_refused():
    data = baskets()
    release = sv.publish(data, insert(data), seed=SEED, metrics="none")
    same = sv.from_lists(data.to_lists())
    assert sv.attack(release, same, "quick", targets=500) == release.findings
    with pytest.raises(sv.BadData, match="not the data that this release was made from"):
        sv.attack(release, [["a", "b"]], "quick")


def test_a_release_made_from_a_release_is_not_attacked():
    data = baskets()
    apart = sv.publish(data, sv.Disassociation(k=2, m=2), seed=SEED, metrics="none")
    release = sv.publish(apart, sv.Reassociation(copies=2), seed=SEED, original=data, attacks="full")
    assert release.findings
    assert not any(one.was_run for one in release.findings)
    with pytest.raises(sv.BadParameter, match="attack the release that they were made from"):
        sv.attack(release)


def test_the_summary_names_the_strongest_attack_that_no_metric_describes():
    data, categories = make(8, records=60, items=40, categories=8, hot=0.1)
    swap = sv.PartSwap(categories=categories)
    release = sv.publish(data, swap, seed=SEED, allow_failures=60)
    found = release.findings["find-record"].main.rate
    line = release.summary.not_protected
    assert line.endswith(f"two known items find the right record for {100 * found:.1f} % (1.7 % by chance)")
    assert line.count("hidden category guessed right") == 1
    alone = sv.publish(data, swap, seed=SEED, allow_failures=60, attacks="none")
    assert "find the right record" not in alone.summary.not_protected


def test_the_program_says_which_attacks_are_above_the_limit_and_ends_well(tmp_path):
    sv.write(baskets(), tmp_path / "data.dat")
    given = ("--method", "disassociation", "--k", 2, "--m", 2, "--out", "out", "--force")
    for options, said in (
        (("--attack-limit", "1%"), "Above the limit of 1.0 %: find-record (known=2)."),
        (("--attack", "find-record:known=1", "--attack-limit", "99%"), "No attack is above the limit of 99.0 %."),
    ):
        ended = call("publish", "data.dat", *given, *options, cwd=tmp_path)
        assert (ended.code, said in ended.out) == (0, True), ended.out + ended.err
    assert "the limit" not in call("publish", "data.dat", *given, "--attack", "none", cwd=tmp_path).out
    assert json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))["attacks"] == []


def test_the_same_seed_gives_the_same_release_with_attacks(tmp_path):
    data = baskets()
    for name in ("one", "two"):
        sv.publish(data, insert(data), seed=SEED, attacks="full", metrics=[], attack_limit="5%", out=tmp_path / name)
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert np.array_equal(*(Private.load(tmp_path / f"{name}.private").alignment.rows for name in ("one", "two")))


def test_one_sensitive_record_cannot_be_divided():
    """A shadow release needs people on both sides."""
    release = sv.publish([["a"]], sv.Insert(sensitive=["a"], rho="50%"), seed=SEED, attacks="full")
    assert "1 record cannot be divided" in release.findings["learned"].reason


def test_data_of_other_people_need_no_ids():
    """Also if the release keeps its ids: only those of its own people matter."""
    rows = baskets().to_lists()
    data = sv.from_lists(rows, ids=[f"p{number}" for number in range(len(rows))])
    release = sv.publish(data, insert(data), ids="keep", seed=SEED, metrics=[])
    found = sv.attack(release, attacks="learned", control=rows[::-1])["learned"]
    assert found.was_run
    assert found.main is None or not found.shadow


def test_the_original_is_no_control():
    data = baskets()
    release = sv.publish(data, insert(data), seed=SEED, metrics="none", attacks="none")
    with pytest.raises(sv.BadData, match="the control is the original"):
        sv.attack(release, attacks="membership", control=data.to_lists())


def test_a_limit_that_no_attack_tested_is_not_called_met():
    data = baskets()
    chunks = sv.publish(data, sv.Disassociation(k=2, m=2), seed=SEED, attacks="none", attack_limit="5%")
    made = sv.publish(chunks, sv.Reassociation(), seed=SEED, original=data, attacks="full", attack_limit="5%")
    for release in (chunks, made):
        assert release.findings.judgement == "No attack was run, so the limit of 5.0 % was not tested."


def test_attacks_on_what_the_method_does_not_promise_are_not_run():
    """So the card does not list them as run, or as above a limit."""
    data, categories = make(5, records=80, items=15, categories=4, hot=0.3)
    release = sv.publish(data, sv.PartSwap(categories=categories), seed=SEED, allow_failures=80, attacks="full")
    assert {one.name for one in release.findings if one.was_run}.isdisjoint(
        {"near-the-limit", "learned", "which-sensitive", "holes"}
    )
    assert "absent-category" in {one.name for one in release.findings if one.was_run}
