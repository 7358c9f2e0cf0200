"""Package cache: one apt-cacher-ng per cache folder, on loopback, configured only by the lab.

Labs share it. Each lab that uses it has a file in `users/`; the last one to stop using it terminates the process.
"""

import os
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import disk, processes, shell
from sandbox.nspawn.host.apt_sources import archives, host_proxy
from sandbox.nspawn.host.host_packages import find_program
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked

PREFERRED_PORT = 3142


@dataclass(frozen=True)
class Cache:
    """A running package cache on 127.0.0.1."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def running(lab: Layout) -> Cache | None:
    """Return the running cache of this cache folder; None if it does not run."""
    if processes.read_pid_file(lab.apt / "pid") is None:
        return None
    return Cache(int((lab.apt / "port").read_text()))


def start(lab: Layout) -> Cache:
    """Start the cache if it does not run, and record this lab as one of its users."""
    with locked(lab.apt / "lock"):
        (lab.apt / "users").mkdir(parents=True, exist_ok=True)
        (lab.apt / "users" / lab.name).touch()
        return running(lab) or _launch(lab)


def stop(lab: Layout) -> None:
    """Remove this lab from the cache's users; terminate the cache if no other running lab uses it."""
    if not lab.apt.exists():
        return
    with locked(lab.apt / "lock"):
        users = lab.apt / "users"
        (users / lab.name).unlink(missing_ok=True)
        others = [user for user in users.glob("*") if Path(f"/run/netns/{user.name}").exists()]
        if not others:
            processes.end(processes.read_pid_file(lab.apt / "pid"))
            (lab.apt / "pid").unlink(missing_ok=True)


def http_address(uri: str) -> str:
    """Return an archive's address for nodes: always http, since a cache cannot read TLS (see `configuration`)."""
    return "http://" + uri.partition("://")[2]


def configuration(folder: Path, port: int, uris: list[str], proxy: str | None) -> str:
    """Return a complete apt-cacher-ng configuration. It fetches an archive with an https URI over https."""
    lines = [
        f"CacheDir: {folder}/cache",
        f"LogDir: {folder}/log",
        f"Port: {port}",
        "BindAddress: 127.0.0.1",
        "Foreground: 1",
        "ForeGround: 1",
        "ExThreshold: 30",
        "ReportPage:",
        "VerboseLog: 0",
        "SupportDir: /usr/lib/apt-cacher-ng",
    ]
    if proxy:
        lines.append(f"Proxy: {proxy}")
    secure = sorted({uri for uri in uris if urlsplit(uri).scheme == "https"})
    for number, uri in enumerate(secure):
        lines.append(f"Remap-landbridge{number}: {http_address(uri)} ; {uri}")
    return "\n".join(lines) + "\n"


def _launch(lab: Layout) -> Cache:
    program = find_program("apt-cacher-ng")
    if program is None:
        raise LabError("the program 'apt-cacher-ng' is missing", "run `landbridge sandbox up` as root to install it")
    disk.need(lab.apt, 500, "the package cache")
    config_folder = lab.apt / "etc"
    for folder in (config_folder, lab.apt / "cache", lab.apt / "log"):
        folder.mkdir(parents=True, exist_ok=True)
    debian_archives = archives()
    port = _free_port()
    uris = [uri for uri in (debian_archives.main, debian_archives.security) if uri]
    (config_folder / "acng.conf").write_text(configuration(lab.apt, port, uris, host_proxy()))
    (lab.apt / "port").write_text(str(port))
    with (lab.apt / "out.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "-c", str(config_folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    processes.write_pid_file(lab.apt / "pid", process.pid)
    _wait_listening(port, process, lab.apt / "out.log")
    return Cache(port)


def _free_port() -> int:
    """Return the usual port of a package cache, or the next free one: only the relay needs to know it.

    Not an ephemeral port: apt-cacher-ng cannot bind to ports above 32767.
    """
    for port in range(PREFERRED_PORT, PREFERRED_PORT + 200):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise LabError("no free port on 127.0.0.1", "end some of the programs that listen there")


def _wait_listening(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise shell.failure(["apt-cacher-ng"], process.returncode, log.read_text(errors="replace"))
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    os.kill(process.pid, 15)
    raise LabError(f"the package cache did not listen on 127.0.0.1:{port}", f"its log is {log}")
