"""Certificates (X.509) for IAM Roles Anywhere and for the site's servers: a new CA, a host's certificate from its request,
and checks of both.

Pure: the caller gives the time. Sources (2026-11-25): IAM Roles Anywhere User Guide, "The IAM Roles Anywhere trust
model": X.509 v3, CA certificates with CA:TRUE, host certificates with CA:FALSE and key usage Digital Signature, signed
with SHA-256 or stronger; "IAM Roles Anywhere authentication": keys are RSA or EC. A certificate has clientAuth as
extended key usage too, which TLS requires for clients (RFC 5280, 4.2.1.12). A server's has serverAuth, and the names and
addresses of its clients' URLs (RFC 9525, 6.3 and 6.5).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.hashes import MD5, SHA1, SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

#: Own choice: the CA certificate is in the environment file, and its replacement needs `landbridge up`.
AUTHORITY_DAYS = 3650
#: A certificate is valid from this time before it is issued, because the clocks of hosts differ.
_BEFORE = timedelta(minutes=5)
_LEAST_RSA_BITS = 2048
_PEM_KEYS = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----[^-]+-----END \1-----")
_PEM_CERTIFICATES = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")


class CertificateError(Exception):
    """Error: this text cannot be used; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Issued:
    """Certificate of a host: its common name, serial number and end of validity."""

    common_name: str
    serial: str
    not_after: datetime


def new_authority(name: str, now: datetime) -> tuple[bytes, bytes]:
    """Return private key and certificate of a new CA, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    usage = _usage(key_cert_sign=True, crl_sign=True)
    certificate = (
        _builder(subject, subject, key.public_key(), now, now + timedelta(days=AUTHORITY_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return pem, certificate.public_bytes(serialization.Encoding.PEM)


def sign(
    request: bytes,
    host: str,
    authority: bytes,
    key: bytes,
    now: datetime,
    days: int,
    server_names: Sequence[str] = (),
    purpose: x509.ObjectIdentifier | None = None,
) -> bytes:
    """Return a certificate for the request of a host, in PEM. Raises CertificateError.

    It ends with the CA certificate at the latest. Its extensions are not those of the request. With `server_names`, names and
    addresses, it is that of a server; another `purpose` is its only extended key usage.
    """
    purpose = purpose or (ExtendedKeyUsageOID.SERVER_AUTH if server_names else ExtendedKeyUsageOID.CLIENT_AUTH)
    wanted = read_request(request, host)
    ca, ca_key = read_authority(authority, now), check_pair(authority, key)
    certificate = (
        _builder(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]),
            ca.subject,
            wanted.public_key(),
            now,
            min(now + timedelta(days=days), ca.not_valid_after_utc),
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(_alternative_names(server_names or (host,)), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(wanted.public_key()), critical=False)
        .add_extension(_authority_key(ca), critical=False)
        .sign(ca_key, SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def certificates_in(text: str) -> list[str]:
    """Return the certificates of a PEM text, which may also have a key, in their order."""
    return _PEM_CERTIFICATES.findall(text)


def keys_in(text: str) -> list[str]:
    """Return the private keys of a PEM text, in their order."""
    return [match.group() for match in _PEM_KEYS.finditer(text)]


def valid_from(certificate: str) -> datetime:
    """Return the time at which a certificate in PEM was issued."""
    return _certificate(certificate.encode()).not_valid_before_utc + _BEFORE


def subject_and_fingerprint(certificate: str) -> tuple[str, str]:
    """Return the subject of a certificate in PEM (RFC 4514), and its SHA-256 fingerprint as OpenSSL prints it."""
    parsed = _certificate(certificate.encode())
    return parsed.subject.rfc4514_string(), parsed.fingerprint(SHA256()).hex(":").upper()


def chain_of(text: str) -> str:
    """Return the certificates of intermediate CAs in a CA's PEM text, which a server sends after its own."""
    certificates = [_certificate(certificate.encode()) for certificate in certificates_in(text)]
    intermediate = [certificate for certificate in certificates if certificate.issuer != certificate.subject]
    return "".join(certificate.public_bytes(serialization.Encoding.PEM).decode() for certificate in intermediate)


