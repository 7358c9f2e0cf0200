"""What runs in AWS beside what Slurm believes: the same join that a reconciler acts on, for a person to read."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from landbridge.burst.config import Config, ConfigError, load
from landbridge.burst.ec2 import Ec2, Machine
from landbridge.burst.errors import AwsError
from landbridge.burst.slurm import SlurmError, node_states

_GONE = frozenset({"POWERED_DOWN", "POWERING_DOWN"})


@dataclass(frozen=True)
class Row:
    """A node, an instance, or both. `remark` is empty where the two agree."""

    node: str
    slurm: str
    instance: str
    state: str
    address: str
    job: str
    lease_expires: str
    remark: str = ""


def join(machines: Iterable[Machine], states: Mapping[str, frozenset[str]]) -> list[Row]:
    """Rows for every instance, and for every powered-up node without one. Pure."""
    found = sorted(machines, key=lambda machine: (machine.tags.get("landbridge:node", ""), machine.id))
    named = [machine.tags.get("landbridge:node", "") for machine in found]
    rows = [_row(machine, states, named.count(name) > 1) for machine, name in zip(found, named, strict=True)]
    for node, state in sorted(states.items()):
        if node not in named and not state & _GONE:
            rows.append(Row(node, "+".join(sorted(state)), "", "", "", "", "", "node without instance"))
    return rows


def _row(machine: Machine, states: Mapping[str, frozenset[str]], twice: bool) -> Row:
    node = machine.tags.get("landbridge:node", "")
    state = states.get(node, frozenset())
    remark = ""
    if not node:
        remark = "instance without name"
    elif twice:
        remark = "several instances of this node"
    elif node not in states:
        remark = "no such node in Slurm"
    elif state & _GONE:
        remark = "instance of a node that is powered down"
    elif "DOWN" in state:
        remark = "node is down"
    return Row(
        node,
        "+".join(sorted(state)),
        machine.id,
        machine.state,
        machine.address,
        machine.tags.get("landbridge:job", ""),
        machine.tags.get("landbridge:lease-expires", ""),
        remark,
    )


def status(config: Config) -> list[Row]:
    """Ask both sides; raises AwsError or SlurmError."""
    states = {node: state for node, state in node_states().items() if config.pool_of(node)}
    return join(Ec2(config).machines(), states)


def main() -> int:
    """`python -m landbridge.burst.status`: rows as JSON, for the controller, which has no command line tools."""
    try:
        rows = status(load())
    except (ConfigError, AwsError, SlurmError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps([asdict(row) for row in rows], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
