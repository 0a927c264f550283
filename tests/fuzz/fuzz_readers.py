"""Fuzz readers, guided by coverage: `python tests/fuzz/fuzz_readers.py --seconds 60 --reader text`.

A reader is one of `fuzz.readers`, or a group of them. Each input that broke a promise is kept in the folder `--findings`, once a kind, and
the run goes on; it ends with 1 if there was one. What ends the process itself (a fault in a library, a call that hangs) is kept there by
libFuzzer. Figures come as one line of JSON on standard output. Needs atheris.
"""

import argparse
import gzip
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))
with atheris.instrument_imports(include=["setveil.data", "setveil.parameters"]):
    from fuzz import readers as under_test

import pyarrow as pa

from fuzz.seeds import TOKENS

HUNG_SECONDS = 60
LONGEST_INPUT = 8192


class Run:
    """A run of the fuzzer over some readers, and what it found."""

    def __init__(self, readers, findings, seconds, folder):
        self._readers = readers
        self._findings = findings
        self._folder = folder
        self._until = time.monotonic() + seconds
        self._executions = Counter()
        self._with_data = Counter()
        self._kinds = Counter()
        self._ignored = []
        # What Python cannot raise it prints, with a traceback, and goes on.
        sys.unraisablehook = lambda failure: self._ignored.append(repr(failure.exc_value))

    def one(self, content):
        """Give one input to its reader; note what is wrong, and end the process when the time is over and all had a turn."""
        since = time.monotonic()
        if content:
            name = self._readers[content[0] % len(self._readers)].name
            self._executions[name] += 1
            try:
                self._with_data[name] += under_test.check(self._readers, content, self._folder)[1]
                assert not self._ignored, self._ignored
            except Exception as error:  # noqa: BLE001 - every kind is a finding
                self._note(name, content, error)
                self._ignored.clear()
        # Each has seeds in the corpus, which come first; on a busy machine they can take longer than the run should.
        if since > self._until and self._executions.keys() == {reader.name for reader in self._readers}:
            self._end()

    def _note(self, name, content, error):
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]
        kind = f"{name}: {type(error).__name__} at {places[-1]}, from {places[min(3, len(places) - 1)]}"
        self._kinds[kind] += 1
        if self._kinds[kind] == 1:
            kept = self._findings / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}".replace(" ", "-")
            kept.write_bytes(content)
            kept.with_suffix(".txt").write_text("".join(traceback.format_exception(error)), encoding="utf-8")

    def _end(self):
        figures = {"executions": self._executions, "with data": self._with_data, "findings": self._kinds}
        sys.stdout.write(json.dumps(figures) + "\n")
        sys.stdout.flush()
        shutil.rmtree(self._folder)
        os._exit(1 if self._kinds else 0)  # libFuzzer would go on

    def mutated(self, content, longest, seed):
        """Return a changed input: of a packed file, mostly what is in it, since a change of its bytes alone ends at its checksum."""
        if len(content) < 2 or seed % 4 == 0:
            return atheris.Mutate(content, longest)
        ending = getattr(self._readers[content[0] % len(self._readers)], "ending", "")
        try:
            if ending.endswith(".gz"):
                inside = atheris.Mutate(gzip.decompress(content[1:]), longest // 2)
                return (content[:1] + gzip.compress(inside, mtime=0))[:longest]
            if ending.endswith(".zst"):
                with pa.CompressedInputStream(pa.BufferReader(content[1:]), "zstd") as stream:
                    inside = atheris.Mutate(stream.read(), longest // 2)
                return (content[:1] + pa.compress(inside, "zstd", asbytes=True))[:longest]
        except (OSError, EOFError, ValueError, gzip.zlib.error):
            pass
        return content[:1] + atheris.Mutate(content[1:], longest - 1)


def main():
    """Fuzz for a while."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--reader", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--findings", type=Path, required=True)
    given = parser.parse_args()
    readers = under_test.readers_named(given.reader)
    given.findings.mkdir(parents=True, exist_ok=True)
    in_memory = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
    with tempfile.TemporaryDirectory(dir=in_memory if in_memory.is_dir() else None) as folder:
        corpus, words = Path(folder, "corpus"), Path(folder, "words")
        corpus.mkdir()
        for number, reader in enumerate(readers):
            for place, seed in enumerate(reader.seeds):
                (corpus / f"{number}-{place}").write_bytes(bytes([number]) + seed)
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in TOKENS), encoding="ascii")
        run = Run(readers, given.findings, given.seconds, Path(folder))
        options = [
            f"-seed={given.seed}",
            f"-timeout={HUNG_SECONDS}",
            f"-max_len={LONGEST_INPUT}",
            f"-dict={words}",
            f"-artifact_prefix={given.findings}/",
            "-rss_limit_mb=4096",
            "-verbosity=0",
        ]
        atheris.Setup([sys.argv[0], *options, str(corpus)], run.one, custom_mutator=run.mutated)
        atheris.Fuzz()


def _escaped(word):
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


if __name__ == "__main__":
    main()
