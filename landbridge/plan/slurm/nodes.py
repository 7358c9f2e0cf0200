"""Slurm's nodes by group: equal machines of one rack, or the instances of one pool."""

from collections import Counter
from dataclasses import dataclass, replace

from landbridge import hostlist
from landbridge.catalog import Accelerators, Cpus, instances, platforms
from landbridge.environment import Environment, NodeGroup, PoolSettings
from landbridge.plan.site.mig import MigInstance, gres_type, mig_layout
from landbridge.plan.slurm.core_spec import cores_per_gpu, system_cores, system_memory

# The rest is the operating system's, and firmware takes some before it.
USABLE_MEMORY_SHARE = 0.95
ONPREM_WEIGHT, CLOUD_WEIGHT = 1, 1000


@dataclass(frozen=True, slots=True)
class Nodes:
    """Group of equal Slurm nodes. `addresses` is empty for cloud nodes, which report theirs at registration.

    `accelerators` is None for nodes that have none; `parts` are the instances of those of its GPUs that are partitioned.
    What is reserved no job gets. `gpus_by_socket` is empty where it is not known; `gpu_cores` beside each GPU are for jobs
    with GPUs, None: as many as are its share. `domain` is the NVLink domain that the nodes are in together.
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

    @property
    def hostlist(self) -> str:
        """The names as Slurm writes them."""
        return hostlist.compress(self.names)

    @property
    def whole(self) -> tuple[int, ...]:
        """The accelerators that are not partitioned, by the numbers of their device files."""
        cut = {part.gpu for part in self.parts}
        return tuple(
            number for number in range(self.accelerators.count if self.accelerators else 0) if number not in cut
        )

    @property
    def gres_types(self) -> dict[str, int]:
        """Return the number of GPUs by GRES type, such as `gpu:h100` and `gpu:h100_1g.10gb`; unpartitioned ones first."""
        accelerators = self.accelerators
        if accelerators is None:
            return {}
        kinds = [accelerators.type] * len(self.whole) + [
            gres_type(accelerators.type, part.profile) for part in self.parts
        ]
        return {f"{accelerators.kind}:{kind}": count for kind, count in Counter(kinds).items()}

    @property
    def gres(self) -> str | None:
        """The node's accelerators as Slurm counts them, `gpu:h100:8`; None for a node that has none."""
        return ",".join(f"{kind}:{count}" for kind, count in self.gres_types.items()) or None

    @property
    def gpu_count(self) -> int:
        """Return the number of GPUs or MIG instances of one node: the unit of `--gpus`."""
        accelerators = self.accelerators
        return sum(self.gres_types.values()) if accelerators and accelerators.kind == "gpu" else 0

    @property
    def cpus(self) -> int:
        """Hardware threads of one node."""
        return self.sockets * self.cores_per_socket * self.threads_per_core

    @property
    def cores_per_gpu(self) -> int:
        """Whole cores that each GPU or part of one has: Slurm allocates cores, and jobs for each of them fit together."""
        by_socket = () if self.parts else self.gpus_by_socket
        return cores_per_gpu(self.sockets, self.cores_per_socket, self.reserved_cores, self.gpu_count, by_socket)

    @property
    def memory_per_gpu(self) -> int:
        """Memory of each GPU or MIG instance, in MiB."""
        return (self.memory_mib - self.reserved_memory_mib) // self.gpu_count

    @property
    def cores_kept_for_gpus(self) -> int:
        """Cores beside each GPU that only jobs with a GPU get. Slurm has to know where GPUs are; parts of them share cores."""
        if not self.gpus_by_socket or self.parts:
            return 0
        return self.cores_per_gpu if self.gpu_cores is None else min(self.gpu_cores, self.cores_per_gpu)

    @property
    def gpus_and_cores(self) -> tuple[tuple[tuple[int, ...], str | None], ...]:
        """The whole accelerators by the cores they are beside, `0-55`, as gres.conf has both.

        None where that is not known, and next to parts: either all of a node's GPUs have cores there, or none has.
        """
        if not self.gpus_by_socket or self.parts:
            return ((self.whole, None),) if self.whole else ()
        numbers_and_cores, first = [], 0
        for socket, count in enumerate(self.gpus_by_socket):
            here = tuple(number for number in self.whole if first <= number < first + count)
            last = (socket + 1) * self.cores_per_socket - 1
            if here:
                numbers_and_cores.append((here, f"{socket * self.cores_per_socket}-{last}"))
            first += count
        return tuple(numbers_and_cores)


def onprem_nodes(environment: Environment) -> tuple[Nodes, ...]:
    """The groups of on-prem nodes, in the file's order."""
    return tuple(_less_huge_pages(environment, _onprem(group)) for group in environment.node_groups)


def cloud_nodes(environment: Environment) -> tuple[Nodes, ...]:
    """The groups of cloud nodes, one a pool, in the file's order."""
    return tuple(_less_huge_pages(environment, _cloud(pool)) for pool in environment.aws.pools)


def _less_huge_pages(environment: Environment, nodes: Nodes) -> Nodes:
    """Return the memory without reserved huge pages: they are not ordinary memory that Slurm can allocate."""
    aside = 2 * environment.hosts.tuning.huge_pages
    return replace(nodes, memory_mib=max(nodes.memory_mib - aside, 1)) if aside else nodes


def pool_node_names(pool: PoolSettings) -> tuple[str, ...]:
    """Slurm's names of a pool's nodes: `p5-1` to `p5-4`."""
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
        # Another number of sockets is another machine: where its GPUs are is not known then.
        gpus_by_socket=platform.gpus_by_socket if sockets == len(platform.gpus_by_socket) else (),
        gpu_cores=hardware.gpu_cores,
        domain=group.rack if platform.domain else None,
    )


def _cloud(pool: PoolSettings) -> Nodes:
    instance = instances()[pool.instance]
    cpus: Cpus = instance.cpus
    kinds = [instance.accelerators.type] if instance.accelerators else []
    return Nodes(
        names=pool_node_names(pool),
        addresses=(),
        site="aws",
        switch=f"aws-{pool.name}",
        accelerators=instance.accelerators,
        sockets=cpus.sockets,
        cores_per_socket=cpus.cores_per_socket,
        threads_per_core=cpus.threads,
        memory_mib=_usable(instance.memory_mib),
        features=_words("aws", pool.name, pool.instance.replace(".", "-"), *kinds, *pool.features),
        weight=CLOUD_WEIGHT,
        suspend_after=pool.suspend_after,
    )


def _usable(memory_mib: int) -> int:
    return int(memory_mib * USABLE_MEMORY_SHARE)


def _words(*words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
