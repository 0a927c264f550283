"""A party's home: the folder with its keys, its certificate, the pinned certificates of the other parties and the ledger of its runs.

::

    HOME/              0700
      key.pem          0600  private key of the certificate
      certificate.pem        to give to the other parties
      dummies.key      0600  key that dummies are drawn with, in hexadecimal digits
      peers/                 pinned certificates: a.pem, b.pem, c.pem
      ledger.sqlite    0600  ledger of runs: peer, time and people of each run
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
    grouped_digits,
    key_belongs,
    made_certificate,
    read_certificate,
    require_cryptography,
)
from setveil.presence.channel import PARTY_NAMES, Role
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
_EXISTS = "exists, and a home is never replaced because its keys would be lost; name another folder"


@dataclass(frozen=True)
class Home:
    """The folder with the keys and certificates of a party of joint runs.

    Create a home once, with `Home.create` or ``setveil presence init``, and keep it: a second run with other dummy keys would separate
    real users from dummies. `Home.open` and `Home.open_or_create` return an existing home after checking its files.

    Parameters
    ----------
    folder : Path
        The folder of the home.
    certificate : Certificate
        The party's own certificate, which names its role.
    pinned : dict
        The pinned certificates of the other parties, by role.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> folder = Path(tempfile.mkdtemp())
    >>> bank = sv.Home.create(folder / "bank", "a", name="Bank")
    >>> video = sv.Home.create(folder / "video", "b")
    >>> bank = bank.pin("b", folder / "video" / "certificate.pem")
    >>> bank.role, bank.not_pinned
    ('a', ['c'])
    """

    folder: Path
    certificate: Certificate
    pinned: dict[Role, Certificate] = field(repr=False)

    @classmethod
    def create(cls, folder: str | Path, role: Role, *, name: str = "") -> Home:
        """Create a new home: all of its files or none.

        Parameters
        ----------
        folder : str or Path
            The folder to create.
        role : str
            The party: ``"a"`` for provider A, ``"b"`` for provider B, ``"c"`` for the collector.
        name : str
            The name in the certificate, at most 64 bytes of UTF-8 (default: the name of the role).

        Returns
        -------
        Home
            The new home, without pinned certificates.

        Raises
        ------
        BadParameter
            The role or the name is not allowed.
        OutputRefused
            The folder exists or cannot be written.
        Missing
            The package `cryptography` is not installed.
        """
        folder = Path(folder)
        if role not in get_args(Role):
            raise BadParameter(f"{role!r} is not a role; expected a, b or c")
        name = name or PARTY_NAMES[role]
        if len(name.encode()) > MOST_NAME_BYTES or not name.isprintable():
            raise BadParameter(
                f"a name in a certificate must be printable and have 1 to {MOST_NAME_BYTES} bytes of UTF-8; {len(name.encode())} were given"
            )
        require_cryptography()
        atomic.refuse_folder(folder, if_exists=_EXISTS)
        with atomic.make_folder(folder, if_exists=_EXISTS) as staging:
            _fill(staging, role, name)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: str | Path, *, replacing: Collection[Role] = ()) -> Home:
        """Open a home. Refuse one whose keys other accounts can read, or whose files do not belong together.

        Parameters
        ----------
        folder : str or Path
            The folder of the home.
        replacing : collection of str, optional
            Roles whose pinned certificates are about to be replaced. They are not read, because they may have expired.

        Returns
        -------
        Home
            The opened home.

        Raises
        ------
        Missing
            The folder is not a home, or a file of it is missing.
        BadData
            A file is damaged, has too wide permissions, or does not belong to this home.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise Missing(f"{folder} is not a party's home; create one with setveil presence init")
        for name in (KEY, CERTIFICATE, DUMMIES, PEERS):
            if not (folder / name).exists():
                raise Missing(
                    f"{folder} is not a complete home: {name} is missing; restore it, or create a new home with setveil presence init"
                )
        for secret in (folder / KEY, folder / DUMMIES):
            _refuse_open(secret, 0o077, "can be read by others", "0600; if others had access, create a new home")
        for place in (folder, folder / PEERS):
            _refuse_open(place, 0o022, "can be written by others, who could pin certificates", "0700")
        certificate = read_certificate(folder / CERTIFICATE)
        if not key_belongs(folder / KEY, certificate):
            raise BadData(
                "is not the private key of the certificate beside it; restore both files, or create a new home",
                file=str(folder / KEY),
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
        """Open a home, or create a new one, and pin the certificates of other parties.

        Parameters
        ----------
        folder : str or Path
            The folder of the home.
        role : str, optional
            The party: ``"a"``, ``"b"`` or ``"c"``. Required for a new home; an existing home must have this role.
        name : str, optional
            The name in the certificate, for a new home only.
        pins : dict, optional
            The certificate files to pin, by role.
        force : bool
            Replace pinned certificates that differ.

        Returns
        -------
        Home
            The home with the pinned certificates.

        Raises
        ------
        Missing
            The folder does not exist and `role` is not given, or the home is not complete.
        BadParameter
            The home has another role, `name` is given for an existing home, or a certificate must not be pinned.
        BadData
            A file is damaged, or is not a certificate.
        OutputRefused
            The folder is not a home, or another certificate is pinned already.
        """
        folder, files = Path(folder), {party: Path(file) for party, file in (pins or {}).items()}
        if folder.exists():
            if role and not (folder / CERTIFICATE).exists():
                raise OutputRefused(f"{folder} exists and is not a party's home; name another folder")
            home = cls.open(folder, replacing=files if force else ())
            if name is not None:
                raise BadParameter(
                    f"{folder} is already a home, and the name in its certificate cannot change; give `name=` for a new home only"
                )
            if role is not None:
                home.refuse_other_role(role)
        elif role is None:
            raise Missing(f"{folder} does not exist; to create a home there, give `role=` a, b or c")
        else:
            for party, file in files.items():  # create no home if a certificate cannot be pinned
                cls.refuse_pin(role, party, file)
            home = cls.create(folder, role, name=name or "")
        for party, file in files.items():
            home = home.pin(party, file, force=force)
        return home

    def refuse_other_role(self, role: Role) -> None:
        """Refuse this home if it is not that of a role.

        Parameters
        ----------
        role : str
            The expected role.

        Raises
        ------
        BadParameter
            This is the home of another party.
        """
        if self.role != role:
            raise BadParameter(f"{self.folder} is the home of {PARTY_NAMES[self.role]}, not of {PARTY_NAMES[role]}")

    @property
    def role(self) -> Role:
        """The role of the party: ``"a"``, ``"b"`` or ``"c"``."""
        return self.certificate.role

    @property
    def not_pinned(self) -> list[Role]:
        """The other parties whose certificates are not pinned yet."""
        return [party for party in get_args(Role) if party != self.role and party not in self.pinned]

    @property
    def ledger(self) -> RunLedger:
        """The ledger of this party's runs; `ledger.recover()` recovers one that was lost."""
        return RunLedger(self.folder / LEDGER, self.certificate.fingerprint)

    def dummy_key(self) -> bytes:
        """Return the key that dummies are drawn with. It is never sent to another party.

        Returns
        -------
        bytes
            The 32 bytes of the key.

        Raises
        ------
        Missing
            The file cannot be read.
        BadData
            The file does not hold a key.
        """
        path = self.folder / DUMMIES
        try:
            with path.open("rb") as file:
                text = file.read(4 * DUMMY_KEY_BYTES).strip()
        except OSError as error:
            raise Missing(f"{path}: the dummy key cannot be read: {error.strerror}") from None
        if not re.fullmatch(rb"[0-9a-f]{%d}" % (2 * DUMMY_KEY_BYTES), text):
            raise BadData(
                f"does not hold a key of {2 * DUMMY_KEY_BYTES} hexadecimal digits; restore the original file from a backup",
                file=str(path),
            )
        return bytes.fromhex(text.decode())

    def secret(self, purpose: bytes) -> bytes:
        """Return 32 secret bytes for a purpose, derived from the dummy key.

        Parameters
        ----------
        purpose : bytes
            The purpose, at most 16 bytes; different purposes give independent secrets.

        Returns
        -------
        bytes
            The secret.
        """
        return hashlib.blake2b(key=self.dummy_key(), person=purpose, digest_size=32).digest()

    def commitment(self, table: ProviderTable) -> str:
        """Return a commitment to a table: the hash of its checksum and a salt of this home.

        It changes with the table and reveals nothing else about it. It also changes with the dummy key, which the salt is derived from.

        Parameters
        ----------
        table : ProviderTable
            The provider's table.

        Returns
        -------
        str
            The commitment, 64 hexadecimal digits.
        """
        return hashlib.sha256(self.secret(b"data commitment") + bytes.fromhex(table.checksum())).hexdigest()

    def credentials(self) -> Credentials:
        """Return what a connection needs: this party's certificate and key, and the pinned certificates."""
        return Credentials(self.certificate, self.folder / CERTIFICATE, self.folder / KEY, dict(self.pinned))

    @staticmethod
    def refuse_pin(own: Role, role: Role, certificate_file: Path) -> Certificate:
        """Return the certificate of a file if a party may pin it for a role; refuse it otherwise.

        Parameters
        ----------
        own : str
            The role of the party that pins.
        role : str
            The role to pin the certificate for.
        certificate_file : Path
            The certificate.

        Returns
        -------
        Certificate
            The certificate.

        Raises
        ------
        BadParameter
            The two roles are the same, or the certificate is that of another role.
        Missing, BadData
            The file cannot be read, or is not a valid certificate.
        """
        certificate = read_certificate(certificate_file)
        if role == own:
            raise BadParameter(
                f"this is the home of {PARTY_NAMES[role]}; pin the certificates of the other parties, not its own"
            )
        if certificate.role != role:
            raise BadParameter(
                f"{certificate_file} is the certificate of {certificate.party}, not of {PARTY_NAMES[role]}"
            )
        return certificate

    def pin(self, role: Role, certificate_file: str | Path, *, force: bool = False) -> Home:
        """Pin the certificate of another party.

        Parameters
        ----------
        role : str
            The role of the other party.
        certificate_file : str or Path
            Its file `certificate.pem`.
        force : bool
            Replace a different certificate that is pinned for this party.

        Returns
        -------
        Home
            The home with the pinned certificate.

        Raises
        ------
        BadParameter
            The certificate is this party's own, or that of another role.
        BadData
            The file is not a valid certificate.
        OutputRefused
            Another certificate is pinned and `force` is not given.
        """
        certificate_file = Path(certificate_file)
        if read_certificate(certificate_file).der == self.certificate.der:
            raise BadParameter(
                f"{certificate_file} is this party's own certificate; pin the certificates of the other parties"
            )
        certificate = self.refuse_pin(self.role, role, certificate_file)
        before = self.pinned.get(role)
        if before is not None and before.der == certificate.der:
            return self
        if before is not None and not force:
            raise OutputRefused(
                f"another certificate of {certificate.party} is pinned: {grouped_digits(before.fingerprint)}; the given one is "
                f"{grouped_digits(certificate.fingerprint)}. Ask {certificate.party} by another channel which one is right; replace the "
                "pinned one with `force=True`"
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
    """Write a file whose permissions are never wider than its final mode."""
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
                f"is the certificate of {certificate.party}, expected that of {PARTY_NAMES[role]}; remove the file and pin the right one",
                file=str(path),
            )
        pinned[role] = certificate
    return pinned
