"""Verification of model folders with real signatures: each kind of damage is refused with its reason."""

import base64
import hashlib
import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from landbridge.certificates import certificates_in, keys_in, new_authority, read_issued, sign
from landbridge.models.files import ModelRefusal, VerifiedModel, verify_folder
from landbridge.models.files.sign import sign_folder
from landbridge.models.signers import ModelTrust, new_signer
from tests.unit.models.folders import NOW, manifest_of, onnx_bytes, write_folder


def authority() -> str:
    key, certificate = new_authority("Test CA", NOW - timedelta(days=30))
    return (key + certificate).decode()


CA, OTHER_CA = authority(), authority()
TRUST = ModelTrust(authorities=tuple(certificates_in(CA)))
SIGNER = new_signer(CA, "model-signer", NOW)


def signed(folder: Path, signer: str = SIGNER) -> Path:
    write_folder(folder)
    assert sign_folder(folder, keys_in(signer)[0], tuple(certificates_in(signer))) == []
    return folder


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return signed(tmp_path_factory.mktemp("models") / "1")


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "1"))


def refusal(folder: Path, trust: ModelTrust = TRUST, **options: str) -> str:
    result = verify_folder(folder, trust, now=NOW, **options)
    assert isinstance(result, ModelRefusal), result
    return str(result)


def test_a_signed_folder_is_verified_with_its_bytes_if_they_are_needed(folder: Path) -> None:
    without = verify_folder(folder, TRUST, name="digits", version="1", now=NOW)
    assert isinstance(without, VerifiedModel) and without.weights is None, without
    assert without.digests["model.onnx"] == hashlib.sha256(onnx_bytes()).hexdigest()
    result = verify_folder(folder, TRUST, name="digits", version="1", now=NOW, with_weights=True)
    assert isinstance(result, VerifiedModel), result
    serial = read_issued("\n".join(certificates_in(SIGNER)).encode()).serial
    assert (result.signer, result.weights) == (f"model-signer (serial {serial})", onnx_bytes())
    assert result.manifest == manifest_of(onnx_bytes())
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", "model.onnx", "model.sig"]


def change_weights(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(onnx_bytes(1.0))


def change_weights_and_manifest(folder: Path) -> None:
    change_weights(folder)
    (folder / "model.json").write_text(manifest_of(onnx_bytes(1.0)).to_json())


def change_signed_names(folder: Path) -> None:
    bundle = json.loads((folder / "model.sig").read_text())
    payload = bundle["dsseEnvelope"]["payload"]
    bundle["dsseEnvelope"]["payload"] = payload[:-8] + ("AAAA" if payload[-8:-4] != "AAAA" else "BBBB") + payload[-4:]
    (folder / "model.sig").write_text(json.dumps(bundle))


def pickled(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(pickle.dumps(print))


def zipped(folder: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(print))
    (folder / "model.onnx").write_bytes(content.getvalue())


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "unsigned": (lambda folder: (folder / "model.sig").unlink(), "the model is not signed: model.sig is missing"),
    "weights": (change_weights, "model.onnx does not match the SHA-256 of the manifest: it was replaced"),
    "both": (change_weights_and_manifest, "model.json was changed after it was signed; model.onnx was changed"),
    "signature": (change_signed_names, "signature"),
    "no signature": (lambda folder: (folder / "model.sig").write_text("{}"), "the signature cannot be read"),
    "extra file": (lambda folder: (folder / "hook.py").write_text("x"), "hook.py: a model folder has weights"),
    "link": (lambda folder: os.symlink("/etc/passwd", folder / "model.safetensors"), "is not a plain file"),
    "pickle": (pickled, "its content is a pickle, which runs code when it is loaded"),
    "zip": (zipped, "which can contain a pickle"),
    "no manifest": (lambda folder: (folder / "model.json").unlink(), "model.json is missing"),
    "no weights": (lambda folder: (folder / "model.onnx").unlink(), "this one has neither"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_folder_is_refused(kind: str, folder: Path) -> None:
    damage, reason = DAMAGE[kind]
    damage(folder)
    assert reason in refusal(folder)


def test_the_signature_of_another_version_is_refused(folder: Path) -> None:
    assert "the manifest is that of version 1, not of 2" in refusal(folder, version="2")
    assert "not of mnist" in refusal(folder, name="mnist")


def test_a_signer_of_another_ca_is_refused(tmp_path: Path) -> None:
    folder = signed(tmp_path / "1", new_signer(OTHER_CA, "model-signer", NOW))
    assert "not of a trusted CA" in refusal(folder)
    assert "no CA is trusted" in refusal(folder, ModelTrust())


def test_a_trusted_certificate_that_cannot_be_read_is_a_reason(folder: Path) -> None:
    damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    assert "a trusted certificate or key cannot be read" in refusal(folder, ModelTrust(authorities=(damaged,)))


def test_an_expired_signer_is_refused(tmp_path: Path) -> None:
    folder = signed(tmp_path / "1", new_signer(CA, "model-signer", NOW - timedelta(days=9), days=8))
    assert "the certificate of the signer expired on" in refusal(folder)


def test_a_revoked_signer_is_refused(folder: Path) -> None:
    serial = read_issued("\n".join(certificates_in(SIGNER)).encode()).serial
    assert "is revoked" in refusal(folder, ModelTrust(TRUST.authorities, revoked=frozenset({serial})))


def test_the_certificate_of_a_server_signs_no_model(tmp_path: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mlops01")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, SHA256())
    certificate = sign(
        request.public_bytes(Encoding.PEM), "mlops01", CA.encode(), keys_in(CA)[0].encode(), NOW, 30, ["mlops01"]
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + certificate
    assert "is not for model signing" in refusal(signed(tmp_path / "1", pem.decode()))


def test_a_bare_key_is_accepted_if_its_public_key_is_trusted(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    private = keys_in(SIGNER)[0]
    public = load_pem_private_key(private.encode(), None).public_key()
    text = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    folder = write_folder(tmp_path / "1")
    assert sign_folder(folder, private) == []
    assert isinstance(verify_folder(folder, ModelTrust(public_keys=(text,)), now=NOW), VerifiedModel)
    assert "a key that is not trusted" in refusal(folder)


def test_a_folder_without_a_version_or_with_a_pickle_is_not_signed(tmp_path: Path) -> None:
    key = keys_in(SIGNER)[0]
    unnumbered = write_folder(tmp_path / "a", version="")
    assert "has no version" in sign_folder(unnumbered, key)[0].message
    poisoned = write_folder(tmp_path / "b", pickle.dumps(print))
    assert "a pickle" in sign_folder(poisoned, key)[0].message
    assert not (unnumbered / "model.sig").exists() and not (poisoned / "model.sig").exists()


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "signature",
    [
        DEEP,
        json.dumps(
            {
                "verificationMaterial": {},
                "dsseEnvelope": {"payload": base64.b64encode(DEEP.encode()).decode()},
            }
        ),
    ],
    ids=["signature", "payload"],
)
def test_a_signature_of_a_hundred_thousand_levels_is_refused(folder: Path, signature: str) -> None:
    (folder / "model.sig").write_text(signature)
    assert "the signature cannot be read: ValueError" in refusal(folder)
