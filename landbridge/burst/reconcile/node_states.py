"""Meaning of Slurm's node states for a node's power. Slurm 21.08 and later."""

import re

from landbridge.burst.model import SlurmNode

_POWERED_DOWN_STATES = frozenset({"POWERING_DOWN", "POWERED_DOWN"})
_NOT_UP_STATES = _POWERED_DOWN_STATES | {"POWERING_UP", "DOWN", "UNKNOWN", "FUTURE"}
#: Prefix of the reason of every Down action of the controller.
OUR_REASON = "landbridge:"
#: Prefixes of reasons that a program has set, not an operator: the controller, a health check, slurmctld or slurmd.
#: Source: Slurm 26.05, calls of drain_nodes and set_node_down_ptr, slurm_errno.c (messages of ESLURMD codes).
_PROGRAM_REASONS = (
    OUR_REASON,
    "not responding",
    "resumetimeout",
    "resume timeout",
    "node unexpectedly rebooted",
    "low ",  # RealMemory, TmpDisk, socket*core*thread count
    "gres/",
    "prolog error",
    "prolog/epilog failure",
    "epilog error",
    "kill task failed",
    "duplicate jobid",
    "batch job complete failure",
    "reboot timed out",
)

#: Reason of a drain by the health checks: `landbridge:<check>:<detail>; do: <action>` (role node_health, problem.py).
_HEALTH_REASON = re.compile(r"landbridge:[a-z_]+:")
#: Actions for faults of the machine, which another instance does not have. `inspect`, the other one, is also for faults
#: outside of it, such as a file server that does not answer.
_MACHINE_FAULT = re.compile(r"; do: (repair|reboot|reset)\b")


def is_powered_down(node: SlurmNode) -> bool:
    """Return whether Slurm has powered the node down or does it now."""
    return not _POWERED_DOWN_STATES.isdisjoint(node.states)


def is_down(node: SlurmNode) -> bool:
    """Return whether the node is DOWN."""
    return "DOWN" in node.states


def is_drained(node: SlurmNode) -> bool:
    """Return whether the node accepts no jobs, and runs those that it has."""
    return bool(node.states & {"DRAIN", "FAIL"}) and is_up(node)


def is_powering_up(node: SlurmNode) -> bool:
    """Return whether ResumeProgram was called for the node, and it has not registered yet."""
    return "POWERING_UP" in node.states and not is_powered_down(node) and not is_down(node)


def is_up(node: SlurmNode) -> bool:
    """Return whether the node runs by Slurm's states. UNKNOWN, the state after a restart of slurmctld, is not up."""
    return _NOT_UP_STATES.isdisjoint(node.states)


def is_asked_to_power_down(node: SlurmNode) -> bool:
    """Return whether Slurm powers the node down as soon as it has no job."""
    return "POWER_DOWN" in node.states


def is_not_responding(node: SlurmNode) -> bool:
    """Return whether slurmd on the node does not answer slurmctld."""
    return "NOT_RESPONDING" in node.states


def is_heard(node: SlurmNode) -> bool:
    """Return whether the node is up and its slurmd answers slurmctld: it has an instance, whatever EC2 shows."""
    return is_up(node) and not is_not_responding(node)


def has_unexpected_reboot(node: SlurmNode) -> bool:
    """Return whether slurmctld has set the node down because it does not know of its boot, as after slurmctld was
    killed (Slurm's node_mgr.c, 23.11 to 26.05)."""
    return is_down(node) and node.reason.lower().startswith("node unexpectedly rebooted")


def is_unhealthy(node: SlurmNode) -> bool:
    """Return whether the node's health checks have drained it; false after an operator has changed the reason."""
    return "DRAIN" in node.states and _HEALTH_REASON.match(node.reason) is not None


def has_machine_fault(node: SlurmNode) -> bool:
    """Return whether the health checks have drained the node for a fault that its instance keeps."""
    return is_unhealthy(node) and _MACHINE_FAULT.search(node.reason) is not None


def is_set_by_operator(node: SlurmNode) -> bool:
    """Return whether an operator has drained the node or set it down."""
    if not node.states & {"DOWN", "DRAIN", "FAIL"}:
        return False
    return not node.reason.lower().startswith(_PROGRAM_REASONS)
