"""Certificates of model signers: one extended key usage of their own, so that no other certificate of the CA signs models.

Sources (2026-11-26): ITU-T X.667, 6 (an object identifier under 2.25 from a UUID needs no registration); RFC 5280, 4.2.1.12.
The package model_signing accepts each certificate of the CA with Digital Signature, and at the time at which it began: usage
and end are checked here.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from landbridge.certificates import certificates_in, chain_of, keys_in, read_issued, sign

#: Own identifier from the UUID 8e6a1f0c-5b0d-4c53-9f0e-6d1c8a2b7e41.
MODEL_SIGNING = x509.ObjectIdentifier(f"2.25.{0x8E6A1F0C5B0D4C539F0E6D1C8A2B7E41}")
RULE = "model-signature"
#: Landbridge's choice: verification requires a certificate that has not expired, so a served model is signed again within this time.
SIGNER_DAYS = 397
_PUBLIC_KEYS = re.compile(r"-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----")


@dataclass(frozen=True, slots=True)
class ModelTrust:
    """Certificates of CAs and public keys, in PEM, whose signatures are accepted, and revoked serial numbers (hexadecimal)."""

    authorities: tuple[str, ...] = ()
    public_keys: tuple[str, ...] = ()
    revoked: frozenset[str] = field(default_factory=frozenset)


def signer_faults(certificate: x509.Certificate, trust: ModelTrust, now: datetime) -> Iterator[str]:
    """Yield the reasons why a signer's certificate, whose chain is valid, is not accepted."""
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        usages = x509.ExtendedKeyUsage([])
    if MODEL_SIGNING not in usages:
        yield "the certificate of the signer is not for model signing (extended key usage)"
    if now < certificate.not_valid_before_utc:
        yield f"the certificate of the signer is valid from {certificate.not_valid_before_utc:%FT%TZ}"
    if now > certificate.not_valid_after_utc:
        yield f"the certificate of the signer expired on {certificate.not_valid_after_utc:%FT%TZ}"
    if f"{certificate.serial_number:x}" in trust.revoked:
        yield f"the certificate of the signer ({certificate.serial_number:x}) is revoked"


def new_signer(authority: str, name: str, now: datetime, days: int = SIGNER_DAYS) -> str:
    """Return private key and certificate of a new signer, and intermediate CAs, in PEM. Raises CertificateError.

    `authority`: private key and certificates of the CA, in PEM.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    request = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .sign(key, SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    authority_key = next(iter(keys_in(authority)), "").encode()
    certificate = sign(request, name, authority.encode(), authority_key, now, days, purpose=MODEL_SIGNING)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return (pem + certificate).decode() + chain_of(authority)


def signer_end(signer: str) -> datetime:
    """Return the end of a signer's certificate. Raises CertificateError."""
    return read_issued("\n".join(certificates_in(signer)).encode()).not_after


def signer_serial(signer: str) -> str:
    """Return the serial number of a signer's certificate, hexadecimal. Raises CertificateError."""
    return read_issued("\n".join(certificates_in(signer)).encode()).serial


def trust_of(texts: Iterable[str], revoked: Iterable[str] = ()) -> ModelTrust:
    """Return the trust of PEM texts: each certificate is a CA's certificate, and each public key a signer's key."""
    joined = "\n".join(texts)
    keys = tuple(match.group() for match in _PUBLIC_KEYS.finditer(joined))
    return ModelTrust(tuple(certificates_in(joined)), keys, frozenset(each.lower() for each in revoked))
