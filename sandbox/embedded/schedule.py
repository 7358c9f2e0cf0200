"""Allocation of free nodes to waiting jobs of the simulated Slurm."""

import time
from collections.abc import Iterable, Mapping

from landbridge.hostlist import compress
from sandbox.embedded.model import EmbeddedJob, EmbeddedNode, groups


def allocate(jobs: Iterable[EmbeddedJob], nodes: Mapping[str, EmbeddedNode]) -> list[EmbeddedJob]:
    """Give free nodes to waiting jobs in the order of submission; return the jobs that have nodes now."""
    allocated = []
    for job in jobs:
        if job.state != "PENDING" or job.held or time.time() < job.eligible:
            continue
        for group in groups(nodes.values(), job.partition):
            free = sorted((node for node in group if node.free), key=lambda node: "POWERED_DOWN" in node.flags)
            if len(free) >= job.size:
                chosen = sorted(free[: job.size], key=lambda node: list(nodes).index(node.name))
                job.nodes, job.started = tuple(node.name for node in chosen), time.time()
                for node in chosen:
                    node.state, node.job = "ALLOCATED", job.id
                job.become("CONFIGURING", compress(job.nodes))
                allocated.append(job)
                break
        else:
            job.reason = "Resources"
    return allocated
