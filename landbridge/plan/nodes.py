"""Slurm's nodes by group: equal machines of one rack, or the instances of one pool."""

from dataclasses import dataclass

from landbridge import hostlist
from landbridge.catalog import Accelerators, Cpus, instances, platforms
from landbridge.environment import Environment, NodeGroup, Pool

# The rest is the operating system's, and firmware takes some before it.
USABLE_MEMORY = 0.95
ONPREM_WEIGHT, CLOUD_WEIGHT = 1, 1000


@dataclass(frozen=True, slots=True)
class Nodes:
    """Equal Slurm nodes. `addresses` is empty for cloud nodes, which bring theirs when they register.

    `accelerators` is None for nodes that have none.
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

    @property
    def hostlist(self) -> str:
        """The names as Slurm writes them."""
        return hostlist.compress(self.names)

    @property
    def gres(self) -> str | None:
        """The node's accelerators as Slurm counts them, `gpu:h100:8`; None for a node that has none."""
        found = self.accelerators
        return f"{found.kind}:{found.type}:{found.count}" if found else None

    @property
    def gpu_count(self) -> int:
        """How many GPUs one node has: what `--gpus` asks for."""
        found = self.accelerators
        return found.count if found and found.kind == "gpu" else 0

    @property
    def cpus(self) -> int:
        """Hardware threads of one node."""
        return self.sockets * self.cores_per_socket * self.threads_per_core


def onprem_nodes(environment: Environment) -> tuple[Nodes, ...]:
    """The groups of on-prem nodes, in the file's order."""
    return tuple(_onprem(group) for group in environment.onprem.nodes)


def cloud_nodes(environment: Environment) -> tuple[Nodes, ...]:
    """The groups of cloud nodes, one a pool, in the file's order."""
    return tuple(_cloud(pool) for pool in environment.aws.pools)


def pool_node_names(pool: Pool) -> tuple[str, ...]:
    """Slurm's names of a pool's nodes: `p5-1` to `p5-4`."""
    return tuple(f"{pool.name}-{number}" for number in range(1, pool.max_nodes + 1))


def _onprem(group: NodeGroup) -> Nodes:
    platform, own = platforms()[group.platform], group.hardware
    names = tuple(hostlist.expand(group.hosts))
    return Nodes(
        names=names,
        addresses=tuple(str(group.address + offset) for offset in range(len(names))),
        site="onprem",
        switch=f"onprem-{group.rack}",
        accelerators=platform.gpus,
        sockets=own.sockets or platform.cpus.sockets,
        cores_per_socket=own.cores_per_socket or platform.cpus.cores_per_socket,
        threads_per_core=own.threads_per_core or platform.cpus.threads,
        memory_mib=_usable(own.memory_mib or platform.memory_mib),
        features=_words("onprem", group.platform, platform.gpus.type, *group.features),
        weight=ONPREM_WEIGHT,
    )


def _cloud(pool: Pool) -> Nodes:
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
    return int(memory_mib * USABLE_MEMORY)


def _words(*words: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
