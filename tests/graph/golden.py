"""Golden summary of each shipped environment's graph: a few lines to review when they change.

After an intended change: python -m tests.graph.golden
"""

import os
from collections import Counter
from pathlib import Path

from landbridge.catalog import regions
from landbridge.environment import Environment, load_environment
from landbridge.hostlist import expand
from landbridge.plan.cost import aws_spend
from sandbox.pulumi_provider.graph import Graph, record
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.serialization import Bag
from tests.graph.environments.test_program import Answering

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).with_name("golden")
SHIPPED = tuple(sorted(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml")))


def environment_of(name: str) -> Environment:
    """Return a shipped environment."""
    loaded = load_environment(ROOT / "stacks" / f"Pulumi.{name}.yaml")
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


class In(Answering):
    """Stand-in of AWS in the partition of a region."""

    def __init__(self, region: str) -> None:
        self.partition = regions()[region].partition

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        id_, state = super().create(token, name, inputs)
        return id_, {**state, "arn": str(state["arn"]).replace("arn:aws:", f"arn:{self.partition}:")}

    def invoke(self, token: str, arguments: Bag) -> Bag:
        return {**super().invoke(token, arguments), "partition": self.partition}


def recorded(name: str, *, preview: bool = False) -> Graph:
    """Return a shipped environment's graph. The working directory must be the checkout's `stacks`, as for Pulumi."""
    program, stack, config = program_of(ROOT / "stacks" / f"Pulumi.{name}.yaml")
    return record(program, stack=stack, config=config, backing=In(str(config["aws:region"])), preview=preview)


def summary(name: str) -> str:
    """Return resources by type, subnets, nodes and prices, which show whether a change is intended."""
    environment = environment_of(name)
    graph = recorded(name)
    types = Counter(node.type for node in graph.nodes.values() if not node.type.startswith("pulumi:"))
    lines = [f"{name} in {environment.region}", "", f"resources {sum(types.values())}"]
    lines += [f"  {count:>4} {token}" for token, count in sorted(types.items())]
    lines += ["", f"addresses {environment.aws.cidr}"]
    subnets = {node.name: node.inputs["cidrBlock"] for node in graph.of_type("aws:ec2/subnet:Subnet")}
    lines += [f"  {cidr} {subnet}" for subnet, cidr in sorted(subnets.items())]
    lines += ["", "nodes"]
    for group in environment.node_groups:
        lines.append(f"  {len(expand(group.hosts)):>4} {group.platform} {group.hosts}")
    for pool in environment.aws.pools:
        lines.append(f"  {pool.max_nodes:>4} {pool.instance} {pool.name}, {pool.min_nodes} kept")
    money = aws_spend(environment)
    lines += ["", "US dollars a month (always)"]
    for line in money.lines:
        owner = f"{line.pool}: " if line.pool else ""
        lines.append(f"  {line.usd_month:>12,.0f} ({line.fixed_month:,.0f}) {owner}{line.description}")
    lines.append(f"  {money.usd_month:>12,.0f} ({money.fixed_month:,.0f}) all that has a price")
    lines += [
        f"  {'no price':>12} {f'{item.pool}: ' if item.pool else ''}{item.description}" for item in money.unpriced
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the summary of every environment, and delete summaries without an environment."""
    os.chdir(ROOT / "stacks")
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.txt"):
        if path.stem not in SHIPPED:
            path.unlink()
    for name in SHIPPED:
        (GOLDEN / f"{name}.txt").write_text(summary(name))


if __name__ == "__main__":
    main()
