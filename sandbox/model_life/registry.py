"""Registry of the demonstration: MLflow, and a store of secrets with the site's CA and the signer of models."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in, keys_in, sign
from landbridge.live.models import moves, publish, transfer
from landbridge.live.models.canary_moves import CanaryMoves
from landbridge.live.models.registry import ModelRegistry
from landbridge.models.aliases import CHAMPION, STAGING
from landbridge.models.signers import ModelTrust
from landbridge.ops.model_signer import signer_of, site_trust
from landbridge.ops.secrets.store import LocalFolder
from landbridge.ops.site_certificates.issue import AUTHORITY

MODEL = "digits"
ACCOUNT = "demonstration"


@dataclass(frozen=True)
class SignedRegistry:
    """Registry whose versions are signed by the site's signer. `authority` and `certificate` are files of the site's CA and of localhost."""

    registry: ModelRegistry
    store: LocalFolder
    authority: Path
    certificate: Path

    @property
    def trust(self) -> ModelTrust:
        """Return the trust in the site's CA."""
        return site_trust(self.store)

    def publish(self, folder: Path) -> str:
        """Register a folder, sign it, make it staging, and return its version."""
        version = publish.register(self.registry, folder, ACCOUNT, time.time())
        key, certificates = signer_of(self.store, ACCOUNT, datetime.now(UTC))
        publish.sign(self.registry, version, key, certificates)
        self.promote(version.version, STAGING, "trained")
        return version.version

    def promote(self, version: str, alias: str, reason: str) -> None:
        """Move an alias after the signature was verified."""
        order = moves.MoveOrder(ACCOUNT, reason, time.time())
        moves.promote(self.registry, MODEL, version, alias, self.trust, order)

    def fetch(self, version: str, folder: Path) -> Path:
        """Place a verified version in a folder, and return its model folder."""
        return transfer.fetch(self.registry, self.registry.version(MODEL, version), folder, self.trust)

    def champion(self) -> str:
        """Return the version of the alias champion."""
        return self.registry.aliases(MODEL).get(CHAMPION, "")

    def canary_moves(self) -> CanaryMoves:
        """Return the moves that a canary may make."""
        return CanaryMoves(lambda: self.registry, lambda: self.trust, "canary", time.time)

    def records(self) -> list[tuple[str, str, str]]:
        """Return the history: alias, version before and version after of each move."""
        records, _ = moves.history(self.registry, MODEL)
        return [(record.alias, record.before, record.after) for record in records]


def signed_registry(uri: str, folder: Path) -> SignedRegistry:
    """Create the store, the site's CA and the certificate of localhost."""
    store = LocalFolder(folder / "secrets")
    authority = store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
    ca, host = folder / "ca.pem", folder / "localhost.pem"
    ca.write_text("\n".join(certificates_in(authority)) + "\n")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    pem = serialization.Encoding.PEM
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, SHA256()).public_bytes(pem)
    certificate = sign(
        request,
        "localhost",
        ca.read_bytes(),
        keys_in(authority)[0].encode(),
        datetime.now(UTC),
        2,
        ("localhost", "127.0.0.1"),
    )
    host.touch(mode=0o600)
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    host.write_bytes(private + certificate)
    return SignedRegistry(ModelRegistry(uri), store, ca, host)
