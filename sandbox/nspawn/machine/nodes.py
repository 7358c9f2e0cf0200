"""Life cycle of lab nodes: create, boot, stop, power cut, commit, destroy. Every step is repeatable."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from sandbox.hardware.install import install
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import disk, processes, shell
from sandbox.nspawn.host.host_packages import find_program
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.machine import cgroups, hardware, image
from sandbox.nspawn.machine import supervisor as supervisor_program
from sandbox.nspawn.machine.node import LabNode, load, names, save
from sandbox.nspawn.network import bridges as network
from sandbox.nspawn.network import netns, ssh

__all__ = [
    "alive", "boot", "boot_all", "commit", "create", "destroy", "exec", "exists", "load", "names", "power_cut", "stop",
    "stop_all", "wait_ssh",
]  # fmt: skip

BASE = "base"
# Files with a node's identity: an image must not contain them.
_IDENTITY_PATHS = (
    "etc/hostname", "etc/machine-id", "etc/apt/apt.conf.d/02proxy", "etc/tmpfiles.d/lab-hardware.conf",
    "root/.ssh/authorized_keys", "root/.ansible", "var/log", "var/cache/apt", "var/lib/systemd/random-seed",
    "var/lib/dbus/machine-id", "var/tmp", "tmp", "run",
)  # fmt: skip


def exists(lab: Layout, name: str) -> bool:
    """Return true if the node has been created, running or not."""
    return (lab.node(name) / "node.json").exists()


def alive(lab: Layout, name: str) -> bool:
    """Return true while the node's supervisor or its container runs."""
    return any(processes.read_pid_file(lab.node(name) / file) for file in ("supervisor.pid", "nspawn.pid"))


def create(lab: Layout, node: LabNode) -> bool:
    """Create the node's folder and the files of its identity; return False if the node exists."""
    folder = lab.node(node.name)
    with locked(lab.state / "locks" / node.name):
        if exists(lab, node.name):
            return False
        # Recorded by id: a rebuilt `base` must not replace the layer below a node's changes.
        node = replace(node, image=image.need(lab, node.image).id)
        disk.need(lab.nodes, 300, f"node {node.name}")
        if folder.exists():
            shutil.rmtree(folder)
        for part in ("upper", "work", "root", "disks"):
            (folder / part).mkdir(parents=True)
        for path in node.disks:
            (folder / "disks" / path.strip("/").replace("/", "-")).mkdir()
        ssh.ensure_key(lab)
        _write_identity_files(lab, node, folder / "upper")
        save(lab, node)
    return True


def boot(lab: Layout, name: str) -> bool:
    """Boot the node and return once its container has started; return False if it already runs."""
    with locked(lab.state / "locks" / name):
        node = load(lab, name)
        if alive(lab, name):
            return False
        _kill_leftovers(lab, name)
        network.wire(lab, name, node.nics, node.routes)
        cgroups.make(lab.name, name)
        folder = lab.node(name)
        order = folder / "order.json"
        order.write_text(json.dumps(_order(lab, node)))
        launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor_program.__file__, str(order)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        reply = launcher.stdout.readline().strip() if launcher.stdout else ""
        launcher.wait(timeout=60)
        if reply != "ready":
            raise shell.failure([f"boot {name}"], 1, reply or "the supervisor reported nothing")
    return True


def boot_all(lab: Layout, names: Iterable[str]) -> list[str]:
    """Boot nodes in parallel; return the names of those that did not run before."""
    requested = list(names)
    with ThreadPoolExecutor(8) as pool:
        return [
            name for name, booted in zip(requested, pool.map(lambda n: boot(lab, n), requested), strict=True) if booted
        ]


