"""Files of users that would block, fill or end a program that reads them."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from landbridge.models.files.folder import _read
from landbridge.user_files import MAX_DEPTH, read_user_file, read_user_head, read_user_json


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


EVIL: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "link": lambda path: path.symlink_to("/etc/hostname"),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "socket": _socket,
    "sparse": _sparse,
    "deep": lambda path: path.write_text("[" * 200_000),
    "deep objects": lambda path: path.write_text('{"a":' * 5_000),
    "long number": lambda path: path.write_text("1" * 900_000),
    "not text": lambda path: path.write_bytes(b"\xff\xfe\xfd"),
}


@pytest.mark.parametrize("kind", EVIL)
def test_an_evil_file_is_an_error_of_this_file(tmp_path: Path, kind: str) -> None:
    EVIL[kind](tmp_path / "file")
    with pytest.raises((OSError, ValueError)):
        read_user_json(tmp_path / "file")


def test_brackets_in_texts_are_no_levels_and_the_limit_is_exact(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text('{"a\\"[": "' + "[{" * 1000 + '"}')
    assert read_user_json(file) == {'a"[': "[{" * 1000}
    file.write_text("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    read_user_json(file)
    file.write_text("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    with pytest.raises(ValueError, match="levels"):
        read_user_json(file)


def test_limits_are_those_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert read_user_file("file", 5, folder) == b"12345"
        assert read_user_head("file", 3, folder) == b"123"
        with pytest.raises(ValueError):
            read_user_file("file", 4, folder)
    finally:
        os.close(folder)


def test_a_pipe_in_a_model_folder_does_not_block_its_verification(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.onnx")
    with pytest.raises(ValueError):
        _read(tmp_path / "model.onnx", None)
