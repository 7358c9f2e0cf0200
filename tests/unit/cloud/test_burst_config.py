"""What the plan writes for the controller is what the burst programs read."""

from pathlib import Path
from typing import Any

from landbridge.burst.config import parse
from landbridge.environment import find_environment, load_environment
from landbridge.plan.burst import burst_config
from landbridge.plan.outputs import StackOutputs

TUNNEL = {
    "outside_address": "198.51.100.20",
    "inside_cidr": "169.254.10.0/30",
    "aws_inside_address": "169.254.10.1",
    "customer_inside_address": "169.254.10.2",
}
POOL = {
    "launch_template_id": "lt-0123456789abcdef0",
    "launch_template_name": "sandbox-p5",
    "launch_template_version": "3",
    "instance_type": "p5.48xlarge",
    "max_nodes": 4,
    "market": "on-demand",
    "placement_group": None,
    "security_group_id": "sg-1",
    "subnets": [
        {"id": "subnet-1", "zone": "use1-az4", "placement_group": "sandbox-p5-use1-az4"},
        {"id": "subnet-2", "zone": "use1-az6", "placement_group": None},
    ],
}


def outputs() -> StackOutputs:
    arn = "arn:aws:iam::123456789012:role/r"
    raw: dict[str, Any] = {
        "cluster": "sandbox",
        "region": "us-east-1",
        "network": {"vpc_id": "vpc-1", "cidr": "10.60.0.0/16", "subnets": {}},
        "link": {"aws_asn": 64512, "customer_gateway_address": "198.51.100.10", "tunnels": [TUNNEL, TUNNEL]},
        "link_pre_shared_keys": ["not-for-the-controller", "not-for-the-controller"],
        "hub": {"buckets": {}},
        "identity": {"node_instance_profile": "n", "node_role_arn": arn, "launch_role_arn": arn, "hub_role_arn": arn},
        "secrets": {"slurm_key": "sandbox/slurm-key"},
        "pools": {"p5": POOL},
    }
    return StackOutputs.model_validate(raw)


def test_written_configuration_is_read_whole() -> None:
    root = Path(__file__).parents[3]
    environment = load_environment(find_environment("sandbox", root)).environment
    assert environment is not None
    raw = burst_config(environment, outputs())
    assert "not-for-the-controller" not in str(raw)
    config = parse(raw)
    pool = config.pools["p5"]
    assert (config.cluster, config.endpoint, config.slurm_key_secret) == (
        "sandbox",
        "http://10.20.0.254:4580",
        "sandbox/slurm-key",
    )
    assert [(subnet.zone, subnet.placement_group) for subnet in pool.subnets] == [
        ("use1-az4", "sandbox-p5-use1-az4"),
        ("use1-az6", None),
    ]
    assert [node for node in ("p5-0", "p5-1", "p5-4", "p5-5", "p5-x", "dgx01") if pool.owns(node)] == ["p5-1", "p5-4"]
