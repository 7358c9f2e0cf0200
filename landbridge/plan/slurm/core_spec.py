"""Core specialization: cores and memory reserved for the system (CoreSpecCount, MemSpecLimit), and cores for GPU jobs.
Pure.
"""

from collections.abc import Sequence

#: Minimum cores of a socket for reserving one: 1/32 of the socket's cores is acceptable, 1/8 would be too much.
LARGE_SOCKET_CORES = 32
#: Memory for slurmd, step daemons, DCGM and file system clients: at most this (MiB), and at most 1/64 of the node's
#: memory.
MAX_MEMORY_MIB, MEMORY_DIVISOR, MIB_PER_GIB = 16 * 1024, 64, 1024


def system_cores(sockets: int, cores_per_socket: int) -> int:
    """Return CoreSpecCount: one core of each large socket, so that slurmd, interrupts and monitoring do not disturb
    jobs.

    Source: slurm.conf(5), CoreSpecCount; Slurm's guide to core specialization: the last core of every socket in turn.
    """
    return sockets if cores_per_socket >= LARGE_SOCKET_CORES else 0


def system_memory(memory_mib: int) -> int:
    """Return MemSpecLimit in MiB, a multiple of 1 GiB of `memory_mib` (RealMemory); 0 for a node with less than 64 GiB.

    Source: slurm.conf(5), MemSpecLimit: jobs cannot use it, and with ConstrainRAMSpace it is slurmd's limit.
    """
    return min(MAX_MEMORY_MIB, memory_mib // MEMORY_DIVISOR) // MIB_PER_GIB * MIB_PER_GIB


def cores_per_gpu(sockets: int, cores_per_socket: int, reserved: int, gpus: int, by_socket: Sequence[int]) -> int:
    """Return the cores of each GPU or MIG instance, rounded down, so that one job for each fits at the same time.

    `reserved` are the system's cores; `by_socket` is the number of GPUs of each socket, empty if unknown.
    """
    if by_socket:
        return (cores_per_socket - -(-reserved // sockets)) // max(by_socket)
    return (sockets * cores_per_socket - reserved) // gpus
