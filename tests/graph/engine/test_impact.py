"""`landbridge impact` and `landbridge up` on the real engine's own previews, against the emulated AWS."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine]

POOL, CLASSES = "max_nodes: 4", "      restricted: {sites: [onprem]}"
EXTRA = "      extra: {sites: [onprem, aws]}\n"


def landbridge(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    from landbridge.cli.main import build

    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        build()(list(arguments))
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


@pytest.mark.long
def test_impact_reports_changes_before_up(
    engine: Engine,
    cloud: EmulatorProcess,
    environment_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    file, before = ("--file", str(environment_file)), left(cloud)
    plain = environment_file.read_text()

    def write(*changes: tuple[str, str]) -> None:
        text = plain
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        environment_file.write_text(text)

    def impact() -> tuple[int, dict[str, str], dict[str, Any]]:
        status, out, _ = landbridge(capsys, "impact", *file, "--format", "json")
        report = json.loads(out)
        return status, {f"{entry['type']}::{entry['name']}": entry["class"] for entry in report["impacts"]}, report

    write((CLASSES, EXTRA + CLASSES))
    status, _, errors = landbridge(capsys, "up", *file, "--yes")
    assert status == 0, errors
    status, effects, _ = impact()
    assert (status, effects) == (0, {})

    # Another owner: tags, and the recipient of alarms.
    write((CLASSES, EXTRA + CLASSES), ("newcomer@example.org", "other@example.org"))
    status, effects, _ = impact()
    template = "aws:ec2/launchTemplate:LaunchTemplate::graph-p5"
    # The launch template has the nodes' tags, and the budget's alarms go to the new owner.
    changed = {key for key, effect in effects.items() if effect != "none"}
    assert status == 0 and changed == {template, "aws:budgets/budget:Budget::graph"}

    # A bigger disk, and one zone less.
    write(
        (CLASSES, EXTRA + CLASSES),
        (POOL, "max_nodes: 4\n          root_volume_gib: 300"),
        ("zones: [use1-az4, use1-az6]", "zones: [use1-az4]"),
    )
    status, effects, _ = impact()
    assert status == 0 and effects[template] == "drain"
    assert "stop_pool" in {effects[key] for key in effects if "placementGroup" in key or "subnet:Subnet" in key}
    assert "data_loss" not in effects.values()

    # Another VPC range: everything in the VPC is replaced, the data hub is not.
    write((CLASSES, EXTRA + CLASSES), ("cidr: 10.60.0.0/16", "cidr: 10.61.0.0/16"))
    status, effects, _ = impact()
    assert status == 0 and effects["aws:ec2/vpc:Vpc::graph"] == "stop_pool"
    assert not [key for key in effects if key.startswith("aws:s3/bucket:")]

    # A data class is removed from AWS: its bucket and its key are deleted, only if they are named.
    write()
    status, effects, _ = impact()
    lost = {key for key, effect in effects.items() if effect == "data_loss"}
    assert status == 1 and lost == {"aws:s3/bucket:Bucket::graph-extra", "aws:kms/key:Key::graph-extra"}
    status, _, errors = landbridge(capsys, "up", *file, "--yes", "--lose", "aws:kms/key:Key::graph-extra")
    assert status == 1 and "--lose aws:s3/bucket:Bucket::graph-extra" in errors
    buckets = [bucket["Name"] for bucket in client(cloud, "s3").list_buckets()["Buckets"]]
    assert any("extra" in name for name in buckets), "nothing may have been changed"
    named = [word for key in sorted(lost) for word in ("--lose", key)]
    assert landbridge(capsys, "impact", *file, *named)[0] == 0
    status, _, errors = landbridge(capsys, "up", *file, "--yes", *named)
    assert status == 0, errors

    # Resources in Pulumi's state are no leftovers; a resource created by hand with the same tag is one.
    status, out, errors = landbridge(capsys, "sweep", *file)
    assert status == 0, out + errors
    marks = [{"ResourceType": "elastic-ip", "Tags": [{"Key": "landbridge:cluster", "Value": "graph"}]}]
    address = client(cloud, "ec2").allocate_address(Domain="vpc", TagSpecifications=marks)["AllocationId"]
    status, out, _ = landbridge(capsys, "sweep", *file, "--format", "json")
    assert status == 1 and json.loads(out)["left"] == [address]
    status, _, errors = landbridge(capsys, "destroy", *file, "--yes")
    assert status == 1 and f"still there, and billed: elastic IP address {address}" in errors
    status, _, errors = landbridge(capsys, "sweep", *file, "--delete")
    assert status == 0 and f"deleted  elastic IP address {address}" in errors
    assert landbridge(capsys, "destroy", *file, "--yes")[0] == 0
    assert left(cloud) == before


def test_a_protected_resource_is_reported_as_data_loss(
    engine: Engine,
    cloud: EmulatorProcess,
    environment_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pulumi stops at the first protected resource: the report is marked as incomplete."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    file, before = ("--file", str(environment_file)), left(cloud)
    plain, guarded = environment_file.read_text(), ("protect: false", "protect: true")
    environment_file.write_text(plain.replace(*guarded).replace(CLASSES, EXTRA + CLASSES))
    status, _, errors = landbridge(capsys, "up", *file, "--yes")
    assert status == 0, errors
    environment_file.write_text(plain.replace(*guarded))
    status, out, errors = landbridge(capsys, "impact", *file, "--format", "json")
    report = json.loads(out)
    assert status == 1 and report["worst"] == "data_loss" and not report["complete"]
    assert report["unnamed"] and "protected" in errors
    # Without protection everything is deleted.
    environment_file.write_text(plain.replace(CLASSES, EXTRA + CLASSES))
    assert landbridge(capsys, "up", *file, "--yes")[0] == 0
    assert landbridge(capsys, "destroy", *file, "--yes")[0] == 0
    assert left(cloud) == before
