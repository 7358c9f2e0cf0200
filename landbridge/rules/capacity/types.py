"""Rules about instance types: their existence, and the differences between a pool's types."""

from collections.abc import Iterator

from landbridge.catalog import InstanceType, instances
from landbridge.catalog.hardware.fractional_gpus import fractional_gpus
from landbridge.environment import CapacityBlock, Environment
from landbridge.findings import DataPath, Finding, Severity, error, info, warning
from landbridge.rules.environment_paths import CapacityAt, capacities, pool_capacities, pools, suggestion
from landbridge.rules.registry import rule


@rule
def unknown_instance_type(environment: Environment) -> Iterator[Finding]:
    """The instance types of a pool and its fallbacks are in the catalogue.

    Interfaces, GPUs, processors and zones follow from the type; EC2 refuses a misspelt one only when the first node
    starts. Types with a fraction of a GPU need NVIDIA's GRID driver: a site with an image that has it adds the type.
    Source: EC2 DescribeInstanceTypes, as in landbridge/catalog/instances; landbridge/catalog/fractional_gpus.yaml.
    """
    known_types, fractions = instances(), fractional_gpus()
    types_in_file: list[tuple[DataPath, str]] = [(at.at("instance"), at.pool.instance) for at in pools(environment)]
    types_in_file += [
        (at.at("instance"), at.instance) for at in capacities(environment) if at.capacity.instance is not None
    ]
    for path, name in types_in_file:
        if name in known_types:
            continue
        if name in fractions:
            fix = f"use {fractions[name].whole}, or add the type to the catalogue (docs/how-to/add-an-instance-type.md) and build an image with that driver"
            yield error(path, fractions[name].reason(name), fix=fix)
            continue
        family = known_types.family(name.partition(".")[0])
        fix = suggestion(name, family or known_types)
        if name.startswith("u-"):
            fix = "write the instance type of the UltraServer"
        elif not family and "." in name and "did you mean" not in fix:
            fix = "use a type of `landbridge catalog list`, or add it to landbridge/catalog/instances"
        yield error(path, f'unknown instance type "{name}"', fix=fix)


@rule
def ultraserver_without_block(environment: Environment) -> Iterator[Finding]:
    """An UltraServer type is bought as a Capacity Block.

    EC2 does not sell single instances of it on demand or as spot, and refuses a launch without its block.
    Source: EC2 User Guide, "Capacity Blocks for ML" (UltraServers).
    """
    for at in capacities(environment):
        if at.type is None or at.type.ultraserver is None or isinstance(at.capacity, CapacityBlock):
            continue
        message = f"{at.instance} is sold only as a Capacity Block of the UltraServer {at.type.ultraserver}"
        fix = "buy a block of it and write {kind: capacity_block, reservation: cr-…, zone: …}"
        yield error(at.at("kind"), message, fix=fix, related=(at.instance_path,))


@rule
def fallback_accelerators(environment: Environment) -> Iterator[Finding]:
    """Every type of a pool has the same accelerators: kind, model and number, and no less memory each.

    slurm.conf has a cloud node's GPUs before it runs (`gres=gpu:h100:8`): Slurm drains a node that registers with other
    GPUs, and a job for 80 GB of memory fails with 40 GB. A warning if only the memory is larger.
    Source: ParallelCluster InstancesAcceleratorsValidator; Slurm gres.conf(5).
    """
    for at, type_, other in _fallbacks(environment):
        expected, actual = type_.accelerators, other.accelerators
        if expected is None and actual is None:
            continue
        message = f"{other.name} has {_accelerators(other)}, the pool's {type_.name} {_accelerators(type_)}"
        if (
            expected is None
            or actual is None
            or (expected.kind, expected.type, expected.count) != (actual.kind, actual.type, actual.count)
        ):
            yield _difference("fallback-accelerators", message, at)
        elif expected.memory_mib and actual.memory_mib and expected.memory_mib != actual.memory_mib:
            severity = Severity.ERROR if actual.memory_mib < expected.memory_mib else Severity.WARNING
            yield _difference("fallback-accelerators", message, at, severity)


@rule
def fallback_processors(environment: Environment) -> Iterator[Finding]:
    """Every type of a pool has at least the processors and memory of the pool's own type, and the same threads per core.

    Slurm drains a node that registers with fewer CPUs or less memory than in slurm.conf; more are not used.
    Source: ParallelCluster InstancesCPUValidator and InstancesMemorySchedulingWarningValidator; slurm.conf(5),
    NodeName.
    """
    for at, type_, other in _fallbacks(environment):
        # With CPU options, every type has the pool's threads per core.
        threads = at.pool.threads_per_core
        expected_threads, actual_threads = threads or type_.cpus.threads, threads or other.cpus.threads
        expected, actual = type_.cpus.cores * expected_threads, other.cpus.cores * actual_threads
        if expected_threads != actual_threads:
            message = f"{other.name} has {actual_threads} threads a core, the pool's {type_.name} {expected_threads}"
            yield _difference("fallback-processors", message, at)
        elif expected != actual:
            message = f"{other.name} has {actual} CPUs, the pool's {type_.name} {expected}"
            severity = Severity.ERROR if actual < expected else Severity.WARNING
            yield _difference("fallback-processors", message, at, severity)
        if type_.memory_mib != other.memory_mib:
            message = f"{other.name} has {other.memory_mib} MiB, the pool's {type_.name} {type_.memory_mib} MiB"
            severity = Severity.ERROR if other.memory_mib < type_.memory_mib else Severity.WARNING
            yield _difference("fallback-processors", message, at, severity)


