"""Environment `startup`, as it is shipped, under Pulumi's real engine."""

from pathlib import Path

import pytest

from landbridge.environment import load_environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.golden import ROOT
from tests.graph.support.inventory import left
from tests.graph.support.permissions_environment import budget_actions

pytestmark = [pytest.mark.engine]


def test_the_startup_environment_is_created_and_destroyed(
    engine: Engine, cloud: EmulatorProcess, tmp_path: Path
) -> None:
    before, file = left(cloud), tmp_path / "Pulumi.graph.yaml"
    text = (ROOT / "stacks" / "Pulumi.startup.yaml").read_text()
    emulated = f"    aws:\n      protect: false\n      endpoints: {{operator: '{cloud.endpoint}'}}\n"
    file.write_text(text.replace("    aws:\n", emulated, 1))
    environment = load_environment(file).environment
    assert environment is not None
    built = pulumi.up(environment, file)
    assert set(built.changes) == {"create"} and built.outputs is not None
    assert built.outputs.link is None and set(built.outputs.pools) == {"g6e", "desk"}

    # It ships with a budget that stops launches by itself.
    (action,) = budget_actions(cloud)
    assert action["Status"] == "STANDBY" and action["ActionThreshold"]["ActionThresholdValue"] == 100

    # The inventory agrees with AWS: hosts by their instance ids, homes by the id of the file system for EFS's mount helper.
    groups = inventory(environment, built.outputs)
    assert all(variables["ansible_host"].startswith("i-") for variables in groups["_meta"]["hostvars"].values())
    served = built.outputs.services
    assert served is not None
    assert {name: host.address for name, host in served.hosts.items()} == {
        host["name"]: host["address"] for host in groups["all"]["vars"]["base_hosts"]
    }
    (mount,) = groups["all"]["vars"]["nfs_client_mounts"]
    home = built.outputs.file_systems["home"]
    assert (mount["type"], mount["server"], mount["mount"]) == ("efs", home.id, "/home")

    assert pulumi.up(environment, file).changed == 0
    assert pulumi.refresh(environment, file).changed == 0
    pulumi.destroy(environment, file)
    assert left(cloud) == before
