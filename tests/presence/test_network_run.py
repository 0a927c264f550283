"""A run over TLS from Python: the same bytes as the programs, the same refusals, and no early end of a party that may come again."""

import hashlib
import shutil
from dataclasses import replace

import pytest

import setveil as sv
from setveil.presence.marks import of_customers
from setveil.presence.transport.tls import TlsChannel, connect

from support.parties import LOOPBACK, PATIENCE_SECONDS, Task, homes, lines, listener
from support.presence_programs import HOST, free_ports, programs, recorded


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Give the files and homes of three parties."""
    return programs(tmp_path_factory.mktemp("world"), people=300)


class Parties:
    """The three parties as threads of this process."""

    def __init__(self, folder):
        self.folder = folder
        self.policy = sv.read_policy(folder / "trial/policy.toml")
        self.population = sv.read_population(folder / "trial/population.csv")
        self.tables = {role: self.read(role) for role in "ab"}

    def read(self, role, person="customer"):
        schema = self.policy.schema
        return sv.read_provider_table(
            self.folder / f"trial/{role}.csv",
            schema.of(role),
            schema.sensitive if role == "b" else None,
            population=self.population,
            person=person,
        )

    def alone(self, home):
        """Run a provider that nobody meets."""
        places = sv.Places("x:1", "x:2")
        sv.provide(home, self.policy, self.tables["a"], self.population, places, self.folder / "p")

    def run(self, out, again=()):
        """Run all three; return the result of each or the error that it raised."""
        ports = free_ports(2)
        places = sv.Places(f"{HOST}:{ports[0]}", f"{HOST}:{ports[1]}", timeout=120, wait=120)
        home = {role: sv.Home.open(self.folder / role) for role in "abc"}
        tasks = {
            role: Task(
                sv.provide,
                home[role],
                self.policy,
                self.tables[role],
                self.population,
                places,
                self.folder / f"{out}-{role}",
                again=role in again,
            )
            for role in "ab"
        } | {"c": Task(sv.collect, home["c"], self.policy, places.collector, self.folder / out, wait=120)}
        return {role: outcome(task) for role, task in tasks.items()}


def outcome(task):
    try:
        return task.result()
    except sv.SetveilError as error:
        return error


@pytest.fixture
def parties(world, tmp_path):
    shutil.copytree(world.folder, tmp_path / "copy")
    return Parties(tmp_path / "copy")


def test_python_gives_the_bytes_of_the_programs(world, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(world.folder, folder)
    found = Parties(folder).run("python")
    assert found["a"].result.sha256 == found["b"].result.sha256 == found["c"].card.data.sha256
    ended = replace(world, folder=folder).run()
    assert all(one.code == 0 for one in ended.values()), ended  # and the second run, by the programs, is the same run
    for name in ("data.csv", "attributes.json"):
        assert (folder / "python" / name).read_bytes() == (folder / "joined" / name).read_bytes()
    for role in "ab":
        for name in ("groups.parquet", "boxes.parquet", "openings.jsonl"):
            mine, theirs = folder / f"python-{role}" / name, folder / f"run-{role}" / name
            assert mine.read_bytes() == theirs.read_bytes()


def test_changed_data_of_the_peer_are_refused_with_the_name_of_the_argument(parties):
    parties.run("first")
    table = parties.tables["b"]
    parties.tables["b"] = replace(
        table, ids=table.ids[1:], codes=table.codes[1:], sensitive=table.sensitive[1:], persons=table.persons[1:]
    )
    found = parties.run("second", again="b")
    assert str(found["a"]).startswith(
        "provider B changed its data, so the run is refused: 300 of these 300 people were in a run on "
    )
    assert str(found["a"]).endswith("allow this run at both providers with `again=True`")
    assert not (parties.folder / "second").exists()
    assert found["b"].exit_code == found["c"].exit_code == 4
    found = parties.run("third", again="ab")
    assert found["c"].card.counts.records > 0


def test_a_table_without_customer_keys_is_refused_before_anybody_is_called(parties):
    parties.tables["a"] = parties.read("a", person=None)
    home = sv.Home.open(parties.folder / "a")
    with pytest.raises(sv.Missing, match=r"has no customer keys.*`person='COLUMN'`"):
        parties.alone(home)
    parties.tables["a"] = parties.read("a", person="id")  # renamed ids would pass
    with pytest.raises(sv.BadParameter, match=r"the column 'id' holds the ids.*Name the column of your own customer"):
        parties.alone(home)


@pytest.mark.parametrize("role", ["a", "b", "c"])
def test_the_home_of_another_party_is_refused(parties, role):
    home = sv.Home.open(parties.folder / role)
    if role == "c":
        with pytest.raises(sv.BadParameter, match="is the home of the collector, not of a provider"):
            parties.alone(home)
    else:
        with pytest.raises(sv.BadParameter, match=f"is the home of provider {role.upper()}, not of the collector"):
            sv.collect(home, parties.policy, "x:1", parties.folder / "p")


def test_a_commitment_changes_with_the_data_and_the_home_and_with_nothing_else(parties):
    home = {role: sv.Home.open(parties.folder / role) for role in "ab"}
    table = parties.tables["a"]
    commitment = home["a"].commitment(table)
    assert commitment == home["a"].commitment(parties.read("a", person="id"))
    assert commitment != home["b"].commitment(table)
    codes = table.codes.copy()
    codes[0, 0] ^= 1
    assert commitment != home["a"].commitment(replace(table, codes=codes))
    assert table.checksum() not in commitment


def test_no_customer_key_is_sent(parties, monkeypatch):
    sent = []
    honest = TlsChannel.send

    def send(line, kind, payload):
        sent.append(bytes(payload))
        honest(line, kind, payload)

    monkeypatch.setattr(TlsChannel, "send", send)
    parties.run("first")
    parties.run("second")  # and a refused one, whose reason is an abort
    everything = b"\n".join(sent)
    assert len(sent) > 100
    secret = {role: sv.Home.open(parties.folder / role).secret(b"customers") for role in "ab"}
    for role in "ab":
        marks = of_customers(parties.tables[role].persons, secret[role]).content
        assert not [at for at in range(0, len(marks), 8) if marks[at : at + 8] in everything]
        for key in parties.tables[role].persons.to_pylist():
            found = [key.encode(), hashlib.sha256(key.encode()).digest(), hashlib.blake2b(key.encode()).digest()[:16]]
            assert not [one for one in found if one in everything or one.hex().encode() in everything]


@pytest.mark.parametrize("lost", ["agreed", "recorded"])
def test_a_run_counts_only_if_both_recorded_it(parties, monkeypatch, lost):
    """A's message is lost: B must not take a run for made of which A knows nothing."""
    honest = TlsChannel.send

    def send(line, kind, payload):
        if kind == lost and line.role == "a":
            line.abort("it was stopped by its person")
            return
        honest(line, kind, payload)

    monkeypatch.setattr(TlsChannel, "send", send)
    found = parties.run("first")
    assert found["a"].exit_code == found["b"].exit_code == 4
    monkeypatch.undo()
    assert all(outcome in ("begun", "void") for role in "ab" for outcome in recorded(parties.folder / role))
    table = parties.tables["b"]  # nothing was sent, so other data are no second run
    parties.tables["b"] = replace(
        table, ids=table.ids[1:], codes=table.codes[1:], sensitive=table.sensitive[1:], persons=table.persons[1:]
    )
    found = parties.run("second")
    assert found["c"].card.counts.records > 0, found


def test_a_listener_ends_its_wait_for_a_refusal_and_for_nothing_else():
    with listener("c", ("a", "b")) as ear:
        waiting = Task(ear.accept, PATIENCE_SECONDS)
        calling = homes()["a"].credentials()
        connect(calling, "c", LOOPBACK, ear.port).abort("it was stopped by its person")
        connect(calling, "c", LOOPBACK, ear.port).abort("the run is refused: some reason")
        with pytest.raises(sv.PeerFailed, match="provider A stopped: the run is refused: some reason"):
            waiting.result()


def test_a_call_is_given_up_when_the_other_line_has_ended():
    with lines("a", "b") as (calling, called):
        called.abort("the run is refused: some reason")
        with pytest.raises(sv.PeerFailed, match="provider B stopped: the run is refused"):
            connect(homes()["a"].credentials(), "c", LOOPBACK, free_ports(1)[0], wait=PATIENCE_SECONDS, needed=calling)
