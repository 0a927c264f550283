"""The register: the same job gives the same bytes, and another release of the same people is not made blindly."""

import gzip
import json
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.release import registrar
from setveil.release.fingerprints import fingerprints, from_bytes, have_common, to_bytes
from setveil.release.register_file import FORMAT_VERSION
from setveil.release.seed import recipe_of

from oracle import register as oracle
from support.exhaustive import examples
from support.program import names_in
from support.registers import ANNA, BASKETS, BERT, FIRST, OTHER, JointCheck, content, execute, files_of, people, publish

REGISTER = "releases.db"
KEY = bytes(range(32))
RECIPIENT, REASON = "University of Bonn, Prof. Zwiebel", "both are read in the same locked room"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Let every test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def joint(monkeypatch):
    return JointCheck(monkeypatch)


def numbers():
    return [one.number for one in sv.releases(REGISTER)]


# -- the same job --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [(FIRST, {}), (sv.RandSwap(), {"no_guarantee": True}), (sv.RandSwap(), {"no_guarantee": True, "ids": "keep"})],
)
def test_the_same_job_gives_the_same_bytes_and_needs_no_joint_check(joint, method, options):
    for name, recipient in (("one", "A"), ("two", "B"), ("three", "")):
        given_ = sv.Registration(REGISTER, recipient=recipient)
        publish(people(*ANNA), method, out=name, register=given_, **options)
    assert files_of(Path("one")) == files_of(Path("two")) == files_of(Path("three"))
    assert joint.asked == []
    found = sv.releases(REGISTER)
    assert [one.recipient for one in found] == ["A", "B", ""]
    assert len({one.run for one in found}) == 1
    assert len(content(REGISTER).data) == 1  # the fingerprints are stored once


def test_another_register_gives_another_release():
    for name in ("one", "two"):
        publish(people(*ANNA), sv.RandSwap(), no_guarantee=True, ids="pseudonym", out=name, register=f"{name}.db")
    assert files_of(Path("one")) != files_of(Path("two"))
    assert content("one.db").key != content("two.db").key


def test_the_seed_is_that_of_the_definition():
    data = people(*ANNA)
    publish(data, out="one", register=REGISTER)
    dossier = json.loads(Path("one.private/dossier.json").read_text())
    recipe = recipe_of(FIRST, "drop")
    assert json.loads(recipe) == dossier["randomness"]["recipe"]
    assert int(dossier["seed"]) == oracle.seed(content(REGISTER).key, data.checksum(), recipe)
    assert dossier["seed_given"] is False
    assert dossier["register"]["seed_from_register"] is True
    assert sv.check("one", original=data)


def test_without_a_register_the_dossier_says_so():
    publish(people(*ANNA), out="one")
    assert json.loads(Path("one.private/dossier.json").read_text())["register"] is None


def test_the_same_job_by_another_version_is_checked(joint, monkeypatch):
    publish(people(*ANNA), out="one", register=REGISTER)
    monkeypatch.setattr(registrar, "_versions", lambda: {"setveil": "99"})
    with pytest.raises(sv.GuaranteeViolated):
        publish(people(*ANNA), out="two", register=REGISTER)
    assert joint.folders() == ["one"]
    publish(people(*ANNA), out="two", register=sv.Registration(REGISTER, accept_together="one reader has both"))
    with pytest.raises(sv.GuaranteeViolated):
        publish(people(*ANNA), OTHER, out="three", register=REGISTER)
    assert joint.folders() == ["one", "two"]  # not copies of one release


def test_a_release_that_is_saved_later_is_recorded_then(joint):
    release = publish(people(*ANNA), register=REGISTER)
    assert names_in(Path()) == []
    assert release.registered is None
    release.save("one")
    assert release.registered == sv.releases(REGISTER)[0]
    release.save("two")
    assert numbers() == [1, 2]
    assert joint.asked == []


# -- what is stored ------------------------------------------------------------------------------------------------------------


