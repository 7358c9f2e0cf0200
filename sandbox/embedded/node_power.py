"""Power states of the simulated Slurm's nodes, with ResumeTimeout, SuspendTimeout and SuspendTime."""

import time
from collections.abc import Iterable

from sandbox.embedded.model import EmbeddedNode


def begin_power_up(nodes: Iterable[EmbeddedNode], resume_timeout: float) -> list[EmbeddedNode]:
    """Mark the nodes that are powered down as POWERING_UP; return them."""
    started = [node for node in nodes if "POWERED_DOWN" in node.flags]
    for node in started:
        node.flags = (node.flags - {"POWERED_DOWN"}) | {"POWERING_UP"}
        node.resume_by, node.reason = time.monotonic() + resume_timeout, ""
    return started


def begin_power_down(nodes: Iterable[EmbeddedNode], suspend_timeout: float) -> None:
    """Mark the nodes as POWERING_DOWN."""
    for node in nodes:
        node.flags = (node.flags - {"POWERING_UP", "NOT_RESPONDING", "POWERED_DOWN"}) | {"POWERING_DOWN"}
        node.down_at = time.monotonic() + suspend_timeout


def late_nodes(nodes: Iterable[EmbeddedNode]) -> list[EmbeddedNode]:
    """Return the nodes that have not registered within ResumeTimeout."""
    now = time.monotonic()
    return [node for node in nodes if "POWERING_UP" in node.flags and node.state != "DOWN" and now > node.resume_by]


def end_power_down(nodes: Iterable[EmbeddedNode]) -> None:
    """Mark the nodes as powered down whose SuspendTimeout has passed."""
    now = time.monotonic()
    for node in nodes:
        if "POWERING_DOWN" in node.flags and now > node.down_at:
            node.flags = (node.flags - {"POWERING_DOWN"}) | {"POWERED_DOWN"}
            node.address, node.instance = node.name, ""


def idle_nodes(nodes: Iterable[EmbeddedNode], suspend_time: float, suspend_exc_nodes: str) -> list[EmbeddedNode]:
    """Return the cloud nodes that have been idle for SuspendTime and are not in SuspendExcNodes."""
    now = time.monotonic()
    idle = [node for node in nodes if node.cloud and node.up and node.free and now > node.idle_since + suspend_time]
    excepted = {word.partition(":")[0] for word in suspend_exc_nodes.split(",")}  # words with counts of 1
    return [node for node in idle if "POWERED_DOWN" not in node.flags and node.name not in excepted]
