"""The programs on a cloud node, as modules, and an instance for them."""

from pathlib import Path
from typing import Any

from tests.roles.storage.test_node_storage import loaded
from tests.unit.aws_emulator.conftest import Stack
from tests.unit.aws_emulator.test_emulator_launch import run

ROLE = Path(__file__).parents[4] / "ansible/roles/cloud_agent"
agent = loaded(ROLE / "files/landbridge-cloud-agent")
identity = loaded(ROLE.parent / "cloud_identity/files/landbridge-node-identity")
LIMITS = agent.Limits(alone=1800, requeue=30, warning=120, on_rebalance=True)


def spot_instance(ec2: Any, stack: Stack) -> dict[str, Any]:
    """The second of a spot launch of p5-7 and p5-8."""
    tags = {"landbridge:nodes": "p5-[7-8]", "landbridge:lease-expires": "2027-01-15T08:00:00Z"}
    given = [{"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]
    options = {"InstanceMarketOptions": {"MarketType": "spot"}}
    return dict(run(ec2, stack, 2, 2, TagSpecifications=given, **options)["Instances"][1])
