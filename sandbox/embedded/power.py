"""Runner of the burst programs as slurmctld runs them, and of the daemon as systemd runs it.

The programs get the node list as last argument, a resume file while they run, and an empty environment."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from landbridge.hostlist import compress
from sandbox.embedded.model import EmbeddedJob
from sandbox.embedded.wire import socket_path

RESUME = ("-m", "landbridge.burst.hooks.programs", "resume")
SUSPEND = ("-m", "landbridge.burst.hooks.programs", "suspend")
RESUME_FAIL = ("-m", "landbridge.burst.hooks.programs", "resume-fail")
DAEMON = ("-m", "landbridge.burst.daemon.daemon")
PROLOG = ("-m", "landbridge.burst.hooks.prolog_wait")


class Programs:
    """Runner of programs in the background; calls back with their exit code."""

    def __init__(self, directory: Path, bin_folder: Path, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = {"PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin", **environment}
        self._running: set[subprocess.Popen[bytes]] = set()
        self._count = 0
        self._lock = threading.Lock()

    def resume(self, nodes: Iterable[str], jobs: Sequence[tuple[EmbeddedJob, Sequence[str]]]) -> None:
        """Run ResumeProgram for `nodes`; `jobs`: jobs, each with its nodes that have to be started."""
        names = compress(nodes)
        entries = [
            {
                "job_id": job.id,
                "nodes_alloc": compress(job.nodes),
                "nodes_resume": compress(nodes_to_resume),
                "partition": job.partition,
                "oversubscribe": "NO",
                "features": None,
                "extra": None,
                "reservation": None,
            }
            for job, nodes_to_resume in jobs
        ]
        with self._lock:
            self._count += 1
            file = self._directory / f"resume-{self._count}.json"
        file.write_text(json.dumps({"jobs": entries, "all_nodes_resume": names}))
        self._run(RESUME, [names], {"SLURM_RESUME_FILE": str(file)}, lambda _: file.unlink(missing_ok=True))

    def suspend(self, nodes: Iterable[str]) -> None:
        self._run(SUSPEND, [compress(nodes)], {}, lambda _: None)

    def resume_fail(self, nodes: Iterable[str]) -> None:
        self._run(RESUME_FAIL, [compress(nodes)], {}, lambda _: None)

    def prolog(self, job: EmbeddedJob, on_exit: Callable[[int], None]) -> None:
        variables = {
            "SLURM_JOB_ID": str(job.id),
            "SLURM_JOB_NODELIST": compress(job.nodes),
            "SLURM_JOB_ACCOUNT": job.account,
        }
        self._run(PROLOG, [], variables, on_exit)

    def daemon(self) -> "subprocess.Popen[bytes]":
        """Start the burst controller's daemon; `end` terminates it."""
        return self._run(DAEMON, [], {}, lambda _: None)

    def end(self) -> None:
        """Terminate running programs and wait for them; kill those that do not end within a minute."""
        with self._lock:
            running = list(self._running)
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _run(
        self, program: Sequence[str], arguments: list[str], variables: Mapping[str, str], on_exit: Callable[[int], None]
    ) -> "subprocess.Popen[bytes]":
        with (self._directory / "programs.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, **variables},
            )
        with self._lock:
            self._running.add(process)

        def wait() -> None:
            code = process.wait()
            with self._lock:
                self._running.discard(process)
            on_exit(code)

        threading.Thread(target=wait, daemon=True).start()
        return process


def burst_variables(directory: Path, burst_config: Mapping[str, Any]) -> dict[str, str]:
    """Write burst.json for programs whose state is in the directory; return the variables that point to it."""
    local_settings = {
        "state_dir": str(directory),
        "socket": str(socket_path(directory, "burst")),
        "metrics": None,
    }
    config = directory / "burst.json"
    config.write_text(json.dumps({**burst_config, **local_settings}))
    return {"LANDBRIDGE_BURST_CONFIG": str(config), "AWS_EC2_METADATA_DISABLED": "true"}
