"""docs/studio.md: its requests work as printed, and its tables name what there is."""

import json
import re
import shutil
import subprocess

import pytest

from setveil.studio.api import described
from setveil.studio.app import make_app
from setveil.studio.users import users_in

from support.pages import DOCS, blocks_of
from support.studios import OWNER, TOKENS, finished, opened

PAGE = "studio.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_requests_work_as_printed(served, tmp_path):
    (block,) = (one.text for one in blocks_of(PAGE) if one.text.startswith("STUDIO="))
    address, function, *requests = [line for line in block.splitlines() if line]
    assert address == "STUDIO=http://127.0.0.1:8321/api/v1"
    begin = f"{address.replace('http://127.0.0.1:8321', served.url)}\nTOKEN={TOKENS['owner']}\n{function}\n"
    (tmp_path / "baskets.csv").write_text("id,item\na,bread\n", encoding="utf-8")
    known = {"ID": "", "JOB": ""}
    said = []
    for line in requests:
        asked = re.sub(r"\b(ID|JOB)\b", lambda found: known[found[0]], line)
        ended = subprocess.run(["bash", "-c", begin + asked], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert '"error"' not in ended.stdout, ended.stdout
        said.append(ended.stdout)
        if "/data " in line:
            known["ID"] = json.loads(ended.stdout)["id"]
        elif "/publish " in line:
            known["JOB"] = json.loads(ended.stdout)["id"]
        elif "/events" in line:
            assert ended.stdout.rstrip().endswith('data: {"state": "done", "exit_code": 0}')
            assert finished(served.studio, served.studio.job(OWNER, known["JOB"])).state == "done"
    assert len(said) == 6
    assert (tmp_path / "release.zip").read_bytes().startswith(b"PK")


def test_the_users_on_the_page_are_users(tmp_path):
    (block,) = (one for one in blocks_of(PAGE) if one.file == "users.toml")
    (tmp_path / "users.toml").write_text(block.text, encoding="utf-8")
    assert {name: user.role for name, user in users_in(tmp_path / "users.toml").by_name.items()} == {
        "anna": "owner",
        "ben": "reviewer",
    }


def test_the_page_names_every_address(tmp_path):
    with opened(tmp_path / "studio") as studio:
        paths = described(make_app(studio))["paths"]
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    words = {path.removeprefix("/api/v1/").split("/")[0] for path in paths} - {"me"}
    assert {word for word in words if word not in page} == set()
    last = {path.rpartition("/")[2] for path in paths if path.count("/") == 5}
    assert {word for word in last if word not in page} == set()