def test_the_register_holds_what_it_should_and_only_its_owner_can_read_it():
    data = people(*ANNA)
    release = publish(data, sv.PartSwap(categories={"milk": "a", "tea": "b", "wine": "c"}), allow_failures=4, out="one",
                      register=sv.Registration(REGISTER, recipient=RECIPIENT))  # fmt: skip
    assert stat.S_IMODE(Path(REGISTER).stat().st_mode) == 0o600
    stored, (found,) = content(REGISTER), sv.releases(REGISTER)
    card = sv.open_release("one").card
    assert len(stored.key) == 32
    assert (found.number, found.records, found.recipient, found.source) == (1, 4, RECIPIENT, "")
    assert (found.run, found.private_sha256) == (card.run, card.private_sha256)
    assert found.files == {card.data.file: card.data.sha256}
    assert (found.method, found.parameters) == ("part-swap", card.method.parameters)
    assert (found.guarantee, found.guarantee_parameters) == (card.guarantee.name, card.guarantee.parameters)
    assert (found.release_folder, found.private_folder) == (
        str(Path("one").absolute()),
        str(Path("one.private").absolute()),
    )
    assert found.recipe == release.randomness.recipe
    assert "categories" not in found.parameters
    assert "wine" in found.recipe
    assert (found.withdrawn, found.accepted_together, found.together) == (None, "", None)
    (row,) = stored.data
    assert row["fingerprints"] == b"".join(oracle.fingerprints(stored.key, BASKETS, ANNA))
    assert data.checksum().encode() not in Path(REGISTER).read_bytes()
    assert not any(one.encode() in Path(REGISTER).read_bytes() for one in ANNA)


def test_the_file_is_never_readable_by_others_whatever_the_umask(monkeypatch):
    modes, chmod = [], Path.chmod
    monkeypatch.setattr(
        Path, "chmod", lambda path, mode: (modes.append((path.name, path.stat().st_mode)), chmod(path, mode))
    )
    publish(people(*ANNA), out="one", register=REGISTER)
    assert [stat.S_IMODE(mode) for name, mode in modes if name == REGISTER] == [0o600]  # when it was created


def test_a_register_that_others_can_read_is_noted(notes):
    publish(people(*ANNA), out="one", register=REGISTER)
    assert notes() == ""
    Path(REGISTER).chmod(0o640)
    publish(people(*ANNA), out="two", register=REGISTER)
    assert "set its mode to 600" in notes()


def contents(folder):
    raw = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return raw + [gzip.decompress(one) for one in raw if one.startswith(b"\x1f\x8b")]


def test_nothing_of_the_register_is_in_any_byte_of_a_release(joint):
    publish(people(*ANNA), out="one", register=sv.Registration(REGISTER, recipient=RECIPIENT))
    last = sv.Registration(REGISTER, recipient=RECIPIENT, accept_together=REASON)
    publish(people(*ANNA), OTHER, out="two", register=last)
    stored = content(REGISTER)
    entries = [json.loads(Path(f"{name}.private/dossier.json").read_text())["register"] for name in ("one", "two")]
    private = [stored.key, stored.key.hex().encode(), RECIPIENT.encode(), REASON.encode(), REGISTER.encode()]
    private += [row["mac"] for row in stored.data] + [row["mac"].hex().encode() for row in stored.data]
    private += [row["fingerprints"][start : start + 8] for row in stored.data for start in range(0, 32, 8)]
    private += [entry["entry"].encode() for entry in entries] + [joint(["x"]).guarantee.encode()]
    for name in ("one", "two"):
        for one in contents(Path(name)):
            assert [value for value in private if value in one] == []
    both = b"".join([Path(REGISTER).read_bytes(), *contents(Path("two.private"))])
    assert RECIPIENT.encode() in both
    assert REASON.encode() in both


# -- overlap -------------------------------------------------------------------------------------------------------------------


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=5)


