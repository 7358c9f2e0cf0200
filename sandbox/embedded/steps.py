"""Job steps as local processes, one for each node of the job."""

import os
import signal
import subprocess
from collections.abc import Sequence

from landbridge.hostlist import compress
from sandbox.embedded.model import EmbeddedJob
from sandbox.ports import free_port


class EmbeddedStep:
    """The processes of one start of a job."""

    def __init__(self, job: EmbeddedJob, gpus: Sequence[int]) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        port = free_port()
        for rank, node in enumerate(job.nodes):
            with (job.directory / f"rank-{rank}.log").open("ab") as log:
                process = subprocess.Popen(
                    ["bash", str(job.script)],
                    cwd=job.workdir,
                    env={**os.environ, **job.environment, **_variables(job, rank, node, port, gpus[rank])},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            self._processes.append(process)

    def poll(self) -> int | None:
        """Return the first exit code that is not 0, else 0; None while it runs. A failed rank terminates the others."""
        codes = [process.poll() for process in self._processes]
        failed = next((code for code in codes if code), None)
        if failed is not None:
            self.kill()
            return failed
        return None if None in codes else 0

    def kill(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                try:
                    os.killpg(process.pid, signal.SIGTERM)
                    process.wait(timeout=3)
                except ProcessLookupError:
                    continue
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def _variables(job: EmbeddedJob, rank: int, node: str, port: int, gpus: int) -> dict[str, str]:
    size = str(len(job.nodes))
    return {
        "SLURM_JOB_ID": str(job.id),
        "SLURM_JOBID": str(job.id),
        "SLURM_JOB_NAME": job.name,
        "SLURM_JOB_ACCOUNT": job.account,
        "SLURM_JOB_USER": job.user,
        "SLURM_JOB_PARTITION": job.partition,
        "SLURM_JOB_NODELIST": compress(job.nodes),
        "SLURM_NODELIST": compress(job.nodes),
        "SLURM_STEP_NODELIST": compress(job.nodes),
        "SLURM_JOB_NUM_NODES": size,
        "SLURM_NNODES": size,
        "SLURM_NTASKS": size,
        "SLURM_NPROCS": size,
        "SLURM_STEP_NUM_TASKS": size,
        "SLURM_PROCID": str(rank),
        "SLURM_NODEID": str(rank),
        "SLURM_LOCALID": "0",
        "SLURM_GPUS_ON_NODE": str(gpus),
        "SLURMD_NODENAME": node,
        "SLURM_RESTART_COUNT": str(job.restarts),
        "SLURM_SUBMIT_DIR": str(job.workdir),
        "LANDBRIDGE_COORDINATOR": f"127.0.0.1:{port}",
    }
