"""Model folder of a model server: verified by `landbridge.models.files`, with the certificates and keys of the trust file."""

import re
from dataclasses import dataclass
from pathlib import Path

from landbridge.certificates import certificates_in
from landbridge.models.files import ModelRefusal, VerifiedModel, verify_folder
from landbridge.models.files.program_folder import verify_program_folder
from landbridge.models.names import MANIFEST_FILE
from landbridge.models.signers import ModelTrust

#: The model server runs ONNX models. Source: onnxruntime.ai, "Get started with ONNX Runtime in Python".
FORMAT = "onnx"
_PUBLIC_KEYS = re.compile(r"-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----")
_REVOKED = re.compile(r"^revoked ([0-9a-f]+)$", re.MULTILINE)


class FolderRefusal(Exception):
    """Error: the model folder is refused; the message has the reason."""


@dataclass(frozen=True, slots=True)
class ExpectedModel:
    """Model that a server is for: its name, and its data class (empty: any)."""

    name: str
    data_class: str = ""


def read_trust(path: Path) -> ModelTrust:
    """Return the trust of a file: certificates and public keys in PEM, and lines `revoked SERIAL`. Raises FolderRefusal."""
    try:
        text = path.read_text()
    except OSError as error:
        raise FolderRefusal(f"{path}: {error.strerror}") from None
    trust = ModelTrust(
        tuple(certificates_in(text)), tuple(_PUBLIC_KEYS.findall(text)), frozenset(_REVOKED.findall(text))
    )
    if not trust.authorities and not trust.public_keys:
        raise FolderRefusal(f"{path} has neither a certificate nor a public key")
    return trust


def read_model(folder: Path, trust: Path, expected: ExpectedModel) -> VerifiedModel:
    """Verify a model folder and return the model. Raises FolderRefusal."""
    model = _verified(folder, trust, expected, with_weights=True)
    if model.manifest.format != FORMAT:
        raise FolderRefusal(f"the format {model.manifest.format} is not served here: this server runs {FORMAT}")
    return model


def check_folder(folder: Path, trust: Path, expected: ExpectedModel) -> str:
    """Verify a folder that another program loads; return its signer. Raises FolderRefusal.

    A folder with a manifest is a model folder, of the expected model. Another one has any files; its signature does not say of which
    model it is.
    """
    if (folder / MANIFEST_FILE).exists():
        return _verified(folder, trust, expected).signer
    signer = verify_program_folder(folder.resolve(), read_trust(trust))
    if isinstance(signer, ModelRefusal):
        raise FolderRefusal("; ".join(finding.message for finding in signer.findings))
    return signer


def _verified(folder: Path, trust: Path, expected: ExpectedModel, *, with_weights: bool = False) -> VerifiedModel:
    # The link of a slot is followed once; the files of the folder are read once.
    model = verify_folder(folder.resolve(), read_trust(trust), name=expected.name, with_weights=with_weights)
    if isinstance(model, ModelRefusal):
        raise FolderRefusal("; ".join(finding.message for finding in model.findings))
    if expected.data_class and model.manifest.data_class != expected.data_class:
        raise FolderRefusal(f"the model has the class {model.manifest.data_class}, not {expected.data_class}")
    return model
