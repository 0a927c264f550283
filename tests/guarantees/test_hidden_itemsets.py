"""Hidden itemsets: every way to ask for it against the oracle, witnesses that can be verified, faults that must be caught."""

import json
import re
from collections import Counter
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.base.declaration import parameter
from setveil.base.verdict import MOST_WITNESSES
from setveil.data.records.alignment import Alignment
from setveil.guarantees.hidden_itemsets import ABOVE_TARGET, STILL_FREQUENT, HiddenItemsets
from setveil.methods.base import Outcome
from setveil.methods.itemsets.base import HidesItemsets
from setveil.parameters.targets import Targets
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_release

from oracle import hidden_itemsets as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def draw(seed):
    """Return a release with more or fewer empty records, itemsets, a threshold, the same as the oracle reads it, and targets or none."""
    rng = np.random.default_rng(seed)
    data, _categories = make(seed)
    empty = [[]] * int(rng.choice([0, 0, 1, 5, 40]))
    lists = [record for record in data.to_lists() if record or rng.random() < 0.5] + empty
    released = sv.from_lists([lists[place] for place in rng.permutation(len(lists))])
    labels = [*data.vocabulary, "in no record"]
    itemsets = list({frozenset(rng.choice(labels, rng.integers(1, 4)).tolist()): None for _ in range(12)})
    itemsets = [tuple(sorted(one)) for one in itemsets]
    count = int(rng.integers(1, 12))
    percent = int(rng.integers(1, 101))
    threshold, read = (count, count) if rng.random() < 0.4 else (f"{percent}%", Fraction(percent, 100))
    targets = rng.integers(0, max(count, 8), len(itemsets)).tolist() if rng.random() < 0.7 else None
    return released, itemsets, threshold, read, targets


@settings(max_examples=examples(500))
@given(seeds)
def test_every_way_to_ask_agrees_with_the_oracle(seed):
    released, itemsets, threshold, read, targets = draw(seed)
    guarantee = HiddenItemsets(itemsets=itemsets, min_support=threshold, targets=targets or ())
    verdict = guarantee.check(released)
    records = as_sets(released)
    expected = oracle.violations(records, itemsets, read, targets)
    occurring = set().union(*records)
    occurs = any(occurring.issuperset(one) for one in itemsets)
    assert verdict.status == ("violated" if expected else "holds" if occurs else "undecided")
    assert verdict.violations == Counter(kind for kind, _itemset in expected)
    assert {(w.kind, w.items) for w in verdict.witnesses} == expected
    assert len(verdict.witnesses) == len(expected)
    assert verdict.counts == {
        "itemsets-to-hide": len(itemsets),
        "held-by-no-record": sum(oracle.support(records, one) == 0 for one in itemsets),
    }
    for witness in verdict.witnesses:
        held, least = oracle.support(records, witness.items), min(oracle.thresholds(records, read))
        target = least - 1 if targets is None else targets[itemsets.index(witness.items)]
        assert witness.row is None
        assert witness.place == f"itemset {{{', '.join(witness.items)}}}"
        assert (
            witness.detail
            == f"its support in the release is {held:,}; its target is {target:,}, and it is frequent at a support of at least {least:,}"
        )


@settings(max_examples=examples(100))
@given(seeds)
def test_one_record_more_or_one_target_less_is_caught(seed):
    """What holds just so is broken by the smallest fault."""
    released, itemsets, _threshold, _read, _targets = draw(seed)
    records = as_sets(released)
    found = [oracle.support(records, one) for one in itemsets]
    known = sv.from_lists([itemsets[0]])
    least = max(found) + 1
    assert HiddenItemsets(itemsets=itemsets, min_support=least, targets=found).check(released, original=known)
    for place, one in enumerate(itemsets):
        more = sv.from_lists([*records, set(one)])
        verdict = HiddenItemsets(itemsets=[one], min_support=found[place] + 1).check(more)
        assert verdict.violations == {STILL_FREQUENT: 1}
        verdict = HiddenItemsets(itemsets=[one], min_support=found[place] + 2, targets=found[place]).check(more)
        assert verdict.violations == {ABOVE_TARGET: 1}
        if found[place]:
            low = [*found[:place], found[place] - 1, *found[place + 1 :]]
            verdict = HiddenItemsets(itemsets=itemsets, min_support=least, targets=low).check(released)
            assert [(w.kind, w.items) for w in verdict.witnesses] == [(ABOVE_TARGET, one)]


