"""Outputs of the ladder's rungs on healthy DGX H100 nodes."""

from collections.abc import Sequence

from landbridge.acceptance.rungs import Rung
from tests.unit.ops.ladder_outputs import dcgmi, fio, nccl, nvbandwidth, smi, training

MIB, GIB = 2**20, 2**30
GOOD = {256 * MIB: 380.0, GIB: 430.0, 8 * GIB: 470.0, 16 * GIB: 472.0}
NODES = ("dgx01", "dgx02")


def printed(rung: Rung, nodes: Sequence[str]) -> str:
    """Return the output of a healthy DGX H100."""
    match rung.name:
        case "driver":
            return smi()
        case "dcgm":
            return dcgmi()
        case "bandwidth":
            return nvbandwidth()
        case "storage":
            return fio()
        case "training":
            return training(2.1, 0.4)
        case _:
            return nccl(nodes, GOOD)
