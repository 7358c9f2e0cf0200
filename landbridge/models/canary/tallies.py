"""Tallies of requests from counters of model servers: bad requests and all requests of each guard."""

from collections.abc import Mapping
from dataclasses import dataclass

#: Counters of one version: by server, then by guard.
VersionCounters = Mapping[str, Mapping[str, "Tally"]]


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of bad requests and of all requests."""

    bad: int = 0
    all: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.bad <= self.all:
            raise ValueError(f"{self.bad} bad of {self.all} requests are not valid counts")

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.bad + other.bad, self.all + other.all)

    @property
    def share(self) -> float:
        """Share of bad requests; 0 without a request."""
        return self.bad / self.all if self.all else 0.0


NO_REQUESTS = Tally()


def since(now: Tally, before: Tally) -> Tally:
    """Return the requests between two readings of a counter. A counter that fell began again at zero with its server."""
    if now.all < before.all or now.bad < before.bad:
        return now
    all_new = now.all - before.all
    return Tally(min(now.bad - before.bad, all_new), all_new)


def new_requests(now: VersionCounters, before: VersionCounters, guard: str) -> Tally:
    """Return the requests of a version since the last look, over all its servers. The requests of a server that has been removed are kept.

    The first reading of a server's counter is where it begins: its earlier requests are of another time. A server is read before it
    gets its first request.
    """
    total = Tally()
    for server, guards in now.items():
        known = before.get(server, {})
        if guard in guards and guard in known:
            total += since(guards[guard], known[guard])
    return total


def merged(now: VersionCounters, before: VersionCounters) -> dict[str, dict[str, Tally]]:
    """Return the last known counters of every server: counters of a server that did not answer stay as they were."""
    servers = {server: dict(guards) for server, guards in before.items()}
    for server, guards in now.items():
        servers.setdefault(server, {}).update(guards)
    return servers
