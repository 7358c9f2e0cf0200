"""landbridge-mig starts the services that it stopped for a change of the GPUs, also if one of them does not stop or start."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from tests.unit.core.samples import ROOT

CONFIG = {"holders": ["nvidia-dcgm", "nvidia-persistenced"], "followers": ["nvidia-cdi-refresh"]}
SYSTEMCTL = """#!/bin/sh
echo "$*" >>{calls}
case "$*" in
  {hangs}) exec sleep 60 ;;
  {fails}) exit 1 ;;
esac
"""


@pytest.fixture
def mig() -> ModuleType:
    loader = SourceFileLoader("landbridge_mig", str(ROOT / "ansible/roles/mig/files/landbridge-mig"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("landbridge_mig", loader))
    loader.exec_module(module)
    return module


def test_a_corrupted_inforom_does_not_prevent_a_change(
    mig: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    warning = "WARNING: infoROM is corrupted at gpu 0000:1B:00.0"
    text = "<nvidia_smi_log><gpu><uuid>GPU-1</uuid></gpu></nvidia_smi_log>"
    program.write_text(f"#!/bin/sh\n[ $1 = -L ] || echo '{text}'\necho '{warning}'\nexit 14\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert [gpu.uuid for gpu in mig.read()] == ["GPU-1"]


@pytest.mark.parametrize(
    ("hangs", "fails", "words"),
    [
        ("'stop nvidia-persistenced'", "never", "systemctl stop nvidia-persistenced does not end"),
        ("never", "'start nvidia-dcgm'", "systemctl start nvidia-dcgm ended with 1"),
        ("'start nvidia-dcgm'", "never", "systemctl start nvidia-dcgm does not end"),
    ],
)
def test_holders_are_started_in_any_case(
    mig: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs: str, fails: str, words: str
) -> None:
    calls, program = tmp_path / "calls", tmp_path / "systemctl"
    program.write_text(SYSTEMCTL.format(calls=calls, hangs=hangs, fails=fails))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(mig, "SECONDS", 1)
    with pytest.raises(mig.Failed, match=words):
        mig.change([], {}, CONFIG)
    started = [line for line in calls.read_text().splitlines() if line.startswith("start")]
    assert started == ["start nvidia-dcgm", "start nvidia-persistenced"]
