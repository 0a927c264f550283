"""A file that appears whole or not at all."""

import contextlib
import errno
import os

from setveil.data.databases import new_file
from setveil.errors import OutputRefused


def test_a_file_gets_its_name_where_there_are_no_links(tmp_path, monkeypatch):
    def refuse(*_paths):
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    for _ in range(2):
        with contextlib.suppress(OutputRefused), new_file.new_file(tmp_path / "new.db") as hidden:
            hidden.write_bytes(b"second" if (tmp_path / "new.db").exists() else b"first")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"first"]
