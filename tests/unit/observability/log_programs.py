"""Log store for tests: real systemd-journal-remote behind the rendered HAProxy, and real systemd-journal-upload, on the loopback."""

import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment as Templates
from jinja2 import StrictUndefined

from landbridge.certificates import keys_in, new_authority, sign
from sandbox.model_life.haproxy_program import haproxy_program
from tests.unit.core.samples import ROOT
from tests.unit.observability.debian_programs import unpacked_packages

HOSTS = {"ctl01": "127.20.0.11", "dgx01": "127.20.1.11"}
#: Nodes in AWS, which have one certificate with another name.
NODES, NODES_NAME = {"p5-1": "127.99.0.1", "p5-2": "127.99.0.2"}, "aws-nodes.cluster.internal"
_TEMPLATE = ROOT / "ansible/roles/log_store/templates/haproxy.cfg.j2"


@cache
def journal_programs() -> tuple[Path, Mapping[str, str]]:
    """Return the folder of systemd-journal-remote and -upload, and the environment in which they find their libraries."""
    installed = Path("/usr/lib/systemd")
    if (installed / "systemd-journal-remote").exists():
        return installed, dict(os.environ)
    # A release has one of the two names of the library.
    root = unpacked_packages(("systemd-journal-remote",), ("libmicrohttpd12", "libmicrohttpd12t64"))
    (upload,) = root.rglob("systemd-journal-upload")
    libraries = sorted({str(path.parent) for path in root.rglob("*.so.*")})
    return upload.parent, {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}


@dataclass
class LoopbackLogStore:
    """Receiver and HAProxy in a folder, with the certificates of hosts."""

    folder: Path
    port: int = 0
    receiver_port: int = 0
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def prepare(self) -> None:
        """Write certificates and configuration, and start both programs."""
        now = datetime.now(UTC)
        key, authority = new_authority("test", now)
        for name in (*HOSTS, NODES_NAME, "stranger"):
            key_text, request = _host_key(name)
            signed = sign(request, name, authority, key, now, 1, [name, "localhost", "127.0.0.1"])
            (self.folder / f"{name}.pem").write_bytes(key_text + signed)
        (self.folder / "ca.pem").write_bytes(authority)
        shutil.copy(self.folder / "ctl01.pem", self.folder / "tls.pem")
        (self.folder / "store").mkdir()
        self.port, self.receiver_port = _free_port(), _free_port()
        rendered = Templates(undefined=StrictUndefined).from_string(_TEMPLATE.read_text())
        text = rendered.render(
            ansible_managed="test",
            log_store_listen=f"127.0.0.1:{self.port}",
            log_store_receiver=f"127.0.0.1:{self.receiver_port}",
            log_store_hosts=[{"name": name, "source": source} for name, source in HOSTS.items()],
            log_store_nodes=[{"name": name, "source": source} for name, source in NODES.items()],
            log_store_nodes_name=NODES_NAME,
        )
        (self.folder / "haproxy.cfg").write_text(text)
        self.start_receiver()
        program, variables = haproxy_program()
        variables = {**variables, "CREDENTIALS_DIRECTORY": str(self.folder)}
        self._start("gateway", [program, "-db", "-f", self.folder / "haproxy.cfg"], variables, self.port)

    def start_receiver(self) -> None:
        """Start systemd-journal-remote, as its unit does."""
        programs, variables = journal_programs()
        words = [f"--listen-http=127.0.0.1:{self.receiver_port}", "--split-mode=host", f"--output={self.folder}/store/"]
        self._start("receiver", [programs / "systemd-journal-remote", *words], variables, self.receiver_port)

    def stop(self, name: str) -> None:
        """End one of the two programs."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def log(self, host: str, *messages: str) -> None:
        """Append entries to the journal of a host."""
        journal = self.folder / f"journal-{host}"
        journal.mkdir(exist_ok=True)
        number = len(list(journal.iterdir()))
        text = "".join(
            f"__REALTIME_TIMESTAMP={1_795_298_400_000_000 + (100 * number + index) * 1_000_000}\n"
            f"__MONOTONIC_TIMESTAMP={1000 + 100 * number + index}\n_BOOT_ID={host.encode().hex():0<32}\n"
            f"_HOSTNAME={host}\nPRIORITY=6\nSYSLOG_IDENTIFIER=slurmd\nMESSAGE={message}\n\n"
            for index, message in enumerate(messages)
        )
        programs, variables = journal_programs()
        output = f"--output={journal}/{number}.journal"
        line = [str(programs / "systemd-journal-remote"), output, "-"]
        subprocess.run(line, env=variables, input=text.encode(), capture_output=True, check=True)

    def ship(self, host: str, certificate: str | None = None, path: str = "") -> "subprocess.CompletedProcess[str]":
        """Send the entries of a host that have not been sent, as the shipper's unit does."""
        programs, variables = journal_programs()
        pem = self.folder / f"{certificate or host}.pem"
        words = [
            f"--url=https://127.0.0.1:{self.port}{path}",
            *[f"--key={pem}", f"--cert={pem}", f"--trust={self.folder}/ca.pem"],
            f"--directory={self.folder}/journal-{host}",
            f"--save-state={self.folder}/state-{host}",
            "--follow=no",
        ]
        line = [str(programs / "systemd-journal-upload"), *words]
        return subprocess.run(line, env=variables, capture_output=True, text=True, check=False)

    def entries(self, host: str) -> list[str]:
        """Return the messages in the files of a host or node at the store."""
        pattern = f"--file={self.folder}/store/remote-{(HOSTS | NODES)[host]}[.@]*journal"
        done = subprocess.run(
            ["journalctl", pattern, "--output=cat", "--quiet"], capture_output=True, text=True, check=False
        )
        return done.stdout.splitlines()

    def close(self) -> None:
        """End all programs."""
        for name in list(self.processes):
            self.stop(name)

    def _start(self, name: str, line: list[object], variables: Mapping[str, str], port: int) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                list(map(str, line)), env=dict(variables), stdout=log, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + 30
        while True:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            assert self.processes[name].poll() is None, (self.folder / f"{name}.log").read_text()
            assert time.monotonic() < deadline, f"{name} does not listen"
            time.sleep(0.02)


def tls_refused(store: LoopbackLogStore) -> str:
    """Return the error of a client without a certificate."""
    context = ssl.create_default_context(cafile=str(store.folder / "ca.pem"))
    with socket.create_connection(("127.0.0.1", store.port), timeout=30) as plain:
        try:
            with context.wrap_socket(plain, server_hostname="localhost") as secured:
                secured.sendall(b"POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
                return "" if secured.recv(100) else "closed"
        except ssl.SSLError as error:
            return str(error)


def protocol(store: LoopbackLogStore) -> str | None:
    """Return the protocol that the store chooses for a client of HTTP/2 and HTTP/1.1."""
    context = ssl.create_default_context(cafile=str(store.folder / "ca.pem"))
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", store.port), timeout=30) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        return secured.selected_alpn_protocol()


def _host_key(name: str) -> tuple[bytes, bytes]:
    done = subprocess.run(
        ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "-", "-subj", f"/CN={name}"],
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    (key,) = keys_in(done.stdout)
    return f"{key}\n".encode(), done.stdout[done.stdout.index("-----BEGIN CERTIFICATE REQUEST") :].encode()


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
