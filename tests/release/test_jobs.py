"""A job: what it refuses, where its paths start, what it keeps of a release, and how a dossier repeats a release."""

import inspect
import json
import sqlite3
import stat
import tomllib
from dataclasses import fields

import pytest

import setveil as sv
from setveil.release.job_keys import KEYS, reading_keys
from setveil.release.publication import Publication

SEED = 2**90 + 7
CSV = "customer,product\n" + "".join(f"p{n},{item}\n" for n in range(40) for item in ("milk", f"item {n % 4}"))
CATEGORIES = "item,aisle,shelf\nmilk,cold,top\n" + "".join(f"item {n},dry {n},low {n % 2}\n" for n in range(4))
READING = {"id": "customer", "item": "product"}
METHOD = {"name": "disassociation", "k": 3, "m": 2}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Give a folder with data and categories, and work there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baskets.csv").write_text(CSV)
    (tmp_path / "categories.csv").write_text(CATEGORIES)
    return tmp_path


def job(**changed):
    """Return the content of a job that works; None removes a key."""
    content = {
        "data": {"path": "baskets.csv", **READING},
        "method": METHOD,
        "metrics": "none",
        "attacks": "none",
        **changed,
    }
    return {name: value for name, value in content.items() if value is not None}


def refusal(given, **changed):
    with pytest.raises(sv.InputError) as refused:
        sv.run(given, **changed)
    return str(refused.value)


# -- keys ----------------------------------------------------------------------------------------------------------------------


