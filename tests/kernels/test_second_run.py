"""No compile on the second run of anything: the job that uses every kernel, in two processes.

They share the cache of the other tests, which need the same kernels; that a new cache is filled is shown by `test_jit`.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

JOB = Path(__file__).parents[2] / "kernels-wheel" / "job.py"


def run_job():
    ended = subprocess.run([sys.executable, JOB], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


@pytest.mark.exhaustive
def test_a_second_run_compiles_nothing():
    first, second = run_job(), run_job()
    assert first["unused"] == []
    assert second["told"] == []
