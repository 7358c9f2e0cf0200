"""Certificates of hosts: a host's request with its checks, the certificate that the CA signs for it, and checks of that."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from landbridge.certificates.authority import check_pair, read_authority
from landbridge.certificates.extensions import certificate_builder, key_usage
from landbridge.certificates.pem import CertificateError, certificate_of, common_name

_LEAST_RSA_BITS = 2048


@dataclass(frozen=True, slots=True)
class Issued:
    """Certificate of a host: its common name, serial number and end of validity."""

    common_name: str
    serial: str
    not_after: datetime


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
        certificate_builder(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]),
            ca.subject,
            wanted.public_key(),
            now,
            min(now + timedelta(days=days), ca.not_valid_after_utc),
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(key_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(_alternative_names(server_names or (host,)), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(wanted.public_key()), critical=False)
        .add_extension(_authority_key(ca), critical=False)
        .sign(ca_key, SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


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


def has_key_of(certificate: bytes, request: bytes) -> bool:
    """Return whether a certificate has the public key of a request."""
    return certificate_of(certificate).public_key() == x509.load_pem_x509_csr(request).public_key()


def read_issued(text: bytes) -> Issued:
    """Return facts of a host's certificate, the first of a PEM text. Raises CertificateError."""
    certificate = certificate_of(text)
    return Issued(common_name(certificate.subject), f"{certificate.serial_number:x}", certificate.not_valid_after_utc)


def host_problems(text: bytes, authority: bytes, hosts: tuple[str, ...], now: datetime) -> list[str]:
    """Return the reasons for which a certificate gives no credentials to one of the hosts."""
    certificate, ca = certificate_of(text), read_authority(authority, now)
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


def _alternative_names(names: Sequence[str]) -> x509.SubjectAlternativeName:
    values: list[x509.GeneralName] = []
    for name in names:
        try:
            values.append(x509.IPAddress(ip_address(name)))
        except ValueError:
            values.append(x509.DNSName(name))
    return x509.SubjectAlternativeName(values)


def _weak(key: object) -> str | None:
    """Return the reason for which IAM Roles Anywhere does not accept a public key, or None."""
    if isinstance(key, rsa.RSAPublicKey):
        return None if key.key_size >= _LEAST_RSA_BITS else f"an RSA key of {key.key_size} bits is too short"
    return None if isinstance(key, ec.EllipticCurvePublicKey) else "the key is neither an EC nor an RSA key"


def _authority_key(ca: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    try:
        identifier = ca.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
    except x509.ExtensionNotFound:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.public_key())  # type: ignore[arg-type]
