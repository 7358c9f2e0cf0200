"""GPU device nodes and disks of a lab node, which a container lacks. Only the lab adds them, never a role."""

from sandbox.hardware.install import KERNEL_LOG, LOADED_DRIVER
from sandbox.nspawn.machine.node import LabNode

# Major number of NVIDIA's character devices. The lab has no driver for it: opening a device gives ENXIO with permission
# and EPERM without; the tests of Slurm's device confinement use this difference.
_NVIDIA_MAJOR = 195
# The kernel gives nvidia-uvm one of the numbers for modules without a fixed one.
_UVM_MAJOR = 511


def device_nodes(node: LabNode) -> str:
    """Return tmpfiles.d lines that create the GPU device nodes at each boot: /dev is empty then."""
    lines = [f"c /dev/nvidia{index} 0666 root root - {_NVIDIA_MAJOR}:{index}" for index in range(node.gpus)]
    if node.gpus:
        lines += [
            f"c /dev/nvidiactl 0666 root root - {_NVIDIA_MAJOR}:255",
            f"c /dev/nvidia-uvm 0666 root root - {_UVM_MAJOR}:0",
        ]
    return "".join(line + "\n" for line in lines) + (KERNEL_LOG + LOADED_DRIVER if node.platform else "")


def nspawn_options(node: LabNode, disk_folder: str) -> list[str]:
    """Return options that bind the node's disks and permit system calls of file servers, which nspawn blocks."""
    options = [f"--bind={disk_folder}/{path.strip('/').replace('/', '-')}:{path}" for path in node.disks]
    if node.file_handles:
        options.append("--system-call-filter=open_by_handle_at name_to_handle_at @keyring bpf")
    return options
