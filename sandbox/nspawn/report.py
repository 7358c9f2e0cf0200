"""The lab's state as rows, for `landbridge sandbox status` and for tests."""

from dataclasses import dataclass

from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import cgroups, nodes
from sandbox.nspawn.machine.node import load, names


@dataclass(frozen=True)
class LabStatusRow:
    """One node, as it is now."""

    name: str
    running: bool
    address: str
    image: str
    memory_mib: int | None


def rows(lab: Layout) -> list[LabStatusRow]:
    found = []
    for name in names(lab):
        node = load(lab, name)
        used = cgroups.memory(lab.name, name)
        found.append(
            LabStatusRow(
                name, nodes.alive(lab, name), node.address, node.image, None if used is None else used // 2**20
            )
        )
    return found
