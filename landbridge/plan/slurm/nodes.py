"""Slurm nodes by group: equal nodes of one rack, or the instances of one pool."""

from collections import Counter
from dataclasses import dataclass, replace

from landbridge import hostlist
from landbridge.catalog import Accelerators, Cpus, instances, platforms
from landbridge.environment import Environment, NodeGroup, PoolSettings
from landbridge.environment.base import Scalar
from landbridge.plan.instances.ultraservers import is_one_nvlink_domain
from landbridge.plan.site.adapters import fabric_kind
from landbridge.plan.site.mig import MigInstance, gres_type, mig_layout
from landbridge.plan.slurm.core_spec import cores_per_gpu, system_cores, system_memory
from landbridge.plan.slurm.node_settings import (
    MEMORY,
    RESERVED_CORES,
    RESERVED_MEMORY,
    node_numbers,
    other_settings,
)

# Share of memory that jobs can use; the operating system and the firmware need the remainder.
USABLE_MEMORY_SHARE = 0.95
ONPREM_WEIGHT, CLOUD_WEIGHT = 1, 1000


@dataclass(frozen=True, slots=True)
class Nodes:
    """Group of equal Slurm nodes. `addresses` is empty for cloud nodes, which report theirs at registration.

    `accelerators` is None for nodes without any; `parts` are the MIG instances of partitioned GPUs. Jobs cannot use
    reserved cores and memory. `gpus_by_socket` is empty if unknown; `gpu_cores` cores of each GPU are for GPU jobs
    only, None: the GPU's share. `domain` is the nodes' NVLink domain, `fabric` the kind of their network ports for traffic
    between nodes, None if it is not known. `settings` are further keys of the nodes' line.
    """

    names: tuple[str, ...]
    addresses: tuple[str, ...]
    site: str
    switch: str
    accelerators: Accelerators | None
    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_mib: int
    features: tuple[str, ...]
    weight: int
    suspend_after: int | None = None
    parts: tuple[MigInstance, ...] = ()
    reserved_cores: int = 0
    reserved_memory_mib: int = 0
    gpus_by_socket: tuple[int, ...] = ()
    gpu_cores: int | None = None
    domain: str | None = None
    fabric: str | None = None
    settings: tuple[tuple[str, Scalar | None], ...] = ()

    @property
    def hostlist(self) -> str:
        """Names in Slurm's host list form."""
        return hostlist.compress(self.names)

    @property
    def whole(self) -> tuple[int, ...]:
        """Numbers of the device files of accelerators that are not partitioned."""
        partitioned = {part.gpu for part in self.parts}
        return tuple(
            number for number in range(self.accelerators.count if self.accelerators else 0) if number not in partitioned
        )

    @property
    def gres_types(self) -> dict[str, int]:
        """Number of GPUs by GRES type, such as `gpu:h100` and `gpu:h100_1g.10gb`; unpartitioned ones first."""
        accelerators = self.accelerators
        if accelerators is None:
            return {}
        kinds = [accelerators.type] * len(self.whole) + [
            gres_type(accelerators.type, part.profile) for part in self.parts
        ]
        return {f"{accelerators.kind}:{kind}": count for kind, count in Counter(kinds).items()}

    @property
    def gres(self) -> str | None:
        """Gres value of a node, `gpu:h100:8`; None without accelerators."""
        return ",".join(f"{kind}:{count}" for kind, count in self.gres_types.items()) or None

    @property
    def gpu_count(self) -> int:
        """Number of GPUs or MIG instances of one node: the unit of `--gpus`."""
        accelerators = self.accelerators
        return sum(self.gres_types.values()) if accelerators and accelerators.kind == "gpu" else 0

    @property
    def cpus(self) -> int:
        """Hardware threads of one node."""
        return self.sockets * self.cores_per_socket * self.threads_per_core

    @property
    def cores_per_gpu(self) -> int:
        """Cores of each GPU or MIG instance, rounded down, because Slurm allocates whole cores: one job for each fits
        on the node.
        """
        by_socket = () if self.parts else self.gpus_by_socket
        return cores_per_gpu(self.sockets, self.cores_per_socket, self.reserved_cores, self.gpu_count, by_socket)

    @property
    def memory_per_gpu(self) -> int:
        """Memory of each GPU or MIG instance, in MiB."""
        return (self.memory_mib - self.reserved_memory_mib) // self.gpu_count

    @property
    def cores_kept_for_gpus(self) -> int:
        """Cores of each GPU for GPU jobs only; 0 if the GPUs' sockets are unknown, or with MIG instances, which share
        cores.
        """
        if not self.gpus_by_socket or self.parts:
            return 0
        return self.cores_per_gpu if self.gpu_cores is None else min(self.gpu_cores, self.cores_per_gpu)

    @property
    def gpus_and_cores(self) -> tuple[tuple[tuple[int, ...], str | None], ...]:
        """Unpartitioned accelerators with the cores of their socket, such as `0-55`, for gres.conf.

        The cores are None if unknown, or on nodes with MIG instances: gres.conf has cores for all GPUs of a node or for
        none.
        """
        if not self.gpus_by_socket or self.parts:
            return ((self.whole, None),) if self.whole else ()
        numbers_and_cores, first = [], 0
        for socket, count in enumerate(self.gpus_by_socket):
            socket_gpus = tuple(number for number in self.whole if first <= number < first + count)
            last = (socket + 1) * self.cores_per_socket - 1
            if socket_gpus:
                numbers_and_cores.append((socket_gpus, f"{socket * self.cores_per_socket}-{last}"))
            first += count
        return tuple(numbers_and_cores)


