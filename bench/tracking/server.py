"""MLflow server as the role mlflow starts it, with a PostgreSQL of its own, both on loopback and in a temporary folder."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROLE = ROOT / "ansible/roles/mlflow/files"
PASSWORD = "bench-password-of-everyone"
#: Packages of the role's lock that the developer's environment lacks.
PACKAGES = ("psycopg2-binary", "flask-wtf", "wtforms")
_STARTED = 180.0


class Unavailable(Exception):
    """Program that this machine lacks."""


def packages(folder: Path) -> Path:
    """Install the packages with the versions of the role's lock into a folder."""
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROLE / "requirements.lock").read_text(), re.MULTILINE))
    pinned = [f"{name}=={locked[name]}" for name in PACKAGES]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--target", str(folder), *pinned], check=True)
    return folder


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """Start PostgreSQL in a folder of the account `postgres`; yield the URL of an empty server without a database's name."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        raise Unavailable("PostgreSQL is not installed")
    shutil.chown(folder, "postgres")
    port, data = _free_port(), folder / "data"
    as_postgres = ["runuser", "--user", "postgres", "--", "env", "--chdir=/"]
    _run([*as_postgres, str(programs[-1] / "initdb"), "--auth=trust", "--no-sync", str(data)])
    options = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c port={port}"
    control = [*as_postgres, str(programs[-1] / "pg_ctl"), f"--pgdata={data}", "--wait", f"--log={folder}/log"]
    _run([*control, f"--options={options}", "start"])
    try:
        for name in ("runs", "users"):
            _run([*as_postgres, "createdb", "--host=127.0.0.1", f"--port={port}", name])
        yield f"postgresql+psycopg2://postgres@127.0.0.1:{port}"
    finally:
        _run([*control, "--mode=immediate", "stop"])


@dataclass(frozen=True)
class Server:
    """MLflow server: its URI and its group of processes."""

    uri: str
    group: int

    def processor_seconds(self) -> float:
        """Return the processor time of its processes until now, without those of PostgreSQL."""
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == self.group:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def mlflow(folder: Path, database: str, workers: int, cache_seconds: int, users: Sequence[str]) -> Iterator[Server]:
    """Start MLflow with the role's app for the accounts; yield it."""
    from json import dumps

    port = _free_port()
    settings = {"data_class": "internal", "users": list(users), "sources": [], "others": []}
    (folder / "landbridge.json").write_text(dumps(settings))
    (folder / "basic_auth.ini").write_text(
        f"[mlflow]\ndefault_permission = READ\ndatabase_uri = {database}/users\nadmin_username = admin\n"
        f"admin_password = {PASSWORD}\nauth_cache_ttl_seconds = {cache_seconds}\n"
        "authorization_function = mlflow.server.auth:authenticate_request_basic_auth\n"
    )
    variables = {
        "MLFLOW_BACKEND_STORE_URI": f"{database}/runs",
        "MLFLOW_AUTH_CONFIG_PATH": f"{folder}/basic_auth.ini",
        "MLFLOW_FLASK_SERVER_SECRET_KEY": PASSWORD,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "LANDBRIDGE_MLFLOW_SETTINGS": f"{folder}/landbridge.json",
        "PYTHONPATH": os.pathsep.join((str(folder / "packages"), str(ROLE / "plugin"))),
    }
    words = ["server", "--host=127.0.0.1", f"--port={port}", f"--workers={workers}", "--app-name=landbridge"]
    words += ["--serve-artifacts", f"--artifacts-destination={folder}/artifacts"]
    words += ["--uvicorn-opts", "--timeout-worker-healthcheck 60"]
    program = [sys.executable, "-W", "ignore", "-m", "mlflow", *words]
    with ExitStack() as stack, (folder / "mlflow.log").open("w") as log:
        process = subprocess.Popen(
            program, env={**os.environ, **variables}, stdout=log, stderr=log, start_new_session=True
        )
        stack.callback(_end, process)
        uri = f"http://127.0.0.1:{port}"
        _wait(f"{uri}/health", process)
        yield Server(uri, process.pid)


def _end(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, 15)
    process.wait()


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _STARTED
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise Unavailable("MLflow did not start")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{command[5] if len(command) > 5 else command[0]}: {done.stderr.strip()[-300:]}")
