"""Refresh of the catalogue from EC2: no difference where they agree, a diff otherwise, and a small change when written."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import landbridge.catalog
from landbridge.catalog.aws.instances import Instances
from sandbox.aws_emulator.process import EmulatorProcess

from .conftest import run

SHIPPED = Path(landbridge.catalog.__file__).parent
P5 = "p5.48xlarge"


@pytest.fixture
def aws(cloud: EmulatorProcess, monkeypatch: pytest.MonkeyPatch) -> EmulatorProcess:
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    return cloud


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SHIPPED, tmp_path / "catalogue", ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    return tmp_path / "catalogue"


def change_answers(cloud: EmulatorProcess) -> None:
    """Make EC2 answer differently for p5.48xlarge: fewer zones, no spot, and three interfaces on each card."""
    (known,) = moto_types(P5)
    network = json.loads(json.dumps(known["NetworkInfo"]))
    for card in network["NetworkCards"][1:]:
        card["MaximumNetworkInterfaces"] = 3
    change = {"SupportedUsageClasses": ["on-demand", "capacity-block"], "NetworkInfo": network}
    cloud.control(types={P5: change}, offered={P5: ["use1-az1", "use1-az4"]})


def moto_types(*names: str) -> Iterator[dict[str, Any]]:
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    return (INSTANCE_TYPES[name] for name in names)


@pytest.mark.parametrize("region", ["us-east-1", "eu-north-1"])
def test_shipped_catalogue_agrees(aws: EmulatorProcess, capsys: pytest.CaptureFixture[str], region: str) -> None:
    status, out, errors = run(capsys, "catalog", "refresh", "--region", region)
    assert (status, out) == (0, ""), out
    assert "no differences" in errors
    assert aws.control()["asked"]["ec2:DescribeInstanceTypes"] > 1, "one page is not the whole answer"


def test_difference_is_shown_and_written_as_a_small_change(
    aws: EmulatorProcess, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_answers(aws)
    status, out, _ = run(capsys, "catalog", "refresh", "--into", str(folder))
    assert status == 1
    assert {line.split()[1] for line in out.splitlines()} == {"zones", "purchase", "cards.interfaces"}, out
    assert {line.split()[0] for line in out.splitlines()} == {P5}
    before = {path: path.read_text() for path in folder.rglob("*.yaml")}

    status, _, errors = run(capsys, "catalog", "refresh", "--into", str(folder), "--write")
    assert status == 1 and f"written: {P5}" in errors
    changed = [path for path, text in before.items() if path.read_text() != text]
    assert [path.name for path in changed] == ["p5.yaml"]
    unchanged = [line for line in before[changed[0]].splitlines() if line in changed[0].read_text().splitlines()]
    assert len(unchanged) >= len(before[changed[0]].splitlines()) - 6, "only the facts' own lines change"

    old, new = Instances(SHIPPED)[P5], Instances(folder)[P5]
    assert new.purchase == ("on_demand", "capacity_block")
    assert [card.interfaces for card in new.cards] == [2, *[3] * 31]
    elsewhere = {zone for zone in old.zones if not zone.startswith("use1-")}
    assert set(new.zones) == elsewhere | {"use1-az1", "use1-az4"}
    assert new.date > old.date and "us-east-1" in new.source
    same = {"zones", "purchase", "cards", "date", "source"}
    assert new.model_dump(exclude=same) == old.model_dump(exclude=same)
    assert Instances(folder)["p5.4xlarge"] == Instances(SHIPPED)["p5.4xlarge"]

    status, out, _ = run(capsys, "catalog", "refresh", "--into", str(folder))
    assert (status, out) == (0, "")


def test_several_regions_are_one_review(aws: EmulatorProcess, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "catalog", "refresh", "-r", "us-east-1", "-r", "us-west-2", "--format", "json")
    assert (status, json.loads(out)) == (0, [])


@pytest.mark.parametrize("action", ["ec2:DescribeInstanceTypes", "ec2:DescribeInstanceTypeOfferings"])
def test_refusal_is_reported_and_writes_nothing(
    aws: EmulatorProcess, folder: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    before = {path: path.read_text() for path in folder.rglob("*.yaml")}
    aws.control(deny=[action])
    status, _, errors = run(capsys, "catalog", "refresh", "--into", str(folder), "--write")
    assert status == 2 and action in errors
    assert {path: path.read_text() for path in folder.rglob("*.yaml")} == before


def test_unreadable_result_is_reverted(folder: Path, aws: EmulatorProcess, capsys: pytest.CaptureFixture[str]) -> None:
    """A row that cannot be edited is not changed, and reported."""
    file = folder / "instances" / "p5.yaml"
    file.write_text(file.read_text().replace(f"  {P5}:\n", f'  "{P5}":\n'))
    before = file.read_text()
    change_answers(aws)
    status, _, errors = run(capsys, "catalog", "refresh", "--into", str(folder), "--write")
    assert status == 2 and "has no row in its file" in errors and file.read_text() == before
