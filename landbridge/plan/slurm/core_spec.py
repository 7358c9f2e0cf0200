"""Core specialization: cores and memory reserved for the system (CoreSpecCount, MemSpecLimit), and cores for GPU jobs.
Pure.
"""

from collections.abc import Sequence

#: Cores of a socket from which on one of them is the system's: a thirty-second part is not missed, an eighth would be.
LARGE_SOCKET_CORES = 32
#: MiB. slurmd, the step daemons, DCGM, a file system's client: as much as they need, and never more than a 64th of the machine.
MOST_MEMORY, MEMORY_PART, GIB = 16 * 1024, 64, 1024


def system_cores(sockets: int, cores_per_socket: int) -> int:
    """CoreSpecCount: one core of each large socket, where slurmd, interrupts and monitoring disturb no rank of a job.

    Source: slurm.conf(5), CoreSpecCount; Slurm's guide to core specialization: the last core of every socket in turn.
    """
    return sockets if cores_per_socket >= LARGE_SOCKET_CORES else 0


def system_memory(memory_mib: int) -> int:
    """MemSpecLimit in MiB, whole GiB of `memory_mib` (RealMemory); none of a small machine, where every GiB counts.

    Source: slurm.conf(5), MemSpecLimit: no job gets it, and with ConstrainRAMSpace slurmd is held to it.
    """
    return min(MOST_MEMORY, memory_mib // MEMORY_PART) // GIB * GIB


def cores_per_gpu(sockets: int, cores_per_socket: int, reserved: int, gpus: int, by_socket: Sequence[int]) -> int:
    """Return the whole cores of each GPU or MIG instance, so that a job for each fits at the same time.

    `kept` are the system's cores; `by_socket` says how many GPUs hang on each socket, nothing where that is not known.
    """
    if by_socket:
        return (cores_per_socket - -(-reserved // sockets)) // max(by_socket)
    return (sockets * cores_per_socket - reserved) // gpus
