"""Wrong uses of `setveil presence` end with their exit code and one sentence, and write nothing; so does a full disk."""

import json

import pytest

from cli.presence.wrong_uses import POPULATION, SIDE_A, SIDE_B, WRONG, check, collector, draft, fill, provider, simulate
from support.forked import run as run_forked
from support.presence_programs import HOST, free_ports
from support.program import call, hidden_in, names_in, with_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with tables, homes and releases; no test may change it."""
    return fill(tmp_path_factory.mktemp("folder"))


def everything_in(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    WRONG,
    ids=[" ".join(a)[-60:].replace("/", "|").replace("\0", "0") for a, _, _ in WRONG],
)
def test_a_wrong_use_ends_with_its_code_and_one_sentence(folder, arguments, code, says):
    before = everything_in(folder)
    ended = call(*with_json(arguments), cwd=folder)
    assert ended.code == code, ended.err
    assert says in ended.sentence()
    assert ended.error()["exit_code"] == code
    assert everything_in(folder) == before


@pytest.mark.parametrize("role", ["a", "b", "c"])
def test_nobody_comes_is_the_fault_of_another_party(folder, role):
    """The ledger notes the attempt, and nothing else is written."""
    place = f"{HOST}:{free_ports(1)[0]}"
    arguments = {
        "a": provider(met=("--peer", place)),
        "b": provider(role="b", home="b", met=("--listen", place), data="trial/b.csv"),
        "c": collector(listen=place),
    }[role]
    before = names_in(folder)
    ended = run_forked(*arguments, "--wait", "0.3", "--json", cwd=folder)
    assert ended.code == 4, ended.err
    absent = "provider B" if role == "a" else "provider A"
    assert ended.sentence().startswith(f"{absent} ")
    assert (ended.error()["kind"], ended.error()["party"]) == ("peer-failed", absent)
    assert names_in(folder) == before


# -- promises -----------------------------------------------------------------------------------------------------------------


def changed_card(folder, name, change):
    """Copy the joined release, its card changed."""
    place = folder / name
    place.mkdir()
    for file in ("data.csv", "attributes.json"):
        (place / file).write_bytes((folder / "joined" / file).read_bytes())
    card = json.loads((folder / "joined/card.json").read_text())
    change(card)
    (place / "card.json").write_text(json.dumps(card))
    return name


@pytest.fixture
def changed(folder, tmp_path):
    (tmp_path / "joined").symlink_to(folder / "joined")
    (tmp_path / "trial").symlink_to(folder / "trial")
    (tmp_path / "joined.private").symlink_to(folder / "joined.private")
    return tmp_path


def test_a_promise_that_is_not_kept_ends_with_3(changed):
    def more(card):
        card["guarantees"][0]["parameters"]["k"] = 1000

    ended = call(*check(release=changed_card(changed, "more", more)), "--witnesses", 2, cwd=changed)
    assert ended.code == 3
    assert ended.out.startswith("k-anonymity: violated (")
    told = call(*check(release="more"), "--json", cwd=changed)
    assert (told.code, told.json["kept"]) == (3, False)


def test_shares_outside_the_limits_end_with_3(changed):
    def narrow(card):
        card["guarantees"][1]["parameters"]["min_a"] = "0.6"
        card["guarantees"][1]["parameters"]["max_a"] = "0.9"

    name = changed_card(changed, "narrow", narrow)
    ended = call(*check(*SIDE_A, *SIDE_B, *POPULATION, release=name), cwd=changed)
    assert ended.code == 3, ended.err
    assert "site-presence: violated" in ended.out
    assert call(*check(release=name), cwd=changed).code == 0, "without the tables only k-anonymity is checked"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda card: card["guarantees"].clear(), "states no guarantee, so there is nothing to check"),
        (
            lambda card: card["guarantees"].pop(0),
            "cannot be checked on the release alone; give the table and the private folder of a provider (--a, --b)",
        ),
        (
            lambda card: card["guarantees"][0].update(name="secrecy"),
            "states the guarantee 'secrecy', which this version of setveil does not know",
        ),
        (lambda card: card["guarantees"][0]["parameters"].update(k=-2), "card.json: k-anonymity: k is -2; allowed is"),
        (lambda card: card["counts"].update(records=7), "more/card.json: states 7 records in"),
        (lambda card: card["data"].update(sha256="0" * 64), "more/data.csv: is not the file that the card describes"),
        (lambda card: card["data"].update(file="../data.csv"), "lacks the file '../data.csv' that its card names"),
        (lambda card: card["beside"].clear(), "names other files than the data and attributes.json"),
        (
            lambda card: card.update(form="sets"),
            "is the card of a release that is not a joined table; use setveil check",
        ),
        (lambda card: card.pop("counts"), "is not the card of a joined table that setveil"),
    ],
)
def test_a_card_that_says_something_else_is_refused(changed, change, says):
    ended = call(*check(release=changed_card(changed, "more", change)), cwd=changed)
    assert ended.code == 2
    assert says in ended.sentence()
    assert ended.out == ""


# -- disks --------------------------------------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from setveil.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
del sys.argv[1]
main()
"""


@pytest.mark.parametrize(
    ("arguments", "size", "says"),
    [
        (simulate(out="full"), 10, "attributes.json cannot be written: File too large"),
        (simulate(out="full"), 20_000, "full and full.private cannot be written: File too large"),
        (["presence", "sample", "--out", "full"], 1000, "full cannot be written: File too large"),
        (draft(out="full"), 10, "full cannot be written: File too large"),
        (["presence", "init", "full", "--role", "a"], 10, "full cannot be written: File too large"),
        (
            ["presence", "init", "alone", "--pin-c", "c/certificate.pem"],
            10,
            "alone/peers/c.pem cannot be written: File too large",
        ),
    ],
    ids=["attributes", "report", "sample", "policy", "init", "pin"],
)
def test_a_disk_that_is_full_is_no_bug_and_leaves_nothing(folder, arguments, size, says):
    before = names_in(folder)
    ended = run_forked(size, *arguments, cwd=folder, code=LIMITED)
    assert ended.code == 2, ended.err
    assert says in ended.sentence()
    assert names_in(folder) == before
    assert hidden_in(folder / "alone/peers") == []
