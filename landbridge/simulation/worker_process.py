"""Replay without bursting in a worker process, where a second core is free."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection

from landbridge.simulation.replay import replay
from landbridge.simulation.result import SimulatedJob, SimulationResult
from landbridge.simulation.scenario import Scenario


def start_replay_without_bursting(scenario: Scenario, tasks: Sequence[SimulatedJob]) -> Callable[[], SimulationResult]:
    """Start the replay without AWS; the returned function waits for its result.

    The worker is forked, so it has to be started before this process has threads; only results are sent back.
    """

    def here() -> SimulationResult:
        return replay(scenario, tasks, bursting=False)

    if (os.cpu_count() or 1) < 2:
        return here
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, scenario, tasks), daemon=True)
    process.start()
    sender.close()

    def there() -> SimulationResult:
        try:
            result: SimulationResult = receiver.recv()
        except EOFError:  # it was killed
            return here()
        process.join()
        return replace(result, tasks=tasks)

    return there


def _send(answer: Connection, scenario: Scenario, tasks: Sequence[SimulatedJob]) -> None:
    answer.send(replace(replay(scenario, tasks, bursting=False), tasks=()))
