"""Wrong uses of every command end with their exit code and one sentence, and write nothing."""

import errno
import shutil

import pytest

from setveil.cli.main import COMMANDS, GROUPS

from cli.presence import wrong_uses as presence_wrong_uses
from support.forked import run as run_forked
from support.program import call, names_in, run, with_json

SAMPLE = "sample:supermarket?records=60"
SWAP = ("--method", "part-swap", "--categories", "sample:supermarket")
OUT = ("--out", "new")
PUBLISH = ("publish", SAMPLE, *SWAP, *OUT)
ANSWERS = (
    *("--record", "person", "--recipients", "inside", "--known", "1", "--rows", "true", "--work", "counts"),
    *("--earlier", "no"),
)
CHECK = ("check", "release", "--private", "release.private", "--original", SAMPLE)


def by(categories, *more, method="part-swap", data="good.dat"):
    """Return how to publish with these categories."""
    return ["publish", data, "--method", method, "--categories", categories, *OUT, *more]


def hidden(itemsets, least, *more, data="good.dat"):
    """Return how to check that itemsets are hidden in a bare file."""
    return ["check", data, "--guarantee", "hidden-itemsets", "--itemsets", itemsets, "--min-support", least, *more]


FILES = {
    "empty.dat": b"",
    "empty.csv": b"",
    "header.csv": b"id,item\n",
    "no-columns.csv": b"person,thing\np1,a\n",
    "ragged.csv": b"id,item\np1,a\np2\n",
    "control.dat": b"a b\na \x00 b\n",
    "latin.dat": b"caf\xe9 tea\n",
    "cut.dat.gz": b"\x1f\x8b\x08\x00\x00\x00",
    "plain.dat.gz": b"a b c\n",
    "good.dat": b"a b\nc d\na d\n\n",
    "odd.xyz": b"a b\n",
    "no-item.csv": b"thing,category\na,x\n",
    "lacking.csv": b"item,category\na,x\nb,y\nc,z\n",
    "levels.csv": b"item,aisle,shelf\na,x,1\n",
    "two.csv": b"item,category\na,x\nb,x\nc,y\nd,y\n",
    "three.csv": b"item,category\na,x\nb,y\nc,z\nd,z\n",
    "contrary.csv": b"item,category\na,x\na,y\n",
    "crowd.csv": b"id,item\n"
    + b"".join(b"p%d,x%d\np%d,x%d\np%d,y\np%d,z\n" % (n, n, n, n + 9, n, n) for n in range(9)),
    "crowd-categories.csv": b"item,category\ny,y\nz,z\n" + b"".join(b"x%d,x\n" % n for n in range(18)),
    "secrets.txt": b"a b\nd\n",
    "gap.txt": b"a b\n\nd\n",
    "file": b"mine",
    "grid.toml": b'data = "good.dat"\nmethods = ["rand-swap"]\n',
    "job.toml": b'data = "good.dat"\nmethod = "rand-swap"\n',
    "unknown-key.toml": b'data = "good.dat"\nmethod = "rand-swap"\nsed = 7\n',
    "lacking.toml": b'data = "good.dat"\nmethod = { name = "part-swap", categories = "missing.csv" }\n',
}

