"""Verification of a model folder: its files, its formats, and its signature (OpenSSF Model Signing).

The files are read once by this module, without the weights in memory. A program that runs an ONNX model gets its verified bytes, so
that a file that is replaced afterwards is not loaded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from landbridge.findings import Finding
from landbridge.models.files.folder import ModelFolder, read_folder
from landbridge.models.files.signature import check_signature
from landbridge.models.manifest import ModelManifest
from landbridge.models.names import SIGNATURE_FILE
from landbridge.models.signers import RULE, ModelTrust


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
    checked = check_signature(content.path, signature, trust, now)
    faults = list(checked.faults)
    if checked.signed is None:
        return checked.signer, faults
    signed = checked.signed
    actual = {name: ("sha256", digest) for name, digest in content.digests.items() if name != SIGNATURE_FILE}
    both = sorted(actual.keys() & signed.keys())
    faults += [f"{name} was changed after it was signed" for name in both if actual[name] != signed[name]]
    faults += [f"{name} is not signed" for name in sorted(actual.keys() - signed.keys())]
    faults += [f"{name} is signed and absent" for name in sorted(signed.keys() - actual.keys())]
    return checked.signer, faults
