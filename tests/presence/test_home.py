"""A party's home: made whole or not at all, and opened only if its keys are its own."""

import os
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import time
from datetime import timedelta

import pytest

from setveil.errors import BadData, BadParameter, Missing, OutputRefused
from setveil.presence import certificates
from setveil.presence.certificates import grouped_digits, read_certificate
from setveil.presence.home import CERTIFICATE, DUMMIES, KEY, LEDGER, PEERS, Home

from support.parties import homes
from support.program import call


@pytest.fixture
def home(tmp_path):
    """Give a new home of A."""
    return Home.create(tmp_path / "home", "a", name="Alpha Ltd")


@pytest.fixture
def copy(tmp_path):
    """Give a function that copies the home of a party, to be spoiled."""
    return lambda role: shutil.copytree(homes()[role].folder, tmp_path / f"copy-{role}")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_home_has_everything_and_keeps_its_secrets(home):
    folder = home.folder
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [KEY, CERTIFICATE, DUMMIES, PEERS, LEDGER, f"{LEDGER}.head"]
    )
    assert mode(folder) == mode(folder / PEERS) == 0o700
    assert mode(folder / KEY) == mode(folder / DUMMIES) == mode(folder / LEDGER) == 0o600
    assert (home.role, home.certificate.name, home.pinned) == ("a", "Alpha Ltd", {})
    assert len(home.dummy_key()) == 32
    assert Home.open(folder) == home
    assert home.dummy_key().hex() not in repr(home)


def test_keys_are_kept_from_others_whatever_the_umask_is(tmp_path):
    before = os.umask(0)
    try:
        made = Home.create(tmp_path / "home", "b")
    finally:
        os.umask(before)
    assert mode(made.folder) == 0o700
    assert mode(made.folder / KEY) == mode(made.folder / DUMMIES) == 0o600


def test_two_homes_share_nothing(tmp_path):
    one, other = (Home.create(tmp_path / name, "a") for name in ("one", "other"))
    assert one.dummy_key() != other.dummy_key()
    assert one.certificate.fingerprint != other.certificate.fingerprint


def test_what_openssl_reads_is_what_was_meant(home):
    command = ["openssl", "x509", "-in", home.folder / CERTIFICATE, "-noout", "-text", "-fingerprint", "-sha256"]
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "URI:urn:setveil:presence:role:a" in text
    assert "prime256v1" in text
    assert text.splitlines()[-1].partition("=")[2].replace(":", "").lower() == home.certificate.fingerprint


def test_a_home_is_never_replaced(home):
    with pytest.raises(OutputRefused, match="exists, and a home is never replaced"):
        Home.create(home.folder, "a")
    with pytest.raises(OutputRefused, match="is not a folder; create it"):
        Home.create(home.folder / "none" / "home", "a")
    assert Home.open(home.folder) == home


