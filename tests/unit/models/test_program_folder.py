"""Folders that another program loads: all of their files are signed, and each damage is refused with its reason."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.certificates import certificates_in, keys_in, read_issued
from landbridge.models.files import ModelRefusal
from landbridge.models.files.program_folder import verify_program_folder
from landbridge.models.files.sign import sign_program_folder
from landbridge.models.signers import ModelTrust, new_signer
from tests.unit.models.folders import NOW
from tests.unit.models.test_verify_folder import CA, OTHER_CA, SIGNER, TRUST


def write(folder: Path) -> Path:
    """Write the files that vLLM loads, and one in a subfolder."""
    (folder / "tokenizer").mkdir(parents=True)
    (folder / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    (folder / "model-00001-of-00002.safetensors").write_bytes(b"weights 1")
    (folder / "model-00002-of-00002.safetensors").write_bytes(b"weights 2")
    (folder / "tokenizer" / "tokenizer.json").write_text("{}")
    return folder


def sign(folder: Path, signer: str = SIGNER) -> list[str]:
    findings = sign_program_folder(folder, keys_in(signer)[0], tuple(certificates_in(signer)))
    return [finding.message for finding in findings]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("models") / "1")
    assert sign(folder) == []
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "1"))


def refusal(folder: Path, trust: ModelTrust = TRUST) -> str:
    result = verify_program_folder(folder, trust, now=NOW)
    assert isinstance(result, ModelRefusal), result
    return str(result)


def test_a_signed_folder_has_its_signer(folder: Path) -> None:
    serial = read_issued("\n".join(certificates_in(SIGNER)).encode()).serial
    assert verify_program_folder(folder, TRUST, now=NOW) == f"model-signer (serial {serial})"
    assert sign(folder) == []
    assert isinstance(verify_program_folder(folder, TRUST, now=NOW), str)


def change(folder: Path) -> None:
    (folder / "model-00002-of-00002.safetensors").write_bytes(b"weights 3")


def add_code(folder: Path) -> None:
    (folder / "tokenizer" / "modeling.py").write_text("print('run')")


def remove(folder: Path) -> None:
    (folder / "config.json").unlink()


def replace_by_link(folder: Path) -> None:
    (folder / "config.json").rename(folder.parent / "config.json")
    (folder / "config.json").symlink_to(folder.parent / "config.json")


def add_hidden(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("")


def add_link_to_folder(folder: Path) -> None:
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "modeling.py").write_text("print('run')")
    (folder / "tokenizer" / "link").symlink_to(folder.parent / "other")


def add_nested_signature(folder: Path) -> None:
    (folder / "tokenizer" / "model.sig").write_text("print('run')")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (change, "model-00002-of-00002.safetensors"),
        (add_code, "modeling.py"),
        (remove, "config.json"),
        (replace_by_link, "config.json"),
        (add_hidden, ".git/config"),
        (add_link_to_folder, "tokenizer/link"),
        (add_nested_signature, "tokenizer/model.sig"),
    ],
)
def test_a_folder_with_other_files_is_refused(folder: Path, damage: Callable[[Path], None], reason: str) -> None:
    damage(folder)
    assert reason in refusal(folder)


def test_a_folder_without_a_signature_of_a_trusted_signer_is_refused(folder: Path) -> None:
    serial = read_issued("\n".join(certificates_in(SIGNER)).encode()).serial
    assert "is revoked" in refusal(folder, replace(TRUST, revoked=frozenset({serial})))
    assert sign(folder, new_signer(OTHER_CA, "other", NOW)) == []
    assert "not of a trusted CA" in refusal(folder)
    (folder / "model.sig").write_text("{}")
    assert "cannot be read" in refusal(folder)
    (folder / "model.sig").unlink()
    assert "model.sig is missing" in refusal(folder)
    assert CA != OTHER_CA


def test_links_and_an_empty_folder_are_not_signed(folder: Path, tmp_path: Path) -> None:
    (folder / "model.sig").unlink()
    replace_by_link(folder)
    assert sign(folder) == ["config.json is a symbolic link"]
    (tmp_path / "empty").mkdir()
    assert sign(tmp_path / "empty") == [f"{tmp_path / 'empty'} has no files"]
    assert not (folder / "model.sig").exists()


def test_a_signature_that_is_a_link_or_too_large_is_refused(original: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(original, tmp_path / "1"))
    with (folder / "model.sig").open("r+b") as file:
        file.truncate(1 << 40)
    result = verify_program_folder(folder, TRUST, now=NOW)
    assert isinstance(result, ModelRefusal) and "model.sig has more than" in str(result)
    (folder / "model.sig").unlink()
    (folder / "model.sig").symlink_to("/dev/zero")
    result = verify_program_folder(folder, TRUST, now=NOW)
    assert isinstance(result, ModelRefusal) and "model.sig" in str(result)
