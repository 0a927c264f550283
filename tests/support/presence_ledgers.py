"""Runs and people for tests of the ledger of runs."""

import json
from dataclasses import replace

import pyarrow as pa

from setveil.presence.marks import Marks, of_customers, of_ids
from setveil.presence.run_ledger import PlannedRun, RunLedger
from setveil.presence.tables.population import Population

from support.parties import HASHES

PEER, POLICY, DATA, THEIRS, OTHER, MORE = HASHES[:6]
HOME = HASHES[6]
KEY = b"a secret of the home" * 2
NAMES = [f"person {number}" for number in range(50)]
STRANGE_NAMES = [f"stranger {number}" for number in range(70)]
RUN_IDS = (f"{number:032x}" for number in range(1_000_000))
IN_A_PROCESS = (
    "import json, secrets, sys; from pathlib import Path\n"
    "from setveil.presence.marks import Marks\n"
    "from setveil.presence.run_ledger import PlannedRun, RunLedger\n"
    f"ledger, run = RunLedger(Path(sys.argv[1]), {HOME!r}), json.loads(sys.argv[2])\n"
    "marks = {name: Marks(bytes.fromhex(run[name])) for name in ('ids', 'customers')}\n"
    "run = PlannedRun(**run | marks)\n"
    "begin = lambda: ledger.begin(run, run=secrets.token_hex(16))\n"
)


def ids(names):
    return of_ids(Population.of(names))


def customers(names):
    return of_customers(pa.array([f"C-{name}" for name in names], pa.large_string()), KEY)


RUN = PlannedRun(
    peer=PEER,
    party="provider A",
    peer_party="provider B",
    population=HASHES[7],
    policy=POLICY,
    data=DATA,
    key="1" * 64,
    draws=1,
    peer_data=THEIRS,
    peer_run=None,
    ids=ids(NAMES),
    customers=customers(NAMES[:20]),
    person="customer",
)
STRANGERS = replace(
    RUN, population=HASHES[8], policy=MORE, ids=ids(STRANGE_NAMES), customers=customers(STRANGE_NAMES[:30])
)


def as_json(run):
    plain = {name: value for name, value in vars(run).items() if not isinstance(value, Marks)}
    return json.dumps(plain | {name: getattr(run, name).content.hex() for name in ("ids", "customers")})


def begin(ledger, run=RUN, **more):
    return ledger.begin(run, run=next(RUN_IDS), **more)


def new_ledger(folder):
    """Return a new ledger in a folder."""
    made = RunLedger(folder / "ledger.sqlite", HOME)
    made.create()
    return made
