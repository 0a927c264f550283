"""Wrong uses of `setveil presence`: what is given, the exit code, and a part of the sentence; and the folder they are given in."""

import shutil

from support.presence_programs import made_homes
from support.program import call

POPULATION = ("--population", "trial/population.csv")
POLICY = ("--policy", "trial/policy.toml")
TABLES = ("trial/a.csv", "trial/b.csv", *POPULATION)
OUT = ("--out", "new", "--backend", "clear")
SIDE_A = ("--a", "trial/a.csv", "--private-a", "joined.private/a")
SIDE_B = ("--b", "trial/b.csv", "--private-b", "joined.private/b")
DRAFT = ("--a", "trial/a.csv", "--b", "trial/b.csv", "--person", "customer", "--sensitive", "genre", *POPULATION)
NOBODY = "127.0.0.1:9"
"""Where nobody listens."""


def simulate(
    *more, a="trial/a.csv", b="trial/b.csv", population="trial/population.csv", policy="trial/policy.toml", out="new"
):
    """Return how to run a trial."""
    where = ("--population", population, "--policy", policy, "--out", out, "--backend", "clear")
    return ["presence", "simulate", a, b, *where, *more]


def draft(*more, left_out=(), out="new.toml"):
    """Return the command that drafts a policy, without some options."""
    pairs = zip(DRAFT[::2], DRAFT[1::2], strict=True)
    kept = [part for pair in pairs if pair[0] not in left_out for part in pair]
    return ["presence", "policy", *kept, *(("--out", out) if out else ()), *more]


def provider(
    *more,
    role="a",
    home="a",
    met=("--peer", NOBODY),
    data="trial/a.csv",
    person="customer",
    policy="trial/policy.toml",
    private="run",
):
    """Return the command that runs a provider, to which no party connects."""
    files = ("--data", data, "--person", person, *POPULATION, "--policy", policy, "--private", private)
    return ["presence", "provider", "--role", role, "--home", home, *files, *met, "--collector", NOBODY, *more]


def collector(*more, home="c", listen=NOBODY, out="new", policy="trial/policy.toml"):
    """Return the command that runs a collector, to which no party connects."""
    return ["presence", "collector", "--home", home, "--listen", listen, "--out", out, "--policy", policy, *more]


def check(*more, release="joined"):
    """Return how to check a joined table."""
    return ["presence", "check", release, *more]


def measure(*more, release="joined"):
    """Return how to measure a joined table."""
    return ["presence", "measure", release, *TABLES, *more]


def attack(*more, policy="trial/policy.toml"):
    """Return how to try attacks."""
    return ["presence", "attack", *TABLES, "--policy", policy, *more]


PINNED = "is not pinned; get its certificate.pem and pin it before the run, with Home.pin or setveil presence init"

