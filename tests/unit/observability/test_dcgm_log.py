"""Rotation of the host engine's log by a real logrotate: a log that DCGM fills stays bounded, and the engine keeps its file."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.unit.core.samples import ROOT
from tests.unit.observability.debian_programs import unpacked_packages

_CONFIGURATION = ROOT / "ansible/roles/dcgm/files/logrotate.conf"


def logrotate() -> tuple[str, dict[str, str]]:
    """Return logrotate and the environment in which it finds its libraries."""
    if installed := shutil.which("logrotate", path=f"{os.environ['PATH']}:/usr/sbin"):
        return installed, dict(os.environ)
    root = unpacked_packages(("logrotate",), ("libpopt0",), ("libacl1",), ("libselinux1",))
    libraries = sorted({str(path.parent) for path in root.rglob("*.so.*")})
    return str(root / "usr/sbin/logrotate"), {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}


def test_the_log_of_the_host_engine_is_bounded_and_stays_open(tmp_path: Path) -> None:
    log, state = tmp_path / "nvidia-dcgm" / "nv-hostengine.log", tmp_path / "state"
    log.parent.mkdir(mode=0o775)
    log.parent.chmod(0o775)
    configuration = tmp_path / "logrotate.conf"
    text = _CONFIGURATION.read_text().replace("/var/log/", f"{tmp_path}/").replace("maxsize 100M", "maxsize 100k")
    if os.geteuid() != 0:
        text = text.replace("    su root root\n", "")
        log.parent.chmod(0o755)
    configuration.write_text(text)
    configuration.chmod(0o644)
    program, environment = logrotate()
    state.write_text("logrotate state -- version 2\n")
    state.chmod(0o600)
    with log.open("a") as engine:
        for _ in range(12):
            engine.write("ERROR: no such field\n" * 10_000)
            engine.flush()
            command = [program, "--state", str(state), str(configuration)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
        engine.write("the engine still writes here")
    assert log.read_text() == "the engine still writes here", "a rotated file that the engine holds would grow for ever"
    names = sorted(path.name for path in log.parent.iterdir())
    assert names == [log.name, *(f"{log.name}.{number}{'' if number == 1 else '.gz'}" for number in range(1, 8))]


def test_the_role_installs_the_rotation() -> None:
    tasks = (ROOT / "ansible/roles/dcgm/tasks/main.yml").read_text()
    assert "path: /etc/logrotate.d/landbridge-dcgm" in tasks and "'logrotate.conf', rstrip=false" in tasks
