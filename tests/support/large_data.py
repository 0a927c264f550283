"""Limits so low that small data are handled as large ones are: in small batches and blocks, and on disk."""

import mmap
import os
import subprocess
from contextlib import contextmanager

import numpy as np
import pytest

from setveil.data.files import column_files, csv_tables, id_encoding, json_lines, packing, regrouping
from setveil.data.records import equal_texts, ragged, tidying, transactions
from setveil.engines import growing


@contextmanager
def small_batches():
    """Let readers take a few rows at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_tables, "BLOCK", 128)
        patch.setattr(packing, "READ_BLOCK", 64)
        patch.setattr(json_lines, "_BATCH_LINES", 3)
        patch.setattr(column_files, "_BATCH_ROWS", 3)
        yield


@contextmanager
def low_limits(limit=20):
    """Let data of more than `limit` bytes be large, and work on few of them at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "LARGE", limit)
        patch.setattr(regrouping, "FEW", 0)
        for module in (ragged, tidying, regrouping, transactions):
            patch.setattr(module, "BLOCK", 5)
        for module in (equal_texts, id_encoding, transactions):
            patch.setattr(module, "TEXTS_AT_ONCE", 3)
        yield


def is_mapped(array):
    """Return whether an array is in a file."""
    while isinstance(array, np.ndarray | memoryview):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return isinstance(array, mmap.mmap)


@contextmanager
def disk_of(kilobytes, folder):
    """Mount a disk of this size on a new folder, which is given; only root can do so."""
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        if os.environ.get("SETVEIL_REQUIRE_SERVERS") == "1":
            pytest.fail("SETVEIL_REQUIRE_SERVERS=1, and no disk can be mounted here: run the tests as root")
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def small_disk(tmp_path):
    """Give a folder on a disk of one megabyte."""
    with disk_of(1024, tmp_path / "disk") as folder:
        yield folder
