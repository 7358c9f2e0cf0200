"""Start and end the relay process (see relay.py)."""

import subprocess
import sys
from collections.abc import Sequence

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import processes
from sandbox.nspawn.host import wheelhouse as wheels
from sandbox.nspawn.host.package_cache import Cache
from sandbox.nspawn.layout import Layout


def start(lab: Layout, cache: Cache, addresses: Sequence[str]) -> None:
    """Start the relay for these addresses; replace a running relay with other addresses or another cache port."""
    arguments = f"{cache.port} {' '.join(addresses)}"
    note = lab.state / "relay.args"
    current = processes.read_pid_file(lab.state / "relay.pid")
    if current and note.exists() and note.read_text() == arguments:
        return
    stop(lab)
    wheels.house(lab).mkdir(parents=True, exist_ok=True)
    log_path = lab.state / "relay.log"
    with log_path.open("w") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "sandbox.nspawn.network.relay"),
                *(lab.netns, str(lab.state), str(wheels.house(lab)), str(cache.port)),
                *addresses,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            text=True,
        )
    answer = process.stdout.readline().strip() if process.stdout else ""
    if answer != "ready":
        process.wait()
        raise LabError(
            f"the relay into the lab did not start: {log_path.read_text().strip()}",
            "end the program that listens there, or start over: `landbridge sandbox down`, then `up`",
        )
    note.write_text(arguments)


def stop(lab: Layout) -> None:
    """Terminate the relay if it runs."""
    processes.end(processes.read_pid_file(lab.state / "relay.pid"))
    (lab.state / "relay.pid").unlink(missing_ok=True)