def wait_ssh(lab: Layout, names: Iterable[str], seconds: float = 300) -> None:
    """Wait until every node's sshd answers. Raise LabError with the other nodes and the ends of their console logs."""
    pending = {name: load(lab, name).address for name in names}
    deadline = time.monotonic() + seconds
    while True:
        pending = {name: address for name, address in pending.items() if not ssh.greets(lab, address)}
        if not pending:
            return
        for name in pending:
            if not alive(lab, name):
                raise LabError(f"node {name} ended while booting:\n{console(lab, name)}")
        if time.monotonic() > deadline:
            consoles = "\n".join(console(lab, name) for name in pending)
            raise LabError(f"no SSH after {seconds:.0f} s from {', '.join(pending)}:\n{consoles}")
        time.sleep(0.05)


def stop(lab: Layout, name: str, seconds: float = 30) -> None:
    """Shut the node down; kill it after `seconds`."""
    with locked(lab.state / "locks" / name):
        supervisor = processes.read_pid_file(lab.node(name) / "supervisor.pid")
        if supervisor is not None:
            supervisor.signal(signal.SIGTERM)
            supervisor.wait(seconds)
        _kill_leftovers(lab, name)


def stop_all(lab: Layout, names: Iterable[str]) -> None:
    """Stop nodes in parallel."""
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda name: stop(lab, name), names))


def power_cut(lab: Layout, name: str) -> None:
    """Kill the node as a power failure does, without a shutdown. Its disks stay unchanged."""
    with locked(lab.state / "locks" / name):
        _kill_leftovers(lab, name)


def destroy(lab: Layout, name: str) -> None:
    """Kill the node and remove its disks, namespace and control groups. Do nothing if it does not exist."""
    with locked(lab.state / "locks" / name):
        _kill_leftovers(lab, name)
        network.unwire(lab, name)
        cgroups.remove(lab.name, name)
        if lab.node(name).exists():
            shutil.rmtree(lab.node(name))


def commit(lab: Layout, name: str, image_id: str, tags: Sequence[str] = ()) -> image.LabImage:
    """Stop the node and make the image `image_id` of its changes, as a layer above the node's image.

    An id stands for one content: an existing image of that id stays unchanged. `prune` removes images without a tag
    that no node uses.
    """
    stop(lab, name)
    node = load(lab, name)
    below = image.need(lab, node.image)
    upper = lab.node(name) / "upper"
    with locked(lab.images / "lock"):
        work = lab.images / f".{image_id}.{os.getpid()}"
        image.discard(work)
        work.mkdir(parents=True)
        size = int(shell.run(["du", "-sm", upper]).stdout.split()[0])
        disk.need(lab.images, size + 200, f"image {image_id}")
        try:
            shell.run(["cp", "-a", "--reflink=auto", upper, work / "rootfs"], timeout=600)
            _remove_identity_files(work / "rootfs")
            ids = [layer.parent.name for layer in below.layers]
            return image.publish(lab, image_id, work, ids, f"node {name}", tags)
        except BaseException:
            image.discard(work)
            raise