def onprem_nodes(environment: Environment) -> tuple[Nodes, ...]:
    """Return the groups of on-prem nodes, in the file's order."""
    return tuple(_less_huge_pages(environment, _onprem(group)) for group in environment.node_groups)


def cloud_nodes(environment: Environment) -> tuple[Nodes, ...]:
    """Return the groups of cloud nodes, one for each pool, in the file's order."""
    return tuple(_cloud(environment, pool) for pool in environment.aws.pools)


def _less_huge_pages(environment: Environment, nodes: Nodes) -> Nodes:
    """Return the nodes with their memory less reserved huge pages, which Slurm cannot allocate."""
    huge_pages_mib = 2 * environment.hosts.tuning.huge_pages
    return replace(nodes, memory_mib=max(nodes.memory_mib - huge_pages_mib, 1)) if huge_pages_mib else nodes


def pool_node_names(pool: PoolSettings) -> tuple[str, ...]:
    """Return the Slurm names of a pool's nodes: `p5-1` to `p5-4`."""
    return tuple(f"{pool.name}-{number}" for number in range(1, pool.max_nodes + 1))


def _onprem(group: NodeGroup) -> Nodes:
    platform, hardware = platforms()[group.platform], group.hardware
    names = tuple(hostlist.expand(group.hosts))
    sockets = hardware.sockets or platform.cpus.sockets
    cores = hardware.cores_per_socket or platform.cpus.cores_per_socket
    memory = _usable(hardware.memory_mib or platform.memory_mib)
    return Nodes(
        names=names,
        addresses=tuple(str(group.address + offset) for offset in range(len(names))),
        site="onprem",
        switch=f"onprem-{group.rack}",
        accelerators=platform.gpus,
        sockets=sockets,
        cores_per_socket=cores,
        threads_per_core=hardware.threads_per_core or platform.cpus.threads,
        memory_mib=memory,
        features=_words("onprem", group.platform, platform.gpus.type, *(["mig"] if group.mig else []), *group.features),
        weight=ONPREM_WEIGHT,
        parts=mig_layout(group),
        reserved_cores=system_cores(sockets, cores) if hardware.reserved_cores is None else hardware.reserved_cores,
        reserved_memory_mib=system_memory(memory)
        if hardware.reserved_memory_mib is None
        else hardware.reserved_memory_mib,
        # With a different number of sockets the node is not the platform, and its GPUs' sockets are unknown.
        gpus_by_socket=platform.gpus_by_socket if sockets == len(platform.gpus_by_socket) else (),
        gpu_cores=hardware.gpu_cores,
        domain=group.rack if platform.domain else None,
        fabric=fabric_kind(group),
    )


def _cloud(environment: Environment, pool: PoolSettings) -> Nodes:
    instance = instances()[pool.instance]
    cpus: Cpus = instance.cpus
    kinds = [instance.accelerators.type] if instance.accelerators else []
    numbers = node_numbers(pool.slurm)
    nodes = Nodes(
        names=pool_node_names(pool),
        addresses=(),
        site="aws",
        switch=f"aws-{pool.name}",
        accelerators=instance.accelerators,
        sockets=cpus.sockets,
        cores_per_socket=cpus.cores_per_socket,
        threads_per_core=pool.threads_per_core or cpus.threads,
        memory_mib=_usable(instance.memory_mib),
        features=_words("aws", pool.name, pool.instance.replace(".", "-"), *kinds, *pool.features),
        weight=CLOUD_WEIGHT,
        suspend_after=pool.suspend_after,
        domain=f"aws-{pool.name}" if is_one_nvlink_domain(environment, pool) else None,
        reserved_cores=numbers.get(RESERVED_CORES, 0),
        reserved_memory_mib=numbers.get(RESERVED_MEMORY, 0),
        settings=other_settings(pool.slurm),
    )
    # RealMemory of the environment file is exact: it is not reduced by huge pages.
    return replace(nodes, memory_mib=numbers[MEMORY]) if MEMORY in numbers else _less_huge_pages(environment, nodes)


def _usable(memory_mib: int) -> int:
    return int(memory_mib * USABLE_MEMORY_SHARE)


def _words(*words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