@pytest.mark.parametrize("name", ["x" * 65, "ä" * 33, "line\nbreak"])
def test_a_name_that_no_certificate_holds(tmp_path, name):
    with pytest.raises(BadParameter, match="must be printable and have 1 to 64 bytes"):
        Home.create(tmp_path / "home", "a", name=name)
    with pytest.raises(BadParameter, match="'x' is not a role; expected a, b or c"):
        Home.create(tmp_path / "home", "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [KEY, DUMMIES])
@pytest.mark.parametrize("given", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_refused(copy, name, given):
    folder = copy("a")
    (folder / name).chmod(given)
    with pytest.raises(BadData, match=rf"{name}: can be read by others \(mode {given:04o}\); set its mode to 0600"):
        Home.open(folder)


@pytest.mark.parametrize("place", [".", PEERS])
def test_a_folder_that_others_may_write_to_is_refused(copy, place):
    folder = copy("a")
    (folder / place).chmod(0o770)
    with pytest.raises(BadData, match="can be written by others, who could pin certificates"):
        Home.open(folder)


@pytest.mark.parametrize("name", [KEY, CERTIFICATE, DUMMIES])
def test_a_home_with_a_file_missing_or_spoiled_is_refused(copy, name):
    folder = copy("a")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(BadData) as refused:
        Home.open(folder)
    assert name in str(refused.value)
    assert content.splitlines()[-1].decode() not in str(refused.value)
    (folder / name).unlink()
    with pytest.raises(Missing, match=f"{name} is missing"):
        Home.open(folder)


def test_a_key_of_another_certificate_is_refused(copy):
    folder = copy("a")
    shutil.copy(homes()["b"].folder / KEY, folder / KEY)
    with pytest.raises(BadData, match="is not the private key of the certificate beside it"):
        Home.open(folder)


def test_what_is_no_home(tmp_path):
    with pytest.raises(Missing, match="is not a party's home; create one with setveil presence init"):
        Home.open(tmp_path / "nothing")
    with pytest.raises(Missing, match="is not a complete home"):
        Home.open(tmp_path)


def test_pins_are_kept(home):
    pinned = home.pin("b", homes()["b"].folder / CERTIFICATE).pin("c", homes()["c"].folder / CERTIFICATE)
    opened = Home.open(home.folder)
    assert opened == pinned
    assert opened.pinned["b"].der == homes()["b"].certificate.der
    assert sorted(path.name for path in (home.folder / PEERS).iterdir()) == ["b.pem", "c.pem"]
    assert pinned.pin("b", homes()["b"].folder / CERTIFICATE) is pinned


def test_pins_that_are_refused(home, tmp_path):
    other = Home.create(tmp_path / "other", "b")
    mine, b, c = home.folder / CERTIFICATE, homes()["b"].folder / CERTIFICATE, homes()["c"].folder / CERTIFICATE
    with pytest.raises(BadParameter, match="is this party's own certificate"):
        home.pin("b", mine)
    with pytest.raises(BadParameter, match="is the certificate of the collector, not of provider B"):
        home.pin("b", c)
    with pytest.raises(BadParameter, match="this is the home of provider A; pin the certificates of the other parties"):
        home.pin("a", b)
    with pytest.raises(BadData, match="holds a private key, which must never be shared"):
        home.pin("b", homes()["b"].folder / KEY)
    with pytest.raises(Missing, match="the certificate cannot be read: No such file"):
        home.pin("b", tmp_path / "none.pem")
    pinned = home.pin("b", b)
    with pytest.raises(OutputRefused) as refused:
        pinned.pin("b", other.folder / CERTIFICATE)
    assert grouped_digits(homes()["b"].certificate.fingerprint) in str(refused.value)
    assert grouped_digits(other.certificate.fingerprint) in str(refused.value)
    assert Home.open(home.folder) == pinned
    assert pinned.pin("b", other.folder / CERTIFICATE, force=True) == Home.open(home.folder)
    assert Home.open(home.folder).pinned["b"].der == other.certificate.der


def test_a_pin_put_in_the_wrong_place_by_hand_is_refused(home):
    shutil.copy(homes()["c"].folder / CERTIFICATE, home.folder / PEERS / "b.pem")
    with pytest.raises(BadData, match="is the certificate of the collector, expected that of provider B"):
        Home.open(home.folder)


def test_a_certificate_that_setveil_did_not_make_is_refused(home, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    made = tmp_path / "foreign.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=b -days 1 -keyout"
    subprocess.run([*command.split(), tmp_path / "foreign.key", "-out", made], capture_output=True, check=True)
    with pytest.raises(BadData, match="the certificate names no role"):
        home.pin("b", made)


def test_a_certificate_with_any_byte_changed_is_one_or_is_refused_in_a_sentence(home, tmp_path):
    """The library has errors of its own for a version, an extension or a name that cannot be."""
    spoiled, outcomes = tmp_path / "spoiled.pem", set()
    good = ssl.PEM_cert_to_DER_cert((homes()["b"].folder / CERTIFICATE).read_text())
    for place in range(len(good)):
        for bit in (0, 1, 5):
            changed = bytearray(good)
            changed[place] ^= 1 << bit
            spoiled.write_text(ssl.DER_cert_to_PEM_cert(bytes(changed)))
            try:
                outcomes.add(read_certificate(spoiled).role)
            except BadData:
                outcomes.add("refused")
    assert {"b", "refused"} <= outcomes
    assert Home.open(home.folder) == home


def test_a_pin_that_is_valid_no_more_can_be_replaced(home, tmp_path, monkeypatch):
    monkeypatch.setattr(certificates, "_VALID", timedelta(seconds=-60))
    with pytest.raises(BadData, match="the certificate expired on"):
        Home.create(tmp_path / "stale", "b")
    monkeypatch.undo()
    (home.folder / PEERS / "b.pem").write_bytes((tmp_path / "stale" / CERTIFICATE).read_bytes())
    with pytest.raises(BadData, match="the certificate expired on"):
        Home.open(home.folder)
    fresh = homes()["b"].folder / CERTIFICATE
    refused = call("presence", "init", home.folder, "--pin-b", fresh)
    assert refused.code == 2
    assert "the certificate expired on" in refused.sentence()
    assert call("presence", "init", home.folder, "--pin-b", fresh, "--force").code == 0
    assert Home.open(home.folder).pinned["b"] == homes()["b"].certificate


def test_ctrl_c_leaves_a_whole_home_or_none(tmp_path):
    script = "import sys; from pathlib import Path; from setveil.presence.home import Home; print(1, flush=True); "
    script += "Home.create(Path(sys.argv[1]) / 'home', 'a')"
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        with subprocess.Popen(
            [sys.executable, "-c", script, folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            process.stdout.readline()
            time.sleep(number * 0.02)
            process.send_signal(signal.SIGINT)
        left = [path.name for path in folder.iterdir()]
        assert left in ([], ["home"])
        if left:
            assert Home.open(folder / "home").role == "a"


def test_without_the_extra_its_name_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for work in (lambda: Home.create(tmp_path / "home", "a"), lambda: Home.open(homes()["a"].folder)):
        with pytest.raises(Missing, match=r"install it with: pip install 'setveil\[presence\]'"):
            work()
    assert not list(tmp_path.iterdir())


def test_importing_the_transport_imports_no_extra():
    modules = "home, run_ledger, certificates, transport.tls, transport.listening, transport.handshake, transport.local"
    lines = [f"import setveil.presence.{name}" for name in modules.split(", ")]
    code = "\n".join([*lines, "import sys; print('cryptography' in sys.modules)"])
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