def exec(lab: Layout, name: str, command: Sequence[str], **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command in the node over SSH and return its result, with any exit code."""
    timeout = float(str(options.get("timeout", 120)))
    return shell.run([*ssh.command(lab, load(lab, name).address), *command], timeout=timeout, check=False)


def console(lab: Layout, name: str, lines: int = 15) -> str:
    """Return the last lines of the node's console log."""
    path = lab.node(name) / "console.log"
    text = path.read_text(errors="replace") if path.exists() else ""
    return "\n".join(f"    {name}: {line}" for line in text.splitlines()[-lines:])


def _kill_leftovers(lab: Layout, name: str) -> None:
    """Kill all processes of a node: its supervisor, its container's init, and those in its network namespace."""
    folder = lab.node(name)
    supervisor = processes.read_pid_file(folder / "supervisor.pid")
    machine = processes.read_pid_file(folder / "nspawn.pid")
    # The supervisor first, since it might boot the node again. Then the container's init: the kernel kills the other
    # processes with it. Killing systemd-nspawn instead would leave the container running.
    killed = [process for process in (supervisor,) if process]
    if machine:
        killed += [*processes.children(machine.pid), machine]
    for process in killed:
        process.signal(signal.SIGKILL)
    for pid in netns.processes_in((lab.node_netns(name),)):
        leftover = processes.identify(pid)
        if leftover:
            leftover.signal(signal.SIGKILL)
            killed.append(leftover)
    for process in killed:
        if not process.wait(60):
            raise LabError(f"process {process.pid} of node {name} does not end")
    for file in ("supervisor.pid", "nspawn.pid"):
        (folder / file).unlink(missing_ok=True)


def _order(lab: Layout, node: LabNode) -> supervisor_program.SupervisorOrder:
    folder = lab.node(node.name)
    layered_image = image.need(lab, node.image)
    image.touch(layered_image)
    layers = ":".join(str(layer) for layer in layered_image.layers)
    program = find_program("systemd-nspawn")
    if program is None:
        raise LabError("the program 'systemd-nspawn' is missing", "run `landbridge sandbox up` as root to install it")
    identity = hashlib.sha256(f"{lab.name}-{node.name}".encode()).hexdigest()[:32]
    return {
        "node": node.name,
        "folder": str(folder),
        "overlay": f"lowerdir={layers},upperdir={folder / 'upper'},workdir={folder / 'work'}",
        "nspawn": [
            program,
            "--quiet",
            "--boot",
            f"--directory={folder / 'root'}",
            f"--machine={node.hostname or node.name}",
            f"--uuid={identity}",
            "--register=no",
            "--keep-unit",
            f"--network-namespace-path={netns.FOLDER / lab.node_netns(node.name)}",
            "--resolv-conf=off",
            "--timezone=off",
            "--link-journal=no",
            "--console=read-only",
            "--capability=all",
            *(f"--bind={device}" for device in ("/dev/fuse", "/dev/net/tun") if Path(device).exists()),
            *hardware.nspawn_options(node, str(folder / "disks")),
        ],
        "watch_groups": cgroups.procs_files(lab.name, node.name, "watch"),
        "machine_groups": cgroups.procs_files(lab.name, node.name, "machine"),
    }


def _write_identity_files(lab: Layout, node: LabNode, upper: Path) -> None:
    hostname = node.hostname or node.name
    files = {
        "etc/hostname": f"{hostname}\n",
        "etc/tmpfiles.d/lab-hardware.conf": hardware.device_nodes(node),
        "root/.ssh/authorized_keys": lab.public_key.read_text(),
    }
    if node.image.startswith(BASE):
        # A built image contains the hosts file that its roles wrote, as an AMI does.
        files["etc/hosts"] = f"127.0.0.1 localhost\n::1 localhost\n{node.address} {hostname}\n"
    if node.operator:
        # The wheelhouse at the same address has packages too, and the cache cannot reach it.
        files["etc/apt/apt.conf.d/02proxy"] = (
            f'Acquire::http::Proxy "http://{node.operator}:3142";\nAcquire::http::Proxy::{node.operator} "DIRECT";\n'
        )
    if node.platform:
        install(upper, node.name, node.platform)
    for name, content in files.items():
        path = upper / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (upper / "root").chmod(0o700)
    (upper / "root/.ssh").chmod(0o700)
    (upper / "root/.ssh/authorized_keys").chmod(0o600)
    ssh.make_host_key(upper / "etc/ssh")


def _remove_identity_files(tree: Path) -> None:
    for name in _IDENTITY_PATHS:
        path = tree / name
        if path.is_dir() and not path.is_symlink():
            for child in path.iterdir():
                shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
        elif path.exists() or path.is_symlink():
            path.unlink()
    for key in (tree / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    # Empty, not absent: without the file the overlay would show the one of the lower layer.
    (tree / "etc").mkdir(exist_ok=True)
    (tree / "etc/machine-id").write_text("")
