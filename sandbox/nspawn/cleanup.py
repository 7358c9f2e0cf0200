"""Clean-up of a lab, also after its processes were killed: leftovers are found through the kernel.

A lab is identified by its pid files, its network namespaces, the mounts below its folders and its control groups.
Processes are never searched by the name of their program.
"""

import os
import shutil
import signal
from pathlib import Path

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import package_cache as packages
from sandbox.nspawn.host import processes, shell
from sandbox.nspawn.layout import DEFAULT_LAB, Layout
from sandbox.nspawn.machine import cgroups, nodes
from sandbox.nspawn.machine.node import names
from sandbox.nspawn.network import bridges as network
from sandbox.nspawn.network import netns
from sandbox.nspawn.progress import Report, silent, step


def down(lab: Layout, report: Report = silent, *, keep_nodes: bool = False) -> None:
    """Stop the lab: first services, then nodes, then leftovers. With `keep_nodes`, keep the nodes' disks."""
    # Services first: one of them may be launching nodes, and gets time to stop them itself.
    for pid_file in lab.state.glob("*.pid"):
        processes.end(processes.read_pid_file(pid_file), grace=30)
        pid_file.unlink(missing_ok=True)
    running = [name for name in names(lab) if nodes.alive(lab, name)]
    if running:
        with step(report, f"stopping {len(running)} nodes"):
            for name in running:
                nodes.power_cut(lab, name) if not keep_nodes else nodes.stop(lab, name)
    _kill_leftovers(lab)
    _unmount(lab)
    network.down(lab)
    cgroups.remove(lab.name)
    packages.stop(lab)
    if not keep_nodes and lab.state.exists():
        shutil.rmtree(lab.state)
    remaining = leftovers(lab)
    if remaining:
        raise LabError("the lab left something behind: " + "; ".join(remaining), "run `landbridge sandbox down` again")


def remove_caches(lab: Layout) -> None:
    """Remove images, downloaded packages and wheels; refuse while another lab of this machine may use them."""
    others = sorted(path.name for path in netns.FOLDER.glob(f"{DEFAULT_LAB}*") if "." not in path.name)
    if others:
        raise LabError(f"the caches are in use by {', '.join(others)}", "take those labs down first (LANDBRIDGE_LAB)")
    for folder in (lab.images, lab.apt, lab.wheels):
        shutil.rmtree(folder, ignore_errors=True)


def leftovers(lab: Layout) -> list[str]:
    """Return the lab's leftovers in the kernel: processes, namespaces, mounts, control groups."""
    remaining = [f"process {pid} in {name}" for pid, name in netns.processes_in((lab.netns,)).items()]
    if netns.FOLDER.is_dir():
        spaces = [netns.FOLDER / lab.netns, *netns.FOLDER.glob(f"{lab.name}.*")]
        remaining += [f"network namespace {path.name}" for path in spaces if path.exists()]
    remaining += [f"mount {mount}" for mount in _mounts(lab)]
    remaining += [f"control group {tree / lab.name}" for tree in cgroups.hierarchies() if (tree / lab.name).exists()]
    return remaining


def _kill_leftovers(lab: Layout) -> None:
    pids = set(netns.processes_in((lab.netns,))) | cgroups.members(lab.name)
    pids.discard(os.getpid())
    leftover_processes = [process for process in (processes.identify(pid) for pid in pids) if process]
    for process in leftover_processes:
        process.signal(signal.SIGKILL)
    for process in leftover_processes:
        process.wait(60)


def _mounts(lab: Layout) -> list[str]:
    """Return mounts below the lab's folder, and mounts of ended image builders, whose folders end in their pid."""
    points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    lab_points = [point for point in points if point.startswith(f"{lab.state}/")]
    builds = [(point, Path(point).relative_to(lab.images).parts[0]) for point in points if _below(point, lab.images)]
    return lab_points + [point for point, folder in builds if not _is_building(folder)]


def _below(point: str, folder: Path) -> bool:
    return point.startswith(f"{folder}/.")


def _is_building(folder: str) -> bool:
    pid = folder.rpartition(".")[2]
    return pid.isdigit() and processes.start_time(int(pid)) is not None


def _unmount(lab: Layout) -> None:
    for point in sorted(_mounts(lab), reverse=True):
        shell.run(["umount", "--lazy", point], check=False)
