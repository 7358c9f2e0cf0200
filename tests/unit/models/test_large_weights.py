"""Weights that are larger than what is read of them: only the header of safetensors, and a limit for ONNX."""

import hashlib
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

from landbridge.models.files.folder import ModelFolder, read_folder
from landbridge.models.formats import bytes_to_examine, content_findings
from landbridge.models.manifest import ModelFile
from tests.unit.models.folders import manifest_of

SIZE = 64 * 2**20


def write_safetensors(folder: Path, size: int = SIZE, name: str = "digits") -> str:
    """Write a model folder with one tensor; return the SHA-256 of its weights."""
    folder.mkdir()
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    weights = folder / "model.safetensors"
    with weights.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for number in range(size // 2**20):
            file.write(bytes([number % 256]) * 2**20)
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    facts = {weights.name: ModelFile(digest, weights.stat().st_size)}
    manifest = replace(manifest_of(b"x", name), format="safetensors", files=facts)
    (folder / "model.json").write_text(manifest.to_json())
    return digest


def test_the_memory_of_a_folder_is_a_part_of_its_weights(tmp_path: Path) -> None:
    digest = write_safetensors(tmp_path / "1")
    tracemalloc.start()
    content = read_folder(tmp_path / "1")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(content, ModelFolder), content
    assert content.digests["model.safetensors"] == digest and most < SIZE // 2


def test_a_changed_number_behind_the_header_is_seen(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "1", 2**20)
    with (tmp_path / "1/model.safetensors").open("r+b") as file:
        file.seek(-5, 2)
        file.write(b"x")
    findings = read_folder(tmp_path / "1")
    assert isinstance(findings, list) and "it was replaced" in findings[0].message


def test_safetensors_that_end_early_or_late_are_refused_by_their_size() -> None:
    header = json.dumps({"w": {"dtype": "U8", "shape": [10**11], "data_offsets": [0, 10**11]}}).encode().ljust(200)
    beginning = len(header).to_bytes(8, "little") + header
    whole = len(beginning) + 10**11
    assert content_findings("model.safetensors", beginning, whole) == []
    assert "end 1 bytes after the file" in content_findings("model.safetensors", beginning, whole - 1)[0].message
    assert "1 bytes after its tensors" in content_findings("model.safetensors", beginning, whole + 1)[0].message
    assert bytes_to_examine("model.safetensors", beginning, whole) < 2**20


def test_an_onnx_file_is_smaller_than_2_gib() -> None:
    (finding,) = content_findings("model.onnx", b"", 2 * 2**30)
    assert "smaller than 2 GiB" in finding.message and "as safetensors" in finding.message
    assert bytes_to_examine("model.onnx", b"", 2**30) == 2**30
    assert bytes_to_examine("model.onnx", b"", 2 * 2**30) < 2**20