def check_pair(authority: bytes, key: bytes) -> CertificateIssuerPrivateKeyTypes:
    """Return the CA's private key. Raises CertificateError unless it belongs to the CA's certificate."""
    ca_key = _private_key(key)
    if ca_key.public_key() != _certificate(authority).public_key():
        raise CertificateError("the CA's key does not belong to its certificate")
    return ca_key


def read_request(text: bytes, host: str) -> x509.CertificateSigningRequest:
    """Return a host's certificate request. Raises CertificateError unless it is signed, and for this host."""
    try:
        request = x509.load_pem_x509_csr(text)
        is_signed = request.is_signature_valid
    except (ValueError, InvalidSignature) as error:
        raise CertificateError(f"not a certificate request in PEM: {error}") from error
    if not is_signed:
        raise CertificateError("the request's signature is not valid")
    if (name := common_name(request.subject)) != host:
        raise CertificateError(f'the request is for "{name}", not for {host}')
    if (reason := _weak(request.public_key())) is not None:
        raise CertificateError(reason)
    return request


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
            yield "this is no CA certificate: its basic constraints have CA:FALSE"
    except x509.ExtensionNotFound:
        yield "this is no CA certificate: it has no basic constraints"
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


def issuer_of(text: str, others: Sequence[str]) -> str | None:
    """Return the one of the other certificates, in PEM, that issued a certificate; None: it is not there, or it is the
    certificate itself.
    """
    certificate = _certificate(text.encode())
    for other in others:
        try:
            certificate.verify_directly_issued_by(_certificate(other.encode()))
        except (ValueError, TypeError, InvalidSignature):
            continue
        return other
    return None


def has_key_of(certificate: bytes, request: bytes) -> bool:
    """Return whether a certificate has the public key of a request."""
    return _certificate(certificate).public_key() == x509.load_pem_x509_csr(request).public_key()


def read_issued(text: bytes) -> Issued:
    """Return facts of a host's certificate, the first of a PEM text. Raises CertificateError."""
    certificate = _certificate(text)
    return Issued(common_name(certificate.subject), f"{certificate.serial_number:x}", certificate.not_valid_after_utc)


def host_problems(text: bytes, authority: bytes, hosts: tuple[str, ...], now: datetime) -> list[str]:
    """Return the reasons for which a certificate gives no credentials to one of the hosts."""
    certificate, ca = _certificate(text), read_authority(authority, now)
    problems: list[str] = []
    if (name := common_name(certificate.subject)) not in hosts:
        problems.append(f'its common name "{name}" is none of {", ".join(hosts)}')
    try:
        certificate.verify_directly_issued_by(ca)
    except (ValueError, TypeError, InvalidSignature):
        problems.append("it is not signed by the CA of the environment file")
    try:
        if not certificate.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature:
            problems.append("its key usage does not contain Digital Signature")
    except x509.ExtensionNotFound:
        problems.append("it has no key usage")
    if certificate.not_valid_after_utc <= now:
        problems.append(f"it expired on {certificate.not_valid_after_utc:%F}")
    return problems


def common_name(name: x509.Name) -> str:
    """Return the common name of a subject; empty if it has none."""
    values = name.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(values[0].value) if values else ""


def _alternative_names(names: Sequence[str]) -> x509.SubjectAlternativeName:
    values: list[x509.GeneralName] = []
    for name in names:
        try:
            values.append(x509.IPAddress(ip_address(name)))
        except ValueError:
            values.append(x509.DNSName(name))
    return x509.SubjectAlternativeName(values)


def _certificate(text: bytes) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(text)[0]
    except ValueError as error:
        raise CertificateError(f"not a certificate in PEM: {error}") from error


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


def _weak(key: object) -> str | None:
    """Return the reason for which IAM Roles Anywhere does not accept a public key, or None."""
    if isinstance(key, rsa.RSAPublicKey):
        return None if key.key_size >= _LEAST_RSA_BITS else f"an RSA key of {key.key_size} bits is too short"
    return None if isinstance(key, ec.EllipticCurvePublicKey) else "the key is neither an EC nor an RSA key"


def _builder(
    subject: x509.Name, issuer: x509.Name, key: object, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)  # type: ignore[arg-type]
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(end)
    )


def _authority_key(ca: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    try:
        identifier = ca.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
    except x509.ExtensionNotFound:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.public_key())  # type: ignore[arg-type]


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )
