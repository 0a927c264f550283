"""A party's home: the folder with its key, its certificate, the pinned certificates of the others and the ledger of its runs.

::

    HOME/              0700
      key.pem          0600  private key of the certificate
      certificate.pem        to be handed to the others
      dummies.key      0600  key of the stream that dummies are drawn from, in hexadecimal digits
      peers/                 pinned certificates: a.pem, b.pem, c.pem
      ledger.sqlite    0600  ledger of runs: with whom, when, over which people
      ledger.sqlite.head     the last event of the ledger
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path
from ssl import DER_cert_to_PEM_cert, PEM_cert_to_DER_cert
from typing import TYPE_CHECKING, get_args

from setveil.base import atomic
from setveil.errors import BadData, BadParameter, Missing, OutputRefused
from setveil.presence.certificates import (
    Certificate,
    Credentials,
    fingerprint,
    in_pairs,
    key_belongs,
    made_certificate,
    read_certificate,
    require_cryptography,
)
from setveil.presence.channel import PARTY_IN_WORDS, Role
from setveil.presence.run_ledger import RunLedger

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from setveil.presence.tables.provider_table import ProviderTable

KEY = "key.pem"
CERTIFICATE = "certificate.pem"
DUMMIES = "dummies.key"
PEERS = "peers"
LEDGER = "ledger.sqlite"
DUMMY_KEY_BYTES = 32
MOST_NAME_BYTES = 64
_EXISTS = "exists, and a home is never replaced since its keys would be lost; name another place"


@dataclass(frozen=True)
class Home:
    """An opened home, whose files were found in order."""

    folder: Path
    certificate: Certificate
    pinned: dict[Role, Certificate] = field(repr=False)

    @classmethod
    def create(cls, folder: str | Path, role: Role, *, name: str = "") -> Home:
        """Make a new home: all of it or nothing."""
        folder = Path(folder)
        if role not in get_args(Role):
            raise BadParameter(f"{role!r} is no role; expected a, b or c")
        name = name or PARTY_IN_WORDS[role]
        if len(name.encode()) > MOST_NAME_BYTES or not name.isprintable():
            raise BadParameter(
                f"a name in a certificate is printable and has 1 to {MOST_NAME_BYTES} bytes of UTF-8; {len(name.encode())} were given"
            )
        require_cryptography()
        atomic.refuse_folder(folder, if_exists=_EXISTS)
        with atomic.make_folder(folder, if_exists=_EXISTS) as staging:
            _fill(staging, role, name)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path, *, replacing: Collection[Role] = ()) -> Home:
        """Open a home, and refuse one whose keys others may read or whose files do not belong together.

        Pinned certificates that are about to be replaced are not looked at: they may be valid no more.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise Missing(f"{folder} is not a party's home; make one with setveil presence init")
        for name in (KEY, CERTIFICATE, DUMMIES, PEERS):
            if not (folder / name).exists():
                raise Missing(
                    f"{folder} is not a whole home: {name} is missing; make a new one with setveil presence init"
                )
        for secret in (folder / KEY, folder / DUMMIES):
            _refuse_open(secret, 0o077, "may be read by others", "0600; if others had access, make a new home")
        for place in (folder, folder / PEERS):
            _refuse_open(place, 0o022, "may be written by others, who could pin certificates", "0700")
        certificate = read_certificate(folder / CERTIFICATE)
        if not key_belongs(folder / KEY, certificate):
            raise BadData(
                "is not the private key of the certificate beside it; make a new home", file=str(folder / KEY)
            )
        home = cls(folder, certificate, _read_pinned(folder / PEERS, certificate, replacing))
        home.dummy_key()
        return home

    @classmethod
    def open_or_create(
        cls,
        folder: str | Path,
        *,
        role: Role | None = None,
        name: str | None = None,
        pins: Mapping[Role, str | Path] | None = None,
        force: bool = False,
    ) -> Home:
        """Open a home or make a new one, which needs a role, and pin the certificates of others; changed ones need `force`."""
        folder, files = Path(folder), {party: Path(file) for party, file in (pins or {}).items()}
        if folder.exists():
            if role and not (folder / CERTIFICATE).exists():
                raise OutputRefused(f"{folder} exists and is not a party's home; name another place")
            home = cls.open(folder, replacing=files if force else ())
            if name is not None:
                raise BadParameter(
                    f"{folder} is a home already, whose certificate keeps its name; `name=` is for a new one"
                )
            if role is not None:
                home.refuse_other_role(role)
        elif role is None:
            raise Missing(f"{folder} is not there; make a home with `role=` a, b or c")
        else:
            for party, file in files.items():  # a home is not made where what is to be pinned cannot be
                cls.refuse_pin(role, party, file)
            home = cls.create(folder, role, name=name or "")
        for party, file in files.items():
            home = home.pin(party, file, force=force)
        return home

    def refuse_other_role(self, role: Role) -> None:
        """Refuse the home of another party."""
        if self.role != role:
            raise BadParameter(
                f"{self.folder} is the home of {PARTY_IN_WORDS[self.role]}, not of {PARTY_IN_WORDS[role]}"
            )

    @property
    def role(self) -> Role:
        """Whose home it is."""
        return self.certificate.role

    @property
    def not_pinned(self) -> list[Role]:
        """The other parties whose certificates are not pinned yet."""
        return [party for party in get_args(Role) if party != self.role and party not in self.pinned]

    @property
    def ledger(self) -> RunLedger:
        """The ledger of this party's runs; `ledger.recover()` renews one that was lost."""
        return RunLedger(self.folder / LEDGER, self.certificate.fingerprint)

    def dummy_key(self) -> bytes:
        """Return the key of the stream that dummies are drawn from; it never leaves this party."""
        path = self.folder / DUMMIES
        try:
            with path.open("rb") as file:
                text = file.read(4 * DUMMY_KEY_BYTES).strip()
        except OSError as error:
            raise Missing(f"{path}: the key of the dummies cannot be read: {error.strerror}") from None
        if not re.fullmatch(rb"[0-9a-f]{%d}" % (2 * DUMMY_KEY_BYTES), text):
            raise BadData(
                f"does not hold a key of {2 * DUMMY_KEY_BYTES} hexadecimal digits; put back the file as it was made",
                file=str(path),
            )
        return bytes.fromhex(text.decode())

    def secret(self, purpose: bytes) -> bytes:
        """Return 32 bytes for a purpose that only the key of dummies leads to."""
        return hashlib.blake2b(key=self.dummy_key(), person=purpose, digest_size=32).digest()

    def commitment(self, table: ProviderTable) -> str:
        """Return a hash that changes with the table and reveals nothing of it: of the table's checksum and a salt of this home.

        With other dummies it changes too, since the salt comes from their key.
        """
        return hashlib.sha256(self.secret(b"data commitment") + bytes.fromhex(table.checksum())).hexdigest()

    def credentials(self) -> Credentials:
        """Return what a line needs: this party's certificate and key, and the pinned ones."""
        return Credentials(self.certificate, self.folder / CERTIFICATE, self.folder / KEY, dict(self.pinned))

    @staticmethod
    def refuse_pin(own: Role, role: Role, certificate_file: Path) -> Certificate:
        """Return a certificate that a party of the role `own` may pin, or refuse it."""
        certificate = read_certificate(certificate_file)
        if role == own:
            raise BadParameter(f"this is the home of {PARTY_IN_WORDS[role]}, which pins the certificates of the others")
        if certificate.role != role:
            raise BadParameter(
                f"{certificate_file} is the certificate of {certificate.party}, not of {PARTY_IN_WORDS[role]}"
            )
        return certificate

    def pin(self, role: Role, certificate_file: str | Path, *, force: bool = False) -> Home:
        """Pin the certificate of another party and return the home with it; one that was changed needs `force`."""
        certificate_file = Path(certificate_file)
        if read_certificate(certificate_file).der == self.certificate.der:
            raise BadParameter(f"{certificate_file} is this party's own certificate; pin those of the others")
        certificate = self.refuse_pin(self.role, role, certificate_file)
        before = self.pinned.get(role)
        if before is not None and before.der == certificate.der:
            return self
        if before is not None and not force:
            raise OutputRefused(
                f"another certificate of {certificate.party} is pinned: {in_pairs(before.fingerprint)}; given is "
                f"{in_pairs(certificate.fingerprint)}. Ask by another way which is right; replace it with `force=True`"
            )
        atomic.replace_file(self.folder / PEERS / f"{role}.pem", DER_cert_to_PEM_cert(certificate.der).encode())
        return Home(self.folder, self.certificate, {**self.pinned, role: certificate})


def _fill(staging: Path, role: Role, name: str) -> None:
    key, certificate = made_certificate(role, name)
    _write_new(staging / KEY, key, 0o600)
    _write_new(staging / CERTIFICATE, certificate, 0o644)
    _write_new(staging / DUMMIES, secrets.token_hex(DUMMY_KEY_BYTES).encode() + b"\n", 0o600)
    RunLedger(staging / LEDGER, fingerprint(PEM_cert_to_DER_cert(certificate.decode()))).create()
    (staging / PEERS).mkdir(mode=0o700)


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that never had a wider mode than it ends with."""
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(content)
    path.chmod(mode)


def _refuse_open(path: Path, bits: int, what: str, wanted: str) -> None:
    if os.name == "posix" and (mode := stat.S_IMODE(path.stat().st_mode)) & bits:
        raise BadData(f"{what} (mode {mode:04o}); set its mode to {wanted}", file=str(path))


def _read_pinned(folder: Path, own: Certificate, replacing: Collection[Role]) -> dict[Role, Certificate]:
    pinned: dict[Role, Certificate] = {}
    for role in get_args(Role):
        path = folder / f"{role}.pem"
        if role in replacing or not path.exists():
            continue
        certificate = read_certificate(path)
        if certificate.role != role or role == own.role:
            raise BadData(
                f"is the certificate of {certificate.party}, in the place of {PARTY_IN_WORDS[role]}; remove it and pin the right one",
                file=str(path),
            )
        pinned[role] = certificate
    return pinned