def test_an_analyst_who_leaves_out_empty_records_does_not_bring_a_set_back():
    lists = [["a", "b"]] * 3 + [["c"]] * 3
    guarantee = HiddenItemsets(itemsets=[["a", "b"]], min_support="40%")
    with_empty = sv.from_lists(lists + [[]] * 4)
    assert guarantee.min_support.count(with_empty.records) == 4, "3 are not frequent among all 10 records"
    verdict = guarantee.check(with_empty)
    assert verdict.violations == {STILL_FREQUENT: 1}
    assert "its support in the release is 3;" in verdict.witnesses[0].detail
    assert "a support of at least 3" in verdict.witnesses[0].detail, "but among the 6 that are not empty"
    assert not guarantee.check(with_empty.without_empty())
    assert guarantee.check(sv.from_lists([["a", "b"]] * 2 + [["c"]] * 4 + [[]] * 4))
    by_count = HiddenItemsets(itemsets=[["a", "b"]], min_support=4)
    assert by_count.check(with_empty), "a number of records does not depend on the empty ones"


@pytest.mark.parametrize("lists", [[], [[]], [[], [], []], [["c"]]], ids=str)
@pytest.mark.parametrize("threshold", [1, 7, "1%", "100%"])
def test_nothing_is_frequent_where_nothing_is(lists, threshold):
    guarantee = HiddenItemsets(itemsets=[["a"], ["a", "c"]], min_support=threshold, targets=0)
    verdict = guarantee.check(sv.from_lists(lists), original=sv.from_lists([["a"]]))
    assert verdict
    assert verdict.counts == {"itemsets-to-hide": 2, "held-by-no-record": 2}


def test_an_itemset_that_is_frequent_is_never_allowed_by_its_target():
    data = sv.from_lists([["a"]] * 5)
    for targets in (5, 100, 10**18 - 1):
        verdict = HiddenItemsets(itemsets=[["a"]], min_support=5, targets=targets).check(data)
        assert verdict.violations == {STILL_FREQUENT: 1}


def test_one_target_is_for_all():
    data = sv.from_lists([["a"], ["b"], ["b"]])
    assert HiddenItemsets(itemsets=[["a"], ["b"]], min_support=3, targets=2).check(data)
    verdict = HiddenItemsets(itemsets=[["a"], ["b"]], min_support=3, targets=1).check(data)
    assert [w.items for w in verdict.witnesses] == [("b",)]


def test_no_failure_is_ever_allowed():
    """Other guarantees may be kept but for some records; a secret that shows is a secret told."""
    data = sv.from_lists([["a"]] * 5 + [["b"]])
    verdict = HiddenItemsets(itemsets=[["a"], ["b"]], min_support=2, targets=0).check(data)
    assert verdict.violations == {STILL_FREQUENT: 1, ABOVE_TARGET: 1}
    assert verdict.failures == 0
    assert not verdict.acceptable(10**9)


