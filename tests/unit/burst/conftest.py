"""Fixtures on the emulated AWS: a burst.json of one pool, p5, of four nodes in two zones; a shell; and a journal."""

from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.config.config import BurstConfig
from landbridge.burst.journal.store import Store
from landbridge.burst.model import BurstPolicy, Offering, PoolPolicy
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import ZONES, Stack, client_of, cloud, ec2, emulator, stack  # noqa: F401
from tests.unit.burst import launches


def described(cloud: EmulatorProcess, stack: Stack) -> dict[str, Any]:  # noqa: F811
    """Return a burst.json that describes the resources of `stack` in the emulated AWS."""
    offerings = [
        {
            "key": f"p5.48xlarge/{zone}/on-demand",
            "kind": "on_demand",
            "instance_type": "p5.48xlarge",
            "subnet": subnet,
            "zone": zone,
            "market": "on-demand",
            "launch_template_id": stack.template,
            "launch_template_version": "1",
            "usd_hour": 55.04,
            "interfaces": [{"card": 0, "device": 0, "kind": "interface"}, {"card": 1, "device": 1, "kind": "efa-only"}],
            "security_groups": [stack.group],
        }
        for subnet, zone in zip(stack.subnets, ZONES, strict=True)
    ]
    return {
        "cluster": "sandbox",
        "region": "us-east-1",
        "endpoint": cloud.endpoint,
        "credentials_file": str(cloud.launch_credentials),
        "slurm_key_secret": "sandbox/slurm-key",
        "accounts": {
            "vision": {"data_class": "internal", "aws": True},
            "patients": {"data_class": "restricted", "aws": False},
        },
        "pools": {"p5": {"node_prefix": "p5-", "max_nodes": 4, "resume_timeout": 60, "offerings": offerings}},
    }


@pytest.fixture
def burst(cloud: EmulatorProcess, stack: Stack) -> dict[str, Any]:  # noqa: F811
    return described(cloud, stack)


@pytest.fixture
def offering(stack: Stack) -> Offering:  # noqa: F811
    return launches.offering(stack.subnets[0], stack.template, stack.group)


@pytest.fixture
def shell(cloud: EmulatorProcess, offering: Offering) -> Ec2:  # noqa: F811
    policy = BurstPolicy("sandbox", "us-east-1", {"p5": PoolPolicy("p5", "p5-", 1000, (offering,))}, {})
    return Ec2(BurstConfig(policy, cloud.endpoint, str(cloud.launch_credentials)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "burst.db")
