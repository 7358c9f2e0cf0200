"""Replay without bursting in a worker process, if the machine has a second core."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection

from landbridge.simulation.conditions import NO_CONDITIONS, Conditions
from landbridge.simulation.replay import replay
from landbridge.simulation.result import SimulatedJob, SimulationResult
from landbridge.simulation.scenario import Scenario


def start_replay_without_bursting(
    scenario: Scenario, tasks: Sequence[SimulatedJob], conditions: Conditions = NO_CONDITIONS
) -> Callable[[], SimulationResult]:
    """Start the replay without AWS; return a function that waits for its result.

    The worker is forked, so it has to be started before this process has threads; only results are sent back.
    """

    def run_locally() -> SimulationResult:
        return replay(scenario, tasks, bursting=False, conditions=conditions)

    if (os.cpu_count() or 1) < 2:
        return run_locally
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, scenario, tasks, conditions), daemon=True)
    process.start()
    sender.close()

    def wait_for_worker() -> SimulationResult:
        try:
            result: SimulationResult = receiver.recv()
        except EOFError:  # the worker was killed
            return run_locally()
        process.join()
        return replace(result, tasks=tasks)

    return wait_for_worker


def _send(sender: Connection, scenario: Scenario, tasks: Sequence[SimulatedJob], conditions: Conditions) -> None:
    sender.send(replace(replay(scenario, tasks, bursting=False, conditions=conditions), tasks=()))