@settings(max_examples=examples(60))
@given(st.lists(st.sets(st.one_of(TEXTS, st.integers(0, 99).map(str)), max_size=5), min_size=1, max_size=9), st.data())
def test_fingerprints_are_those_of_the_definition(records, drawn):
    records = [list(record) for record in records]
    n = len(records)
    ids = drawn.draw(st.none() | st.lists(TEXTS, min_size=n, max_size=n, unique_by=str.strip))
    data = sv.from_lists(records, ids=ids)
    found = to_bytes(fingerprints(data, KEY))
    assert found == b"".join(oracle.fingerprints(KEY, data.to_lists(), None if ids is None else data.ids.to_pylist()))
    assert to_bytes(from_bytes(found)) == found


def test_a_record_has_the_same_fingerprint_among_other_records():
    """Codes and their order depend on all labels: '10' is after '9' among numbers, and before it among texts."""
    alone, among = sv.from_lists([["9", "10"]]), sv.from_lists([["9", "10"], ["x"]])
    assert set(fingerprints(alone, KEY)) <= set(fingerprints(among, KEY))


def test_many_records_are_fingerprinted_in_blocks():
    data = sv.read("sample:supermarket?records=70000")
    chosen = range(0, data.records, 997)
    found = set(fingerprints(data.with_ids(None), KEY).tolist())
    expected = oracle.fingerprints(KEY, [data.record(row) for row in chosen])
    assert {int.from_bytes(one, "big") for one in expected} <= found
    expected = oracle.fingerprints(KEY, [()], [data.ids[row].as_py() for row in chosen])
    assert {int.from_bytes(one, "big") for one in expected} <= set(fingerprints(data, KEY).tolist())


@settings(max_examples=examples(60))
@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_common_fingerprints_are_found(one, other):
    arrays = [
        from_bytes(b"".join((n << 59).to_bytes(8, "big") for n in sorted(n % 32 for n in both)))
        for both in (one, other)
    ]
    assert have_common(*arrays) == bool({n % 32 for n in one} & {n % 32 for n in other})


CASES = [
    (people(*ANNA), people(*BERT)),
    (people(*ANNA), people(*BERT[:3], ANNA[0])),
    (people(*ANNA), people(*ANNA)),
    (people(*ANNA), people()),
    (people(), people(*BERT)),
    (people(), people()),
    (people(*ANNA), people(*BERT, unit="record")),
    (people(*ANNA, unit="record"), people(*BERT, unit="record")),
]


@pytest.mark.parametrize(("first", "second"), CASES)
def test_releases_that_can_hold_the_same_people_are_checked_together(joint, first, second):
    publish(first, out="one", register=REGISTER)
    kinds = [(None if data.ids is None else data.ids.to_pylist(), data.unit) for data in (first, second)]
    if oracle.overlap(*kinds):
        with pytest.raises(sv.GuaranteeViolated):
            publish(second, OTHER, out="two", register=REGISTER)
        assert joint.folders() == ["one"]
        assert joint.asked[0][1] is second
    else:
        publish(second, OTHER, out="two", register=REGISTER)
        assert joint.asked == []


def test_a_release_that_shares_no_id_with_earlier_ones_is_noted(notes):
    publish(people(*ANNA), out="one", register=REGISTER)
    assert notes() == ""
    publish(people(*BERT), OTHER, out="two", register=REGISTER)
    assert "these data share no id with an earlier release of the register" in notes()


def test_all_releases_that_overlap_are_checked_copies_once(joint):
    joint.status = "holds"
    publish(people(*ANNA), out="one", register=REGISTER)
    publish(people(*ANNA), out="copy", register=REGISTER)
    publish(people(*BERT), out="apart", register=REGISTER)
    publish(people(*ANNA), OTHER, out="two", register=REGISTER)
    assert joint.folders() == ["one"]
    publish(people(*ANNA[:2], *BERT[:2]), out="both", register=REGISTER)
    assert joint.folders() == ["one", "apart", "two"]
    assert [one.together and one.together["releases"] for one in sv.releases(REGISTER)] == [
        None, None, None, [1, 2], [1, 2, 3, 4]
    ]  # fmt: skip


