"""What tests of the register share: small releases, the content of a register, and a joint check with a chosen result."""

from __future__ import annotations

import sqlite3
import sys
from types import SimpleNamespace

import setveil as sv

BASKETS = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
ANNA, BERT = ["anna", "ben", "carl", "dora"], ["bert", "cora", "dirk", "emma"]
FIRST, OTHER = sv.Disassociation(k=2, m=1), sv.Disassociation(k=2, m=2)


def people(*ids, unit="person"):
    """Return four baskets of people with these ids, or without ids."""
    return sv.from_lists(BASKETS, ids=list(ids) or None, unit=unit)


def publish(data, method=FIRST, **options):
    """Publish without measuring."""
    return sv.publish(data, method, metrics="none", **options)


def files_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def content(register):
    """Return the key of a register and the rows of its tables, read without setveil."""
    connection = sqlite3.connect(register)
    connection.row_factory = sqlite3.Row
    found = {
        name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]  # noqa: S608 - our own names
        for name in ("secret", "data", "releases")
    }
    connection.close()
    return SimpleNamespace(key=found["secret"][0]["key"], data=found["data"], releases=found["releases"])


def execute(register, statement):
    """Change a register without setveil."""
    connection = sqlite3.connect(register)
    connection.execute(statement)
    connection.commit()
    connection.close()


class JointCheck:
    """Takes the place of `check_together`: notes the releases that it is given, and returns the chosen status."""

    def __init__(self, monkeypatch):
        self.status = "violated"
        self.error = None
        self.asked = []
        module = SimpleNamespace(check_together=self)
        monkeypatch.setitem(sys.modules, "setveil.release.together", module)

    def __call__(self, releases, *, original=None, reading=None):
        assert reading is None
        self.asked.append((list(releases), original))
        if self.error is not None:
            raise self.error
        violations = {"shown-together": 3} if self.status == "violated" else {}
        return sv.Verdict(self.status, "joint guarantee", {}, violations)

    def folders(self):
        """Return the names of the folders of the last check; the last release is not saved yet."""
        releases, _original = self.asked[-1]
        assert isinstance(releases[-1], sv.Release)
        return [one.opened.folder.name for one in releases[:-1]]
