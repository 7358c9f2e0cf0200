"""Checks of the GPU and network software: driver, Fabric Manager, EFA, DCGM and container runtimes."""

import re

from node_verify.checks import check, unit_lacks


@check("driver")
def driver(machine, expected, mode):
    modules = expected.get("driver")
    if not modules:
        return
    version, license_text = (machine.module("nvidia", field, mode) for field in ("version", "license"))
    if not version:
        yield (
            f"kernel {machine.kernel(mode)} has no module nvidia: no driver, or one for another kernel",
            "install the driver for this kernel",
        )
        return
    flavour = "proprietary" if license_text == "NVIDIA" else "open"
    if flavour not in modules:
        yield (
            f"the driver {version} has the {flavour} modules; the GPUs need the {' or '.join(modules)} ones",
            "install the other modules",
        )
    if not machine.has("nvidia-smi"):
        yield "nvidia-smi is missing", "install the driver's programs (nvidia-utils, nvidia-driver-cuda)"


@check("nouveau")
def nouveau(machine, expected, mode):
    if expected.get("driver") and machine.module("nouveau", "filename", mode):
        files = machine.glob(["etc/modprobe.d/*.conf", "usr/lib/modprobe.d/*.conf", "lib/modprobe.d/*.conf"])
        if not any(
            re.search(
                r"^\s*(blacklist\s+nouveau|install\s+nouveau\s+/bin/(false|true))",
                path.read_text(errors="replace"),
                re.M,
            )
            for path in files
        ):
            yield (
                "the kernel has nouveau, and it is not blacklisted",
                "write blacklist nouveau into /etc/modprobe.d, and rebuild the initramfs",
            )


@check("fabric-manager")
def fabric_manager(machine, expected, mode):
    if not expected.get("fabric_manager"):
        return
    output, version = machine.output("nv-fabricmanager", "--version"), machine.module("nvidia", "version", mode)
    release = re.search(r"\d+(\.\d+)+", output or "")
    if release is None:
        yield (
            "Fabric Manager is missing; GPUs with NVSwitch do not start without it",
            "install nvidia-fabricmanager in the driver's release",
        )
    elif version and release[0] != version:
        yield (
            f"Fabric Manager is {release[0]}, the driver {version}: it refuses to start",
            "install both in one release",
        )
    if release is not None:
        yield from unit_lacks(machine, ["nvidia-fabricmanager"])
    if expected.get("subnet_manager") and not machine.glob(
        ["opt/nvidia/nvlsm/sbin/nvlsm", "usr/sbin/nvlsm", "usr/bin/nvlsm"]
    ):
        yield "nvlsm is missing; Fabric Manager of NVLink 5 needs it", "install nvlsm"


@check("imex")
def imex(machine, expected, mode):
    """Check IMEX: without its service and channel, CUDA programs cannot use the memory of other nodes of an UltraServer."""
    if not expected.get("imex"):
        return
    output, version = machine.output("nvidia-imex", "--version"), machine.module("nvidia", "version", mode)
    release = re.search(r"\d+(\.\d+)+", output or "")
    if release is None:
        yield (
            "nvidia-imex is missing; NVLink between the nodes of an UltraServer needs it",
            "install nvidia-imex in the driver's release",
        )
    elif version and release[0] != version:
        yield f"nvidia-imex is {release[0]}, the driver {version}", "install both in one release"
    if not any(
        "NVreg_CreateImexChannel0=1" in path.read_text(errors="replace")
        for path in machine.glob(["etc/modprobe.d/*.conf"])
    ):
        yield (
            "the driver creates no IMEX channel",
            "write options nvidia NVreg_CreateImexChannel0=1 into /etc/modprobe.d (role nvidia_fabric)",
        )


@check("efa")
def efa(machine, expected, mode):
    facts = expected.get("efa")
    if not facts:
        return
    if not machine.module("efa", "version", mode) and not machine.module("efa", "filename", mode):
        yield f"kernel {machine.kernel(mode)} has no module efa", "run the EFA installer for this kernel"
    if not machine.glob(facts["libraries"]):
        yield "libfabric with the EFA provider is missing", "run the EFA installer"


@check("ofi-nccl")
def ofi_nccl(machine, expected, mode):
    facts = expected.get("efa")
    if facts and expected.get("driver") and not machine.glob(facts["plugins"]):
        yield (
            "the NCCL OFI plugin is missing; NCCL uses TCP instead of EFA",
            "install aws-ofi-nccl (the EFA installer has it)",
        )


@check("memlock")
def memlock(machine, expected, mode):
    limit = (machine.output("systemctl", "show", "slurmd", "--property=LimitMEMLOCK", "--value") or "").strip()
    if expected.get("efa") and limit not in ("infinity", "18446744073709551615"):
        yield (
            f"slurmd may lock {limit or 'an unknown number of'} bytes; jobs inherit it, and EFA cannot register memory",
            "write LimitMEMLOCK=infinity into slurmd's unit",
        )


@check("huge-pages", "boot")
def huge_pages(machine, expected, mode):
    if expected.get("efa") and machine.text("proc/sys/vm/nr_hugepages").strip() in ("", "0"):
        yield (
            "no huge pages are reserved; libfabric's EFA provider is slower without them",
            "run the EFA installer, which reserves them",
            "warning",
        )


@check("dcgm")
def dcgm(machine, expected, mode):
    if expected.get("dcgm") and not machine.has("nv-hostengine"):
        yield "DCGM is missing", "install datacenter-gpu-manager-4"


@check("containers")
def containers(machine, expected, mode):
    programs = {engine: f"install {engine}" for engine in expected.get("engines", ())}
    if expected.get("container_toolkit"):
        programs["nvidia-ctk"] = "install nvidia-container-toolkit"
        if "enroot" in programs:
            programs["nvidia-container-cli"] = "install libnvidia-container-tools"
    for program, fix in programs.items():
        if not machine.has(program):
            yield f"{program} is missing", fix
    if "enroot" in programs and not machine.glob(["usr/lib/*/slurm*/spank_pyxis.so", "usr/lib/slurm*/spank_pyxis.so"]):
        yield (
            "pyxis (spank_pyxis.so) is missing: slurmd does not start without its plugin",
            "install pyxis for this release of Slurm",
        )
