"""Description of one node's hardware, computed from its platform; the stand-ins on the node read it. Pure."""

import hashlib
from typing import Any

from landbridge.catalog import Platform
from landbridge.catalog.hardware.mig import mig_profiles
from landbridge.plan.site.adapters import common_ports

#: Release of the current driver branch, as in the version of the driver's package.
DRIVER = "580.95.05"
# nvidia-smi reports a link's rate with line code: 26.562 GB/s for a data rate of 25 GB/s.
_LINE_RATE = 1.0625


def describe(name: str, platform: Platform) -> dict[str, Any]:
    """Return the description of machine `name` of this platform, as plain data."""
    return {
        "driver": DRIVER,
        "gpus": [_gpu(name, platform, index) for index in range(platform.gpus.count)],
        "ports": _ports(platform),
    }


def _gpu(name: str, platform: Platform, index: int) -> dict[str, Any]:
    gpu = platform.gpu
    digits = hashlib.sha256(f"{name}-{index}".encode()).hexdigest()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32])
    return {
        "uuid": f"GPU-{'-'.join(parts)}",
        "serial": f"165{int(digits[:8], 16):010d}",
        "bus": f"00000000:{0x1B + 0x0C * index:02X}:00.0",
        "name": gpu.name,
        "memory_mib": gpu.memory_mib,
        "pcie_generation": gpu.pcie.generation if gpu.pcie else None,
        "pcie_width": gpu.pcie.width if gpu.pcie else None,
        "links": gpu.nvlink.links if gpu.nvlink else 0,
        "link_gb_s": round(gpu.nvlink.gb_s * _LINE_RATE, 3) if gpu.nvlink else 0,
        "fabric": platform.fabric_manager,
        "remaps": gpu.generation != "volta",
        "mig": {name: slot.model_dump() for name, slot in mig_profiles(platform.gpu_model).items()},
    }


def _ports(platform: Platform) -> list[dict[str, Any]]:
    """Return the RDMA ports: with BasePOD wiring the ports of the reference architecture, else the platform's fabric."""
    basepod = platform.wirings.get("basepod")
    adapters = basepod.adapters if basepod is not None else common_ports(platform)
    layers = {"infiniband": "InfiniBand", "ethernet": "Ethernet"}
    ports = [(layers[adapter.kind], adapter.gbps) for adapter in adapters for _ in range(adapter.count)]
    return [{"name": f"mlx5_{index}", "rate": rate, "link_layer": layer} for index, (layer, rate) in enumerate(ports)]
