"""`setveil presence` as a person walks through it: a sample, a policy, a trial, checks, measures, attacks, and three programs."""

import json
import shlex
import signal
import sqlite3
from contextlib import closing

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from support.presence_programs import HOST, free_ports
from support.program import call, ended, hidden_in, names_in, signalled, start

PEOPLE = ("--population", "trial/population.csv")
TABLES = ("trial/a.csv", "trial/b.csv", *PEOPLE)
SIDES = ("--a", "trial/a.csv", "--b", "trial/b.csv")
DRAFT = ("--person", "customer", "--sensitive", "genre")
PRIVATE = ("--private-a", "joined.private/a", "--private-b", "joined.private/b")


def done(folder, *arguments):
    """Run a command that must succeed."""
    found = call(*arguments, cwd=folder)
    assert found.code == 0, found.err
    return found


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """Give a folder with a sample and the homes of both providers; no test may change these."""
    folder = tmp_path_factory.mktemp("trial")
    done(folder, "presence", "sample", "--out", "trial", "--people", 500)
    for name, role in (("bank", "a"), ("video", "b")):
        done(folder, "presence", "init", name, "--role", role)
    return folder


def table_of(folder, *sources, out, policy="trial/policy.toml"):
    """Return the joined table of a trial with the keys of the homes, which is the same for the same data."""
    homes = ("--home-a", "bank", "--home-b", "video", "--backend", "clear")
    done(folder, "presence", "simulate", *sources, "--policy", policy, *homes, "--out", out)
    return (folder / out / "data.csv").read_bytes()


@pytest.fixture(scope="module")
def reference(trial):
    return table_of(trial, *TABLES, out="reference")


def test_the_walk_of_a_person(tmp_path):
    """Each command takes what the one before wrote, and says the same of it."""
    made = done(tmp_path, "presence", "sample", "--out", "trial", "--people", 500, "--json").json
    assert made["population"] == 500
    policy = (*DRAFT, "--k", 3, "--max-a", "0.95", "--out", "policy.toml")
    drafted = done(tmp_path, "presence", "policy", *SIDES, *PEOPLE, *policy, "--json").json
    shown = done(tmp_path, "presence", "policy", "--show", "policy.toml", "--json").json
    assert shown["sha256"] == drafted["sha256"]
    assert (shown["limits"]["k"], shown["limits"]["max_a"]) == (3, "0.95")
    assert [one["name"] for one in shown["schema"]["a"]] == ["age", "income", "town"]
    joined = done(
        tmp_path, "presence", "simulate", *TABLES, "--policy", "policy.toml", "--out", "joined", "--json"
    ).json
    assert {one["guarantee"]: one["status"] for one in joined["verdicts"]} == {
        "k-anonymity": "holds",
        "site-presence": "holds",
    }
    assert joined["users"]["a"] == made["a"]
    card = json.loads((tmp_path / "joined/card.json").read_text())
    assert (card["policy_sha256"], card["counts"]["records"]) == (drafted["sha256"], joined["table"]["records"])
    for more, names in (((), ["k-anonymity"]), ((*SIDES, *PRIVATE, *PEOPLE), ["k-anonymity", "site-presence"])):
        checked = done(tmp_path, "presence", "check", "joined", *more, "--json").json
        assert checked["kept"]
        assert [one["guarantee"] for one in checked["verdicts"]] == names
    measured = done(tmp_path, "presence", "measure", "joined", *TABLES, "--json").json["metrics"]
    assert measured[0]["value"] == joined["measurements"][0]["value"]
    tried = done(tmp_path, "presence", "attack", *TABLES, "--policy", "policy.toml", "--json").json
    assert {"dummies", "posterior", "two_runs", "together"} <= tried.keys()
    assert tried["policy_sha256"] == drafted["sha256"]
    assert (tmp_path / "joined.private/report.html").read_text().rstrip().endswith("</html>")
    assert names_in(tmp_path) == ["joined", "joined.private", "policy.toml", "trial"]


