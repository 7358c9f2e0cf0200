"""Job of one rung of a retest on one node, which root's program of the role host_access starts on the controller.

`python -m landbridge.acceptance.rung_job ENVIRONMENT_FILE NODE RUNG`: replaced by srun, in the node's reservation.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from landbridge.acceptance.climb import ProgramResult, Runner
from landbridge.acceptance.rungs import PROGRAMS, RUNGS, AcceptanceSettings, Rung, job
from landbridge.acceptance.site import SiteError, environment_site
from landbridge.catalog.hardware.gpu_health import gpu_health
from landbridge.environment import load_environment
from landbridge.ops.gpu_health.act import RESERVATION
from landbridge.ops.host_access import ask

#: Seconds to wait for other jobs: the node is in a reservation.
_WAIT = 600
_SLACK_SECONDS = 60


def retest_rungs() -> tuple[Rung, ...]:
    """Return the rungs of a retest, after the list of the node's programs."""
    return (PROGRAMS, *(rung for rung in RUNGS if rung.name in gpu_health().rungs))


def rung_words(file: Path, node: str, name: str) -> list[str]:
    """Return the command line of a rung's job. Raises SiteError for another node or rung."""
    environment = load_environment(file).environment
    if environment is None:
        raise SiteError(f"{file} has errors: landbridge check", "ENVIRONMENT_FILE")
    rung = next((rung for rung in retest_rungs() if rung.name == name), None)
    if rung is None:
        raise SiteError(f"{name} is not a rung of a retest", "RUNG")
    site = environment_site(environment, node)
    settings, reservation = AcceptanceSettings(), RESERVATION + node
    if node not in site.platforms:
        raise SiteError(f"{node} is not an on-prem node", "NODE")
    gpus = site.gpus[node]
    return job(rung, [node], gpus, settings, wait=_WAIT, reservation=reservation, partition=site.partition)


def asking_runner() -> Runner:
    """Return a runner of the site's timers: root's program on this host starts the jobs."""

    def run(rung: Rung, nodes: Sequence[str]) -> ProgramResult:
        try:
            code, text, errors = ask(f"rung {nodes[0]} {rung.name}", rung.minutes * 60 + _WAIT + _SLACK_SECONDS)
        except (OSError, ValueError) as error:
            return ProgramResult(None, "", str(error))
        return ProgramResult(code, text, errors)

    return run


def main() -> None:
    """Replace this process by srun."""
    file, node, name = sys.argv[1:]
    try:
        words = rung_words(Path(file), node, name)
    except SiteError as error:
        sys.exit(f"landbridge: {error}")
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()
