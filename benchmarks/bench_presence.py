"""The dummy user protocol as a whole: seconds, bytes and messages of the secure computation beside the same run in the clear.

All three parties run as threads of one process, with the same keys for each backend, so that all must make the same table; CPU seconds are
those of all parties together. Ratios are to the clear backend in the same run. Data are the built-in sample and, where its folder is at
hand (SETVEIL_DATA), Adult. With --growth each size runs in a process of its own, whose peak memory holds all parties and the population.
With --tls the programs of the command line run as three processes, with TLS between them over loopback.
Run: python benchmarks/bench_presence.py [--growth [--sizes N ...] [--chart FILE.png]] [--tls] [--mpyc] [--people N]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from setveil.errors import Missing
from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.attributes import NumericAttribute
from setveil.presence.tables.sample import sample
from setveil.presence.trial import policy_of, simulate

from measuring import folder_named, peak_mib

LIMITS = {"max_a": "0.9", "min_a": "0.1", "max_b": "0.9", "min_b": "0.1"}
KEYS = Keys(bytes(range(32)), bytes(range(32, 64)))
SIZES = (10_000, 30_000, 100_000, 300_000)
WARM_UP = 1_000
MEGABYTE = 1_000_000


def all_data(people):
    """Give the names and the tables of what is measured."""
    yield f"sample of {people:,}", sample(people).originals
    folder = folder_named()
    if (folder / "adult.csv.gz").is_file() or (folder / "adult.csv").is_file():
        from setveil.reproduce.adult import adult_originals  # noqa: PLC0415 - only where the data are

        yield "adult", adult_originals(folder)
    else:
        print("adult is not at hand: name its folder with SETVEIL_DATA")


def choices():
    for scope in ("qi+sa", "qi"):
        for score in ("both", "own"):
            yield {"scope": scope, "score": score}


def run(originals, backend, given):
    """Run a trial; return its figures and the table. What the policy promises must hold."""
    method = DummyUsers(**LIMITS, **given, backend=backend)
    policy = policy_of(method, originals)
    cpu, began = time.process_time(), time.perf_counter()
    trial = simulate(policy, originals, KEYS)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    outcome, line = trial.outcome, trial.a.costs.traffic["b"]
    for guarantee in method.guarantees:
        verdict = guarantee.check(outcome.table, original=originals, alignment=outcome.groups)
        if not verdict:
            sys.exit(f"{backend} did not keep the policy: {verdict}")
    figures = {
        "wall": wall,
        "cpu": cpu,
        "megabytes": (line["bytes_sent"] + line["bytes_received"]) / MEGABYTE,
        "messages": line["messages_sent"] + line["messages_received"],
        "checks": outcome.account["openings"]["pass"],
        "groups": outcome.account["groups"],
        "levels": outcome.account["levels"],
    }
    return figures, outcome.table


def warm_up(backends):
    originals = sample(WARM_UP).originals
    for backend in backends:
        run(originals, backend, {"scope": "qi", "score": "both"})


def usable(backends):
    """Return those backends whose libraries are there; say which are not."""
    found = []
    for backend in backends:
        try:
            warm_up([backend])
        except (ImportError, Missing) as error:
            print(f"{backend} is left out: {error}")
        else:
            found.append(backend)
    return found


def same_table(one, other):
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("lows", "highs", "counts"))


def heading(first):
    print(
        f"{first:<20}{'scope':<7}{'score':<7}{'backend':<11}{'wall s':>8}{'/ clear':>9}{'CPU s':>8}{'/ clear':>9}{'MB':>9}"
        f"{'messages':>10}{'checks':>8}{'groups':>8}{'levels':>8}"
    )


def line_of(name, given, backend, it, clear, more=""):
    print(
        f"{name:<20}{given['scope']:<7}{given['score']:<7}{backend:<11}{it['wall']:>8.2f}{it['wall'] / clear['wall']:>9.1f}"
        f"{it['cpu']:>8.2f}{it['cpu'] / clear['cpu']:>9.1f}{it['megabytes']:>9.1f}{it['messages']:>10,}{it['checks']:>8,}"
        f"{it['groups']:>8,}{it['levels']:>8,}{more}",
        flush=True,
    )


def beside_clear(people, backends):
    backends = usable(["clear", *backends])
    heading("data")
    for name, originals in all_data(people):
        for given in choices():
            clear, expected = run(originals, "clear", given)
            line_of(name, given, "clear", clear, clear)
            for backend in backends[1:]:
                found, table = run(originals, backend, given)
                if not same_table(table, expected):
                    sys.exit(f"{backend} made another table than clear")
                line_of(name, given, backend, found, clear)


def one_size(people, backend, given):
    """Run one size in this process, after a small one that compiles and loads; print its figures as JSON."""
    warm_up([backend])
    figures, _table = run(sample(people).originals, backend, given)
    print(json.dumps(figures | {"peak": peak_mib()}))


def in_its_own_process(people, backend, given):
    asked = json.dumps([people, backend, given])
    done = subprocess.run([sys.executable, __file__, "--one", asked], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def growth(sizes, backends, chart):
    heading("people, with peak")
    rows = []
    for people in sizes:
        for given in ({"scope": "qi+sa", "score": "both"}, {"scope": "qi+sa", "score": "own"}):
            found = {name: in_its_own_process(people, name, given) for name in ("clear", *backends)}
            for backend, it in found.items():
                line_of(f"{people:,}", given, backend, it, found["clear"], f"{it['peak']:>8,} MiB")
                rows.append({"people": people, "what": f"{backend}, score {given['score']}", **it})
    if chart:
        draw(rows, Path(chart))
        print(f"{chart} shows how it grows")


def draw(rows, path):
    """Draw seconds, megabytes, and memory over the number of people, as a picture."""
    import vl_convert  # noqa: PLC0415 - only for a picture

    from setveil.report.charts import LOOK, Axis, Series, curves, decades  # noqa: PLC0415 - the same

    series = Series("what", tuple(dict.fromkeys(row["what"] for row in rows)))
    sizes = tuple(sorted({row["people"] for row in rows}))
    across = Axis("people", "people in the population", scale="log", limits=(sizes[0], sizes[-1]), ticks=sizes)
    panels = []
    titles = {
        "wall": "seconds",
        "cpu": "CPU seconds of all parties",
        "megabytes": "megabytes between A and B",
        "peak": "peak memory, MiB",
    }
    for key, title in titles.items():
        # A logarithmic axis has no place for nothing.
        drawn = [{"people": row["people"], "what": row["what"], key: row[key]} for row in rows if row[key] > 0]
        up = Axis(key, title, ",.3~f", scale="log", ticks=decades(row[key] for row in drawn))
        spec = curves(drawn, across=across, up=up, series=series, widest=2.5)
        panels.append({**spec, "width": 620, "height": 220})
    whole = {"vconcat": panels, "config": {**LOOK, "background": "white"}}
    path.write_bytes(vl_convert.vegalite_to_png(json.dumps(whole), scale=2))


def texts(attribute, codes):
    """Return a text for each code that a table may hold: where its cell begins, or its category."""
    if isinstance(attribute, NumericAttribute):
        return [str(attribute.low + int(code) * attribute.step) for code in codes]
    return [attribute.values[code] for code in codes]


def write_tables(folder, originals):
    """Write what both providers hold, and the population."""
    schema = originals.schema
    with (folder / "population.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id"], *([one] for one in originals.population.ids.to_pylist())])
    for role in ("a", "b"):
        table = originals.table(role)
        named = [(one, table.codes[:, place]) for place, one in enumerate(schema.of(role))]
        if role == "b":
            named.append((schema.sensitive, table.sensitive))
        columns = [table.ids.to_pylist(), range(len(table)), *(texts(one, codes) for one, codes in named)]
        with (folder / f"{role}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "customer", *(one.name for one, _codes in named)])
            writer.writerows(zip(*columns, strict=True))


def program(*arguments):
    return [sys.executable, "-m", "setveil", "presence", *map(str, arguments), "--quiet", "--json"]


def homes(folder):
    """Make the homes of all three parties, each with the certificates of the others."""
    for role in ("a", "b", "c"):
        subprocess.run(program("init", folder / f"home-{role}", "--role", role), check=True, capture_output=True)
    for role in ("a", "b", "c"):
        others = [other for other in ("a", "b", "c") if other != role]
        pins = [part for one in others for part in (f"--pin-{one}", folder / f"home-{one}" / "certificate.pem")]
        subprocess.run(program("init", folder / f"home-{role}", *pins), check=True, capture_output=True)


def free_ports(count):
    """Return ports of loopback that nobody listens on just now."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def over_tls(folder, policy):
    """Run three programs; return what each of them says and the CPU seconds of each process."""
    (folder / "policy.toml").write_text(policy.to_toml(), encoding="utf-8")
    at_b, at_c = (f"127.0.0.1:{port}" for port in free_ports(2))
    common = ("--policy", folder / "policy.toml", "--force")
    own = {
        "c": ("collector", "--listen", at_c, "--out", folder / "joined"),
        "b": ("provider", "--role", "b", "--listen", at_b),
        "a": ("provider", "--role", "a", "--peer", at_b),
    }
    for role in ("a", "b"):
        tables = ("--data", folder / f"{role}.csv", "--person", "customer", "--population", folder / "population.csv")
        own[role] += (*tables, "--collector", at_c, "--private", folder / f"private-{role}", "--again")
    started, files = {}, {role: (folder / f"said-{role}", folder / f"told-{role}") for role in own}
    began, cpu = time.perf_counter(), {}
    try:
        for role, arguments in own.items():
            with files[role][0].open("w") as said, files[role][1].open("w") as told:
                command = program(*arguments, "--home", folder / f"home-{role}", *common)
                started[role] = subprocess.Popen(command, stdout=said, stderr=told)
        for role, process in started.items():
            _pid, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu[role] = used.ru_utime + used.ru_stime
    finally:
        for process in started.values():
            if process.returncode is None:
                process.kill()
    wall = time.perf_counter() - began
    for role, process in started.items():
        if process.returncode:
            sys.exit(f"{role} ended with {process.returncode}: {files[role][1].read_text()}")
    return {role: json.loads(said.read_text()) for role, (said, _told) in files.items()}, cpu, wall


