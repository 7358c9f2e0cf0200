"""Command `landbridge adopt`: options, exit status, output, and files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.existing_slurm.samples import DATA, GOOD

PROGRAM = Path(sys.executable).with_name("landbridge")
OPTIONS = {
    "--name": "acme",
    "--owner": "ml@example.org",
    "--region": "us-east-1",
    "--slurm": "slurm 24.11.5",
    "--slurm-uid": "64030",
    "--onprem-cidr": "10.20.0.0/16",
    "--aws-cidr": "10.60.0.0/16",
    "--pool": "p5=p5.48xlarge:8",
    "--account": "vision",
    "--gateway": "gw01",
    "--gateway-address": "198.51.100.7",
    "--hosts": str(DATA / "openhpc" / "hosts"),
}


def adopt(conf: Path, folder: Path, *more: str, **changes: str) -> subprocess.CompletedProcess[str]:
    options = {**OPTIONS, **{f"--{key.replace('_', '-')}": value for key, value in changes.items()}}
    words = [word for pair in options.items() for word in pair]
    return subprocess.run(
        [PROGRAM, "adopt", str(conf), *words, *more],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )


def test_files_are_written_once(tmp_path: Path) -> None:
    conf = DATA / "openhpc" / "slurm.conf"
    done = adopt(conf, tmp_path)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "adopt-acme").iterdir()}
    assert names == {
        "Pulumi.acme.yaml",
        "landbridge.conf",
        "landbridge-gres.conf",
        "landbridge-hosts",
        "slurm.diff",
        "way-back.md",
    }
    assert "program-on-cloud-nodes" in done.stderr and "HealthCheckProgram=/usr/sbin/nhc" in done.stderr
    again = adopt(conf, tmp_path)
    assert again.returncode == 1 and "already exists" in again.stderr


def test_obstacles_are_json_for_programs(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(GOOD.replace("select/cons_tres", "select/linear"))
    done = adopt(tmp_path / "slurm.conf", tmp_path, "--format", "json")
    data = json.loads(done.stdout)
    assert (done.returncode, data["errors"], data["files"]) == (1, 1, [])
    assert {(finding["rule"], finding["line"]) for finding in data["findings"]} == {("select-type", 8)}
    assert not (tmp_path / "adopt-acme").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("pool", "p5"),
        ("pool", "p5=p5.48xlarge:0"),
        ("slurm", "newest"),
        ("aws_cidr", "10.60.0.1/16"),
        ("gateway_address", "gw.example.org"),
        ("gateway", "GW 01"),
        ("home", "nfs01"),
        ("hosts", "/nowhere"),
    ],
)
def test_a_wrong_option_is_a_usage_error(option: str, value: str, tmp_path: Path) -> None:
    done = adopt(DATA / "openhpc" / "slurm.conf", tmp_path, **{option: value})
    assert done.returncode == 2 and "Traceback" not in done.stderr and f"--{option.replace('_', '-')}" in done.stderr


def test_a_missing_slurm_conf_is_a_usage_error(tmp_path: Path) -> None:
    done = adopt(tmp_path / "slurm.conf", tmp_path)
    assert done.returncode == 2 and "is not a file" in done.stderr


def test_a_file_that_is_not_text_gives_findings(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_bytes(b"\xff\xfe\x00=\x80\n")
    done = adopt(tmp_path / "slurm.conf", tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
