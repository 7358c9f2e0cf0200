"""Limits of AWS in an environment of the largest size: rules of a group, routes, tags, names."""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from landbridge.burst.config.config import parse
from landbridge.catalog.aws.limits import limits
from landbridge.environment import load_environment
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.burst import burst_config
from sandbox.pulumi_provider.graph import Graph, record
from sandbox.pulumi_provider.program import program_of
from tests.graph.conftest import SANDBOX
from tests.graph.support.aws_ids import Lifelike

POOLS = 50
SHARES = {
    "homes": {"kind": "fsx_openzfs", "mount": "/homes"},
    "tools": {"kind": "efs", "mount": "/tools"},
    "lustre-efa": {"kind": "fsx_lustre", "mount": "/fast", "capacity_gib": 38400, "throughput": 125, "efa": True},
}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sandbox's file with fifty pools and a file system of each kind."""
    content: dict[str, Any] = yaml.safe_load(SANDBOX.read_text())
    environment = content["config"]["landbridge:environment"]
    (pool,) = environment["aws"]["pools"]
    template = {
        **pool,
        "instance": "g6e.xlarge",
        "max_nodes": 2,
        "capacity": [{"kind": "on_demand", "zones": ["use1-az4"]}],
    }
    environment["aws"]["pools"] = [{**copy.deepcopy(template), "name": f"pool-{number}"} for number in range(POOLS)]
    environment.setdefault("storage", {})["cloud_scratch"] = {"kind": "fsx_lustre"}
    environment["storage"]["cloud_shares"] = SHARES
    file = tmp_path_factory.mktemp("large") / "Pulumi.large.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


@pytest.fixture(scope="module")
def graph(large: Path) -> Graph:
    program, stack, config = program_of(large)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        return record(program, stack=stack, config=config, backing=Lifelike("us-east-1"))


@pytest.mark.parametrize("direction", ["Ingress", "Egress"])
def test_every_security_group_has_room_for_its_rules(graph: Graph, direction: str) -> None:
    rules = graph.of_type(f"aws:vpc/securityGroup{direction}Rule:SecurityGroup{direction}Rule")
    groups = Counter(rule.inputs["securityGroupId"] for rule in rules)
    assert len(graph.of_type("aws:ec2/securityGroup:SecurityGroup")) >= POOLS + 4 and max(groups.values()) >= POOLS
    assert max(groups.values()) <= limits().security_groups.rules, groups.most_common(3)


def test_nfs_4_has_one_rule_for_each_pool(graph: Graph) -> None:
    rules = graph.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    homes = [rule for rule in rules if rule.inputs["description"].endswith("file system homes")]
    assert len(homes) == POOLS and {(rule.inputs["ipProtocol"], rule.inputs["fromPort"]) for rule in homes} == {
        ("tcp", 2049)
    }


def test_lustres_ports_are_one_range_if_two_would_not_fit(graph: Graph) -> None:
    rules = graph.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    scratch = [rule for rule in rules if rule.inputs["description"] == "Lustre: file system cloud_scratch"]
    assert {(rule.inputs["fromPort"], rule.inputs["toPort"]) for rule in scratch} == {(988, 1023)}


def test_every_route_table_has_room_for_its_routes(graph: Graph) -> None:
    tables = Counter(route.inputs["routeTableId"] for route in graph.of_type("aws:ec2/route:Route"))
    assert tables and max(tables.values()) <= limits().vpc.routes


def test_every_interface_has_room_for_its_groups(large: Path, graph: Graph) -> None:
    environment = load_environment(large).environment
    assert environment is not None
    config = parse(burst_config(environment, StackOutputs.model_validate(graph.outputs)))
    counts = [
        len(offering.security_groups)
        for pool in config.policy.pools.values()
        for offering in pool.offerings
        if offering.interfaces
    ]
    assert len(counts) == POOLS and 1 <= max(counts) <= 5


def test_no_resource_has_more_tags_than_it_takes(graph: Graph) -> None:
    assert max(len(node.inputs.get("tags") or ()) for node in graph.nodes.values()) <= limits().tags.most
