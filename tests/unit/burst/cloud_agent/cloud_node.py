"""The programs of a cloud node as modules, and a spot instance for them."""

from pathlib import Path
from typing import Any

from tests.roles.storage.test_node_storage import loaded
from tests.unit.aws_emulator.conftest import Stack
from tests.unit.aws_emulator.instances.test_emulator_launch import run

ROLE = Path(__file__).parents[4] / "ansible/roles/cloud_agent"
agent = loaded(ROLE / "files/landbridge-cloud-agent")
identity = loaded(ROLE.parent / "cloud_identity/files/landbridge-node-identity")
LIMITS = agent.Limits(alone=1800, requeue=30, warning=120, on_rebalance=True)


def spot_instance(ec2: Any, stack: Stack) -> dict[str, Any]:
    """Launch p5-7 and p5-8 as spot instances; return the second."""
    tags = {"landbridge:nodes": "p5-[7-8]", "landbridge:lease-expires": "2027-01-15T08:00:00Z"}
    specification = [
        {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
    ]
    options = {"InstanceMarketOptions": {"MarketType": "spot"}}
    return dict(run(ec2, stack, 2, 2, TagSpecifications=specification, **options)["Instances"][1])