def test_one_kind_of_attack_is_tried_alone(trial):
    found = done(
        trial, "presence", "attack", *TABLES, "--policy", "trial/policy.toml", "--kind", "two-runs", "--json"
    ).json
    assert set(found) == {"groups", "policy_sha256", "two_runs"}


def test_a_provider_checks_alone(trial, reference):
    del reference
    alone = ("--a", "trial/a.csv", "--private-a", "reference.private/a", *PEOPLE)
    found = done(trial, "presence", "check", "reference", *alone)
    assert "checked by provider A alone" in found.out


# -- where tables come from -------------------------------------------------------------------------------------------------


def test_other_sources_of_the_same_tables_give_the_same_joined_table(trial, reference):
    """Parquet; CSV with semicolons and more columns; a database; a population in a text file."""
    names = ("a", "b", "population")
    for name in names:
        table = pc.read_csv(trial / f"trial/{name}.csv")
        pq.write_table(table, trial / f"{name}.parquet")
        rows = [table.column_names, *zip(*table.to_pydict().values(), strict=True)]
        lines = [";".join(map(str, row)) for row in rows]
        (trial / f"{name}-semicolons.csv").write_text("".join(f"{line};x\n" for line in lines))
        with closing(sqlite3.connect(trial / "trial.db")) as database:
            database.execute(f"CREATE TABLE t_{name} ({', '.join(table.column_names)})")
            places = ", ".join("?" * table.num_columns)
            database.executemany(f"INSERT INTO t_{name} VALUES ({places})", rows[1:])  # noqa: S608 - names of this test
            database.commit()
    ids = (trial / "trial/population.csv").read_text().splitlines()[1:]
    (trial / "population.txt").write_text("\n".join(ids) + "\n")
    url = "sqlite:///trial.db"
    asked = [part for name in names for part in (f"--query-{name}", f"SELECT * FROM t_{name} ORDER BY rowid")]  # noqa: S608
    sources = {
        "parquet": ("a.parquet", "b.parquet", "--population", "population.parquet"),
        "text": ("trial/a.csv", "trial/b.csv", "--population", "population.txt"),
        "semicolons": (
            *("a-semicolons.csv", "b-semicolons.csv", "--population", "population-semicolons.csv", "--separator", ";"),
        ),
        "database": (url, url, "--population", url, *asked),
    }
    for name, source in sources.items():
        assert table_of(trial, *source, out=f"from-{name}") == reference, name
    drafted = (*DRAFT, "--out", "draft.toml", "--force", "--json")
    tables = ("--a", "trial/a.csv", "--b", "trial/b.csv", *PEOPLE)
    asking = ("--a", url, "--b", url, "--population", url, *asked)
    drafts = [done(trial, "presence", "policy", *source, *drafted) for source in (tables, asking)]
    assert drafts[0].json == drafts[1].json
    checked = ("--a", url, "--private-a", "reference.private/a", "--population", url, *asked[:2], *asked[4:])
    assert done(trial, "presence", "check", "reference", *checked, "--json").json["kept"]


def test_the_parts_of_both_providers_make_the_whole_policy(trial):
    """Each drafts its own part without seeing the other's table."""
    done(trial, "presence", "policy", *SIDES[:2], *DRAFT[:2], "--out", "part-a.toml")
    done(trial, "presence", "policy", *SIDES[2:], *DRAFT, "--out", "part-b.toml")
    whole = done(trial, "presence", "policy", *SIDES, *PEOPLE, *DRAFT, "--out", "whole.toml", "--json").json
    text = (trial / "whole.toml").read_text()
    head = text[: text.index("[sensitive]")]
    parts = "\n".join((trial / f"part-{role}.toml").read_text() for role in "ba")
    (trial / "together.toml").write_text(f"{head}\n{parts}")
    assert done(trial, "presence", "policy", "--show", "together.toml", "--json").json["sha256"] == whole["sha256"]


# -- three programs ---------------------------------------------------------------------------------------------------------


def example_of(command):
    words = shlex.split(call("presence", command, "--help").out.partition("Example:")[2].replace("\\\n", " "))
    return words[1:]