def test_all_breaches_are_counted_and_the_worst_of_each_kind_shown():
    many = MOST_WITNESSES + 20
    lists = [[f"f{n}"] for n in range(many) for _ in range(400 - n)] + [
        [f"t{n}"] for n in range(many) for _ in range(1 + n)
    ]
    itemsets = [[f"{letter}{n}"] for n in range(many) for letter in "tf"]
    guarantee = HiddenItemsets(itemsets=itemsets, min_support=200, targets=0)
    verdict = guarantee.check(sv.from_lists(lists))
    assert verdict.violations == {STILL_FREQUENT: many, ABOVE_TARGET: many}
    kinds = [w.kind for w in verdict.witnesses]
    assert kinds == [STILL_FREQUENT] * MOST_WITNESSES + [ABOVE_TARGET] * MOST_WITNESSES
    assert [w.items[0] for w in verdict.witnesses[:MOST_WITNESSES]] == [f"f{n}" for n in range(MOST_WITNESSES)]
    assert [w.items[0] for w in verdict.witnesses[MOST_WITNESSES:]] == [
        f"t{many - 1 - n}" for n in range(MOST_WITNESSES)
    ]


def test_equally_bad_cases_come_in_the_order_in_which_they_were_named():
    labels = ["d", "a", "c", "b"]
    verdict = HiddenItemsets(itemsets=[[one] for one in labels], min_support=1).check(sv.from_lists([labels]))
    assert [w.items[0] for w in verdict.witnesses] == labels


def test_long_itemsets_are_cut_in_the_sentence_alone():
    items = [f"item{n:02}" for n in range(30)]
    (witness,) = HiddenItemsets(itemsets=[items], min_support=1).check(sv.from_lists([items])).witnesses
    assert witness.items == tuple(items)
    assert witness.place == f"itemset {{{', '.join(items[:12])}, …}}"


# -- what is asked ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("targets", "expected"),
    [("3,0", (3, 0)), (" 3 , 0 ", (3, 0)), ([3, 0], (3, 0)), ((), ()), ("", ()), (7, (7,)), ("7", (7,)), ([7], (7,))],
    ids=str,
)
def test_targets_are_taken_in_every_form(targets, expected):
    guarantee = HiddenItemsets(itemsets=[["a"], ["b"]], min_support=9, targets=targets)
    assert guarantee.targets == expected
    assert HiddenItemsets(**guarantee.model_dump(mode="json")) == guarantee
    assert HiddenItemsets.model_validate_json(guarantee.model_dump_json()) == guarantee


@pytest.mark.parametrize(
    ("targets", "says"),
    [
        ("border", "targets is 'border'; allowed is a comma-separated list of a whole number"),
        ("1.5,2", "targets is '1.5'; allowed is"),
        ([None, 2], "targets is None; allowed is"),
        (True, "targets is True; allowed is"),
        ("-1,2", "targets: a target is -1; allowed is a number of records from 0 to"),
        (-1, "targets: a target is -1; allowed is"),
        ([10**18, 0], "targets: a target is 1000000000000000000; allowed is"),
        ("3,0,5", "there are 3 targets for 2 itemsets; give one target for all, or one per itemset"),
    ],
    ids=str,
)
def test_wrong_targets_are_refused_in_a_sentence(targets, says):
    with pytest.raises(sv.BadParameter) as refused:
        HiddenItemsets(itemsets=[["a"], ["b"]], min_support=9, targets=targets)
    assert str(refused.value).startswith("hidden-itemsets: ")
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"min_support": 2}, "hidden-itemsets needs `itemsets=`: "),
        ({"itemsets": [["a"]]}, "hidden-itemsets needs `min_support=`: "),
        ({"itemsets": [["a"]], "min_support": "often"}, "hidden-itemsets: min_support: the support 'often' is neither"),
        ({"itemsets": [["a"]], "min_support": 0}, "hidden-itemsets: min_support: "),
        ({"itemsets": "secrets.txt", "min_support": 2}, "hidden-itemsets: itemsets: expected lists of items"),
        ({"itemsets": [], "min_support": 2}, "hidden-itemsets: itemsets: no itemset was named"),
    ],
)
def test_other_wrong_parameters_are_refused_in_a_sentence(given_, says):
    with pytest.raises(sv.BadParameter) as refused:
        HiddenItemsets(**given_)
    assert str(refused.value).startswith(says)


