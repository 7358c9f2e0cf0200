"""`landbridge destroy` while a node and an image builder run: nothing is removed, or they end first."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.engine.test_impact import landbridge
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine]
IMAGE = "ami-0a11ce5a9db0c5000"


def launch(cloud: EmulatorProcess, template: str, subnet: str, **marks: str) -> str:
    """Start an instance with the cluster's tag, as the burst controller or Image Builder starts one."""
    ec2 = client(cloud, "ec2")
    tags = [{"Key": f"landbridge:{key}", "Value": value} for key, value in {"cluster": "graph", **marks}.items()]
    (group,) = ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": [template]}])["SecurityGroups"]
    (instance,) = ec2.run_instances(
        ImageId=IMAGE, InstanceType="p5.48xlarge", MinCount=1, MaxCount=1, SubnetId=subnet,
        SecurityGroupIds=[group["GroupId"]], TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
    )["Instances"]  # fmt: skip
    return str(instance["InstanceId"])


def test_destroy_refuses_while_nodes_run_and_ends_them_when_told(
    engine: Engine,
    cloud: EmulatorProcess,
    environment_file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    file, before = ("--file", str(environment_file)), left(cloud)
    status, _, errors = landbridge(capsys, "up", *file, "--yes")
    assert status == 0, errors
    ec2, built = client(cloud, "ec2"), left(cloud)
    (subnet, *_) = sorted(built["subnets"] - before["subnets"])
    zone = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailabilityZoneId"]
    cloud.control(offered={"p5.48xlarge": [zone]})
    lease = (datetime.now(UTC) + timedelta(hours=20)).strftime("%Y-%m-%dT%H:%M:%SZ")
    node = launch(cloud, "graph-p5", subnet, pool="p5", job="17", **{"lease-expires": lease})
    builder = launch(cloud, "graph-p5", subnet)

    status, out, _ = landbridge(capsys, "sweep", *file)
    assert f"in use, and billed: instance {node} in us-east-1: pool p5" in out and "1 in use" in out, out
    running = left(cloud)
    status, _, errors = landbridge(capsys, "destroy", *file, "--yes")
    assert status == 1 and "nothing was removed" in errors
    for text in (f"still runs: instance {node}", f"still runs: instance {builder}", "USD/h", "jobs 17", lease):
        assert text in errors, errors
    assert left(cloud) == running

    # A node that starts during the destroy stops it; the reaper and the roles that end nodes stay as long.
    cloud.control(faults={"DeleteSecurityGroup": {"code": "DependencyViolation", "status": 400, "message": "a node"}})
    with monkeypatch.context() as late:
        late.setattr("landbridge.cli.stack.running.end_running", lambda *_, **__: None)
        status, out, errors = landbridge(capsys, "destroy", *file, "--yes")
    assert status == 1 and f"in use, and billed: instance {node}" in errors, errors
    cloud.control(reset=True)
    remaining_policies = {policy for role in left(cloud)["roles"] - before["roles"] for policy in policies(cloud, role)}
    assert ("graph-terminate", "landbridge") in remaining_policies, remaining_policies

    status, _, errors = landbridge(capsys, "destroy", *file, "--yes", "--terminate-nodes")
    assert status == 0 and f"ends: instance {node}" in errors, errors
    assert left(cloud) == before


def policies(cloud: EmulatorProcess, role: str) -> set[tuple[str, str]]:
    """Return the role's inline policies, each with the role's name."""
    return {(role, name) for name in client(cloud, "iam").list_role_policies(RoleName=role)["PolicyNames"]}
