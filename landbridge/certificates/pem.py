"""Certificates and keys in PEM: their parts, names and times."""

import re
from collections.abc import Sequence
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from landbridge.certificates.extensions import BEFORE

_PEM_KEYS = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^-]+-----END \1-----")
_PEM_CERTIFICATES = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")


class CertificateError(Exception):
    """Error: this text cannot be used; the message has the reason."""


def certificates_in(text: str) -> list[str]:
    """Return the certificates of a PEM text, which may also have a key, in their order."""
    return _PEM_CERTIFICATES.findall(text)


def keys_in(text: str) -> list[str]:
    """Return the private keys of a PEM text, in their order."""
    return [match.group() for match in _PEM_KEYS.finditer(text)]


def valid_from(certificate: str) -> datetime:
    """Return the time at which a certificate in PEM was issued."""
    return certificate_of(certificate.encode()).not_valid_before_utc + BEFORE


def subject_and_fingerprint(certificate: str) -> tuple[str, str]:
    """Return the subject of a certificate in PEM (RFC 4514), and its SHA-256 fingerprint as OpenSSL prints it."""
    parsed = certificate_of(certificate.encode())
    return parsed.subject.rfc4514_string(), parsed.fingerprint(SHA256()).hex(":").upper()


def chain_of(text: str) -> str:
    """Return the certificates of intermediate CAs in a CA's PEM text, which a server sends after its own."""
    certificates = [certificate_of(certificate.encode()) for certificate in certificates_in(text)]
    intermediate = [certificate for certificate in certificates if certificate.issuer != certificate.subject]
    return "".join(certificate.public_bytes(serialization.Encoding.PEM).decode() for certificate in intermediate)


def issuer_of(text: str, others: Sequence[str]) -> str | None:
    """Return the one of the other certificates, in PEM, that issued a certificate; None: it is not there, or it is the
    certificate itself.
    """
    certificate = certificate_of(text.encode())
    for other in others:
        try:
            certificate.verify_directly_issued_by(certificate_of(other.encode()))
        except (ValueError, TypeError, InvalidSignature):
            continue
        return other
    return None


def common_name(name: x509.Name) -> str:
    """Return the common name of a subject; empty if it has none."""
    values = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(values[0].value) if values else ""


def certificate_of(text: bytes) -> x509.Certificate:
    """Return the first certificate of a PEM text. Raises CertificateError."""
    try:
        return x509.load_pem_x509_certificates(text)[0]
    except ValueError as error:
        raise CertificateError(f"not a certificate in PEM: {error}") from error
