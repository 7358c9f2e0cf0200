"""What Slurm's words for a node's state mean for its power. Slurm 21.08 and later."""

from landbridge.burst.model import SlurmNode

_LEAVING = frozenset({"POWERING_DOWN", "POWERED_DOWN"})
#: Beginnings of reasons that a program gave, not a person: ours, and slurmctld's own.
_MACHINES_REASONS = (
    "landbridge:",
    "not responding",
    "resumetimeout",
    "resume timeout",
    "node unexpectedly rebooted",
    "low ",  # RealMemory, TmpDisk, socket*core*thread count
    "gres/",
)
#: The reason of a Down that was cut off after its first command.
OUR_REASON = "landbridge:"


def is_powered_down(node: SlurmNode) -> bool:
    """Slurm has given the node's machine up."""
    return not _LEAVING.isdisjoint(node.states)


def is_down(node: SlurmNode) -> bool:
    return "DOWN" in node.states


def is_powering_up(node: SlurmNode) -> bool:
    """ResumeProgram was called for the node, and it has not registered yet."""
    return "POWERING_UP" in node.states and not is_powered_down(node) and not is_down(node)


def is_up(node: SlurmNode) -> bool:
    """Slurm takes the node for running. UNKNOWN is slurmctld after its own restart."""
    return _RUNNING_UP.isdisjoint(node.states)


_RUNNING_UP = _LEAVING | {"POWERING_UP", "DOWN", "UNKNOWN", "FUTURE"}


def is_asked_to_power_down(node: SlurmNode) -> bool:
    """It is to be powered down as soon as no job is on it."""
    return "POWER_DOWN" in node.states


def is_not_responding(node: SlurmNode) -> bool:
    return "NOT_RESPONDING" in node.states


def is_set_by_operator(node: SlurmNode) -> bool:
    """Somebody has taken the node out of service: it is theirs."""
    if not node.states & {"DOWN", "DRAIN", "FAIL"}:
        return False
    return not node.reason.lower().startswith(_MACHINES_REASONS)
