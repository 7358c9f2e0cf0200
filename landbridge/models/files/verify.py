"""Verification of a model folder: its files, its formats, and its signature (OpenSSF Model Signing).

The files are read once by this module, without the weights in memory. A program that runs an ONNX model gets its verified bytes, so
that a file that is replaced afterwards is not loaded. Sources (2026-11-26): sigstore/model-transparency, package model_signing 1.1.1; in-toto, "Statement"; DSSE, "Protocol".
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from landbridge.findings import Finding
from landbridge.models.files.folder import ModelFolder, read_folder
from landbridge.models.manifest import ModelManifest
from landbridge.models.names import SIGNATURE_FILE
from landbridge.models.signers import RULE, ModelTrust, signer_faults

#: Prefix of the library's message if files differ from the signed ones.
_OTHER_FILES = "Signature mismatch"


@dataclass(frozen=True)
class VerifiedModel:
    """Model folder whose signature is valid. `signer` is the name and serial number of a certificate, or a key's fingerprint.

    `digests`: the SHA-256 of each file. `weights`: the verified bytes of an ONNX file, if the caller needs them; else None.
    """

    folder: Path
    manifest: ModelManifest
    signer: str
    digests: Mapping[str, str]
    weights: bytes | None = None


@dataclass(frozen=True)
class ModelRefusal:
    """Model folder that may not be loaded: all reasons."""

    folder: Path
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        return f"{self.folder}: " + "; ".join(finding.message for finding in self.findings)


def verify_folder(
    folder: Path,
    trust: ModelTrust,
    *,
    name: str | None = None,
    version: str | None = None,
    now: datetime | None = None,
    with_weights: bool = False,
) -> VerifiedModel | ModelRefusal:
    """Return the model of a folder, or all reasons why it is refused.

    With `name` and `version` the signed manifest must be theirs: the signature of another version is not a signature of this one.
    `with_weights`: with the bytes of an ONNX file.
    """
    content = read_folder(folder, with_weights=with_weights)
    if isinstance(content, list):
        return ModelRefusal(folder, tuple(content))
    findings = list(_identity_faults(content.manifest, name, version))
    signer = ""
    if content.signature is None:
        fix = "sign it: landbridge model sign"
        findings.append(Finding(RULE, f"the model is not signed: {SIGNATURE_FILE} is missing", fix=fix))
    else:
        signer, faults = _signature_faults(content, content.signature, trust, now or datetime.now(UTC))
        findings += [Finding(RULE, fault, file=SIGNATURE_FILE) for fault in faults]
    if findings:
        return ModelRefusal(folder, tuple(findings))
    return VerifiedModel(folder, content.manifest, signer, content.digests, content.weights)


def _identity_faults(manifest: ModelManifest, name: str | None, version: str | None) -> Iterator[Finding]:
    if name is not None and manifest.name != name:
        yield Finding(RULE, f"the manifest is that of the model {manifest.name}, not of {name}")
    if version is not None and manifest.version != version:
        yield Finding(RULE, f"the manifest is that of version {manifest.version or 'none'}, not of {version}")


def _signature_faults(
    content: ModelFolder, signature: bytes, trust: ModelTrust, now: datetime
) -> tuple[str, list[str]]:
    """Return the signer, and the reasons why the signature is not valid."""
    try:
        bundle = json.loads(signature)
        material, payload = bundle["verificationMaterial"], bundle["dsseEnvelope"]["payload"]
        statement = json.loads(base64.b64decode(payload, validate=True))
        signed = {file["name"]: (file["algorithm"], file["digest"]) for file in statement["predicate"]["resources"]}
        chain = [
            base64.b64decode(each["rawBytes"])
            for each in material.get("x509CertificateChain", {}).get("certificates", ())
        ]
        hint = material.get("publicKey", {}).get("hint", "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return "", [f"the signature cannot be read: {type(error).__name__}"]
    try:
        if chain:
            signer, faults = _by_certificate(content.path, chain, signature, trust, now)
        else:
            signer, faults = _by_key(content.path, hint, signature, trust)
    except ValueError as error:
        return "", [f"a trusted certificate or key cannot be read: {error}"]
    actual = {name: ("sha256", digest) for name, digest in content.digests.items() if name != SIGNATURE_FILE}
    both = sorted(actual.keys() & signed.keys())
    faults += [f"{name} was changed after it was signed" for name in both if actual[name] != signed[name]]
    faults += [f"{name} is not signed" for name in sorted(actual.keys() - signed.keys())]
    faults += [f"{name} is signed and absent" for name in sorted(signed.keys() - actual.keys())]
    return signer, faults


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
    """Return the reason why the library refuses the signature; None if it is valid, or if only the content of files differs, which the caller reports."""
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
        return None if str(error).startswith(_OTHER_FILES) else f"the signature is not valid: {error}"
    return None


@contextmanager
def _files(signature: bytes, *texts: str) -> Iterator[list[Path]]:
    """Yield the paths of temporary files with a signature and with public texts, which the library reads from files."""
    with TemporaryDirectory(prefix="landbridge-model-") as folder:
        paths = [Path(folder) / SIGNATURE_FILE, *(Path(folder) / f"{index}.pem" for index in range(len(texts)))]
        for path, content in zip(paths, (signature, *(text.encode() for text in texts)), strict=True):
            path.write_bytes(content)
        yield paths