def test_the_examples_of_provider_and_collector_meet(tmp_path):
    """As printed but for the addresses, with provider A beside them; their results are JSON and nothing else."""
    done(tmp_path, "presence", "sample", "--out", "trial", "--people", 400)
    for path in (tmp_path / "trial").iterdir():
        path.rename(tmp_path / path.name)
    (tmp_path / "trial").rmdir()
    homes = {"bank": "a", "video": "b", "agency": "c"}
    for home, role in homes.items():
        done(tmp_path, "presence", "init", home, "--role", role)
    for home, own in homes.items():
        pins = [
            part
            for other, role in homes.items()
            if other != home
            for part in (f"--pin-{role}", f"{other}/certificate.pem")
        ]
        told = done(tmp_path, "presence", "init", home, *pins, "--json").json
        assert set(told["pinned"]) == set("abc") - {own}
    b, c = example_of("provider"), example_of("collector")
    collector_port, b_port = c[c.index("--listen") + 1].split(":")[1], b[b.index("--listen") + 1].split(":")[1]
    assert b[b.index("--collector") + 1].split(":")[1] == collector_port, "the examples fit together"
    ports = dict(zip((b_port, collector_port), free_ports(2), strict=True))
    b, c = ([f"{HOST}:{ports[word.split(':')[1]]}" if ":" in word else word for word in words] for words in (b, c))
    a = [
        {"b": "a", "video": "bank", "b.csv": "a.csv", "run": "run-a", "--listen": "--peer"}.get(word, word)
        for word in b
    ]
    started = [start(*words, "--json", "--quiet", "--wait", 60, cwd=tmp_path) for words in (c, b, a)]
    found = [ended(process) for process in started]
    assert [(one.code, one.err) for one in found] == [(0, "")] * 3
    card, at_b, at_a = (one.json for one in found)
    assert card["card"]["data"]["sha256"] == at_a["release_sha256"] == at_b["release_sha256"]
    assert (at_a["role"], at_b["role"]) == ("a", "b")
    tables = (
        "--a",
        "a.csv",
        "--private-a",
        "run-a",
        "--b",
        "b.csv",
        "--private-b",
        "run",
        "--population",
        "population.csv",
    )
    assert done(tmp_path, "presence", "check", "joined", *tables, "--json").json["kept"]


@pytest.mark.parametrize("after", [0.05, 0.6, 1.1, 1.6, 2.2])
def test_a_trial_that_is_stopped_leaves_nothing_half_written(trial, after, tmp_path):
    """At any moment: before it begins, while the parties talk, while it measures, and while it writes."""
    tables = [trial / word if "/" in word else word for word in TABLES]
    arguments = ("presence", "simulate", *tables, "--policy", trial / "trial/policy.toml", "--out", "joined")
    found = signalled(*arguments, number=signal.SIGINT, after=after, cwd=tmp_path)
    assert hidden_in(tmp_path) == []
    if found.code == 0:  # it was done before
        assert call("presence", "check", "joined", cwd=tmp_path).code == 0
        return
    assert found.code == 130, found.err
    assert found.out == ""
    whole = names_in(tmp_path) == ["joined", "joined.private"]
    assert whole or names_in(tmp_path) == []
    assert ("nothing was written" in found.sentence()) == (not whole)


# -- the catalog --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listing", "names"),
    [
        ("methods", ["dummy-users", "extended-mondrian", "mpalm"]),
        ("guarantees", ["k-anonymity", "site-presence"]),
        ("metrics", ["range-query-error"]),
    ],
)
def test_the_catalog_tells_of_what_joins_tables(listing, names):
    listed = call(listing)
    under = listed.out.partition("For joined tables of two providers:")[2]
    for name in names:
        assert f" {name} " in under
        told = call(listing, name)
        assert told.code == 0, told.err
        assert told.out.startswith(f"{name}: ")
        one = call(listing, name, "--json").json
        assert one["name"] == name
        assert all(p["name"] in told.out for p in one["parameters"])