# -- the joint check -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["violated", "undecided"])
def test_a_joint_guarantee_that_does_not_hold_stops_the_publication(joint, status):
    joint.status = status
    publish(people(*ANNA), out="one", register=sv.Registration(REGISTER, recipient="the city"))
    publish(people(*ANNA), out="copy", register=REGISTER)
    before, stored = names_in(Path()), Path(REGISTER).read_bytes()
    with pytest.raises(sv.GuaranteeViolated) as refused:
        publish(people(*ANNA), OTHER, out="two", register=REGISTER)
    said = str(refused.value)
    assert said.startswith("this release, release 1 (for 'the city') and release 2 can cover the same people")
    assert f"joint guarantee: {status}" in said
    assert "nothing was written" in said
    assert "`accept_together=`" in said
    assert refused.value.verdict.status == status
    assert names_in(Path()) == before
    assert Path(REGISTER).read_bytes() == stored


def test_a_joint_guarantee_that_holds_is_recorded(joint):
    joint.status = "holds"
    publish(people(*ANNA), out="one", register=REGISTER)
    release = publish(people(*ANNA), OTHER, out="two", register=sv.Registration(REGISTER, accept_together="not needed"))
    assert release.registered.together == {"status": "holds", "text": "joint guarantee: holds", "releases": [1]}
    assert (release.registered.accepted_together, release.registered.status) == ("", "published")


@pytest.mark.usefixtures("joint")
def test_a_reason_accepts_the_releases_together_and_is_recorded():
    publish(people(*ANNA), out="one", register=REGISTER)
    release = publish(people(*ANNA), OTHER, out="two", register=sv.Registration(REGISTER, accept_together=REASON))
    assert (release.registered.accepted_together, release.registered.status) == (REASON, "accepted")
    assert release.registered.together["status"] == "violated"
    noted = json.loads(Path("two.private/dossier.json").read_text())["register"]
    assert noted["accepted_together"] == REASON
    assert noted["together"]["releases"] == [1]
    assert noted["together"]["verdict"]["violations"] == {"shown-together": 3}
    assert REASON in repr(sv.releases(REGISTER))
    assert sv.releases(REGISTER)[1] == release.registered


def lose(how):
    if how in ("moved", "private moved"):
        Path("one" if how == "moved" else "one.private").rename("elsewhere")
    elif how == "changed":
        Path("one/data.jsonl.gz").write_bytes(b"other")
    else:
        publish(people(*BERT), out="one", force=True)


@pytest.mark.parametrize("how", ["moved", "private moved", "changed", "replaced"])
def test_a_release_that_cannot_be_opened_any_more_makes_the_check_undecided(joint, how):
    publish(people(*ANNA), out="one", register=REGISTER)
    lose(how)
    with pytest.raises(
        sv.GuaranteeViolated, match=r"undecided: release 1 in .*one cannot be opened as it was published"
    ):
        publish(people(*ANNA), OTHER, out="two", register=REGISTER)
    assert joint.asked == []
    publish(people(*ANNA), OTHER, out="two", register=sv.Registration(REGISTER, accept_together=REASON))
    assert sv.releases(REGISTER)[1].together["status"] == "undecided"


def test_a_copy_takes_the_place_of_a_release_that_was_moved(joint):
    publish(people(*ANNA), out="one", register=REGISTER)
    publish(people(*ANNA), out="copy", register=REGISTER)
    lose("moved")
    with pytest.raises(sv.GuaranteeViolated):
        publish(people(*ANNA), OTHER, out="two", register=REGISTER)
    assert joint.folders() == ["copy"]


def test_a_check_that_lacks_something_is_undecided(joint):
    joint.error = sv.Missing("one has no private folder")
    publish(people(*ANNA), out="one", register=REGISTER)
    with pytest.raises(sv.GuaranteeViolated, match="undecided: one has no private folder"):
        publish(people(*ANNA), OTHER, out="two", register=REGISTER)


def test_a_release_that_was_replaced_stays_in_the_register():
    publish(people(*ANNA), out="one", register=REGISTER)
    publish(people(*BERT), out="one", register=REGISTER, force=True)
    assert [one.release_folder for one in sv.releases(REGISTER)] == [str(Path("one").absolute())] * 2
    with pytest.raises(sv.BadParameter, match=r"is release 1 and 2 of releases.db; give one of these numbers"):
        sv.withdraw(REGISTER, "one")