WRONG = [
    # the program
    (["frobnicate"], 2, "frobnicate"),
    (["Publish"], 2, "Publish"),
    ([""], 2, "Unknown command"),
    (["--json"], 2, "--json"),
    (["--frobnicate"], 2, "--frobnicate"),
    (["--", "methods"], 2, "Unknown command"),
    # the catalog
    (["methods", "swap"], 2, "there is no method 'swap'; there are: "),
    (["guarantees", "hidden"], 2, "there is no guarantee 'hidden'"),
    (["metrics", "loss"], 2, "there is no metric 'loss'"),
    (["methods", "part-swap", "full-swap"], 2, "full-swap"),
    (["methods", "--frobnicate"], 2, "--frobnicate"),
    (["completion"], 2, "completion needs SHELL"),
    (["completion", "csh"], 2, 'Choose from: "bash", "zsh", "fish"'),
    (["help", "frobnicate"], 2, 'Unknown command "frobnicate"'),
    (["methods", "--progress", "jsn"], 2, 'Did you mean "json"?'),
    (["methods", "--quiet", "--verbose"], 2, "--quiet and --verbose contradict each other"),
    (["methods", "--log-file", "missing/log.txt"], 2, "the log file missing/log.txt cannot be written"),
    # reading
    (["profile"], 2, "DATA"),
    (["profile", "missing.dat"], 2, "missing.dat: there is no such file"),
    (["profile", "missing/data.dat"], 2, "missing/data.dat"),
    (["profile", "folder.dat"], 2, "folder.dat: is a folder; expected a file"),
    (["profile", "loop.dat"], 2, "loop.dat: cannot be read: Too many levels of symbolic links"),
    (["profile", "a" * 300 + ".dat"], 2, "File name too long"),
    (["profile", "odd.xyz"], 2, "odd.xyz: unknown file extension"),
    (["profile", "odd.xyz", "--format", "parchment"], 2, "there is no format 'parchment'"),
    (["profile", "empty.dat"], 2, "empty.dat: is empty"),
    (["profile", "empty.csv"], 2, "empty.csv: is empty"),
    (["profile", "no-columns.csv"], 2, "no-columns.csv, line 1: has no column 'id'"),
    (["profile", "ragged.csv"], 2, "ragged.csv, line 3"),
    (["profile", "control.dat"], 2, "control.dat, line 2: holds the control byte 0x00"),
    (["profile", "latin.dat"], 2, "latin.dat, line 1: holds the byte 0xe9"),
    (["profile", "cut.dat.gz"], 2, "cut.dat.gz: is not a complete gzip file"),
    (["profile", "plain.dat.gz"], 2, "plain.dat.gz: is not a complete gzip file"),
    (["profile", "good.dat", "--separator", "ab"], 2, "the separator is 'ab'"),
    (["profile", "good.dat", "--empty", "maybe"], 2, "maybe"),
    (["profile", "good.dat", "--unit", "family"], 2, "family"),
    (["profile", "good.dat", "--known", "0"], 2, "known is 0"),
    (["profile", "good.dat", "--known", "4"], 2, "known is 4"),
    (["profile", "good.dat", "--known", "two"], 2, "two"),
    (["profile", "good.dat", "--threads", "-1"], 2, "-1 threads"),
    (["profile", "good.dat", "--threads", "0"], 2, "0 threads"),
    (["profile", "good.dat", "good.dat"], 2, "good.dat"),
    (["profile", "sample:zoo"], 2, "there is no sample 'sample:zoo'"),
    (["profile", "sample:supermarket?records=0"], 2, "records is '0'"),
    (["profile", "sample:supermarket?colour=red"], 2, "unknown option 'colour'"),
    # attacks
    (["attack"], 2, "RELEASE"),
    (["attack", "missing"], 2, "missing"),
    (["attack", "good.dat"], 2, "is a data file without a card"),
    (["attack", "release", "--attack", "magic"], 2, "there is no attack 'magic'"),
    (["attack", "release", "--attack", "find-record:known"], 2, "is not of the form parameter=value"),
    (["attack", "release", "--attack", "find-record:known=0"], 2, "known is '0'"),
    (["attack", "release", "--attack", "find-record:wit=1"], 2, "has no parameter 'wit'"),
    (["attack", "release", "--limit", "high"], 2, "limit"),
    (["attack", "release", "--limit", "200%"], 2, "limit"),
    (["attack", "release", "--targets", "0"], 2, "targets"),
    (["attack", "release", "--seed", "-1"], 2, "seed"),
    (["attack", "release", "--control", "missing.dat"], 2, "missing.dat: there is no such file"),
    (["attack", "release", "--original", "good.dat"], 2, "the original is not the data"),
    (["publish", SAMPLE, *SWAP, *OUT, "--attack", "magic"], 2, "there is no attack 'magic'"),
    (["publish", SAMPLE, *SWAP, *OUT, "--attack", "find-record:known=99"], 2, "known is '99'"),
    (["publish", SAMPLE, *SWAP, *OUT, "--attack-limit", "high"], 2, "--attack-limit is 'high'"),
    (["attacks", "magic"], 2, "there is no attack 'magic'"),
    # risk
    (["risk"], 2, "DATA"),
    (["risk", "missing.dat"], 2, "missing.dat: there is no such file"),
    (["risk", "empty.dat"], 2, "empty.dat: is empty"),
    (["risk", "good.dat", "--known", "4"], 2, "known is 4"),
    (["risk", "good.dat", "--sensitive", "missing.txt"], 2, "missing.txt: there is no such file"),
    (["risk", "release", "--format", "basket"], 2, "release"),
    # publishing: what is asked for
    (["publish"], 2, "DATA"),
    (["publish", SAMPLE, *SWAP], 2, "--out"),
    (["publish", SAMPLE, *OUT], 2, "--method"),
    (["publish", SAMPLE, *OUT, "--method"], 2, "--method"),
    (["publish", SAMPLE, *OUT, "--method", "swap"], 2, "there is no method 'swap'"),
    (["publish", SAMPLE, *OUT, "--method", "part-swap"], 2, "part-swap needs --categories: The category of each item. Allowed is a file"),
    ([*PUBLISH, "--frobnicate"], 2, "--frobnicate"),
    ([*PUBLISH, "--order", "random"], 2, "order is 'random'; allowed is hard | seeded | file"),
    ([*PUBLISH, "--full-min", "3"], 2, "full_min is '3'; allowed is"),
    ([*PUBLISH, "--full-min", "many"], 2, "full_min is 'many'; allowed is"),
    ([*PUBLISH, "--whole-records", "maybe"], 2, "whole_records is 'maybe'; allowed is true or false"),
    ([*PUBLISH, "--leftovers", "cycle,pray"], 2, "leftovers is 'pray'; allowed is"),
    ([*PUBLISH, "--leftovers", "cycle,cycle"], 2, "leftovers names a step twice"),
    ([*PUBLISH, "--reading", "paper", "--order", "hard"], 2, "cannot be chosen with reading 'paper'"),
    ([*PUBLISH, "--seed", "seven"], 2, "the seed is 'seven'; allowed is a whole number"),
    ([*PUBLISH, "--seed", "1.5"], 2, "the seed is '1.5'; allowed is a whole number"),
    ([*PUBLISH, "--seed", "-7"], 2, "the seed is -7; allowed is a whole number of at least 0"),
    ([*PUBLISH, "--seed", "42"], 2, "the seed has 6 bits and can be guessed; allowed is a seed of at least 64 bits"),
    ([*PUBLISH, "--threads", "-1"], 2, "-1 threads"),
    ([*PUBLISH, "--threads", "many"], 2, "many"),
    ([*PUBLISH, "--allow-failures", "-1"], 2, "allow-failures is -1"),
    ([*PUBLISH, "--allow-failures", "some"], 2, "some"),
    ([*PUBLISH, "--ids", "maybe"], 2, "maybe"),
    ([*PUBLISH, "--release-format", "parchment"], 2, "there is no format 'parchment'"),
    ([*PUBLISH, "--release-format", "basket"], 2, "the format 'basket' has no column for ids"),
    ([*PUBLISH, "--release-format", "long", "--ids", "drop"], 2, "the format 'long' needs an id per row"),
    (["publish", SAMPLE, "--method", "full-swap", *SWAP[2:], *OUT, "--ids", "drop"], 2, "Publish with --ids pseudonym"),
    (by("three.csv", method="full-swap"), 2, "Publish with --ids pseudonym"),
    (by("three.csv", "--ids", "keep"), 2, "have no ids to keep"),
    (by("three.csv", "--ids", "pseudonym"), 2, "cannot hold the 1 empty records"),
    (["publish", "header.csv", *SWAP, *OUT], 2, "no records"),
    # publishing: categories
    (by("missing.csv"), 2, "missing.csv: there is no such file"),
    (by("folder.dat"), 2, "folder.dat"),
    (by("empty.csv"), 2, "empty.csv"),
    (by("no-item.csv"), 2, "no-item.csv, line 1: expected a header with the column 'item'"),
    (by("levels.csv"), 2, "has several levels (aisle, shelf); name one with --level"),
    (by("levels.csv", "--level", "floor"), 2, "has no level 'floor'; the levels are: aisle, shelf"),
    (by("lacking.csv"), 2, "1 of 4 items have no category"),
    (by("contrary.csv"), 2, "contrary.csv, line 3: item 'a' has two categories"),
    (by("two.csv"), 2, "in 2 categories; there must be at least 3"),
    (by("random:2", data=SAMPLE), 2, "in 2 categories; there must be at least 3"),
    (by("random:0", data=SAMPLE), 2, "random categories is 0"),
    # publishing: places
    ([*PUBLISH[:-1], "release"], 2, "release exists; choose another path, or replace it with --force"),
    ([*PUBLISH[:-1], "file"], 2, "file exists"),
    ([*PUBLISH[:-1], "file", "--force"], 2, "file is a file; expected a folder"),
    ([*PUBLISH[:-1], "missing/new"], 2, "missing is not a folder; create it"),
    ([*PUBLISH[:-1], "."], 2, "'.' is not a valid name for a new folder"),
    ([*PUBLISH[:-1], ""], 2, "'.' is not a valid name for a new folder"),
    ([*PUBLISH[:-1], "..", "--force"], 2, "'..' is not a valid name for a new folder"),
    ([*PUBLISH[:-1], "a" * 300], 2, "File name too long"),
    ([*PUBLISH[:-1], "link", "--force"], 2, "link is a symbolic link"),
    ([*PUBLISH, "--private", "release.private"], 2, "release.private exists"),
    ([*PUBLISH, "--private", "new/inside"], 2, "neither may be inside the other"),
    ([*PUBLISH, "--private", "new"], 2, "neither may be inside the other"),
    # publishing with a register
    ([*PUBLISH, "--register", "releases.db", "--seed", str(2**100)], 2, "--seed and --register exclude each other"),
    ([*PUBLISH, "--register", "releases.db", "--accept-together", " "], 2, "--accept-together is empty"),
    ([*PUBLISH, "--recipient", "the city"], 2, "--recipient is for a register; name one with --register, or remove it"),
    ([*PUBLISH, "--accept-together", "why"], 2, "--accept-together is for a register"),
    ([*PUBLISH, "--register", "file"], 2, "file: is not a release register; give the file that publish created"),
    ([*PUBLISH, "--register", "folder.dat"], 2, "folder.dat is not a regular file"),
    ([*PUBLISH, "--register", "missing/releases.db"], 2, "missing is not a folder"),
    ([*PUBLISH, "--register", "release/releases.db"], 2, "is inside release, a folder of a release"),
    # jobs
    ([*PUBLISH, "--save-job", "file"], 2, "file exists; choose another path, or replace it with --force"),
    ([*PUBLISH, "--save-job", "missing/job.toml"], 2, "missing is not a folder"),
    ([*PUBLISH, "--save-job", "new/job.toml"], 2, "new/job.toml is inside new, a folder of the release"),
    ([*PUBLISH, "--save-job", "new.private/job.toml"], 2, "is inside new.private, a folder of the release"),
    (["publish", "release", "--method", "part-swap", *SWAP[2:], *OUT, "--id", "x"], 2, "--id does not apply to a release"),
    (["studio", "--root", "nosuch"], 2, "nosuch: is not a folder"),
    (["studio", "--serve"], 2, "--serve and --tokens belong together"),
    (["advise"], 2, "DATA"),
    (["advise", "good.dat"], 2, "the context lacks 7 of 7 answers: --record: What is one record? (person, event); "),
    (["advise", "good.dat", "--record", "person"], 2, "the context lacks 6 of 7 answers: --recipients: "),
    (["advise", "good.dat", *ANSWERS, "--hide", "nothing"], 2, "'nothing'"),
    (["advise", "good.dat", *ANSWERS, "--hide", "identity,identity"], 2, "hide names an answer twice"),
    (["advise", "good.dat", *ANSWERS, "--hide", "identity"], 2, "4 records cannot be divided with 20.0 % held out"),
    (["advise", "good.dat", *ANSWERS, "--hide", "identity", "--records", "0"], 2, "--records is 0"),
    (["advise", "good.dat", "--context", "missing.toml"], 2, "missing.toml: does not exist; expected a file with the answers"),
    (["advise", "good.dat", *ANSWERS, "--hide", "identity", "--save-context", "file"], 2, "file exists"),
    (["advise", "good.dat", *ANSWERS, "--hide", "identity", "--save-context", "release/new"], 2, "inside a release folder"),
    (["compare", *OUT], 2, "PLACE"),
    (["compare", "grid.toml"], 2, "--out"),
    (["compare", "missing.toml", *OUT], 2, "missing.toml: does not exist; expected a file that describes a comparison"),
    (["compare", "good.dat", *OUT], 2, "good.dat: is not valid TOML"),
    (["compare", "job.toml", *OUT], 2, "job.toml: there is no key 'method'; there are: "),
    (["compare", "grid.toml", *OUT, "--budget", "5"], 2, "--budget is '5'; allowed is a time such as 90s, 20min or 2h"),
    (["compare", "grid.toml", *OUT, "--task", "ease"], 2, "--task is for finished releases"),
    (["compare", "grid.toml", *OUT], 2, "4 records cannot be divided with 20.0 % held out"),
    (["compare", "grid.toml", "--out", "release"], 2, "4 records cannot be divided"),
    (["compare", "good.dat", "release", *OUT, "--budget", "5s"], 2, "--budget is for a file with methods and settings"),
    (["compare", "good.dat", "missing", *OUT], 2, "missing: there is no such folder"),
    (["compare", SAMPLE, "release", *OUT, "--task", "frequent-itemsets"], 2, "neither more nor less is better"),
    (["compare", SAMPLE, "release", "--out", "file"], 2, "file exists; choose another path"),
    (["run"], 2, "JOB"),
    (["run", "missing.toml"], 2, "missing.toml: does not exist; expected a job file"),
    (["run", "good.dat"], 2, "good.dat: is not valid TOML (Expected '=' after a key in a key/value pair (at line 1, column 3))"),
    (["run", "release/card.json"], 2, "release/card.json: there is no key 'card_version'"),
    (["run", "release.private/dossier.json"], 2, "release exists; choose another path, or replace it with --force"),
    (["run", "job.toml"], 2, "job.toml names no release folder; name it with --out"),
    (["run", "job.toml", *OUT], 2, "rand-swap guarantees nothing here; set no_guarantee = true to publish it anyway"),
    (["run", "job.toml", *OUT, "--seed", "7"], 2, "the seed has 3 bits"),
    (["run", "job.toml", *OUT, "--seed", "seven"], 2, "job.toml, seed: the seed is 'seven'"),
    (["run", "job.toml", "--out", "release"], 2, "release exists; choose another path, or replace it with --force"),
    (["run", "job.toml", "--out", "missing/new"], 2, "missing is not a folder; create it"),
    (["run", "unknown-key.toml", *OUT], 2, "unknown-key.toml: there is no key 'sed'; there are: "),
    (["run", "lacking.toml", *OUT], 2, "lacking.toml, method.categories: missing.csv: there is no such file"),
    (["releases"], 2, "--register"),
    (["releases", "--register", "missing.db"], 2, "missing.db: there is no such register; publish with --register"),
    (["releases", "--register", "good.dat"], 2, "good.dat: is not a release register"),
    (["withdraw", "--register", "register.db"], 2, "RELEASE"),
    (["withdraw", "1"], 2, "--register"),
    (["withdraw", "2", "--register", "register.db"], 2, "register.db has no release '2'; it has 1. Give the number"),
    # publishing: a guarantee that cannot be kept
    (by("crowd-categories.csv", data="crowd.csv"), 3, "hidden-tendency is violated; nothing was written."),
    # checking
    (["check"], 2, "RELEASE"),
    (["check", "missing"], 2, "missing: there is no such folder"),
    (["check", "folder.dat"], 2, "is not a release folder: it has no card.json"),
    (["check", "release"], 2, "name it with --original"),
    (["check", "release", "--private", "release.private"], 2, "--original"),
    ([*CHECK, "--guarantee", "secrecy"], 2, "there is no guarantee 'secrecy'"),
    ([*CHECK, "--guarantee", "hidden-tendency"], 2, "hidden-tendency needs --categories: "),
    ([*CHECK, "--witnesses", "-1"], 2, "witnesses is -1; allowed is"),
    ([*CHECK, "--allow-failures", "-1"], 2, "allow-failures is -1; allowed is"),
    ([*CHECK, "--frobnicate"], 2, "--frobnicate"),
    (["check", "good.dat"], 2, "name the guarantee to check with --guarantee"),
    (["check", "good.dat", "--guarantee", "hidden-itemsets"], 2, "hidden-itemsets needs --itemsets: "),
    (hidden("secrets.txt", "2")[:-2], 2, "hidden-itemsets needs --min-support: "),
    (hidden("missing.txt", "2"), 2, "missing.txt: there is no such file"),
    (hidden("empty.dat", "2"), 2, "empty.dat: is empty; expected one itemset per line"),
    (hidden("gap.txt", "2"), 2, "gap.txt, line 2: is blank; expected an itemset of at least one item"),
    (hidden("secrets.txt", "often"), 2, "hidden-itemsets: min_support: the support 'often' is neither"),
    (hidden("secrets.txt", "0"), 2, "hidden-itemsets: min_support: the support '0' is neither"),
    (hidden("secrets.txt", "2", "--targets", "1,1,1"), 2, "there are 3 targets for 2 itemsets; give one target for all"),
    (hidden("secrets.txt", "2", "--targets", "border"), 2, "targets is 'border'; allowed is"),
    (hidden("secrets.txt", "2", "--targets", "9" * 30), 2, "targets: a target is 999"),
    (hidden("secrets.txt", "2", "--categories", "two.csv"), 2, "--categories"),
    (hidden("secrets.txt", "2", data="missing.dat"), 2, "missing.dat"),
    # checking several releases
    (["check", "release", "release"], 2, "2 releases given; expected one, or several with --together"),
    (["check", "--together", "release", "--original", SAMPLE], 2, "a joint check needs at least two"),
    (["check", "--together", "release", "release"], 2, "name it with --original"),
    (["check", "--together", "release", "missing", "--original", SAMPLE], 2, "missing: there is no such folder"),
    (["check", "--together", "release", "good.dat", "--original", SAMPLE], 2, "good.dat is a data file without a card"),
    (["check", "--together", "release", "other", "--original", SAMPLE], 2, "other has no private folder beside it"),
    (["check", "--together", "release", "release", "--original", "good.dat"], 2, "is not the data that any of these"),
    (["check", "--together", "release", "release", "--original", SAMPLE, "--guarantee", "km-anonymity"], 2, "--guarantee applies to one"),
    (["check", "--together", "release", "release", "--original", SAMPLE, "--private", "x"], 2, "--private applies to one release"),
    (["check", "--together", "release", "release", "--original", SAMPLE, "--allow-failures", "3"], 2, "--allow-failures applies to"),
    (["check", "--together", "release", "release", "--original", SAMPLE, "--witnesses", "-1"], 2, "witnesses is -1"),
    # measuring
    (["measure"], 2, "ORIGINAL"),
    (["measure", SAMPLE], 2, "RELEASE"),
    (["measure", SAMPLE, "missing"], 2, "missing"),
    (["measure", SAMPLE, "folder.dat"], 2, "it has no card.json"),
    (["measure", SAMPLE, "release", "--metric", "beauty"], 2, "there is no metric 'beauty'"),
    (["measure", SAMPLE, "release", "--metric", "record-loss:colour=red"], 2, "record-loss has no parameter 'colour'"),
    (["measure", SAMPLE, "release", "--metric", "dissimilarity:form"], 2, "'form' is not of the form parameter=value"),
    (["measure", SAMPLE, "release", "--metric", "dissimilarity:form=round"], 2, "form is 'round'; allowed is"),
    (["measure", SAMPLE, "release", "--private", "folder.dat"], 2, "is not a private folder"),
    (["measure", "good.dat", "release", "--private", "release.private"], 2, "is not the data that this release was made from"),
    (["measure", SAMPLE, "release", "--categories", "missing.csv"], 2, "missing.csv: there is no such file"),
    # publishing and reporting: metrics
    ([*PUBLISH, "--measure", "all"], 2, "--measure"),
    ([*PUBLISH, "--metric", "beauty"], 2, "there is no metric 'beauty'"),
    (["report"], 2, "RELEASE"),
    (["report", "missing"], 2, "missing: there is no such folder"),
    (["report", "folder.dat"], 2, "is not a release folder: it has no card.json"),
    (["report", "good.dat"], 2, "good.dat is a data file without a card; give the release folder"),
    (["report", "release", "--measure", "quick"], 2, "name it with --original"),
    (["report", "release", "--private", "folder.dat"], 2, "is not a private folder"),
    (["report", "release", "--original", "good.dat"], 2, "is not the data that this release was made from"),
    (["report", "release", "--original", SAMPLE, "--metric", "beauty"], 2, "there is no metric 'beauty'"),
    # mining: more in test_mine
    (["mine"], 2, "DATA"),
    (["mine", "missing.dat", "--min-support", "2"], 2, "missing.dat: there is no such file"),
    (["mine", "good.dat", "--frobnicate"], 2, "--frobnicate"),
    # reproducing
    (["reproduce", "tendency-swaping"], 2, "there is no paper 'tendency-swaping'"),
    # converting
    (["convert", "good.dat"], 2, "OUT"),
    (["convert", "good.dat", "new.xyz"], 2, "new.xyz: unknown file extension"),
    (["convert", "good.dat", "new.csv", "--to", "parchment"], 2, "there is no format 'parchment'"),
    (["convert", "good.dat", "new.csv"], 2, "cannot hold the 1 empty record of the data; drop them with --empty drop"),
    (["convert", "missing.dat", "new.dat"], 2, "missing.dat: there is no such file"),
    (["convert", "good.dat", "odd.xyz", "--to", "basket"], 2, "odd.xyz exists"),
    (["convert", "good.dat", "folder.dat", "--force"], 2, "folder.dat is not a regular file"),
    (["convert", "good.dat", "missing/new.dat"], 2, "missing is not a folder"),
    # the demo
    (["demo", "--out", "release"], 2, "release exists"),
    (["demo", "--out", "missing/new"], 2, "missing is not a folder"),
    (["demo", "--frobnicate"], 2, "--frobnicate"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with files good and bad, a release, and some traps; no test may change it."""
    folder = tmp_path_factory.mktemp("folder")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "folder.dat").mkdir()
    (folder / "loop.dat").symlink_to("loop.dat")
    (folder / "link").symlink_to("folder.dat")
    registered = ("--register", "register.db")
    assert call("publish", SAMPLE, *SWAP, *registered, "--out", "release", cwd=folder).code == 0
    shutil.copytree(folder / "release", folder / "other")
    return folder


@pytest.mark.parametrize(
    ("arguments", "code", "says"), WRONG, ids=[" ".join(a)[-60:].replace("/", "|") for a, _, _ in WRONG]
)
def test_a_wrong_use_ends_with_its_code_and_one_sentence(folder, arguments, code, says):
    before = names_in(folder)
    ended = call(*with_json(arguments), cwd=folder)
    assert ended.code == code, ended.err
    assert says in ended.sentence()
    assert ended.error()["exit_code"] == code
    assert names_in(folder) == before


@pytest.mark.parametrize(
    "arguments",
    [["frobnicate"], ["profile"], ["profile", "missing.dat"], ["metrics", "loss"], ["publish", "--frobnicate"]],
)
def test_without_json_standard_output_stays_empty(folder, arguments):
    ended = call(*arguments, cwd=folder)
    assert ended.sentence()
    assert ended.out == ""


def test_every_command_is_used_wrongly():
    assert {arguments[0] for arguments, _, _ in WRONG} >= set(COMMANDS)
    below = {tuple(arguments[:2]) for arguments, _, _ in presence_wrong_uses.WRONG}  # given in test_presence_exit_codes
    assert below >= {(group, name) for group, (commands, *_) in GROUPS.items() for name in commands}


CHECKED = {
    "a b c": b"a b c\na b\nb c\n\na b d\n",
    "semicolons": b"a;b;c d\na;b\nb;c d\n\na;b;d\n",
    "columns": b"id;item\np1;a\np1;b\np1;c d\np2;a\np2;b\np3;b\np3;c d\np4;a\np4;b\np4;d\n",
}


@pytest.mark.parametrize(
    ("data", "itemsets", "options", "violated"),
    [
        ("a b c.dat", b"a b\nc d\n", ["--min-support", "4"], 0),
        ("a b c.dat", b"a b\nc d\n", ["--min-support", "3"], 1),
        ("a b c.dat", b"a b\nb c\n", ["--min-support", "2"], 2),
        ("a b c.dat", b"a b\n", ["--min-support", "75%"], 1),  # 3 of the 4 that are not empty
        ("a b c.dat", b"a b\n", ["--min-support", "76%"], 0),
        ("a b c.dat", b"a b\nb c\n", ["--min-support", "4", "--targets", "3,2"], 0),
        ("a b c.dat", b"a b\nb c\n", ["--min-support", "4", "--targets", "2,2"], 1),
        ("a b c.dat", b"a b\nb c\n", ["--min-support", "4", "--targets", "0"], 2),
        ("a b c.dat", b"a b\n", ["--min-support", "3", "--allow-failures", "9"], 1),
        ("a b c.dat", b"a b\nb c\n", ["--min-support", "3", "--original", "a b c.dat"], 1),
        ("semicolons.dat", b"b;c d\n", ["--min-support", "2", "--separator", ";"], 1),
        ("semicolons.dat", b"b;c d\n", ["--min-support", "3", "--separator", ";"], 0),
        ("semicolons.dat", b"b;c d\n", ["--min-support", "2", "--separator", ";", "--original", "semicolons.dat"], 1),
        ("semicolons.dat", b'["c d", "b"]\n', ["--min-support", "2", "--separator", ";"], 1),
        ("columns.csv", b"a b\n", ["--min-support", "3", "--separator", ";"], 1),
        ("columns.csv", b"a b\n", ["--min-support", "3", "--separator", ";", "--original", "columns.csv"], 1),
        ("columns.data", b"a b\n", ["--min-support", "3", "--separator", ";", "--release-format", "long"], 1),
        ("semicolons.dat", b"a;b\n", ["--min-support", "3", "--separator", ";", "--original", "columns.csv"], 1),
    ],
)
def test_itemsets_are_checked_in_a_bare_file(tmp_path, data, itemsets, options, violated):
    for name, content in CHECKED.items():
        for ending in (".dat", ".csv", ".data"):
            (tmp_path / f"{name}{ending}").write_bytes(content)
    secrets = "secrets.jsonl" if itemsets.startswith(b"[") else "secrets.txt"
    (tmp_path / secrets).write_bytes(itemsets)
    asked = ["check", data, "--guarantee", "hidden-itemsets", "--itemsets", secrets, *options]
    ended = call(*asked, "--witnesses", 10, cwd=tmp_path)
    assert ended.code == (3 if violated else 0), ended.err
    assert ended.out.startswith("hidden-itemsets: violated (" if violated else "hidden-itemsets: holds")
    assert ended.out.count(": itemset {") == violated
    told = call(*asked, "--json", cwd=tmp_path)
    assert told.code == ended.code
    assert sum(told.json["violations"].values()) == violated
    assert told.json["accepted"] == (not violated)
    assert told.json["witnesses"] == [], "secrets are shown to who asks for them"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["frobnicate"], 2),
        (["profile", "missing.dat"], 2),
        ([*PUBLISH[:-1], "release"], 2),
        (by("crowd-categories.csv", data="crowd.csv"), 3),
        (["check", "release"], 2),
    ],
)
def test_the_process_ends_with_that_code_too(folder, arguments, code):
    ended = run(*arguments, cwd=folder)
    assert ended.code == code
    assert ended.sentence()
    assert ended.out == ""


def test_what_cannot_be_kept_tells_why_and_what_would_help(folder):
    said = call(*by("crowd-categories.csv", data="crowd.csv"), cwd=folder).sentence()
    assert "9 of 9 records with a tendency could not be hidden" in said
    assert "'x'" in said
    assert "--allow-failures 9" in said
    assert call(*by("crowd-categories.csv", "--allow-failures", "8", data="crowd.csv"), cwd=folder).code == 3


LIMITED = """
import resource, sys
from setveil.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
del sys.argv[1]
main()
"""


@pytest.mark.parametrize("size", [100, 10_000], ids=["data", "dossier"])
def test_a_disk_that_is_full_is_no_bug_and_leaves_nothing(tmp_path, size):
    """A limit of a file's size stands for a full disk: the data or the dossier does not fit."""
    assert call(*PUBLISH, cwd=tmp_path).code == 0  # compiles, if that was not done before
    before = names_in(tmp_path)
    ended = run_forked(size, *PUBLISH[:-1], "another", "--compress", "gzip", cwd=tmp_path, code=LIMITED)
    assert ended.code == 2
    assert "cannot be written: File too large" in ended.sentence()
    assert names_in(tmp_path) == before


def test_a_disk_that_fails_is_no_bug_and_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_arguments, **_options):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter.write_table", fail)
    ended = call(*PUBLISH, cwd=tmp_path)
    assert ended.code == 2
    assert ended.sentence() == "new and new.private cannot be written: Input/output error"
    assert names_in(tmp_path) == []


def test_a_bug_ends_with_1_and_does_not_look_like_a_result(folder, monkeypatch):
    def bug(*_arguments, **_options):
        raise RuntimeError("oh")

    monkeypatch.setattr("setveil.profile", bug)
    ended = call("profile", SAMPLE, cwd=folder)
    assert ended.code == 1
    assert ended.sentence().startswith("unexpected RuntimeError: oh. This is a bug")
    assert ended.out == ""
