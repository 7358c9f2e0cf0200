"""GPU device nodes and disks of a node, which a container lacks. Added by the lab, never by a role."""

from sandbox.hardware.install import KERNEL_LOG, LOADED_DRIVER
from sandbox.nspawn.machine.node import LabNode

# The NVIDIA driver's character major. No driver answers it here: opening a device gives ENXIO with permission, EPERM
# without, and the tests of Slurm's device confinement use this difference.
_NVIDIA_MAJOR = 195


def device_nodes(node: LabNode) -> str:
    """tmpfiles.d lines that make the node's GPUs at each boot: its /dev starts empty every time."""
    lines = [f"c /dev/nvidia{index} 0666 root root - {_NVIDIA_MAJOR}:{index}" for index in range(node.gpus)]
    return "".join(line + "\n" for line in lines) + (KERNEL_LOG + LOADED_DRIVER if node.platform else "")


def nspawn_options(node: LabNode, disk_folder: str) -> list[str]:
    """Binds for the node's disks, and the system calls that a file server needs and nspawn's filter blocks."""
    options = [f"--bind={disk_folder}/{path.strip('/').replace('/', '-')}:{path}" for path in node.disks]
    if node.file_handles:
        options.append("--system-call-filter=open_by_handle_at name_to_handle_at @keyring bpf")
    return options