def test_the_keys_are_those_of_the_functions_that_take_them():
    signature = inspect.signature(sv.publish)
    assert KEYS.keys() == signature.parameters.keys()
    defaults = {one.name: one.default for one in fields(Publication) if one.name not in ("data", "method")}
    assert defaults == {name: one.default for name, one in signature.parameters.items() if name in defaults}
    assert list(reading_keys()) == list(inspect.signature(sv.read).parameters)[1:]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"mehtod": METHOD}, "the job: there is no key 'mehtod'; there are: .* Did you mean 'method'?"),
        ({"data": None}, "the job: the key 'data' is missing; a job needs data and method"),
        ({"data": {"id": "customer"}}, "the job, data: the key 'path' is missing"),
        ({"data": {"path": "baskets.csv", "itme": "x"}}, "the job, data: there is no key 'itme'; .* Did you mean 'item"),
        ({"data": {"path": "baskets.csv", "unit": "persons"}}, "data: unit is 'persons'; allowed is .* Did you mean 'person'"),
        ({"data": {"path": "baskets.csv", "ragged": "yes"}}, "data: ragged is 'yes'; expected True or False"),
        ({"data": [["milk"]]}, "data: data is of the type list; expected a text, or a table with the key 'path'"),
        ({"method": "disassociated"}, "method: there is no method 'disassociated'; .* Did you mean 'disassociation'"),
        ({"method": METHOD | {"kk": 3}}, "method: there is no key 'kk'; there are: .*k, m, .*. Did you mean 'k'"),
        ({"method": METHOD | {"k": 0}}, "the job, method: disassociation: k is 0; allowed is a whole number, at least 1"),
        ({"method": METHOD | {"k": True}}, "method: disassociation: k is True; allowed is"),
        ({"method": METHOD | {"rules": "rules.txt"}}, "the job, method.rules: rules.txt: there is no such file"),
        ({"method": {"name": "disassociation", "k": 3}}, "the job, method: disassociation needs `m=`"),
        ({"metrics": ["quick", "losses"]}, "metrics: there is no metric 'losses'"),
        ({"metrics": [{"name": "tlost", "kay": 2}]}, "metrics: there is no key 'kay'"),
        ({"metrics": [3]}, "metrics: an entry is 3; expected a text, or a table with the key 'name'"),
        ({"attacks": "guess"}, "attacks: there is no attack 'guess'"),
        ({"attack_limit": "high"}, "`attack_limit=` is 'high'"),
        ({"metrics": "quik"}, "metrics: there is no metric 'quik'; there are: .*quick.* Did you mean 'quick'"),
        ({"attacks": ["quik"]}, "attacks: there is no attack 'quik'; there are: .*quick.* Did you mean 'quick'"),
        ({"data": {"pth": "baskets.csv"}}, "data: there is no key 'pth'; .* Did you mean 'path'"),
        ({"register": {"fil": "r.db"}}, "register: there is no key 'fil'; .* Did you mean 'file'"),
        ({"ids": "keeps"}, "the job: ids is 'keeps'; allowed is pseudonym . keep . drop. Did you mean 'keep'"),
        ({"compress": "zip"}, "the job: compress is 'zip'; allowed is gzip . zstd"),
        ({"out": 3}, "the job: out is 3; expected a text or a path"),
        ({"allow_failures": "two"}, "the job: allow_failures is 'two'; expected a whole number"),
        ({"force": "yes"}, "the job: force is 'yes'; expected True or False"),
        ({"seed": "seven"}, "the job, seed: the seed is 'seven'"),
        ({"seed": 1.5}, "the job: seed is 1.5; expected a whole number or a text"),
        ({"seed": 7}, "the seed has 3 bits"),
        ({"register": {"recipient": "the city"}}, "register: the key 'file' is missing"),
        ({"register": {"file": "r.db", "recipent": "x"}}, "register: there is no key 'recipent'; .* Did you mean 'recipient'"),
        ({"register": "r.db", "seed": SEED}, "exclude each other"),
        ({"original": "missing.csv"}, "the job, original: missing.csv: there is no such file"),
        ({"data": "missing.csv"}, "the job, data: missing.csv: there is no such file"),
        ({"method": "reassociation", "data": "missing"}, "the job, data: missing: there is no such file or folder"),
        ({"method": "reassociation"}, "the job, data: `id=` does not apply to a release"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_is_refused_with_its_place(changed, sentence, folder):
    before = sorted(folder.iterdir())
    with pytest.raises(sv.InputError, match=sentence):
        sv.run(job(**changed), out=None if "out" in changed else "release")
    assert sorted(folder.iterdir()) == before


def test_a_table_is_not_needed_where_a_text_says_all():
    sv.write(sv.from_lists([["a", "b"]] * 6), "x.dat")
    release = sv.run({"data": "x.dat", "method": {"name": "rand-swap"}, "no_guarantee": True, "metrics": "record-loss"})
    assert [one.name for one in release.measurements] == ["record-loss"]
    assert release.target is None


@pytest.mark.parametrize("given", [3, None, [["milk"]], object()])
def test_what_is_no_job_is_a_sentence(given):
    assert "expected a job file, a Job, or a dictionary" in refusal(given)


# -- files -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'data = "x.dat"\nmethod = \n', "job.toml: is not valid TOML (Invalid value (at line 2, column 10)); expected a job file"),
        (b"[data]\npath = 'x'\n[data]\n", "at line 3, column 6"),
        (b"{ data", "job.toml: is not valid JSON"),
        (b"\xff\xfe", "job.toml: is not UTF-8 text; expected a job file"),
        (b"", "job.toml: the key 'data' is missing"),
        (b"a = " + b"[" * 2000 + b"]" * 2000, "job.toml: is nested too deeply"),
        (b'data = "x.dat"\nmethod = {name = "disassociation", k = 2020-01-01}\n', "k is datetime.date(2020, 1, 1)"),
        (b'data = "baskets.csv"\nmethod = "disassociation"\n[register]\n', "job.toml, register: the key 'file' is missing"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_job_is_refused_with_its_place(content, sentence, folder):
    (folder / "x.dat").write_text("a b\n")
    (folder / "job.toml").write_bytes(content)
    assert sentence in refusal("job.toml")


def test_a_file_that_cannot_be_read_is_refused():
    assert refusal("missing.toml") == "missing.toml: does not exist; expected a job file"
    assert refusal(".") == ".: is a folder; expected a job file"


@pytest.mark.parametrize("before", ["", "\ufeff", "# my job\r\n"])
def test_files_of_any_editor_are_read(before, folder):
    text = before + sv.Job(job()).to_toml()
    (folder / "job.toml").write_text(text, encoding="utf-8")
    assert sv.Job.read("job.toml") == sv.Job(job())
    (folder / "job.json").write_text(json.dumps(job()), encoding="utf-8")
    assert sv.Job.read("job.json") == sv.Job(job())


def test_paths_start_from_the_folder_of_the_job(folder, monkeypatch):
    content = job(method={"name": "part-swap", "categories": "categories.csv", "level": "aisle"}, out="release")
    (folder / "plans").mkdir()
    sv.Job(content).save("plans/job.toml")
    moved = tomllib.loads((folder / "plans" / "job.toml").read_text())
    assert (moved["data"]["path"], moved["out"]) == ("../baskets.csv", "../release")
    assert moved["method"]["categories"] == "../categories.csv"
    release = sv.run("plans/job.toml", seed=SEED)
    assert (folder / "release" / "card.json").exists()
    monkeypatch.chdir(folder / "plans")
    again = sv.run("job.toml", seed=SEED, out="again")
    assert (folder / "plans" / "again" / "card.json").exists()
    assert again.data == release.data


def test_only_paths_are_moved(folder):
    register = {"file": "releases.db", "recipient": "a/b"}
    content = job(
        data={"path": "sample:supermarket?records=50"},
        method={"name": "part-swap", "categories": "random:5?seed=3"},
        register=register,
        metrics=["quick", {"name": "still-on-top", "categories": "categories.csv"}, "fi-similarity:min_support=1%"],
        format="long.csv",
    )
    moved = sv.Job(content).with_paths(lambda place: f"there/{place}").content
    assert moved["data"] == content["data"]
    assert moved["method"] == content["method"]
    assert moved["register"] == {"file": "there/releases.db", "recipient": "a/b"}
    assert moved["metrics"][1]["categories"] == "there/categories.csv"
    assert moved["metrics"][2] == content["metrics"][2]
    assert moved["format"] == "long.csv"
    absolute = sv.Job(job(data=str(folder / "baskets.csv")))
    assert absolute.with_paths(lambda place: f"there/{place}") == absolute
    for address, expected in (
        ("sqlite:///shop.db", "sqlite:///there/shop.db"),
        ("sqlite:////srv/shop.db", "sqlite:////srv/shop.db"),
        ("duckdb:///shop.duckdb", "duckdb:///there/shop.duckdb"),
        ("postgresql://ann@db.example/shop", "postgresql://ann@db.example/shop"),
    ):
        found = sv.Job(job(data={"path": address, "query": "SELECT 1"})).with_paths(lambda place: f"there/{place}")
        assert found.content["data"]["path"] == expected


def test_a_name_is_a_path_only_if_there_is_such_a_file(folder):
    content = job(
        method={"name": "td-control", "sensitive": "secrets", "rho": "50%", "hierarchy": "icd10cm"}, out="release"
    )
    moved = sv.Job(content).with_paths(lambda place: f"there/{place}").content
    assert (moved["method"]["sensitive"], moved["out"]) == ("secrets", "there/release")
    (folder / "plans").mkdir()
    (folder / "plans" / "secrets").write_text("milk\n")
    (folder / "plans" / "job.toml").write_text(sv.Job(content).to_toml())
    read = sv.Job.read("plans/job.toml").content["method"]
    assert (read["sensitive"], read["hierarchy"]) == ("plans/secrets", "icd10cm")


def test_a_database_file_is_found_from_the_folder_of_the_job(folder):
    with sqlite3.connect(folder / "shop.db") as shop:
        shop.execute("CREATE TABLE sales (id TEXT, item TEXT)")
        shop.executemany("INSERT INTO sales VALUES (?, ?)", [(f"p{n}", "milk") for n in range(5)])
    shop.close()
    (folder / "plans").mkdir()
    data = {"path": "sqlite:///../shop.db", "query": "SELECT id, item FROM sales ORDER BY 1"}
    (folder / "plans" / "job.toml").write_text(sv.Job(job(data=data)).to_toml())
    assert sv.run("plans/job.toml").original.records == 5


def test_a_job_file_is_private_and_never_replaced_by_itself(folder):
    release = sv.run(job(out="release"))
    published = sorted((folder / "release").iterdir())
    release.save_job("job.toml")
    assert stat.S_IMODE((folder / "job.toml").stat().st_mode) == 0o600
    with pytest.raises(sv.OutputRefused, match=r"job\.toml exists; choose another path"):
        release.save_job("job.toml")
    release.save_job("job.toml", force=True)
    with pytest.raises(sv.OutputRefused, match="inside a release folder"):
        release.save_job("release/job.toml")
    with pytest.raises(sv.OutputRefused, match="missing is not a folder"):
        release.save_job("missing/job.toml")
    assert sorted((folder / "release").iterdir()) == published


# -- jobs of releases ------------------------------------------------------------------------------------------------------------


def test_a_job_holds_only_what_differs_from_defaults():
    release = sv.publish(sv.read("baskets.csv", **READING), sv.Disassociation(k=3, m=2), out="release")
    assert release.job.to_dict() == {"data": {"path": "baskets.csv", **READING}, "method": METHOD, "out": "release"}


def test_a_release_that_is_saved_later_has_its_folders_in_its_job():
    release = sv.publish(sv.read("baskets.csv", **READING), sv.Disassociation(k=3, m=2), metrics=[])
    assert release.job.to_dict() == {"data": {"path": "baskets.csv", **READING}, "method": METHOD, "metrics": []}
    release.save("release", private="kept", format="disassociated.parquet")
    found = release.job.to_dict()
    assert (found["out"], found["private"], found["format"]) == ("release", "kept", "disassociated.parquet")


def test_all_settings_come_back():
    settings = {
        "ids": "keep",
        "seed": str(SEED),
        "allow_failures": 40,
        "metrics": ["none", {"name": "tlost", "k": 2}],
        "attacks": ["find-record:known=1", {"name": "find-record", "known": 3}],
        "attack_limit": 0.5,
        "missing_names": "error",
        "names": "sample:hospital",
        "distinct_labels": True,
        "format": "long.parquet",
        "threads": 1,
    }
    method = {"name": "full-swap", "categories": "categories.csv", "level": "aisle", "full_min": 1}
    content = {"data": {"path": "baskets.csv", **READING}, "method": method, **settings, "out": "release"}
    release = sv.run(job(**content))
    assert release.job == sv.Job(content)
    release.save_job("job.toml")
    assert sv.Job.read("job.toml") == sv.Job(content)
    assert sv.run("job.toml", out="again").data == release.data
    assert [one.parameters for one in release.findings] == [{"known": 1}, {"known": 3}]


def test_metrics_and_attacks_made_in_python_are_written_as_tables():
    metrics = [sv.FiSimilarity(min_support="1%"), sv.FiSimilarity(min_support="10%"), "quick"]
    attacks = (one for one in [sv.FindRecord(known=3), "none"])
    data = sv.read("baskets.csv", **READING)
    release = sv.publish(data, sv.Disassociation(k=3, m=2), metrics=metrics, attacks=attacks)
    found = release.job.to_dict()
    assert found["metrics"] == [{"name": "fi-similarity"}, {"name": "fi-similarity", "min_support": "10%"}, "quick"]
    assert found["attacks"] == [{"name": "find-record", "known": 3}, "none"]
    again = sv.run(release.job)
    assert [one.value for one in again.measurements] == [one.value for one in release.measurements]


def test_values_made_in_python_are_written_with_their_content():
    method = sv.PartSwap(categories={"milk": "x", **{f"item {n}": f"dry {n}" for n in range(4)}})
    release = sv.publish(sv.read("baskets.csv", **READING), method, metrics=[])
    written = tomllib.loads(release.job.to_toml())
    assert written["method"]["categories"] == {"milk": "x", **{f"item {n}": f"dry {n}" for n in range(4)}}
    assert sv.run(written, seed=release.randomness.seed.value).data == release.data


def test_a_threshold_keeps_its_text():
    """0.01 and 1% are equal, but another recipe, and so another release."""
    data = sv.read("baskets.csv", **READING)
    itemsets = [["milk", "item 1"]]
    release = sv.publish(
        data, sv.ExactSwap(itemsets=itemsets, min_support=0.25), metrics=[sv.FiSimilarity(min_support=0.01)]
    )
    assert release.job.content["method"]["min_support"] == "0.25"
    assert release.job.content["metrics"] == [{"name": "fi-similarity", "min_support": "0.01"}]


def test_a_list_is_read_again_with_the_separator_of_the_data(folder):
    (folder / "x.dat").write_text("a a;b b\n" * 5 + "a a\n" * 5)
    (folder / "itemsets.txt").write_text("a a;b b\n")
    content = {"data": {"path": "x.dat", "separator": ";"}, "out": "release", "metrics": "none", "seed": SEED}
    method = {"name": "exact-swap", "itemsets": "itemsets.txt", "min_support": 3}
    release = sv.run(content | {"method": method})
    assert tuple(release.method.itemsets) == (("a a", "b b"),)
    assert release.job.content["method"]["itemsets"] == "itemsets.txt"
    assert sv.run("release.private/dossier.json", out="again").data == release.data
    in_python = sv.read_itemsets("itemsets.txt", separator=";")
    release = sv.publish(sv.read("x.dat", separator=";"), sv.ExactSwap(itemsets=in_python, min_support=3), metrics=[])
    assert tuple(sv.run(release.job, seed=SEED).method.itemsets) == (("a a", "b b"),)


def test_no_job_is_made_of_data_that_were_given_as_values(folder):
    release = sv.publish([["a", "b"]] * 6, sv.Disassociation(k=2, m=2), out="release")
    with pytest.raises(
        sv.Missing,
        match="no job can name the data of this release, which were not read from a file that can be read again",
    ):
        release.save_job("job.toml")
    assert json.loads((folder / "release.private" / "dossier.json").read_text())["job"] is None
    assert "holds no job: the data were not read from a file" in refusal("release.private/dossier.json", out="again")
    changed = sv.read("baskets.csv", **READING).with_unit("person")
    with pytest.raises(sv.Missing, match="no job can name the data"):
        _ = sv.publish(changed, sv.Disassociation(k=2, m=2)).job


@pytest.mark.usefixtures("folder")
def test_no_job_is_made_of_methods_that_others_wrote():
    class Same(sv.RandSwap):
        """Another class under the name of one of ours."""

    data = sv.read("baskets.csv", **READING)
    release = sv.publish(data, Same(), no_guarantee=True, out="release", metrics=[])
    with pytest.raises(sv.Missing, match="no job can name Same, which setveil does not have"):
        _ = release.job
    assert "holds no job" in refusal("release.private/dossier.json", out="again")


def test_a_password_is_never_written():
    address = "postgresql://ann:hidden@db.example:5432/shop?sslpassword=hidden"
    found = sv.Job(job(data={"path": address, "query": "SELECT 1"}, original=address))
    assert "hidden" not in found.to_toml() + repr(found) + json.dumps(found.to_dict())
    assert found.to_dict()["data"]["path"] == "postgresql://ann@db.example:5432/shop"
    assert found.content["data"]["path"] == address


# -- dossiers --------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def release(folder):
    assert (folder / "baskets.csv").exists()
    method = {"name": "part-swap", "categories": "categories.csv", "level": "aisle"}
    return sv.run(job(method=method, out="release"))


def test_a_dossier_repeats_a_release_from_any_folder(release, folder, monkeypatch):
    assert "seed" not in release.job.content
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    again = sv.run("../release.private/dossier.json", out="again")
    assert again.data == release.data
    assert (folder / "elsewhere" / "again" / "card.json").read_bytes() == (
        folder / "release" / "card.json"
    ).read_bytes()
    third = sv.run("again.private/dossier.json", out="third")
    assert third.data == release.data


def test_a_release_is_not_repeated_over_itself(release):
    del release
    assert "release exists" in refusal("release.private/dossier.json")
    sv.run("release.private/dossier.json", force=True)
    assert sv.check("release", original="baskets.csv")


@pytest.mark.parametrize(
    ("file", "changed", "sentence"),
    [
        ("baskets.csv", CSV + "p99,milk\n", "because the data changed since it was made; nothing was written. To go on, restore the data"),
        ("categories.csv", CATEGORIES.replace("dry 3", "dry 4"), "because categories changed since it was made"),
        ("categories.csv", CATEGORIES.replace("aisle", "isle"), "method.categories: .*categories.csv, line 1: has no level"),
    ],
)  # fmt: skip
def test_a_change_since_is_refused_and_a_new_seed_makes_a_new_release(release, folder, file, changed, sentence):
    (folder / file).write_text(changed)
    with pytest.raises(sv.BadData, match=sentence):
        sv.run("release.private/dossier.json", out="again")
    assert not (folder / "again").exists()
    if "level" not in sentence:
        again = sv.run("release.private/dossier.json", out="again", seed="from-system")
        assert again.randomness.seed.value != release.randomness.seed.value


def test_another_version_is_noted(release, folder, notes):
    del release
    dossier = folder / "release.private" / "dossier.json"
    noted = json.loads(dossier.read_text())
    sv.run(dossier, out="same")
    assert "differs" not in notes()
    noted["versions"]["numpy"] = "1.0"
    noted["card"]["data"]["sha256"] = "0" * 64
    dossier.write_text(json.dumps(noted))
    sv.run(dossier, out="again")
    assert (
        f"this release differs from the one that {dossier} describes: that one was made with numpy 1.0 (here" in notes()
    )


def test_a_job_with_a_register_repeats_by_the_register(folder):
    release = sv.run(job(out="release", register={"file": "releases.db", "recipient": "the city"}))
    kept = json.loads((folder / "release.private" / "dossier.json").read_text())["job"]
    assert "seed" not in kept
    assert kept["register"] == {"file": str(folder / "releases.db"), "recipient": "the city"}
    again = sv.run("release.private/dossier.json", out="again")
    assert again.data == release.data
    assert [one.recipient for one in sv.releases("releases.db")] == ["the city"] * 2
    (folder / "releases.db").rename("moved.db")
    assert "the register gives another seed since it was made" in refusal("release.private/dossier.json", out="third")
    assert not (folder / "releases.db").exists()


def test_a_job_whose_guarantee_cannot_hold_writes_nothing(folder):
    people = [(f"p{n}", item) for n in range(9) for item in (f"x{n}", f"x{n + 9}", "y", "z")]
    (folder / "baskets.csv").write_text("customer,product\n" + "".join(f"{who},{item}\n" for who, item in people))
    method = {"name": "part-swap", "categories": {"y": "y", "z": "z", **{f"x{n}": "x" for n in range(18)}}}
    with pytest.raises(sv.GuaranteeViolated):
        sv.run(job(method=method, out="release"))
    assert sorted(one.name for one in folder.iterdir()) == ["baskets.csv", "categories.csv"]
