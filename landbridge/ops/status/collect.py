"""Collection of the state's facts: all hosts at the same time, each within one time limit."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from landbridge.ops.netcheck.collect import HostFacts, read_host
from landbridge.ops.status.sources import StatusSource

#: Landbridge's choice: a healthy host answers in half a second, and the whole command takes less than two.
SECONDS = 1.4


def collect_status(sources: Sequence[StatusSource], seconds: float) -> tuple[HostFacts, ...]:
    """Return the facts of every host; a host that gave none within `seconds` has the reason instead."""
    with ThreadPoolExecutor(max(1, len(sources))) as pool:
        return tuple(pool.map(lambda source: _read(source, seconds), sources))


def _read(source: StatusSource, seconds: float) -> HostFacts:
    request = {
        "timeout": 1,
        "files": [],
        "tcp": [],
        "dns": [],
        "paths": [],
        "programs": {name: list(words) for name, words in source.programs.items()},
        "program_timeout": max(1.0, seconds - 0.5),
    }
    return read_host(source.host, request, seconds)