def test_it_says_nothing_in_public():
    guarantee = HiddenItemsets(itemsets=[["milk", "bread"]], min_support=17, targets=11)
    assert guarantee.public_parameters() == {}
    told = f"{guarantee.statement} {guarantee.coverage}"
    assert not [secret for secret in ("milk", "bread", "17", "11") if secret in told]
    assert guarantee.protects == "itemsets"
    assert guarantee.needs == ()
    assert not [p.name for p in HiddenItemsets.parameters() if "Annotated" in p.allowed]


# -- through the only door out ------------------------------------------------------------------------------------------------


class TakeAway(HidesItemsets):
    """The simplest way to hide: the first item of an itemset leaves the last records that hold it."""

    name: ClassVar[str] = "take-away"
    title: ClassVar[str] = "TakeAway"
    paper: ClassVar[str] = "gunawan2021"
    truthful: ClassVar[str] = "subset"

    targets: Targets = parameter(Targets("random"), public=False, description="How many records may hold each itemset.")
    too_many: int = parameter(0, public=True, description="How many records more hold each: a fault.")

    @property
    def guarantee(self):
        chosen = tuple(int(part) for part in str(self.targets).split(","))
        return HiddenItemsets(itemsets=self.itemsets, min_support=self.min_support, targets=chosen)

    def bind(self, data, *, linked, rng):
        super().bind(data, linked=linked, rng=rng)
        drawn = self.targets.of(len(self.itemsets), self.frequent_from(data), rng)
        return self.model_copy(update={"targets": Targets(drawn)})

    def apply(self, data, *, rng):
        del rng
        records = as_sets(data)
        for itemset, target in zip(self.itemsets, self.guarantee.targets, strict=True):
            holding = [record for record in records if set(itemset) <= record]
            for record in holding[target + self.too_many :]:
                record.discard(itemset[0])
        return Outcome(sv.from_lists(records), Alignment.identity(data.records))


def shop():
    """Return data with ids in which two secrets are frequent and many things occur once."""
    lists = [["caviar", "gold", f"thing{n:03}"] for n in range(60)] + [["pearls", "silk", "tea"]] * 50 + [["tea"]] * 90
    return sv.from_lists(lists, ids=[f"person-{n}" for n in range(200)])


SECRETS = [["caviar", "gold"], ["pearls", "silk"]]
SEED = 0xC0FFEE0DDBA11FACADE5EEDBEEF01


def test_targets_come_from_the_seed_and_are_kept_in_the_private_folder(tmp_path):
    data, method = shop(), TakeAway(itemsets=SECRETS, min_support="21.37%")
    release = sv.publish(data, method, seed=SEED)
    drawn = release.method.guarantee.targets
    assert len(drawn) == 2
    assert all(22 <= target <= 42 for target in drawn)
    assert sv.supports(release.data, SECRETS).tolist() == list(drawn)
    assert release.data == sv.publish(data, method, seed=SEED, metrics=[]).data
    others = [sv.publish(data, method, seed=SEED + n, metrics=[]) for n in range(8)]
    assert len({other.method.guarantee.targets for other in others}) > 1
    release.save(tmp_path / "out")
    opened, private = open_release(tmp_path / "out"), Private.load(tmp_path / "out.private")
    guarantee = guarantee_of(opened, private)
    assert guarantee == release.method.guarantee
    assert check_release(opened, guarantee, private=private), "without the original"
    assert check_release(opened, guarantee, private=private, original=data)
    with pytest.raises(sv.Missing, match=r"private parameters \(itemsets, min_support, targets\)"):
        guarantee_of(opened, None)


def test_rows_carry_no_names(tmp_path):
    release = sv.publish(shop(), TakeAway(itemsets=SECRETS, min_support="21.37%"), seed=SEED)
    assert release.terms.ids == "drop"
    assert release.data.ids is None
    card = release.save(tmp_path / "out")
    assert card.unit_in_words == "protects itemsets, not people; a person can have several records"
    assert sv.publish(shop(), TakeAway(itemsets=SECRETS, min_support=9), ids="keep", seed=SEED).data.ids is not None


