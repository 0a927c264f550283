import json

import pytest

import setveil as sv
from setveil.report.item_names import with_item_names

from support.program import call

NAMES = {"I10": "high blood pressure", "E11.9": "type 2 diabetes", "7": "seven"}
BASKETS = [["I10", "E11.9"], ["I10", "E11.9"], ["I10", "7"], ["I10", "7"], ["J18.9"]]


@pytest.fixture
def names():
    return sv.ItemNames(NAMES)


@pytest.fixture
def written(tmp_path):
    def write(content, name="names.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "item,name\nI10,high blood pressure\nE11.9,type 2 diabetes\n7,seven\n",
        "name,item\nhigh blood pressure,I10\ntype 2 diabetes,E11.9\nseven,7\n",
        "item,title\nI10,high blood pressure\nE11.9,type 2 diabetes\n7,seven\nX,\n",
        "item,name,chapter\nI10,high blood pressure,9\nE11.9,type 2 diabetes,4\n7,seven,\n7,seven,\n",
        "item,Product_Name,shelf\nI10,high blood pressure,a\nE11.9,type 2 diabetes,b\n7,seven,c\n",
        "item,parent,name\nI10,a,high blood pressure\nE11.9,a, type 2 diabetes \n7,b,seven\n",
    ],
)
def test_names_are_read_from_a_column_beside_the_items(written, content):
    assert dict(sv.read_names(written(content))) == NAMES


def test_the_column_of_the_items_is_found_in_the_data(written):
    path = written("code;name\nI10;high blood pressure\nE11.9;type 2 diabetes\n7;seven\n")
    assert dict(sv.read_names(path, sv.from_lists(BASKETS[:4]))) == NAMES
    assert dict(sv.read_names(path, item_column="code")) == NAMES


@pytest.mark.parametrize(
    ("content", "line", "sentence"),
    [
        (
            "item,a,b\nx,y,z\n",
            1,
            "has no column 'name'; the columns beside 'item' are: a, b; rename the column of the names to 'name'",
        ),
        (
            "item,a_name,b_name\nx,y,z\n",
            1,
            "has no column 'name'; the columns beside 'item' are: a_name, b_name; rename the column of the names to 'name'",
        ),
        ("code,name\nx,y\n", 1, "expected a header with the column 'item'"),
        ("item,name\nx,y\nx,z\n", 3, "the item 'x' has another name on an earlier line; keep one of them"),
        ("item,name\n,y\n", 2, "the item '' is empty"),
        ('item,name\nx,"a\nb"\n', 2, "holds a control character"),
    ],
)
def test_bad_files_are_refused(written, content, line, sentence):
    path = written(content)
    with pytest.raises(sv.BadData) as caught:
        sv.read_names(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert sentence in str(caught.value)


def test_names_may_have_another_encoding(tmp_path):
    path = tmp_path / "names.csv"
    path.write_bytes("item,name\nI10,état\n".encode("cp1252"))
    assert sv.read_names(path, side_encoding="cp1252")["I10"] == "état"
    with pytest.raises(sv.BadData, match="not UTF-8 text"):
        sv.read_names(path)


def test_samples_and_icd_10_cm_have_names():
    assert sv.read_names("sample:hospital")["I10"] == "high blood pressure"
    data = sv.from_lists([["i10", "E119", "milk"]])
    found = sv.read_names("icd10cm", data)
    assert set(found) == {"i10", "E119"}
    assert "diabetes" in found["E119"]
    with pytest.raises(sv.BadData, match="has no names of items, because its items are words"):
        sv.read_names("sample:supermarket")
    with pytest.raises(sv.BadParameter, match="is made from the items of a data set, and none was given"):
        sv.read_names("icd10cm")


@pytest.mark.parametrize("wrong", [{"a": 3}, {3: "a"}, {"": "a"}, {"a": ""}, {"a": "x\ny"}, {"a": "\ud800"}])
def test_what_is_not_a_name_is_refused(wrong):
    with pytest.raises(sv.BadData):
        sv.ItemNames(wrong)


def test_other_types_are_refused():
    with pytest.raises(
        sv.BadParameter, match="names is 3; expected a mapping from item to name, both texts, or a file with names"
    ):
        sv.publish(BASKETS, sv.Disassociation(k=2, m=1), names=3)


# -- showing -----------------------------------------------------------------------------------------------------------


def test_a_label_is_shown_with_its_name_and_a_label_without_one_alone(names):
    assert names.text("I10") == "I10 (high blood pressure)"
    assert names.text("J18.9") == "J18.9"
    assert names.listed(["7", "J18.9"]) == "7 (seven), J18.9"
    assert sv.ItemNames({"milk": "milk"}).text("milk") == "milk"
    assert len(sv.ItemNames({"a": "b" * 500}).text("a")) < 70


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("'I10' is in 7 of 10 records", "'I10' (high blood pressure) is in 7 of 10 records"),
        ("{I10, 7} → E11.9", "{I10 (high blood pressure), 7 (seven)} → E11.9 (type 2 diabetes)"),
        ("{'I10', 'x'} reveals '7' in 7", "{'I10' (high blood pressure), 'x'} reveals '7' (seven) in 7"),
        ("released row 7: 7 items, I10", "released row 7: 7 items, I10"),
        ("{}, '', {J18.9}", "{}, '', {J18.9}"),
    ],
)
def test_sentences_name_labels_in_quotes_and_braces_only(names, sentence, expected):
    assert names.in_sentence(sentence) == expected


