"""Signer of models in the store of secrets: its key, and its certificate of the site's CA, which is renewed before its end."""

from collections.abc import Collection
from datetime import datetime, timedelta

from landbridge.certificates import CertificateError, certificates_in, keys_in
from landbridge.models.signers import ModelTrust, new_signer, signer_end, signer_serial, trust_of
from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import SecretStore
from landbridge.ops.site_certificates.issue import AUTHORITY

SIGNER = "model-signer"
#: Landbridge's choice: a signature made now is valid for this time at least.
LEAST_DAYS = 180


def signer_of(
    store: SecretStore, site: str, now: datetime, revoked: Collection[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Return key and certificates of the site's signer; issued by the CA if it is absent, ends soon or is revoked. Raises SecretsError.

    A signer that the operator wrote with a bare key has no certificates, and is not renewed.
    """
    values = store.read()
    signer = values.get(SIGNER)
    try:
        if signer is None or _is_replaced(signer, now, revoked):
            signer = new_signer(_authority(store, values.get(AUTHORITY)), f"{site} model signer", now)
            store.write({SIGNER: signer.rstrip("\n")})
    except CertificateError as error:
        raise SecretsError(f"{AUTHORITY} or {SIGNER} in {store.place}: {error}") from None
    keys = keys_in(signer)
    if len(keys) != 1:
        raise SecretsError(f"{SIGNER} in {store.place} has {len(keys)} private keys in PEM, and one is required")
    return keys[0], tuple(certificates_in(signer))


def _is_replaced(signer: str, now: datetime, revoked: Collection[str]) -> bool:
    """Return whether a signer ends soon or is revoked; a bare key never is."""
    if not certificates_in(signer):
        return False
    return signer_end(signer) - now < timedelta(days=LEAST_DAYS) or signer_serial(signer) in revoked


def site_trust(store: SecretStore, revoked: tuple[str, ...] = ()) -> ModelTrust:
    """Return the trust in the CA of the site. Raises SecretsError."""
    return trust_of(certificates_in(_authority(store, store.read().get(AUTHORITY))), revoked)


def _authority(store: SecretStore, authority: str | None) -> str:
    if authority is None:
        raise SecretsError(f"{store.place} lacks {AUTHORITY}: landbridge secrets init adds it")
    return authority
