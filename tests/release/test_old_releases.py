"""Releases of setveil 0.1.0 (card version 1, dossier version 2) still open and check, with the meaning they had."""

import json
import shutil
from pathlib import Path

import pytest

import setveil as sv
from setveil.catalog import METHODS
from setveil.release.dossier import Private
from setveil.release.opening import open_release

from support.program import call

FOLDER = Path(__file__).parents[1] / "fixtures" / "releases-1"
RELEASES = sorted(path.parent.name for path in FOLDER.glob("*/card.json"))
PLAIN = [name for name in RELEASES if name != "joined"]
PROMISED = [
    name for name in PLAIN if json.loads((FOLDER / name / "card.json").read_text())["guarantee"]["name"] is not None
]
FAILED = "full-swap-with-failures"


def original_of(name):
    return FOLDER / {"reassociation": "disassociation", FAILED: "few.csv"}.get(name, "original.csv")


def test_there_is_one_of_every_method_of_that_version():
    methods = {json.loads((FOLDER / name / "card.json").read_text())["method"]["name"] for name in PLAIN}
    assert len(methods) == 17
    assert methods <= set(METHODS)
    assert {FAILED, "joined"} <= set(RELEASES)


@pytest.mark.parametrize("name", PLAIN)
def test_an_old_release_opens(name):
    opened, private = open_release(FOLDER / name), Private.load(FOLDER / f"{name}.private")
    assert opened.card.card_version == 1
    assert opened.card.run is opened.card.private_sha256 is opened.card.guarantee.reach is None
    assert not opened.card.experiment
    assert opened.card == private.card
    assert opened.data.records


@pytest.mark.parametrize("name", PROMISED)
def test_an_old_release_checks(name):
    options = ["--original", original_of(name), "--private", FOLDER / f"{name}.private", "--json"]
    ended = call("check", FOLDER / name, *options, "--allow-failures", 4 if name == FAILED else 0)
    assert ended.code == 0, ended.err
    assert ended.json["status"] == ("violated" if name == FAILED else "holds")
    assert ended.json["violations"] == ({"not-hidden": 4} if name == FAILED else {})
    assert ended.json["reach"]["covered"] <= ended.json["reach"]["total"]


@pytest.mark.parametrize("name", ["insert", "disassociation", "reassociation", FAILED])
def test_an_old_release_is_measured_later(name, tmp_path):
    for part in (name, f"{name}.private"):
        shutil.copytree(FOLDER / part, tmp_path / part)
    earlier = Private.load(FOLDER / f"{name}.private").dossier
    source = FOLDER / "original.csv" if name == "reassociation" else original_of(name)
    assert sv.write_report(tmp_path / name, "quick", original=source)
    page = (tmp_path / f"{name}.private" / "report.html").read_text()
    assert sv.write_report(tmp_path / name) == sv.write_report(tmp_path / name, "none")
    assert (tmp_path / f"{name}.private" / "report.html").read_text() == page
    later = Private.load(tmp_path / f"{name}.private").dossier
    assert later["metrics"] != earlier["metrics"]
    assert later["pictures"]
    assert {key: later[key] for key in ("seed", "card", "method")} == {
        key: earlier[key] for key in ("seed", "card", "method")
    }


def test_the_words_of_an_old_dossier_are_read():
    dossier = json.loads((FOLDER / f"{FAILED}.private" / "dossier.json").read_text())
    assert dossier["verdict"]["status"] == "broken"
    assert dossier["verdict"]["breaches"] == {"not-hidden": 4}
    verdict = Private.load(FOLDER / f"{FAILED}.private").dossier["verdict"]
    assert verdict["status"] == "violated"
    assert verdict["violations"] == {"not-hidden": 4}
    assert "breaches" not in verdict


def test_an_old_joined_table_checks():
    parties = [
        part
        for role in "ab"
        for part in (
            f"--{role}",
            FOLDER / "trial" / f"{role}.csv",
            f"--private-{role}",
            FOLDER / "joined.private" / role,
        )
    ]
    ended = call(
        "presence", "check", FOLDER / "joined", "--population", FOLDER / "trial" / "population.csv", *parties, "--json"
    )
    assert ended.code == 0, ended.err


def test_the_old_name_of_the_error_is_an_alias():
    assert sv.GuaranteeBroken is sv.GuaranteeViolated
