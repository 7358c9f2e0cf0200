"""Meaning of Slurm's node states for a node's power. Slurm 21.08 and later."""

from landbridge.burst.model import SlurmNode

_POWERED_DOWN_STATES = frozenset({"POWERING_DOWN", "POWERED_DOWN"})
_NOT_UP_STATES = _POWERED_DOWN_STATES | {"POWERING_UP", "DOWN", "UNKNOWN", "FUTURE"}
#: Beginning of the reason of every Down of the controller.
OUR_REASON = "landbridge:"
#: Beginnings of reasons that a program gave, not an operator: the controller's, and slurmctld's own.
_PROGRAM_REASONS = (
    OUR_REASON,
    "not responding",
    "resumetimeout",
    "resume timeout",
    "node unexpectedly rebooted",
    "low ",  # RealMemory, TmpDisk, socket*core*thread count
    "gres/",
)


def is_powered_down(node: SlurmNode) -> bool:
    """Return whether Slurm has given up the node's instance."""
    return not _POWERED_DOWN_STATES.isdisjoint(node.states)


def is_down(node: SlurmNode) -> bool:
    """Return whether the node is DOWN."""
    return "DOWN" in node.states


def is_powering_up(node: SlurmNode) -> bool:
    """Return whether ResumeProgram was called for the node, and it has not registered yet."""
    return "POWERING_UP" in node.states and not is_powered_down(node) and not is_down(node)


def is_up(node: SlurmNode) -> bool:
    """Return whether Slurm takes the node for running. UNKNOWN is the state after a restart of slurmctld."""
    return _NOT_UP_STATES.isdisjoint(node.states)


def is_asked_to_power_down(node: SlurmNode) -> bool:
    """Return whether the node is powered down as soon as no job is on it."""
    return "POWER_DOWN" in node.states


def is_not_responding(node: SlurmNode) -> bool:
    """Return whether slurmd on the node does not answer slurmctld."""
    return "NOT_RESPONDING" in node.states


def is_set_by_operator(node: SlurmNode) -> bool:
    """Return whether an operator has drained the node or set it down."""
    if not node.states & {"DOWN", "DRAIN", "FAIL"}:
        return False
    return not node.reason.lower().startswith(_PROGRAM_REASONS)