WRONG = [
    # the group
    (["presence", "frobnicate"], 2, 'Unknown command "frobnicate"'),
    (["presence", ""], 2, "See: setveil presence --help"),
    (["presence", "--json"], 2, "See: setveil presence --help"),
    # sample
    (["presence", "sample"], 2, "needs --out: "),
    (["presence", "sample", "--out", "new", "--people", "3"], 2, "the number of people is 3; allowed is 200 to 10,000,000"),
    (["presence", "sample", "--out", "new", "--people", "many"], 2, "many"),
    (["presence", "sample", "--out", "new", "--seed", "-1"], 2, "the seed is -1; allowed is a whole number of at least 0"),
    (["presence", "sample", "--out", "trial"], 2, "trial exists; choose another path, or replace it with --force"),
    (["presence", "sample", "--out", "a", "--force"], 2, "a was not written by setveil (it has no about.txt) and is not replaced"),
    (["presence", "sample", "--out", "own", "--force"], 2, "own was not written by setveil (it has no about.txt) and is not replaced"),
    (["presence", "sample", "--out", "work", "--force"], 2, "work contains 'bank', which setveil did not write, and is not replaced"),
    (["presence", "sample", "--out", "missing/new"], 2, "missing is not a folder; create it"),
    (["presence", "sample", "--out", "."], 2, "'.' is not a valid name for a new folder"),
    (["presence", "sample", "--out", "a\0b"], 2, "'a\\x00b' is not a valid name for a new folder"),
    # policy
    (["presence", "policy"], 2, "--out is missing"),
    (["presence", "policy", "--out", "new.toml"], 2, "--a and --b are missing"),
    (["presence", "policy", "--show", "missing.toml"], 2, "missing.toml: does not exist; expected a policy file"),
    (["presence", "policy", "--show", "trial"], 2, "trial: is a folder; expected a policy file"),
    (draft("--sensitive", "genre", left_out=("--b", "--sensitive")), 2, "--sensitive requires --b: it names a column of provider B"),
    (draft(left_out=("--sensitive",)), 2, "--sensitive is missing"),
    (draft(left_out=("--population",)), 2, "--population is missing"),
    (draft("--sensitive", "id", left_out=("--sensitive",)), 2, "--sensitive is 'id', the column of ids, which must not be in a policy"),
    (draft("--sensitive", "film", left_out=("--sensitive",)), 2, "trial/b.csv: has no column 'film'; the columns are: id, customer, hour"),
    (draft("--id", "person"), 2, "trial/a.csv: has no column 'person'"),
    (draft(left_out=("--person",)), 2, "'customer' has 148 different texts in 148 rows, too many for categories"),
    (draft(left_out=("--person", "--b", "--sensitive")), 2, "If it holds your own customer keys, name it with --person customer"),
    (draft("--person", "number", left_out=("--person",)), 2, "trial/a.csv: has no column 'number'; the columns are: id, customer, "),
    (draft("--person", "genre", left_out=("--person",)), 2, "--sensitive and --person are both 'genre'; the sensitive column is published"),
    (draft("--max-a", "1.5"), 2, "max_a: the share '1.5' is more than 100%"),
    (draft("--max-b", "0.05"), 2, "min_b is 0.1 and max_b is 0.05; expected min_b at most max_b"),
    (draft("--k", "0"), 2, "k is '0'; allowed is a whole number"),
    (draft("--margin", "0.5"), 2, "the margin 0.5 leaves no allowed share between"),
    (draft("--query-a", "SELECT 1"), 2, "--query-a requires a database (postgresql://, sqlite:///, duckdb:///); trial/a.csv is not one"),
    (draft("--query-a", "SELECT 1", left_out=("--a",)), 2, "--a is missing: name the database that --query-a reads"),
    (draft(out="trial/policy.toml"), 2, "trial/policy.toml exists"),
    (draft("--force", out="trial"), 2, "trial is not a regular file and is not replaced"),
    (draft(out="missing/new.toml"), 2, "missing is not a folder"),
    # simulate: more files in test_presence_input
    (["presence", "simulate"], 2, "needs A: "),
    (simulate("--frobnicate"), 2, "--frobnicate"),
    (simulate(policy="missing.toml"), 2, "missing.toml: does not exist"),
    (simulate(a="missing.csv"), 2, "missing.csv: there is no such file"),
    (simulate(a="trial/b.csv"), 2, "trial/b.csv, line 1: has no column 'age'"),
    (simulate(population="other/population.csv"), 2, "both providers must have the same ids in the same order"),
    (simulate(population="sqlite:///trial.db"), 2, "--query-population is missing: sqlite:///trial.db is a database"),
    (simulate("--id", "age"), 2, "has no column 'age'"),
    (simulate("--separator", ";;"), 2, "the separator is ';;'"),
    (simulate("--home-a", "b"), 2, "b is the home of provider B; --home-a requires the home of provider A"),
    (simulate("--home-b", "missing"), 2, "missing is not a party's home"),
    (simulate(out="joined"), 2, "joined exists"),
    (simulate("--force", out="trial"), 2, "trial is not a folder of a release (it has no card.json) and is not replaced"),
    (simulate("--private", "new/inside"), 2, "neither may be inside the other"),
    (simulate(out="missing/new"), 2, "missing is not a folder"),
    (simulate(policy="strict.toml"), 3, "the population as a whole does not satisfy the policy, so there is nothing to publish"),
    # init
    (["presence", "init"], 2, "needs HOME: "),
    (["presence", "init", "new"], 2, "new does not exist; to create a home there, give --role a, b or c"),
    (["presence", "init", "new", "--role", "d"], 2, 'Choose from: "a", "b", "c"'),
    (["presence", "init", "a", "--role", "b"], 2, "a is the home of provider A, not of provider B"),
    (["presence", "init", "trial", "--role", "a"], 2, "trial exists and is not a party's home; name another folder"),
    (["presence", "init", "trial"], 2, "trial is not a complete home: key.pem is missing"),
    (["presence", "init", "a", "--name", "Bank"], 2, "a is already a home, and the name in its certificate cannot change"),
    (["presence", "init", "new", "--role", "a", "--name", "x" * 65], 2, "1 to 64 bytes of UTF-8; 65 were given"),
    (["presence", "init", "new", "--role", "a", "--name", "ä" * 33], 2, "1 to 64 bytes of UTF-8; 66 were given"),
    (["presence", "init", "new", "--role", "a", "--pin-b", "missing.pem"], 2, "missing.pem: the certificate cannot be read"),
    (["presence", "init", "new", "--role", "a", "--pin-a", "a/certificate.pem"], 2, "pin the certificates of the other parties"),
    (["presence", "init", "a", "--pin-b", "c/certificate.pem"], 2, "is the certificate of the collector, not of provider B"),
    (["presence", "init", "a", "--pin-b", "trial/policy.toml"], 2, "trial/policy.toml: is not a certificate"),
    (["presence", "init", "a", "--pin-b", "second-b/certificate.pem"], 2, "another certificate of provider B is pinned"),
    (["presence", "init", "missing/new", "--role", "a"], 2, "missing is not a folder"),
    (["presence", "init", "open"], 2, "open/key.pem: can be read by others (mode 0644); set its mode to 0600"),
    # provider
    (["presence", "provider"], 2, "needs --role: "),
    (provider(role="c"), 2, 'Choose from: "a", "b"'),
    (provider(home="b"), 2, "b is the home of provider B, not of provider A"),
    (provider(home="trial"), 2, "trial is not a complete home"),
    (provider(home="alone"), 2, f"the certificate of provider B {PINNED}"),
    (provider(met=()), 2, "--peer is missing: the address that provider B listens on, as HOST:PORT"),
    (provider(met=("--listen", NOBODY)), 2, "--listen is for provider B only: provider A connects with --peer, provider B listens with"),
    *((provider(met=("--peer", place)), 2, f"peer is {place!r}; expected HOST:PORT, such as 10.0.0.2:7001")
        for place in ("127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", ":7001", "host:port", "127.0.0.1:-1", "host:" + "1" * 5000)),
    (provider("--timeout", "0"), 2, "timeout is 0; allowed is a number of seconds above 0"),
    (provider("--wait", "nan"), 2, "wait is nan; allowed is a number of seconds above 0"),
    (provider(private="joined.private/a"), 2, "joined.private/a exists"),
    (provider("--force", private="trial"), 2, "trial was not written by setveil (it has no run.json) and is not replaced"),
    (provider("--force", private="noted"), 2, "noted contains 'notes.txt', which setveil did not write, and is not replaced"),
    (provider(policy="clear.toml"), 2, "the policy names the backend clear, which hides nothing and is allowed in trials only"),
    (provider(policy="other/policy.toml"), 2, "both providers must have the same ids in the same order"),
    (provider(data="trial/b.csv"), 2, "trial/b.csv, line 1: has no column 'age'"),
    (provider(person="account"), 2, "trial/a.csv, line 1: has no column 'account'"),
    (provider(person="age"), 2, "the column 'age' is an attribute of the policy, so it is used in the run"),
    (provider(person="town"), 2, "name the column of your own customer keys with --person COLUMN"),
    # ledger
    (["presence", "ledger"], 2, "HOME"),
    (["presence", "ledger", "trial"], 2, "trial is not a complete home"),
    (["presence", "ledger", "nowhere"], 2, "nowhere is not a party's home"),
    # collector
    (["presence", "collector"], 2, "needs --home: "),
    (collector(home="a"), 2, "a is the home of provider A, not of the collector"),
    (collector(home="unpinned-c"), 2, f"the certificate of provider A {PINNED}"),
    (collector(listen="7002"), 2, "listen is '7002'; expected HOST:PORT"),
    (collector(out="joined"), 2, "joined exists"),
    (collector("--force", out="trial"), 2, "trial is not a folder of a release"),
    (collector(policy="clear.toml"), 2, "the policy names the backend clear"),
    (collector("--wait", "0.2", listen="127.0.0.1:0"), 2, "listen is '127.0.0.1:0'; expected HOST:PORT"),
    # check
    (["presence", "check"], 2, "needs RELEASE: "),
    (check(release="missing"), 2, "missing: there is no such folder"),
    (check(release="trial"), 2, "trial: is not a release folder: it has no card.json"),
    (check(release="plain"), 2, "plain/card.json: is the card of a release that is not a joined table; use setveil check"),
    (check("--witnesses", "-1"), 2, "witnesses is -1; allowed is a whole number of at least 0"),
    (check(*SIDE_A), 2, "--population is missing"),
    (check(*SIDE_A[:2], *POPULATION), 2, "--private-a is missing: a provider's table and its private folder must be given together"),
    (check(*SIDE_B[2:], *POPULATION), 2, "--b is missing: a provider's table and its private folder must be given together"),
    (check(*POPULATION), 2, "--population requires the table and the private folder of a provider"),
    (check(*SIDE_A, *POPULATION, "--query-b", "SELECT 1"), 2, "--query-b requires --b and --private-b"),
    (check(*SIDE_A[:3], "joined.private/b", *POPULATION), 2, "is the private folder of provider B; expected that of provider A"),
    (check(*SIDE_A[:3], "second.private/a", *POPULATION), 2, "second.private/a: belongs to a run that published another table"),
    (check(*SIDE_A[:3], "trial", *POPULATION), 2, "trial: is not the private folder of a provider after a run (run.json: No such file"),
    (check(*SIDE_A, "--population", "other/population.csv"), 2, "is not in the population"),
    (check("--a", "fewer.csv", *SIDE_A[2:], *POPULATION), 2, "fewer.csv: is not the table of the run"),
    # compare
    (["presence", "compare"], 2, "needs A: "),
    (["presence", "compare", *TABLES, *POLICY, "--methods", ","], 2, "--methods is empty; expected at least one value"),
    (["presence", "compare", *TABLES, *POLICY, "--selectivity", ""], 2, "--selectivity is empty; expected at least one value"),
    (["presence", "compare", *TABLES, *POLICY, "--methods", "mondrain"], 2, "Did you mean 'mondrian'?"),
    (["presence", "compare", *TABLES, *POLICY, "--selectivity", "10%,0"], 2, "allowed is a share above 0"),
    (["presence", "compare", *TABLES, "--policy", "missing.toml"], 2, "missing.toml: does not exist; expected a policy file"),
    (["presence", "compare", *TABLES, *POLICY, "--home-a", "b"], 2, "b is the home of provider B"),
    # measure
    (["presence", "measure"], 2, "needs RELEASE: "),
    (measure(release="trial"), 2, "trial: is not a release folder"),
    (measure("--queries", "0"), 2, "queries is '0'; allowed is"),
    (measure("--selectivity", "0"), 2, "allowed is a share above 0"),
    (measure("--predicates", "missing.jsonl"), 2, "missing.jsonl: there is no such file"),
    # attack
    (["presence", "attack"], 2, "needs A: "),
    (attack("--kind", "guess"), 2, 'Choose from: "dummies"'),
    (attack("--home-b", "a"), 2, "a is the home of provider A; --home-b requires the home of provider B"),
    (attack(policy="other/policy.toml"), 2, "both providers must have the same ids in the same order"),
    (attack(policy="strict.toml"), 3, "the population as a whole does not satisfy the policy"),
    # the other commands, on a joined table
    (["check", "joined"], 2, "joined/card.json: is the card of a joined table; use setveil presence check or setveil presence measure"),
    (["measure", "sample:supermarket?records=60", "joined"], 2, "is the card of a joined table"),
    (["mine", "joined", "--min-support", "2"], 2, "is the card of a joined table"),
]  # fmt: skip


