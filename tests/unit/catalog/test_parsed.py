"""Parsed data of the catalogue is kept by content: a change of the text, or a damaged file, is never read as data."""

import os
import sys
from pathlib import Path

import pytest

from landbridge import yaml_text
from landbridge.catalog import files
from landbridge.catalog.parsed import data_file, parsed


@pytest.fixture
def bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which this process keeps bytecode and parsed data."""
    folder = tmp_path / "bytecode"
    monkeypatch.setattr(sys, "pycache_prefix", str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return folder


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "facts.yaml"
    path.write_text("date: 2026-11-20\nports: [1, 0x10]\nnone: null\non: yes\n")
    return path


def test_kept_data_is_that_of_the_text(bytecode: Path) -> None:
    package = files.package()
    assert isinstance(package, Path)
    paths = sorted(package.rglob("*.yaml"))
    assert len(paths) > 50
    for path in paths:
        expected = yaml_text.load(path.read_text(encoding="utf-8"))
        assert parsed(path) == expected
        assert data_file(path).is_file() and data_file(path).is_relative_to(bytecode)
        assert parsed(path) == expected, "read from the kept file"


def test_the_second_read_does_not_parse(bytecode: Path, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = parsed(written)
    monkeypatch.setattr(yaml_text, "compose", None)
    assert parsed(written) == first == {"date": "2026-11-20", "ports": [1, 16], "none": None, "on": "yes"}


def test_a_changed_text_is_parsed_again(bytecode: Path, written: Path) -> None:
    before, status = parsed(written), written.stat()
    written.write_text(written.read_text().replace("0x10", "0x11"))
    # Same size and same time: only the content differs.
    os.utime(written, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert written.stat().st_size == status.st_size
    assert parsed(written) == before | {"ports": [1, 17]}


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "other"])
def test_a_damaged_file_is_not_read(damage: str, bytecode: Path, written: Path) -> None:
    expected = parsed(written)
    stored = data_file(written)
    content = stored.read_bytes()
    broken = {
        "empty": b"",
        "cut": content[:-3],
        "changed": content[:-1] + bytes([content[-1] ^ 1]),
        "other": b"\0" * 32 + content[32:],
    }[damage]
    stored.write_bytes(broken)
    assert parsed(written) == expected
    assert stored.read_bytes() == content, "the file is written again"


def test_a_folder_without_write_permission_is_no_error(bytecode: Path, written: Path) -> None:
    bytecode.write_text("not a folder")
    assert parsed(written)["ports"] == [1, 16]
    assert not data_file(written).exists()


def test_without_bytecode_nothing_is_kept(bytecode: Path, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert parsed(written)["ports"] == [1, 16]
    assert not bytecode.exists()


def test_another_folder_with_the_same_layout_keeps_nothing(bytecode: Path, tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text("a: 1\n")
    assert files.load(tmp_path, "facts") == {"a": 1}
    assert not bytecode.exists()