def test_the_card_does_not_tell_the_secrets(tmp_path):
    sv.publish(shop(), TakeAway(itemsets=SECRETS, min_support="21.37%"), seed=SEED).save(tmp_path / "out")
    text = (tmp_path / "out" / "card.json").read_text()
    card, dossier = json.loads(text), json.loads((tmp_path / "out.private" / "dossier.json").read_text())
    assert card["guarantee"]["parameters"] == {}
    assert card["method"]["parameters"].keys() == {"too_many"}
    private = dossier["guarantee"]["parameters"]
    assert private["itemsets"] == SECRETS
    assert private["min_support"] == "21.37%"
    for random in (card["run"], card["private_sha256"], card["data"]["sha256"]):
        text = text.replace(random, "")  # any digits can be in these
    for secret in ("caviar", "gold", "pearls", "silk", "21.37", *map(str, private["targets"])):
        assert not re.search(rf"(?<![\w.]){re.escape(secret)}(?!\w)", text)
        assert secret in json.dumps(dossier), "the search finds what it looks for"


def test_the_release_is_the_same_whatever_else_was_secret(tmp_path):
    """Nothing must be changed for these, so that nothing may reveal which they were. Run id and commitment are random to outsiders."""
    made = []
    for number, (itemsets, least, targets) in enumerate(
        [([["tea"]], 500, "border"), ([["caviar", "gold"], ["silk"]], "90%", "170,171"), (SECRETS, 61, 60)]
    ):
        out = tmp_path / str(number)
        sv.publish(shop(), TakeAway(itemsets=itemsets, min_support=least, targets=targets), seed=SEED).save(out)
        card = json.loads((out / "card.json").read_text())
        run = card["run"].encode()
        assert [len(one.pop("sha256")) for one in card["documents"]] == [64, 64]  # the documents name the run
        assert (len(bytes.fromhex(card.pop("run"))), len(bytes.fromhex(card.pop("private_sha256")))) == (16, 32)
        others = [path for path in sorted(out.iterdir()) if path.name != "card.json"]
        made.append((card, [path.read_bytes().replace(run, b"RUN") for path in others]))
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("targets", ["border", "random", "20", "0"])
def test_a_method_that_leaves_one_record_too_many_is_refused_whatever_is_allowed(targets):
    method = TakeAway(itemsets=SECRETS, min_support="21.37%", targets=targets, too_many=1)
    with pytest.raises(sv.GuaranteeViolated) as broken:
        sv.publish(shop(), method, seed=SEED, allow_failures=10**6)
    found = broken.value.verdict
    assert found.violations.keys() <= {
        STILL_FREQUENT,
        ABOVE_TARGET,
    }  # a drawn target can be the border itself, or below it
    assert sum(found.violations.values()) == 2


def test_a_method_that_empties_records_and_forgets_that_the_threshold_falls_is_refused():
    """40 % of 10 records are 4, of the 7 that are left not empty 3: a target of 3 is frequent there."""
    data = sv.from_lists([["a"]] * 6 + [["b"]] * 4)
    with pytest.raises(sv.GuaranteeViolated) as broken:
        sv.publish(data, TakeAway(itemsets=[["a"]], min_support="40%", targets="border"), seed=SEED)
    assert broken.value.verdict.violations == {STILL_FREQUENT: 1}
    assert sv.publish(data, TakeAway(itemsets=[["a"]], min_support="40%", targets="2"), seed=SEED).verdict


def test_an_itemset_of_which_an_item_does_not_occur_is_not_covered():
    data = sv.from_lists([["a", "b"], ["a"], ["b", "c"]])
    guarantee = HiddenItemsets(itemsets=[["a", "b"], ["a", "misspelt"]], min_support=2)
    for original in (None, data):
        verdict = guarantee.check(data, original=original)
        assert verdict
        assert (verdict.reach.covered, verdict.reach.total) == (1, 2)
        assert str(verdict).endswith("holds for 1 of 2 named itemsets; 1 contain an item that does not occur")