def test_profile_and_risk_hold_the_names_that_they_show():
    profile = sv.profile(BASKETS, itemsets=[["I10", "7"]], names=NAMES)
    assert profile.item_names == NAMES
    assert "I10 (high blood pressure), 7 (seven)" in profile._repr_html_()
    assert json.loads(json.dumps(profile.to_dict()))["item_names"] == NAMES
    risk = sv.risk(BASKETS, sensitive=["7"], names=NAMES)
    assert "'7' (seven)" in risk.sentences[2]
    assert risk.to_dict()["item_names"].keys() <= NAMES.keys()
    assert sv.profile(BASKETS).item_names == sv.risk(BASKETS).item_names == {}


def test_witnesses_of_a_check_have_names_in_their_texts(tmp_path):
    path = tmp_path / "data.dat"
    sv.write(sv.from_lists(BASKETS), path)
    guarantee = sv.KmAnonymity(k=3, m=1)
    plain, named = (sv.check(path, guarantee=guarantee, names=given) for given in (None, NAMES))
    assert [one.items for one in plain.witnesses] == [one.items for one in named.witnesses]
    assert "{7 (seven)}" in {one.place for one in named.witnesses}
    assert "{7}" in {one.place for one in plain.witnesses}


# -- releases ----------------------------------------------------------------------------------------------------------

UNMISTAKABLE = "unmistakable-name"


def test_names_are_in_the_dossier_and_the_report_but_never_in_the_release_folder(tmp_path):
    method, seed = sv.Disassociation(k=2, m=1), 2**70
    for place, names in (("with", {"I10": UNMISTAKABLE, "unknown": "elsewhere"}), ("without", None)):
        sv.publish(BASKETS, method, out=tmp_path / place, seed=seed, names=names)
    released = [
        {path.name: path.read_bytes() for path in (tmp_path / place).iterdir()} for place in ("with", "without")
    ]
    assert released[0].keys() == released[1].keys()
    for name, content in released[0].items():
        assert UNMISTAKABLE.encode() not in content
        if name != "card.json":  # it has the time and random salts
            assert content == released[1][name]
    dossier = json.loads((tmp_path / "with.private" / "dossier.json").read_text())
    assert dossier["item_names"] == {"I10": UNMISTAKABLE}
    assert f"I10 ({UNMISTAKABLE})" in (tmp_path / "with.private" / "report.html").read_text()
    assert "(unmist" not in (tmp_path / "without.private" / "report.html").read_text()
    assert sv.check(tmp_path / "with", original=BASKETS)


def test_a_report_gets_names_later_and_keeps_them(tmp_path):
    out, report = tmp_path / "release", tmp_path / "release.private" / "report.html"
    sv.publish(BASKETS, sv.Disassociation(k=2, m=1), out=out)
    assert UNMISTAKABLE not in report.read_text()
    sv.write_report(out, names={"I10": UNMISTAKABLE})
    assert f"I10 ({UNMISTAKABLE})" in report.read_text()
    sv.attack(out, BASKETS, "find-record")
    sv.write_report(out)
    assert f"I10 ({UNMISTAKABLE})" in report.read_text()


def test_the_dossier_keeps_the_names_of_labels_that_only_sentences_mention():
    names = sv.ItemNames(NAMES)
    assert names.among(["{I10, x} → 7", "'E11.9' is in 7 records"]) == {
        name: NAMES[name] for name in ("I10", "7", "E11.9")
    }
    assert names.among(["in 7 records of I10"]) == {}


def test_words_of_the_program_stay_even_if_a_label_has_them():
    dossier = {"item_names": {"holds": "a word"}, "verdict": {"status": "holds", "witnesses": [{"items": ["holds"]}]}}
    assert with_item_names(dossier)["verdict"] == {"status": "holds", "witnesses": [{"items": ["holds (a word)"]}]}
    assert with_item_names({"verdict": {"status": "holds"}}) == {"verdict": {"status": "holds"}}


def test_the_command_line_shows_names(tmp_path, written):
    data, names = tmp_path / "data.dat", written("item,name\nI10,high blood pressure\n")
    sv.write(sv.from_lists(BASKETS), data)
    for command in (
        ("profile", data),
        ("mine", data, "--min-support", "2"),
        ("mine", data, "--min-support", "2", "--rules"),
        ("risk", data, "--sensitive", written("I10\n", "sensitive.txt")),
        ("check", data, "--guarantee", "km-anonymity", "--k", "5", "--m", "1", "--witnesses", "5"),
    ):
        done = call(*command, "--names", names)
        assert "I10 (high blood pressure)" in done.out.replace("'I10'", "I10"), command
        assert "high blood pressure" not in call(*command).out


def test_a_job_holds_the_names(tmp_path, monkeypatch, written):
    monkeypatch.chdir(tmp_path)
    sv.write(sv.from_lists(BASKETS), "data.dat")
    written("item,name\nI10,high blood pressure\n")
    for names in ("names.csv", NAMES, sv.ItemNames(NAMES)):
        release = sv.publish("data.dat", sv.Disassociation(k=2, m=1), names=names)
        assert release.job.to_dict()["names"] == names
        assert sv.run(release.job.to_dict()).item_names == release.item_names
