"""`landbridge catalog`: output for users and for programs."""

import json
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.unit.catalog.peers.moto import descriptions

PROGRAM = str(Path(sys.executable).parent / "landbridge")
FOLDER = Path(str(files("landbridge.catalog")))
P5, B200 = "p5.48xlarge", "p6-b200.48xlarge"


def landbridge(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "catalog", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def saved(path: Path, *names: str, **changes: Any) -> Path:
    """Write a file in the format of `aws ec2 describe-instance-types`; `changes` apply to every type."""
    path.write_text(json.dumps({"InstanceTypes": [{**descriptions()[name], **changes} for name in names]}))
    return path


def test_list_filters_by_region_accelerator_and_family() -> None:
    done = landbridge("list", "--accelerator", "h200", "--region", "us-east-1", "--format", "json")
    assert done.returncode == 0
    (row,) = json.loads(done.stdout)
    assert (row["type"], row["zones"], row["efa"]) == ("p5en.48xlarge", "use1-az2,use1-az6", 16)
    text = landbridge("list", "--family", "p5").stdout.splitlines()
    assert [line.split()[0] for line in text] == ["type", "p5.4xlarge", P5]
    gov = landbridge("list", "-a", "h100", "-r", "us-gov-west-1").stdout
    assert P5 in gov and "not recorded" in gov


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("list", "--family", "p9"), 1),
        (("list", "-a", "h100", "-r", "eu-south-1"), 1),
        (("list", "-r", "us-east-9"), 2),
        (("show", "p5.48xlrge"), 2),
        (("show", "us-east-11"), 2),
        (("diff", "/does/not/exist.json"), 2),
    ],
)
def test_unknown_names_and_empty_results_have_their_exit_status(arguments: tuple[str, ...], status: int) -> None:
    done = landbridge(*arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr and "Traceback" not in done.stderr


def test_show_says_why_a_type_with_a_fraction_of_a_gpu_is_not_known() -> None:
    done = landbridge("show", "gr6f.4xlarge")
    assert (done.returncode, done.stdout) == (2, "")
    assert "1/2 of an L4 (11444 MiB)" in done.stderr and "GRID driver" in done.stderr


def test_show_prints_all_facts_of_a_type_or_a_region() -> None:
    shown = landbridge("show", "p6e-gb200.36xlarge").stdout
    for words in ("4 x gb200", "72 GPUs", "arm64", "u-p6e-gb200x72", "capacity_block", "16: 1 interfaces, 200 Gbps"):
        assert words in shown
    prices = json.loads(landbridge("show", P5, "--format", "json").stdout)["prices"]
    assert "on_demand us-east-1: $55.04 per instance-hour, 2026-11-09" in prices
    region = json.loads(landbridge("show", "us-gov-west-1", "--format", "json").stdout)
    assert region["partition"] == "aws-us-gov" and P5 in region["accelerated"]


def test_diff_compares_with_descriptions_of_ec2(tmp_path: Path) -> None:
    same = landbridge("diff", saved(tmp_path / "same.json", P5, "m7i.large"))
    assert (same.returncode, same.stdout) == (0, "")
    less = landbridge("diff", saved(tmp_path / "less.json", P5, MemoryInfo={"SizeInMiB": 1024}))
    assert less.returncode == 1
    assert less.stdout.split() == [P5, "memory_mib", "2097152", "->", "1024"]
    printed = json.loads(landbridge("diff", tmp_path / "less.json", "--format", "json").stdout)
    assert printed == [{"subject": P5, "fact": "memory_mib", "ours": 2097152, "theirs": 1024, "known": None}]


def test_diff_hides_known_differences(tmp_path: Path) -> None:
    path = saved(tmp_path / "b200.json", B200)
    hidden, shown = landbridge("diff", path), landbridge("diff", path, "--known")
    assert (hidden.returncode, hidden.stdout) == (0, "") and "1 that are known" in hidden.stderr
    assert shown.returncode == 0 and "right: both" in shown.stdout


def test_diff_compares_zones_by_id(tmp_path: Path) -> None:
    zones = [f"use1-az{number}" for number in (1, 2, 3, 4, 5)]
    items = [{"InstanceType": P5, "LocationType": "availability-zone-id", "Location": zone} for zone in zones]
    path = tmp_path / "offerings.json"
    path.write_text(json.dumps({"InstanceTypeOfferings": items}))
    differences = json.loads(landbridge("diff", path, "--format", "json").stdout)
    mine = next(row for row in differences if row["subject"] == P5)
    assert (mine["fact"], mine["ours"], mine["theirs"]) == ("zones", ["use1-az6"], None)
    path.write_text(json.dumps({"InstanceTypeOfferings": [{"InstanceType": P5, "Location": "us-east-1a"}]}))
    by_name = landbridge("diff", path)
    assert by_name.returncode == 2 and "availability-zone-id" in by_name.stderr


@pytest.mark.parametrize("text", ["", "[", "3", '{"Reservations": []}', '[{"no": "type"}]', '{"InstanceTypes": [7]}'])
def test_diff_refuses_other_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    done = landbridge("diff", path)
    assert done.returncode == 2 and "Traceback" not in done.stderr and str(path) in done.stderr


def test_diff_compares_with_another_catalogue(tmp_path: Path) -> None:
    other = tmp_path / "catalog"
    shutil.copytree(FOLDER, other, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    assert landbridge("diff", other).returncode == 0
    path = other / "instances/p5.yaml"
    path.write_text(path.read_text().replace("nvlink_domain: 8", "nvlink_domain: 4").replace("use1-az[1-6],", ""))
    (other / "instances/g7e.yaml").unlink()
    done = landbridge("diff", other, "--format", "json")
    assert done.returncode == 1
    differences = {(row["subject"], row["fact"]) for row in json.loads(done.stdout)}
    assert {(P5, "nvlink_domain"), (P5, "zones"), ("p5.4xlarge", "zones"), ("g7e.2xlarge", "type")} <= differences
    path.write_text("types: {")
    broken = landbridge("diff", other)
    assert broken.returncode == 2 and "instances/p5.yaml" in broken.stderr


@pytest.mark.parametrize("command", ["list", "show", "diff"])
def test_every_command_has_an_example(command: str) -> None:
    assert f"Example: landbridge catalog {command}" in " ".join(landbridge(command, "--help").stdout.split())
