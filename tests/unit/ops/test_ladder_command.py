"""Command landbridge validate: text, JSON and refusals; the shell commands of rungs."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.acceptance.rungs import RUNGS, AcceptanceSettings, command, groups
from landbridge.acceptance.runners import packed
from landbridge.cli.main import build
from tests.unit.core.samples import ROOT
from tests.unit.ops.healthy_ladder import NODES, printed
from tests.unit.ops.ladder_outputs import smi


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "kept"
    folder.mkdir()
    for rung in RUNGS:
        for nodes in groups(rung, NODES):
            name = "dgx[01-02]" if len(nodes) == 2 else nodes[0]
            (folder / f"{rung.name}.{name}.out").write_text(printed(rung, nodes))
    return folder


def landbridge(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), ["validate", *words, "-f", str(ROOT / "stacks/Pulumi.sandbox.yaml")])
    return done.exit_code, done.output


def test_text_and_json_output_agree(saved: Path) -> None:
    thresholds = saved / "own.yaml"
    thresholds.write_text("storage.read: 10\nstorage.write: 0\n")
    code, output = landbridge("--from", str(saved), "--thresholds", str(thresholds))
    assert code == 0 and output.splitlines()[-1] == "dgx[01-02]: passed" and "from: measured rows: Azure" in output
    code, output = landbridge("dgx01", "--from", str(saved), "--rung", "dcgm", "--format", "json")
    assert json.loads(output)["ok"] is True and json.loads(output)["nodes"] == ["dgx01"]
    (saved / "driver.dgx02.out").write_text(smi(7))
    code, output = landbridge("--from", str(saved), "--rung", "driver")
    assert code == 1 and "NOT  GPUs: 7, at least 8" in output and output.splitlines()[-1] == "dgx[01-02]: failed"
    (saved / "driver.dgx02.out").unlink()
    assert landbridge("--from", str(saved), "--rung", "driver")[0] == 2
    code, output = landbridge("dgx01", "--from", str(saved), "--rung", "storage")
    assert code == 2 and "not judged, because no threshold is known: storage.read, storage.write" in output
    thresholds.write_text("storage.read: 13\n")
    assert landbridge("dgx01", "--from", str(saved), "--rung", "storage", "--thresholds", str(thresholds))[0] == 1


@pytest.mark.parametrize("words", [("dgx09",), ("dgx[1",), ("--rung", "wheels"), ("--at", "elsewhere")])
def test_unknown_nodes_rungs_and_programs_are_refused(saved: Path, words: tuple[str, ...]) -> None:
    assert landbridge(*words)[0] == 2


def test_the_shell_command_of_a_rung_runs_as_intended(tmp_path: Path) -> None:
    by_name = {rung.name: rung for rung in RUNGS}
    fio = tmp_path / "fio"
    fio.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    fio.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7", "SCRATCH": "/scratch/jobs/7"}
    for storage, expected in (("", "/scratch/jobs/7"), ("/mnt/two words", "/mnt/two words")):
        words = command(by_name["storage"], 8, AcceptanceSettings(storage=storage, size="1g"))
        output = subprocess.run(words, env=environ, capture_output=True, text=True, check=True).stdout.splitlines()
        assert f"--directory={expected}" in output and "--filename_format=landbridge-validate.7.$jobnum" in output
    # Training: the program is unpacked, called in its folder with the first node's address, and removed afterwards.
    (tmp_path / "scontrol").write_text(
        '#!/bin/sh\n[ "$1" = getaddrs ] && echo "dgx01: 10.20.1.11:6818" || echo dgx01\n'
    )
    (tmp_path / "scontrol").chmod(0o755)
    script = command(by_name["training"], 8, AcceptanceSettings())[2]
    assert "/opt/landbridge/training/bin/python train.py --epochs 2" in script
    shown = script.replace("/opt/landbridge/training/bin/python", "ls train.py && env && pwd && echo")
    done = subprocess.run(
        ["sh", "-c", shown],
        env={
            **environ,
            "SLURM_JOB_NODELIST": "dgx01",
            "TMPDIR": str(tmp_path),
            "MLFLOW_TRACKING_URI": "http://mlops01",
        },
        input=packed(ROOT / "examples/digits"),
        capture_output=True,
        check=True,
    )
    output = done.stdout.decode().splitlines()
    assert "LANDBRIDGE_COORDINATOR=10.20.1.11:20007" in output and not [
        line for line in output if line.startswith("MLFLOW")
    ]
    assert not [path for path in tmp_path.iterdir() if path.is_dir()], "nothing is left behind"