@rule
def fallback_architecture(environment: Environment) -> Iterator[Finding]:
    """Every type of a pool has the same processor architecture: they boot the same image.

    EC2 refuses to launch an arm64 type from an x86_64 image.
    Source: EC2 RunInstances; ParallelCluster InstanceArchitectureCompatibilityValidator.
    """
    for at, type_, other in _fallbacks(environment):
        if type_.cpus.architecture != other.cpus.architecture:
            message = f"{other.name} is {other.cpus.architecture}, the pool's {type_.name} is {type_.cpus.architecture}"
            yield _difference("fallback-architecture", message, at)


@rule
def fallback_network(environment: Environment) -> Iterator[Finding]:
    """Every type of a pool has EFA on the same number of network cards.

    A job over two such types is as slow as the slower one; if one type has no EFA, the job uses TCP or does not start.
    Source: ParallelCluster InstancesEFAValidator and InstancesNetworkingValidator.
    """
    for at, type_, other in _fallbacks(environment):
        expected, actual = len(type_.efa_cards), len(other.efa_cards)
        if at.pool.efa is not False and expected != actual:
            message = f"{other.name} has EFA on {actual} cards, the pool's {type_.name} on {expected}"
            severity = Severity.ERROR if at.pool.efa and not actual else Severity.WARNING
            yield _difference("fallback-network", message, at, severity)


@rule
def driver_flavour(environment: Environment) -> Iterator[Finding]:
    """The kernel modules in a pool's `driver` support its GPUs.

    V100 and older have no GSP and cannot use the open modules; Blackwell supports the open modules only. With the wrong
    modules a node boots without GPUs, and Slurm drains it.
    Source: NVIDIA open-gpu-kernel-modules README; ParallelCluster constants.py,
    NVIDIA_OPENRM_UNSUPPORTED_INSTANCE_TYPES.
    """
    for owner in pools(environment):
        modules = owner.pool.driver
        if modules == "auto":
            continue
        for at in pool_capacities(owner):
            if at.type is None or modules in at.type.driver:
                continue
            flavours = [flavour for flavour in at.type.driver if flavour != "neuron"]
            related = (at.instance_path,)
            if flavours:
                message = f"the {_accelerators(at.type)} of {at.instance} do not work with the {modules} kernel modules"
                fix = f"use driver: auto, or {flavours[0]}"
                yield error(owner.at("driver"), message, fix=fix, related=related)
            else:
                message = f"driver: {modules} is for NVIDIA GPUs, and {at.instance} has {_accelerators(at.type)}"
                yield error(owner.at("driver"), message, fix="remove driver", related=related)
            break


@rule
def pool_without_accelerator(environment: Environment) -> Iterator[Finding]:
    """Pools without accelerators are in the partition `gpu` too.

    That partition has all nodes: a job that requests no GPU may launch a cloud node.
    Source: Landbridge (landbridge/plan/slurm/partitions.py); slurm.conf(5), Weight and DefCpuPerGPU.
    """
    for at in pools(environment):
        if at.type is not None and at.type.accelerators is None:
            message = f"{at.pool.instance} has no accelerator, and its nodes are in the partition gpu"
            fix = "add a partition for such jobs in scheduler.partitions"
            yield info(at.at("instance"), message, fix=fix)


@rule
def mixed_partition(environment: Environment) -> Iterator[Finding]:
    """The pools of a partition have the same accelerators, with the same memory.

    `--gpus=16` over two models runs as slowly as the slower one; over pools with and without GPUs it may never start. Of
    one model with two sizes of memory, a job gets either by chance: its gres type is the same.
    Source: ParallelCluster InstancesAcceleratorsValidator, for types that share a partition; slurm.conf(5), Gres.
    """
    pools_by_name = {at.pool.name: at for at in pools(environment) if at.type is not None}
    for name, partition in environment.scheduler.partitions.items():
        first: tuple[str, InstanceType] | None = None
        for index, token in enumerate(partition.nodes):
            at = pools_by_name.get(token)
            if at is None or at.type is None:
                continue
            if first is None:
                first = (token, at.type)
                continue
            is_equal_model = _model(at.type) == _model(first[1])
            ours, others = (_model(kind) + (_memory(kind) if is_equal_model else "") for kind in (at.type, first[1]))
            if ours != others:
                path: DataPath = ("scheduler", "partitions", name, "nodes", index)
                message = f"{token} has {ours}; {first[0]} in the same partition has {others}"
                fix = "write one partition for each"
                if not is_equal_model:
                    fix += ", or submit jobs with a model: --gres=gpu:h100:8"
                related = (at.at("instance"), pools_by_name[first[0]].at("instance"))
                yield warning(path, message, fix=fix, related=related)
                break


def _model(kind: InstanceType) -> str:
    return kind.accelerators.type.upper() if kind.accelerators is not None else "no accelerator"


def _fallbacks(environment: Environment) -> Iterator[tuple[CapacityAt, InstanceType, InstanceType]]:
    """Yield each capacity with a known type other than its pool's: the capacity, the pool's type, its own type."""
    for at in capacities(environment):
        pool_type = at.owner.type
        if pool_type is not None and at.type is not None and pool_type.name != at.type.name:
            yield at, pool_type, at.type


def _difference(name: str, message: str, at: CapacityAt, severity: Severity = Severity.ERROR) -> Finding:
    fix = "use an equal type, or move this one to a separate pool"
    return Finding(name, message, at.at("instance"), fix, severity, (at.owner.at("instance"),))


def _accelerators(kind: InstanceType) -> str:
    accelerators = kind.accelerators
    if accelerators is None:
        return "no accelerator"
    return f"{accelerators.count} {accelerators.type.upper()}{_memory(kind)}"


def _memory(kind: InstanceType) -> str:
    memory = kind.accelerators.memory_mib if kind.accelerators is not None else None
    return f" of {memory} MiB" if memory else ""
