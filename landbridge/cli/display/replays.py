"""Both replays of a queue, with and without bursting, with a progress bar on a terminal."""

import sys
from collections.abc import Sequence

from landbridge.simulation.conditions import NO_CONDITIONS, Conditions
from landbridge.simulation.replay import replay
from landbridge.simulation.result import SimulatedJob, SimulationResult
from landbridge.simulation.scenario import Scenario
from landbridge.simulation.worker_process import start_replay_without_bursting


def replays(
    scenario: Scenario, tasks: Sequence[SimulatedJob], conditions: Conditions = NO_CONDITIONS
) -> tuple[SimulationResult, SimulationResult]:
    """Run both replays in parallel; return the one without bursting, and the one with it."""
    result_without_bursting = start_replay_without_bursting(scenario, tasks, conditions)
    if not sys.stderr.isatty():
        bursting = replay(scenario, tasks, conditions=conditions)
        return result_without_bursting(), bursting
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("replaying", total=len(tasks))
        bursting = replay(
            scenario, tasks, conditions=conditions, progress=lambda done: bars.update(bar, completed=done)
        )
    return result_without_bursting(), bursting
