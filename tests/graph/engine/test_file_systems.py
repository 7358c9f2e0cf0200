"""File systems under Pulumi's real engine: growth in place, refused changes, and resources that destroy retains."""

from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.file_system_settings import LINKED, SHARES, stored
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine]


def changed(file: Path, old: str, new: str) -> Environment:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


@pytest.mark.long
def test_life_of_a_file_system(engine: Engine, cloud: EmulatorProcess, environment_file: Path) -> None:
    before, fsx = left(cloud), client(cloud, "fsx")
    changed(environment_file, "protect: false", "protect: true")
    built = pulumi.up(changed(environment_file, *stored(LINKED)), environment_file)
    assert built.outputs is not None
    file_system = built.outputs.file_systems["cloud_scratch"].id

    def size() -> int:
        return int(fsx.describe_file_systems(FileSystemIds=[file_system])["FileSystems"][0]["StorageCapacity"])

    # A larger file system is updated in place; a second up and a refresh change nothing.
    bigger = changed(environment_file, "kind: fsx_lustre,", "kind: fsx_lustre, capacity_gib: 7200,")
    grown = pulumi.up(bigger, environment_file)
    assert {key: count for key, count in grown.changes.items() if key != "same"} == {"update": 1}
    assert size() == 7200
    assert pulumi.up(bigger, environment_file).changed == 0
    assert pulumi.refresh(bigger, environment_file).changed == 0

    # A smaller one would replace it, without the data: refused, and nothing is changed.
    smaller = changed(environment_file, "capacity_gib: 7200", "capacity_gib: 2400")
    with pytest.raises(pulumi.PulumiFailed, match="protect"):
        pulumi.up(smaller, environment_file)
    assert size() == 7200

    # Destroy deletes resources without data; the file system, its key and its network stay.
    back = changed(environment_file, "capacity_gib: 2400", "capacity_gib: 7200")
    pulumi.destroy(back, environment_file)
    assert size() == 7200 and left(cloud)["launch templates"] == before["launch templates"]

    # Without protection in the file, destroy deletes it.
    unprotected = changed(environment_file, "protect: true", "protect: false")
    pulumi.up(unprotected, environment_file)
    assert size() == 7200
    pulumi.destroy(unprotected, environment_file)
    assert left(cloud) == before


@pytest.mark.long
def test_all_options_together_need_no_second_update(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path
) -> None:
    """Create every kind of file system, a replica of the hub in a second region and flow logs with one update."""
    before = left(cloud)
    changed(environment_file, *stored(f"{LINKED}\n{SHARES}"))
    changed(environment_file, "nat: none", "nat: none\n      logs: {flow_logs: true}")
    environment = changed(
        environment_file,
        "data_hub: {kind: s3}",
        "data_hub: {kind: s3, classes: {internal: {replica_region: us-west-2, object_lock: {days: 1}, tiering_days: 0}}}",
    )
    built = pulumi.up(environment, environment_file)
    assert set(built.changes) == {"create"} and built.outputs is not None
    assert set(built.outputs.file_systems) == {"cloud_scratch", "homes", "files"}
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0

    # Other values are updated in place if AWS supports it.
    changed(environment_file, "kind: fsx_openzfs,", "kind: fsx_openzfs, capacity_gib: 2048, throughput: 320,")
    changed(
        environment_file, "kind: efs,", "kind: efs, throughput: provisioned, provisioned_mibps: 64, backups: false,"
    )
    more = changed(environment_file, "flow_logs: true", "flow_logs: true, retention_days: 30")
    updated = pulumi.up(more, environment_file)
    # `retention_days` applies to both logs, of flows and of the link.
    assert {key: count for key, count in updated.changes.items() if key != "same"} == {"update": 5}
    assert pulumi.up(more, environment_file).changed == 0
    pulumi.destroy(more, environment_file)
    assert left(cloud) == before
