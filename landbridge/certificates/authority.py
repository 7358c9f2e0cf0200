"""Certificate authority (CA): a new one, and the checks of its certificate and of its key."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.hashes import MD5, SHA1, SHA256
from cryptography.x509.oid import NameOID

from landbridge.certificates.extensions import certificate_builder, key_usage
from landbridge.certificates.pem import CertificateError, certificate_of

#: Landbridge's choice: the CA certificate is in the environment file, and its replacement needs `landbridge up`.
_AUTHORITY_DAYS = 3650


def new_authority(name: str, now: datetime) -> tuple[bytes, bytes]:
    """Return private key and certificate of a new CA, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    usage = key_usage(key_cert_sign=True, crl_sign=True)
    certificate = (
        certificate_builder(subject, subject, key.public_key(), now, now + timedelta(days=_AUTHORITY_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem, certificate.public_bytes(serialization.Encoding.PEM)


def check_pair(authority: bytes, key: bytes) -> CertificateIssuerPrivateKeyTypes:
    """Return the CA's private key. Raises CertificateError unless it belongs to the CA's certificate."""
    ca_key = _private_key(key)
    if ca_key.public_key() != certificate_of(authority).public_key():
        raise CertificateError("the CA's key does not belong to its certificate")
    return ca_key


def read_authority(text: bytes, now: datetime) -> x509.Certificate:
    """Return the first CA certificate of a PEM text. Raises CertificateError if a trust anchor would not accept it."""
    try:
        certificate = x509.load_pem_x509_certificates(text)[0]
    except ValueError as error:
        raise CertificateError(f"not a certificate in PEM: {error}") from error
    reasons = list(authority_problems(certificate, now))
    if reasons:
        raise CertificateError("; ".join(reasons))
    return certificate


def authority_problems(certificate: x509.Certificate, now: datetime) -> Iterator[str]:
    """Yield the reasons for which a trust anchor does not accept a CA certificate, or gives no credentials now."""
    extensions = certificate.extensions
    try:
        if not extensions.get_extension_for_class(x509.BasicConstraints).value.ca:
            yield "this is not a CA certificate: its basic constraints have CA:FALSE"
    except x509.ExtensionNotFound:
        yield "this is not a CA certificate: it has no basic constraints"
    try:
        if not extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign:
            yield "its key usage does not contain Certificate Sign"
    except x509.ExtensionNotFound:
        yield "it has no key usage"
    if isinstance(certificate.signature_hash_algorithm, MD5 | SHA1):
        yield "it is signed with MD5 or SHA-1"
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        yield f"it is valid from {certificate.not_valid_before_utc:%F} to {certificate.not_valid_after_utc:%F} only"


def authority_end(text: str) -> tuple[list[str], datetime] | None:
    """Return the problems of a CA certificate besides its time, and its end; None if it cannot be read."""
    try:
        certificate = x509.load_pem_x509_certificates(text.encode())[0]
        return list(authority_problems(certificate, certificate.not_valid_after_utc)), certificate.not_valid_after_utc
    except ValueError:
        return None


def _private_key(text: bytes) -> CertificateIssuerPrivateKeyTypes:
    try:
        key = serialization.load_pem_private_key(text, password=None)
    except TypeError as error:
        raise CertificateError(
            "the CA's key is encrypted; give it without a password, or sign the requests elsewhere"
        ) from error
    except ValueError as error:
        raise CertificateError(f"not a private key in PEM: {error}") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise CertificateError("the CA's key is neither an EC nor an RSA key")
    return key
