"""Expectations of a node image and of a pool's instances: plain values for the role node_verify. Pure.

docs/explanation/node-image-contract.md lists the checks; the program is in ansible/roles/node_verify.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from landbridge.catalog import InstanceType, gpus, instances
from landbridge.catalog.aws.node_contract import node_contract
from landbridge.environment import Environment, PoolSettings
from landbridge.plan.aws.images import pool_root_device
from landbridge.plan.aws.storage.efs_access import mounts_efs_over_tls
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.network_interfaces import pool_interfaces

#: Keys of a pool's expectations that an image for several pools needs if one of them does.
_SOFTWARE = ("fabric_manager", "subnet_manager", "efa", "dcgm", "container_toolkit", "local_disks")


def image_expectations(environment: Environment, image: str | None = None) -> dict[str, Any]:
    """Return the expectations of an image: of the pools that boot it, or of all pools.

    `image` is checked on a builder; on a node, the expectations of its pool (pool.json) replace equal keys.
    """
    pools = [pool for pool in environment.aws.pools if image is None or pool.image == image]
    facts, skip = node_contract(), environment.aws.node_checks.skip
    return {
        "release": environment.scheduler.slurm.version,
        "units": _units(any(pool.actions.scripts() for pool in pools)),
        "disabled_services": list(facts.disabled_services),
        "files": list(facts.files),
        "health": facts.health.model_dump(mode="json"),
        "time": list(facts.time),
        "secrets": list(facts.secrets),
        "leftovers": list(facts.leftovers),
        "engines": list(environment.containers.engines),
        "lustre": environment.storage.lustre_in_aws is not None,
        # Only where it is used: another key would change the images of all other environments.
        **({"efs": True} if mounts_efs_over_tls(environment) else {}),
        "skip": list(skip),
        **_union(pool_expectations(environment, pool) for pool in pools),
    }


def pool_expectations(environment: Environment, pool: PoolSettings) -> dict[str, Any]:
    """Return what a pool's instances need in their image, and their hardware by instance type."""
    types = {terms.instance: instances().get(terms.instance) for terms in fallbacks(pool, environment.region)}
    known = {name: kind for name, kind in types.items() if kind is not None}
    gpu_types = [kind for kind in known.values() if kind.accelerators is not None and kind.accelerators.kind == "gpu"]
    has_efa = {name: any(nic.type != "interface" for nic in pool_interfaces(pool, name)) for name in known}
    facts, switched = node_contract(), [kind for kind in gpu_types if has_nvswitch(kind)]
    return {
        "driver": _modules(pool, gpu_types),
        "fabric_manager": bool(switched),
        # Source: Fabric Manager user guide, 1.5: NVLink 5 (Blackwell) needs nvlsm.
        "subnet_manager": any(_generation(kind) == "blackwell" for kind in switched),
        "efa": facts.efa.model_dump(mode="json") if any(has_efa.values()) else None,
        "dcgm": bool(gpu_types),
        "container_toolkit": bool(gpu_types),
        "local_disks": pool.local_scratch is not None,
        "root": {
            "device": pool_root_device(environment, pool),
            "gib": pool.root_volume_gib,
            "free_gib": facts.free_gib,
        },
        "hardware": {
            name: {
                "gpus": kind.accelerators.count if kind in gpu_types and kind.accelerators is not None else 0,
                "efa": sum(nic.type != "interface" for nic in pool_interfaces(pool, name)),
            }
            for name, kind in known.items()
        },
        # Only where they are used: another key would change all launch templates.
        **({"imex": True} if any(kind.ultraserver is not None for kind in gpu_types) else {}),
        **({"units": _units(with_actions=True)} if pool.actions.scripts() else {}),
    }


def has_nvswitch(kind: InstanceType) -> bool:
    """Return true if the GPUs of the type are connected by NVSwitches of the same machine, which Fabric Manager
    configures.

    V100 instances have NVLink without a switch; a GB200 node's switches are in its rack.
    Source: EC2 User Guide, "Install NVIDIA drivers" (Fabric Manager on P4d, P5 and P6); landbridge/catalog/instances.
    """
    accelerators = kind.accelerators
    if accelerators is None or accelerators.kind != "gpu" or accelerators.count == 1:
        return False
    return kind.nvlink_domain == accelerators.count and _generation(kind) != "volta"


def _units(with_actions: bool) -> list[str]:
    """Return the units that start at boot. A pool names those of its scripts, so that an older image is refused."""
    facts = node_contract()
    return [*facts.units, *(facts.action_units if with_actions else ())]


def _modules(pool: PoolSettings, types: Iterable[InstanceType]) -> list[str]:
    """Return the kernel modules that every type of the pool supports; empty without GPUs. The GRID driver's are
    proprietary."""
    supported = [
        {"proprietary" if flavour == "grid" else flavour for flavour in kind.driver} - {"neuron"} for kind in types
    ]
    if not supported:
        return []
    common = set.intersection(*supported)
    return sorted(common if pool.driver == "auto" else common & {pool.driver})


def _generation(kind: InstanceType) -> str | None:
    name = kind.accelerators.type if kind.accelerators is not None else ""
    return next((gpu.generation for gpu in gpus().values() if gpu.type == name), None)


def _union(pools: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the software that at least one pool needs; the driver's modules are those that all GPU pools support."""
    needs = list(pools)
    flavours = [set(need["driver"]) for need in needs if need["driver"]]
    return {
        "driver": sorted(set.intersection(*flavours)) if flavours else [],
        **{key: next((need[key] for need in needs if need[key]), False) for key in _SOFTWARE},
        **({"imex": True} if any(need.get("imex") for need in needs) else {}),
        "root": {"free_gib": node_contract().free_gib},
    }
