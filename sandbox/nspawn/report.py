"""Status rows of the lab's nodes, for `landbridge sandbox status` and for tests."""

from dataclasses import dataclass

from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import cgroups, nodes
from sandbox.nspawn.machine.node import load, names


@dataclass(frozen=True)
class LabStatusRow:
    """Status of one node."""

    name: str
    running: bool
    address: str
    image: str
    memory_mib: int | None


def rows(lab: Layout) -> list[LabStatusRow]:
    status_rows = []
    for name in names(lab):
        node = load(lab, name)
        memory_bytes = cgroups.memory(lab.name, name)
        status_rows.append(
            LabStatusRow(
                name,
                nodes.alive(lab, name),
                node.address,
                node.image,
                None if memory_bytes is None else memory_bytes // 2**20,
            )
        )
    return status_rows
