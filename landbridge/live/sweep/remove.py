"""Removing what is left, as far as AWS lets go of it."""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from landbridge.live.answers import AwsRefusal
from landbridge.live.aws import AwsClient
from landbridge.live.sweep.found import Leftover

#: What AWS says of a thing that is gone already.
_GONE = ("NotFound", "Unknown", "DoesNotExist", "InvalidActivation")


@dataclass(frozen=True)
class Removal:
    """What came of one thing. `why` is None where it is gone, or going."""

    left: Leftover
    why: str | None


def remove(
    aws: Callable[[], AwsClient],
    left: Iterable[Leftover],
    lose: Collection[str] = (),
    *,
    passes: int = 12,
    pause: float = 10.0,
    tell: Callable[[Removal], None] = lambda removal: None,
) -> tuple[Removal, ...]:
    """Remove things in their order, again and again while others still hold some of them.

    What holds data goes only where `lose` has its id. `aws` makes a connection without earlier answers; `pause` is in seconds,
    and there are at most `passes`.
    """
    waiting, done = list(left), list[Removal]()

    def finish(removal: Removal) -> None:
        done.append(removal)
        tell(removal)

    for one in [one for one in waiting if one.data and one.id not in lose]:
        waiting.remove(one)
        finish(Removal(one, f"it holds data: name it with --lose {one.id}"))
    last: dict[str, str] = {}
    for number in range(passes):
        connection = aws()
        connections = {region: connection.at(region) for region in {one.region for one in waiting}}
        for one in list(waiting):
            try:
                one.kind.delete(connections[one.region], one.item)
            except AwsRefusal as refused:
                if not any(word in refused.code for word in _GONE):
                    last[one.id] = str(refused)
                    continue
            waiting.remove(one)
            finish(Removal(one, None))
        if not waiting:
            break
        if number + 1 < passes:
            time.sleep(pause)
    for one in waiting:
        finish(Removal(one, last[one.id]))
    return tuple(done)
