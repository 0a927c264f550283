"""Certificates of parties: self-signed, with the role inside, pinned byte for byte by the other parties."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, get_args

from setveil.errors import BadData, Missing
from setveil.presence.channel import PARTY_NAMES, Role

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ROLE_URI = "urn:setveil:presence:role:"
_VALID = timedelta(days=3653)
_CLOCKS_APART = timedelta(days=1)
MOST_CERTIFICATE_BYTES = 1 << 16


@dataclass(frozen=True)
class Certificate:
    """The certificate of a party."""

    role: Role
    name: str
    der: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate, in hexadecimal digits."""
        return fingerprint(self.der)

    @property
    def party(self) -> str:
        """The name of the party, for messages."""
        return PARTY_NAMES[self.role]


@dataclass(frozen=True)
class Credentials:
    """A party's own certificate and key, and the pinned certificates of the other parties."""

    certificate: Certificate
    certificate_file: Path
    key_file: Path
    pinned: Mapping[Role, Certificate]

    @property
    def role(self) -> Role:
        """The role of this party."""
        return self.certificate.role


def fingerprint(der: bytes) -> str:
    """Return the SHA-256 of a certificate, in hexadecimal digits."""
    return hashlib.sha256(der).hexdigest()


def grouped_digits(digits: str) -> str:
    """Return a fingerprint in groups of eight digits, for people to compare."""
    return " ".join(digits[start : start + 8] for start in range(0, len(digits), 8))


def require_cryptography() -> None:
    """Raise `Missing` if the library that makes and reads certificates is not installed."""
    try:
        import cryptography  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise Missing(
            "certificates require the package 'cryptography', which is not installed; install it with: pip install 'setveil[presence]'"
        ) from None


def made_certificate(role: Role, name: str) -> tuple[bytes, bytes]:
    """Return a new private key and its self-signed certificate, both as PEM."""
    require_cryptography()
    from cryptography import x509  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    # The role is also in the subject, so that two parties with the same name have different subjects.
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, f"setveil presence {role}"),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_APART)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(_ROLE_URI + role)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
    )
    certificate = builder.sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, certificate.public_bytes(serialization.Encoding.PEM)


def read_certificate(path: Path) -> Certificate:
    """Read a certificate that setveil made, from a PEM file."""
    parsed = _parsed(path)
    from cryptography import x509  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    now = datetime.now(UTC)
    if now > parsed.not_valid_after_utc:
        raise BadData(
            f"the certificate expired on {parsed.not_valid_after_utc:%Y-%m-%d}; its party must create a new home",
            file=str(path),
        )
    if now < parsed.not_valid_before_utc:
        raise BadData(
            f"the certificate is not valid before {parsed.not_valid_before_utc:%Y-%m-%d}; check this computer's clock",
            file=str(path),
        )
    try:
        names = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        uris = names.get_values_for_type(x509.UniformResourceIdentifier)
        common = parsed.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    except _unreadable():
        uris, common = [], []
    roles = [role for role in get_args(Role) if f"{_ROLE_URI}{role}" in uris]
    if len(roles) != 1:
        raise BadData(
            "the certificate names no role (provider A, provider B or the collector); expected a certificate that setveil created",
            file=str(path),
        )
    name = str(common[0].value) if common else ""
    return Certificate(
        roles[0], "".join(c if c.isprintable() else "?" for c in name), parsed.public_bytes(Encoding.DER)
    )


def _unreadable() -> tuple[type[Exception], ...]:
    """Return the exceptions that the library raises for bytes that are not a certificate, or not one that it can parse."""
    from cryptography import x509  # noqa: PLC0415 - an extra
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415

    of_certificates = (
        x509.ExtensionNotFound,
        x509.DuplicateExtension,
        x509.UnsupportedGeneralNameType,
        x509.InvalidVersion,
    )
    return ValueError, UnsupportedAlgorithm, *of_certificates


def _parsed(path: Path) -> Any:
    require_cryptography()
    from cryptography import x509  # noqa: PLC0415 - an extra

    try:
        with path.open("rb") as file:
            text = file.read(MOST_CERTIFICATE_BYTES + 1)
    except OSError as error:
        raise Missing(f"{path}: the certificate cannot be read: {error.strerror}") from None
    if b"PRIVATE KEY" in text:
        raise BadData("holds a private key, which must never be shared; expected a certificate", file=str(path))
    try:
        found = x509.load_pem_x509_certificates(text) if len(text) <= MOST_CERTIFICATE_BYTES else []
    except _unreadable():
        found = []
    if len(found) != 1:
        raise BadData(
            "is not a certificate; expected the file certificate.pem from the home of another party", file=str(path)
        )
    return found[0]


def key_belongs(key_file: Path, certificate: Certificate) -> bool:
    """Return whether a private key belongs to a certificate; also False if the file holds no key."""
    from cryptography import x509  # noqa: PLC0415 - an extra
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(key_file.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return bool(key.public_key() == x509.load_der_x509_certificate(certificate.der).public_key())
