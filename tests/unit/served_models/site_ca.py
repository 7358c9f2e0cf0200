"""CA of a site and a host's certificate, for tests."""

from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from landbridge.certificates import new_authority, sign


def write_certificates(
    folder: Path, host_name: str = "localhost", names: tuple[str, ...] = ("localhost", "127.0.0.1")
) -> tuple[Path, Path]:
    """Write the CA's certificate, and key and certificate of a host; return both paths."""
    now = datetime.now(UTC)
    ca_key, ca = new_authority("test", now)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host_name)])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, SHA256())
    pem = serialization.Encoding.PEM
    certificate = sign(request.public_bytes(pem), host_name, ca, ca_key, now, 2, names)
    authority, host = folder / "ca.pem", folder / "host.pem"
    authority.write_bytes(ca)
    host.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()) + certificate
    )
    return authority, host
