"""CA of tunnels for tests: a root CA, and a subordinate one that signs requests of gateways.

As a program it is the one of the role site_gateway: `tunnel_authority.py FOLDER ISSUER REGION NAME DAYS` with the request on
standard input. A folder with a file `expired` gives certificates that have ended.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from landbridge.certificates import sign


def create(folder: Path, name: str, days: int = 3650) -> list[str]:
    """Write the subordinate CA's key and both certificates into a folder; return the certificates, the issuing one first."""
    folder.mkdir(parents=True, exist_ok=True)
    root_key, key = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    root = _authority(f"{name} root", root_key, f"{name} root", root_key, days)
    subordinate = _authority(name, key, f"{name} root", root_key, days)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    (folder / "ca.pem").write_text(subordinate + root)
    return [subordinate, root]


def _authority(name: str, key: rsa.RSAPrivateKey, issuer: str, issuer_key: rsa.RSAPrivateKey, days: int) -> str:
    now = datetime.now(UTC)
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def main(arguments: list[str]) -> None:
    """Print the certificate of a request and its chain."""
    folder, _issuer, _region, name, days = arguments
    place, now = Path(folder), datetime.now(UTC)
    if (place / "expired").exists():
        now -= timedelta(days=20)
        days = "8"
    authorities = (place / "ca.pem").read_bytes()
    certificate = sign(sys.stdin.buffer.read(), name, authorities, (place / "key.pem").read_bytes(), now, int(days))
    sys.stdout.write(certificate.decode() + authorities.decode())


if __name__ == "__main__":
    main(sys.argv[1:])
