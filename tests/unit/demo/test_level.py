"""Which level a machine gets, and what is said when it cannot have the one it asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.demo import machine

ROOT = Path(__file__).resolve().parents[3]


def demo(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sandbox.demo", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_an_environment_that_is_not_there_is_told_in_a_line() -> None:
    done = demo("-s", "nosuch", "--level", "embedded")
    assert done.returncode == 2
    assert "nosuch" in done.stdout and "Traceback" not in done.stdout + done.stderr


def test_an_ordinary_user_has_no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    machine.lab.cache_clear()
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    try:
        found = machine.lab()
    finally:
        machine.lab.cache_clear()
    assert not found.able and "not root" in found.why


def test_little_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    machine.lab.cache_clear()
    monkeypatch.setattr(machine, "memory_mib", lambda: 1500)
    try:
        found = machine.lab()
    finally:
        machine.lab.cache_clear()
    assert not found.able and "1500 MiB of memory free" in found.why