def test_a_release_made_of_a_release_overlaps_with_everything(joint):
    chunks = publish(people(*ANNA), out="one", register=REGISTER)
    with pytest.raises(sv.GuaranteeViolated):
        publish(chunks.data, sv.Reassociation(), out="two", register=REGISTER)
    assert joint.folders() == ["one"]


# -- withdrawing and listing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["number", "text", "run", "folder", "path"])
def test_a_release_is_withdrawn_by_its_number_run_or_folder(joint, how):
    publish(people(*BERT), out="other", register=REGISTER)
    release = publish(people(*ANNA), out="one", register=REGISTER)
    names = {"number": 2, "text": "2", "run": release.randomness.run, "folder": "./one", "path": Path("one")}
    changed = sv.withdraw(REGISTER, names[how], reason="the project ended")
    assert [one.status for one in sv.releases(REGISTER)] == ["published", "withdrawn"]
    assert sv.releases(REGISTER)[1] == changed
    assert "the project ended" in repr(sv.releases(REGISTER))
    again = sv.withdraw(REGISTER, names[how])
    assert (again.withdrawn, again.withdrawn_reason) == (changed.withdrawn, "the project ended")
    assert sv.withdraw(REGISTER, 2, reason="its storage was sold").withdrawn_reason == "its storage was sold"
    with pytest.raises(sv.GuaranteeViolated):  # the data are out
        publish(people(*ANNA), OTHER, out="two", register=REGISTER)
    assert joint.folders() == ["one"]


@pytest.mark.parametrize("wrong", [0, 2, "9", "nowhere", ""])
def test_a_release_that_is_not_there_is_refused(wrong):
    publish(people(*ANNA), out="one", register=REGISTER)
    with pytest.raises(sv.BadParameter, match=r"releases.db has no release .*; it has 1\. Give the number"):
        sv.withdraw(REGISTER, wrong)


def test_the_list_prints_as_a_table(joint):
    joint.status = "holds"
    publish(people(*ANNA), out="one", register=sv.Registration(REGISTER, recipient="<b>"))
    publish(people(*ANNA), OTHER, out="two", register=REGISTER)
    found = sv.releases(REGISTER)
    header, first, second = repr(found).splitlines()
    assert header.split("  ")[0] == "number"
    assert "<b>" in first
    assert "km-anonymity" in second
    assert "&lt;b&gt;" in found._repr_html_()
    assert found.to_pandas()["number"].tolist() == [1, 2]
    assert repr(type(found)()) == "no releases"
    assert "no releases" in type(found)()._repr_html_()
    assert "wine" not in json.dumps([one.to_dict() for one in found])


# -- refusals ------------------------------------------------------------------------------------------------------------------


def test_a_reason_that_no_file_can_hold_is_refused():
    publish(people(*ANNA), out="one", register=REGISTER)
    with pytest.raises(sv.BadParameter, match=r"`reason=` is .* lone surrogate"):
        sv.withdraw(REGISTER, 1, reason="M\udcfcller")


def test_a_seed_and_a_register_exclude_each_other():
    with pytest.raises(sv.BadParameter, match=r"`seed=` and `register=` exclude each other: .*; remove one"):
        publish(people(*ANNA), out="one", register=REGISTER, seed=2**100)
    assert names_in(Path()) == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"accept_together": ""}, "`accept_together=` is empty; allowed is a text that states why"),
        ({"accept_together": " \n"}, "`accept_together=` is empty"),
        ({"accept_together": True}, "`accept_together=` of a registration is True; expected a text or None"),
        ({"recipient": None}, "`recipient=` of a registration is None; expected a text"),
        ({"recipient": "M\udcfcller"}, "`recipient=` is .* lone surrogate; expected valid Unicode text"),
        ({"file": 3}, "`file=` of a registration is 3; expected a text or a path"),
    ],
)
def test_a_wrong_registration_is_refused(wrong, says):
    with pytest.raises(sv.BadParameter, match=says):
        sv.Registration(**({"file": REGISTER} | wrong))