def fill(folder):
    """Make what the wrong uses speak of: two samples, homes, a joined release, and another release."""
    made = [
        ("presence", "sample", "--out", "trial", "--people", 400),
        ("presence", "sample", "--out", "other", "--people", 300, "--seed", 2),
        simulate(out="joined"),
        ("presence", "init", "alone", "--role", "a"),
        ("presence", "init", "second-b", "--role", "b"),
        ("presence", "init", "unpinned-c", "--role", "c"),
        (
            "publish",
            "sample:supermarket?records=60",
            "--method",
            "part-swap",
            "--categories",
            "sample:supermarket",
            "--out",
            "plain",
        ),
    ]
    for arguments in made:
        ended = call(*arguments, cwd=folder)
        assert ended.code == 0, ended.err
    made_homes(folder)
    shutil.copytree(folder / "a", folder / "open")
    (folder / "open/key.pem").chmod(0o644)
    policy = (folder / "trial/policy.toml").read_text()
    # Without limits there are many groups: another table for certain, which other keys alone do not give in so small a sample.
    loose = policy.replace('"0.9"', '"1"').replace('"0.1"', '"0"').replace("k = 2", "k = 1").replace('"qi+sa"', '"qi"')
    (folder / "loose.toml").write_text(loose)
    assert call(*simulate(out="second", policy="loose.toml"), cwd=folder).code == 0
    (folder / "strict.toml").write_text(policy.replace('min_a = "0.1"', 'min_a = "0.8"'))
    (folder / "clear.toml").write_text(policy.replace('backend = "two-party"', 'backend = "clear"'))
    lines = (folder / "trial/a.csv").read_text().splitlines(keepends=True)
    (folder / "fewer.csv").write_text("".join(lines[:-1]))
    shutil.copytree(folder / "trial", folder / "own")
    (folder / "own/about.txt").unlink()
    shutil.copytree(folder / "trial", folder / "work")
    shutil.copytree(folder / "a", folder / "work/bank")
    shutil.copytree(folder / "joined.private/a", folder / "noted")
    (folder / "noted/notes.txt").write_text("mine")
    return folder
