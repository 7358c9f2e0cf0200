"""Expected state of a pool's instances while they run: plain values for the role node_health. Pure.

They are in the pool's launch template (`health` of /etc/landbridge/pool.json), because one image is for several pools;
the node selects those of its instance type.
"""

from typing import Any

from landbridge.catalog import Gpu, InstanceType, generation, gpus, instances
from landbridge.environment import Environment, ExternalNfsHome, NfsHome, PoolSettings
from landbridge.plan.aws.node_contract import has_nvswitch
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.network_interfaces import pool_interfaces


def pool_health(environment: Environment, pool: PoolSettings) -> dict[str, Any]:
    """Return the expectations by instance type, in the form of `landbridge.plan.site.health.expected`, and the mounts.

    Hardware that aws.node_checks.skip excludes from the check at boot is not checked later either. The node adds the
    mounts and the scratch disk that its pool's settings name.
    """
    skip = environment.aws.node_checks.skip
    types = {terms.instance: instances().get(terms.instance) for terms in fallbacks(pool, environment.region)}
    home = environment.storage.home
    has_site_home = isinstance(home, NfsHome | ExternalNfsHome) and home.on_cloud_nodes
    return {
        "types": {name: _hardware(pool, kind, skip) for name, kind in types.items() if kind is not None},
        # A home file system in AWS is among the pool's own mounts.
        "mounts": [home.mount] if has_site_home else [],
    }


def _hardware(pool: PoolSettings, kind: InstanceType, skip: tuple[str, ...]) -> dict[str, Any]:
    expectations: dict[str, Any] = {"services": []}
    accelerators = kind.accelerators
    is_switched = has_nvswitch(kind) and "fabric-manager" not in skip
    if accelerators is not None and accelerators.kind == "gpu" and "gpus" not in skip:
        expectations["gpus"] = {"count": accelerators.count, "type": accelerators.type}
        if (gpu := _gpu(kind)) is not None:
            expectations["gpus"] |= {"name": gpu.name, "memory_mib": gpu.memory_mib, "errors": generation(gpu).errors}
            # Only with NVSwitches: in part of a machine some links lead to GPUs of other instances.
            if is_switched and gpu.nvlink is not None:
                expectations["gpus"]["links"] = gpu.nvlink.links
        if is_switched:
            expectations["gpus"]["fabric"] = True
            expectations["services"] = ["nvidia-fabricmanager"]
    devices = sum(nic.type != "interface" for nic in pool_interfaces(pool, kind.name))
    if devices and "efa-devices" not in skip:
        expectations["efa"] = devices
    return expectations


def _gpu(kind: InstanceType) -> Gpu | None:
    """Return the GPU model and form factor of a type: the catalogue's row with its name and nearest memory size.

    None if gpus.yaml has no such GPU: then only number and type are checked. PCIe widths are not expected, because a
    virtual machine may show others than the slot's.
    """
    accelerators = kind.accelerators
    if accelerators is None:
        return None
    size = accelerators.memory_mib
    rows = [gpu for gpu in gpus().values() if gpu.type == accelerators.type]
    is_linked = kind.nvlink_domain is not None

    def distance(gpu: Gpu) -> tuple[float, bool]:
        return abs(gpu.memory_mib - (size or gpu.memory_mib)), (gpu.nvlink is not None) != is_linked

    return min(rows, key=distance, default=None)
