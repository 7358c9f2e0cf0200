"""Deletion of leftovers, repeated while other resources depend on them."""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.live.sweep.leftovers import Leftover

#: Parts of AWS's error codes for a resource that does not exist any more.
_NOT_FOUND = ("NotFound", "Unknown", "DoesNotExist", "InvalidActivation")


@dataclass(frozen=True)
class Removal:
    """Result of one deletion. `reason` is None if the resource is deleted or being deleted."""

    leftover: Leftover
    reason: str | None


def remove(
    connect: Callable[[], AwsClient],
    leftovers: Iterable[Leftover],
    lose: Collection[str] = (),
    *,
    passes: int = 12,
    pause_seconds: float = 10.0,
    report: Callable[[Removal], None] = lambda removal: None,
) -> tuple[Removal, ...]:
    """Delete leftovers in their order, in at most `passes` passes while AWS refuses some of them.

    A leftover that holds data is deleted only if `lose` contains its id. `connect` returns a client without cached
    answers.
    """
    waiting, removals = list(leftovers), list[Removal]()

    def finish(removal: Removal) -> None:
        removals.append(removal)
        report(removal)

    for leftover in [each for each in waiting if each.holds_data and each.id not in lose]:
        waiting.remove(leftover)
        finish(Removal(leftover, f"it holds data: give its id with --lose {leftover.id}"))
    refusals: dict[str, str] = {}
    for number in range(passes):
        connection = connect()
        connections = {region: connection.at(region) for region in {leftover.region for leftover in waiting}}
        for leftover in list(waiting):
            try:
                if leftover.type.sweep is not None:
                    leftover.type.sweep.delete(connections[leftover.region], leftover.item)
            except AwsRefusal as refused:
                if not any(word in refused.code for word in _NOT_FOUND):
                    refusals[leftover.id] = str(refused)
                    continue
            waiting.remove(leftover)
            finish(Removal(leftover, None))
        if not waiting:
            break
        if number + 1 < passes:
            time.sleep(pause_seconds)
    for leftover in waiting:
        finish(Removal(leftover, refusals[leftover.id]))
    return tuple(removals)