def with_tls(people, backends):
    from setveil.presence.home import Home  # noqa: PLC0415 - the same
    from setveil.presence.tables.joined_files import read_joined  # noqa: PLC0415 - only here

    print("\nthree programs with TLS between them; the run is what A's program spends between first and last message")
    print(
        f"{'data':<20}{'scope':<7}{'score':<7}{'backend':<11}{'run s':>8}{'/ clear':>9}{'whole s':>9}{'CPU s A':>9}{'B':>7}{'C':>7}"
        f"{'MB':>9}{'messages':>10}{'checks':>8}"
    )
    for name, originals in all_data(people):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_tables(folder, originals)
            homes(folder)
            keys = Keys(*(Home.open(folder / f"home-{role}").dummy_key() for role in ("a", "b")))
            for given in choices():
                clear = DummyUsers(**LIMITS, **given, backend="clear")
                began = time.perf_counter()
                in_clear = simulate(policy_of(clear, originals), originals, keys)
                took = time.perf_counter() - began
                for backend in backends:
                    policy = policy_of(DummyUsers(**LIMITS, **given, backend=backend), originals)
                    said, cpu, wall = over_tls(folder, policy)
                    if not same_table(read_joined(folder / "joined", "data.csv"), in_clear.outcome.table):
                        sys.exit(f"three programs with {backend} made another table than clear")
                    costs, line = said["a"]["costs"], said["a"]["costs"]["traffic"]["b"]
                    moved = (line["bytes_sent"] + line["bytes_received"]) / MEGABYTE
                    messages = line["messages_sent"] + line["messages_received"]
                    print(
                        f"{name:<20}{given['scope']:<7}{given['score']:<7}{backend:<11}{costs['seconds']:>8.2f}"
                        f"{costs['seconds'] / took:>9.1f}{wall:>9.2f}{cpu['a']:>9.2f}{cpu['b']:>7.2f}{cpu['c']:>7.2f}{moved:>9.1f}"
                        f"{messages:>10,}{said['a']['openings']['pass']:>8,}",
                        flush=True,
                    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=20_000, help="how many the sample has")
    parser.add_argument("--growth", action="store_true", help="over the number of people, and not beside clear")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="the numbers of people for --growth")
    parser.add_argument("--chart", help="draw the growth into this PNG file")
    parser.add_argument("--tls", action="store_true", help="three programs over loopback, and not threads")
    parser.add_argument("--mpyc", action="store_true", help="measure mpyc too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    backends = ["two-party", *(["mpyc"] if given.mpyc else [])]
    if given.one:
        one_size(*json.loads(given.one))
    elif given.growth:
        growth(given.sizes, usable(backends), given.chart)
    elif given.tls:
        with_tls(given.people, usable(backends))
    else:
        beside_clear(given.people, backends)


if __name__ == "__main__":
    main()