def foreign(kind):
    place = Path(REGISTER)
    if kind == "text":
        place.write_text("a list of releases, " * 100)
    elif kind == "short text":
        place.write_text("x")
    elif kind == "other database":
        execute(place, "CREATE TABLE sales (id INTEGER)")
    elif kind == "folder":
        place.mkdir()
    else:
        publish(people(*ANNA), out="one", register=REGISTER)
        if kind == "later version":
            execute(place, f"PRAGMA user_version = {FORMAT_VERSION + 1}")
        elif kind == "damaged":
            stored = place.read_bytes()
            place.write_bytes(stored[:4096] + b"x" * (len(stored) - 4096))
        elif kind == "not JSON":
            execute(place, "UPDATE releases SET files = '{'")
        else:
            execute(place, "DROP TABLE data")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("text", "releases.db: is not a release register; give the file that publish created"),
        ("short text", "releases.db: is not a release register"),
        ("other database", "releases.db: is not a release register"),
        ("folder", "is a folder|is not a regular file"),
        ("later version", "is a release register of format 2; setveil .* reads formats up to 1"),
        ("damaged", r"releases.db: is damaged \(.*\); restore it from your backup"),
        ("not JSON", r"releases.db: is damaged \(an entry is not complete\)"),
        ("lacks a table", r"releases.db: is damaged \(no such table.*\); restore it from your backup"),
    ],
)
def test_a_file_that_is_no_register_is_refused_and_not_changed(kind, says):
    foreign(kind)
    before = None if kind == "folder" else Path(REGISTER).read_bytes()
    for use in (
        lambda: publish(people(*BERT), out="two", register=REGISTER),
        lambda: sv.releases(REGISTER),
        lambda: sv.withdraw(REGISTER, 1),
    ):
        with pytest.raises(sv.InputError, match=says):
            use()
    assert "two" not in names_in(Path())
    assert before is None or Path(REGISTER).read_bytes() == before


def test_a_register_that_is_not_there_is_created_by_publish_only():
    for use in (lambda: sv.releases(REGISTER), lambda: sv.withdraw(REGISTER, 1)):
        with pytest.raises(sv.BadData, match=r"releases.db: there is no such register"):
            use()
    with pytest.raises(sv.OutputRefused, match="missing is not a folder"):
        publish(people(*ANNA), out="one", register="missing/releases.db")
    assert names_in(Path()) == []


@pytest.mark.parametrize("which", ["file", "folder"])
def test_a_register_that_cannot_be_written_is_refused_before_the_work(monkeypatch, which):
    publish(people(*ANNA), out="one", register=REGISTER)
    closed = Path(REGISTER) if which == "file" else Path()
    monkeypatch.setattr("os.access", lambda path, _mode: Path(path) != closed)
    with pytest.raises(sv.OutputRefused, match=f"{closed} cannot be written; allow it, or choose another register"):
        publish(people(*ANNA), out="two", register=REGISTER)


def test_an_empty_file_becomes_a_register_of_its_owner():
    Path(REGISTER).touch(mode=0o644)
    publish(people(*ANNA), out="one", register=REGISTER)
    assert numbers() == [1]
    assert stat.S_IMODE(Path(REGISTER).stat().st_mode) == 0o600


def test_a_register_is_never_inside_a_folder_of_a_release():
    publish(people(*ANNA), out="one")
    for folder in ("one", "one.private"):
        for out in ("two", "one"):
            with pytest.raises(sv.OutputRefused, match=f"the register {folder}/x.db is inside {folder}"):
                publish(people(*ANNA), out=out, register=f"{folder}/x.db", force=True)
    Path("new").mkdir()
    with pytest.raises(sv.OutputRefused, match=r"the register new/x.db is inside new, a folder of a release"):
        publish(people(*ANNA), out="new", register="new/x.db", force=True)
    assert names_in(Path()) == ["new", "one", "one.private"]
    assert names_in(Path("new")) == []
