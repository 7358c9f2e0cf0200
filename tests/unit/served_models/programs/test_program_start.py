"""Start of a program by the check of its folder: the check becomes the program, or ends before it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from landbridge.models.files.sign import sign_folder, sign_program_folder
from landbridge.serving.server.program import REFUSED
from sandbox.demo.cluster import wait_for
from tests.unit.served_models.folders import new_key, write_folder

ROOT = Path(__file__).parents[4]


class Host:
    """Folder of a program, with a key that is trusted."""

    def __init__(self, folder: Path) -> None:
        self.private, self.trust = new_key(folder)
        self.folder, self.started = folder / "1", folder / "started"

    def files(self) -> None:
        self.folder.mkdir()
        (self.folder / "config.json").write_text("{}")
        assert sign_program_folder(self.folder, self.private.read_text()) == []

    def start(self, *command: str, data_class: str = "internal") -> "subprocess.Popen[str]":
        words = [f"--folder={self.folder}", f"--trust={self.trust}", "--model=digits", f"--data-class={data_class}"]
        return subprocess.Popen(
            [sys.executable, "-m", "landbridge.serving.server.program", *words, "--", *command],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def refusal(self, **options: str) -> str:
        """Return the reason of a refusal before the program."""
        process = self.start("/bin/sh", "-c", f"touch {self.started}", **options)
        _, errors = process.communicate()
        assert (process.returncode, self.started.exists()) == (REFUSED, False), errors
        return errors


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_the_check_of_a_signed_folder_becomes_the_program(host: Host) -> None:
    host.files()
    process = host.start("/bin/sh", "-c", f"echo $$ --port=1 > {host.started}; exec sleep 300")
    try:
        text = wait_for("the program", lambda: host.started.exists() and host.started.read_text(), bool)
        assert text == f"{process.pid} --port=1\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()


def test_a_changed_folder_starts_no_program(host: Host) -> None:
    host.files()
    (host.folder / "config.json").write_text("[]")
    assert "config.json" in host.refusal()
    (host.folder / "model.sig").unlink()
    assert "is not signed" in host.refusal()


def test_a_model_folder_is_that_of_the_service(host: Host) -> None:
    write_folder(host.folder, "1")
    assert sign_folder(host.folder, host.private.read_text()) == []
    assert "the model has the class internal, not restricted" in host.refusal(data_class="restricted")
    process = host.start("/bin/true")
    _, errors = process.communicate()
    assert (process.returncode, "is signed by key" in errors) == (0, True), errors
    (host.folder / "model.json").unlink()
    assert "model.json" in host.refusal()


def test_an_absent_program_is_named(host: Host) -> None:
    host.files()
    process = host.start("/opt/absent/bin/vllm")
    _, errors = process.communicate()
    assert (process.returncode, "/opt/absent/bin/vllm: No such file" in errors) == (REFUSED, True), errors
