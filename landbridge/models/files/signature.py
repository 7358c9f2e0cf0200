"""Signature of a folder (OpenSSF Model Signing): its signer, its files, and whether it is valid.

Sources (2026-11-26): sigstore/model-transparency, package model_signing 1.1.1; in-toto, "Statement"; DSSE, "Protocol".
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landbridge.models.names import SIGNATURE_FILE
from landbridge.models.signers import ModelTrust, signer_faults
from landbridge.user_files import parse_user_json

#: Prefix of the library's message if files differ from the signed ones.
_OTHER_FILES = "Signature mismatch"


@dataclass(frozen=True, slots=True)
class CheckedSignature:
    """Signature of a folder. `signer` is the name and serial number of a certificate, or a key's fingerprint.

    `faults`: the reasons why the signature itself is not accepted. `signed`: algorithm and digest of each signed file by its name;
    None if the signature cannot be read. `other_files`: the library's reason if the folder's files are not the signed ones; else empty.
    """

    signer: str = ""
    faults: tuple[str, ...] = ()
    signed: Mapping[str, tuple[str, str]] | None = None
    other_files: str = ""


def check_signature(folder: Path, signature: bytes, trust: ModelTrust, now: datetime) -> CheckedSignature:
    """Return the checked signature of a folder, whose files are all read by the library."""
    try:
        bundle = parse_user_json(signature)
        material, payload = bundle["verificationMaterial"], bundle["dsseEnvelope"]["payload"]
        statement = parse_user_json(base64.b64decode(payload, validate=True))
        signed = {file["name"]: (file["algorithm"], file["digest"]) for file in statement["predicate"]["resources"]}
        chain = [
            base64.b64decode(each["rawBytes"])
            for each in material.get("x509CertificateChain", {}).get("certificates", ())
        ]
        hint = material.get("publicKey", {}).get("hint", "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return CheckedSignature(faults=(f"the signature cannot be read: {type(error).__name__}",))
    try:
        if chain:
            signer, faults = _by_certificate(folder, chain, signature, trust, now)
        else:
            signer, faults = _by_key(folder, hint, signature, trust)
    except ValueError as error:
        return CheckedSignature(faults=(f"a trusted certificate or key cannot be read: {error}",))
    other_files = next((fault for fault in faults if fault.startswith(_OTHER_FILES)), "")
    return CheckedSignature(signer, tuple(fault for fault in faults if fault != other_files), signed, other_files)


def _by_certificate(
    folder: Path, chain: list[bytes], signature: bytes, trust: ModelTrust, now: datetime
) -> tuple[str, list[str]]:
    from cryptography import x509
    from cryptography.x509.oid import NameOID
    from model_signing.verifying import Config

    if not trust.authorities:
        return "", ["it is signed with a certificate, and no CA is trusted"]
    try:
        certificate = x509.load_der_x509_certificate(chain[0])
    except ValueError:
        return "", ["the certificate of the signer cannot be read"]
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    serial = f"serial {certificate.serial_number:x}"
    signer = f"{names[0].value!s} ({serial})" if names else serial
    with _files(signature, *trust.authorities) as (bundle, *authorities):
        config = Config().use_certificate_verifier(certificate_chain=authorities)
        fault = _library_fault(config, folder, bundle)
    return signer, [*([fault] if fault else []), *signer_faults(certificate, trust, now)]


def _by_key(folder: Path, hint: str, signature: bytes, trust: ModelTrust) -> tuple[str, list[str]]:
    from model_signing.verifying import Config

    for key in trust.public_keys:
        if hint and hashlib.sha256(_normal(key)).hexdigest() == hint:
            with _files(signature, key) as (bundle, public_key):
                config = Config().use_elliptic_key_verifier(public_key=public_key)
                fault = _library_fault(config, folder, bundle)
            return f"key {hint[:16]}", [fault] if fault else []
    return "", ["it is signed with a key that is not trusted"]


def _normal(key: str) -> bytes:
    from cryptography.hazmat.primitives import serialization

    loaded = serialization.load_pem_public_key(key.encode())
    return loaded.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _library_fault(config: Any, folder: Path, bundle: Path) -> str | None:
    """Return the reason why the library refuses the signature; None for a valid one."""
    from cryptography.exceptions import InvalidSignature
    from model_signing.hashing import Config
    from OpenSSL.crypto import X509StoreContextError

    hashing = Config().set_ignored_paths(paths=[SIGNATURE_FILE], ignore_git_paths=False)
    try:
        config.set_hashing_config(hashing).verify(folder, bundle)
    except X509StoreContextError as error:
        return f"the certificate of the signer is not of a trusted CA: {error}"
    except InvalidSignature:
        return "the signature does not match its content: it was changed"
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        return str(error) if str(error).startswith(_OTHER_FILES) else f"the signature is not valid: {error}"
    return None


@contextmanager
def _files(signature: bytes, *texts: str) -> Iterator[list[Path]]:
    """Yield the paths of temporary files with a signature and with public texts, which the library reads from files."""
    with TemporaryDirectory(prefix="landbridge-model-") as folder:
        paths = [Path(folder) / SIGNATURE_FILE, *(Path(folder) / f"{index}.pem" for index in range(len(texts)))]
        for path, content in zip(paths, (signature, *(text.encode() for text in texts)), strict=True):
            path.write_bytes(content)
        yield paths
