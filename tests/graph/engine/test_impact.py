"""`landbridge impact` and `landbridge up` on the real engine's own previews, against the emulated AWS."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

POOL, CLASSES = "max_nodes: 4", "      restricted: {sites: [onprem]}"
EXTRA = "      extra: {sites: [onprem, aws]}\n"


def landbridge(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    from landbridge.cli.main import build

    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        build()(list(arguments))
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out, told.err


@pytest.mark.long
def test_changes_are_told_before_they_are_made(
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
        found = json.loads(out)
        return status, {f"{one['type']}::{one['name']}": one["class"] for one in found["impacts"]}, found

    write((CLASSES, EXTRA + CLASSES))
    status, _, told = landbridge(capsys, "up", *file, "--yes")
    assert status == 0, told
    status, found, _ = impact()
    assert (status, found) == (0, {})

    # Another owner: tags, and who is written to.
    write((CLASSES, EXTRA + CLASSES), ("newcomer@example.org", "other@example.org"))
    status, found, _ = impact()
    template = "aws:ec2/launchTemplate:LaunchTemplate::graph-p5"
    # Nodes carry their tags from the template on, and the budget's alarms go to the new owner.
    changed = {key for key, effect in found.items() if effect != "none"}
    assert status == 0 and changed == {template, "aws:budgets/budget:Budget::graph"}

    # A bigger disk, and one zone less.
    write(
        (CLASSES, EXTRA + CLASSES),
        (POOL, "max_nodes: 4\n          root_volume_gib: 300"),
        ("zones: [use1-az4, use1-az6]", "zones: [use1-az4]"),
    )
    status, found, _ = impact()
    assert status == 0 and found[template] == "drain"
    assert "stop_pool" in {found[key] for key in found if "placementGroup" in key or "subnet:Subnet" in key}
    assert "data_loss" not in found.values()

    # Another VPC range: everything in the VPC is made anew, the hub is not.
    write((CLASSES, EXTRA + CLASSES), ("cidr: 10.60.0.0/16", "cidr: 10.61.0.0/16"))
    status, found, _ = impact()
    assert status == 0 and found["aws:ec2/vpc:Vpc::graph"] == "stop_pool"
    assert not [key for key in found if key.startswith("aws:s3/bucket:")]

    # A data class is taken out of AWS: its bucket and its key go, and only by name.
    write()
    status, found, _ = impact()
    lost = {key for key, effect in found.items() if effect == "data_loss"}
    assert status == 1 and lost == {"aws:s3/bucket:Bucket::graph-extra", "aws:kms/key:Key::graph-extra"}
    status, _, told = landbridge(capsys, "up", *file, "--yes", "--lose", "aws:kms/key:Key::graph-extra")
    assert status == 1 and "--lose aws:s3/bucket:Bucket::graph-extra" in told
    buckets = [bucket["Name"] for bucket in client(cloud, "s3").list_buckets()["Buckets"]]
    assert any("extra" in name for name in buckets), "nothing may have been done"
    named = [word for key in sorted(lost) for word in ("--lose", key)]
    assert landbridge(capsys, "impact", *file, *named)[0] == 0
    status, _, told = landbridge(capsys, "up", *file, "--yes", *named)
    assert status == 0, told

    # What Pulumi remembers is not left over; what somebody made by hand under the same tag is.
    status, out, told = landbridge(capsys, "sweep", *file)
    assert status == 0, out + told
    marks = [{"ResourceType": "elastic-ip", "Tags": [{"Key": "landbridge:cluster", "Value": "graph"}]}]
    address = client(cloud, "ec2").allocate_address(Domain="vpc", TagSpecifications=marks)["AllocationId"]
    status, out, _ = landbridge(capsys, "sweep", *file, "--format", "json")
    assert status == 1 and json.loads(out)["left"] == [address]
    status, _, told = landbridge(capsys, "destroy", *file, "--yes")
    assert status == 1 and f"still there, and billed: elastic IP address {address}" in told
    status, _, told = landbridge(capsys, "sweep", *file, "--delete")
    assert status == 0 and f"deleted  elastic IP address {address}" in told
    assert landbridge(capsys, "destroy", *file, "--yes")[0] == 0
    assert left(cloud) == before


def test_what_is_protected_is_told_as_data(
    engine: Engine,
    cloud: EmulatorProcess,
    environment_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pulumi stops at the first thing that it must not touch: the report is not taken for a whole one."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    file, before = ("--file", str(environment_file)), left(cloud)
    plain, guarded = environment_file.read_text(), ("protect: false", "protect: true")
    environment_file.write_text(plain.replace(*guarded).replace(CLASSES, EXTRA + CLASSES))
    status, _, told = landbridge(capsys, "up", *file, "--yes")
    assert status == 0, told
    environment_file.write_text(plain.replace(*guarded))
    status, out, told = landbridge(capsys, "impact", *file, "--format", "json")
    found = json.loads(out)
    assert status == 1 and found["worst"] == "data_loss" and not found["complete"]
    assert found["unnamed"] and "protected" in told
    # Taken back: nothing is protected any more, and everything goes.
    environment_file.write_text(plain.replace(CLASSES, EXTRA + CLASSES))
    assert landbridge(capsys, "up", *file, "--yes")[0] == 0
    assert landbridge(capsys, "destroy", *file, "--yes")[0] == 0
    assert left(cloud) == before
