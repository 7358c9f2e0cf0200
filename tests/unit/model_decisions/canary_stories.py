"""Stories of canaries: requests at model servers of both versions, their metrics, and the decisions with the product's own plan.

python -m tests.unit.model_decisions.canary_stories prints the table of docs/explanation/canaries.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from landbridge.models.canary.decide import CanaryAction, CanaryRecord, begun, decided, weight_of
from landbridge.serving.canary_controller.exposition import MetricSample
from landbridge.serving.canary_controller.guard_counters import CONFIDENCE, LATENCY, READY, REQUESTS, GuardBounds
from landbridge.serving.canary_controller.looks import look_at
from landbridge.serving.canary_controller.plans import canary_plan

PLAN = canary_plan(has_labels=False)
BOUNDS = GuardBounds(latency_seconds=0.05, low_confidence=0.5)
CHAMPION, CANDIDATE = "1", "2"


@dataclass(frozen=True)
class Rates:
    """Shares of a version's requests: by status other than 200, of late answers, and of answers with a low confidence."""

    statuses: Mapping[int, float] = field(default_factory=lambda: {500: 0.001, 400: 0.005})
    late: float = 0.04
    low: float = 0.04


USUAL = Rates()


@dataclass
class StoryServer:
    """Model server with its counters since its start. One that does not answer is not read."""

    version: str
    statuses: dict[int, int] = field(default_factory=dict)
    late: int = 0
    low: int = 0
    is_ready: bool = True
    answers: bool = True

    @property
    def requests(self) -> int:
        """Number of its requests."""
        return sum(self.statuses.values())

    def take(self, count: int, rates: Rates, rng: np.random.Generator) -> None:
        """Answer requests."""
        others = list(rates.statuses.items())
        numbers = rng.multinomial(count, [share for _, share in others] + [1 - sum(rates.statuses.values())])
        for status, number in zip([*(status for status, _ in others), 200], numbers.tolist(), strict=True):
            self.statuses[status] = self.statuses.get(status, 0) + number
        self.late += int(rng.binomial(count, rates.late))
        self.low += int(rng.binomial(numbers[-1], rates.low))

    def restart(self) -> None:
        """Begin at zero."""
        self.statuses, self.late, self.low = {}, 0, 0

    def samples(self) -> tuple[MetricSample, ...] | None:
        """Return its metrics; None if it does not answer."""
        labels = {"version": self.version}
        answered = self.statuses.get(200, 0)
        rows = [(READY, {}, float(self.is_ready))]
        rows += [(REQUESTS, {"status": str(status)}, float(count)) for status, count in self.statuses.items()]
        rows += [
            (f"{LATENCY}_bucket", {"le": "0.05"}, float(self.requests - self.late)),
            (f"{LATENCY}_bucket", {"le": "+Inf"}, float(self.requests)),
            (f"{CONFIDENCE}_bucket", {"le": "0.5"}, float(self.low)),
            (f"{CONFIDENCE}_bucket", {"le": "+Inf"}, float(answered)),
        ]
        return (
            tuple(MetricSample(name, {**labels, **more}, value) for name, more, value in rows) if self.answers else None
        )


Servers = dict[str, StoryServer]


@dataclass(frozen=True)
class Story:
    """Story: the rates of both versions by time and weight, the requests in a second, and events at the servers.

    `bad` counts what a client of the candidate suffers: answers other than 200, or late or uncertain ones.
    """

    name: str
    end: CanaryAction
    candidate: Callable[[float, int], Rates] = lambda _at, _weight: USUAL
    champion: Callable[[float, int], Rates] = lambda _at, _weight: USUAL
    per_second: float = 100.0
    seconds: float = 5.0
    event: Callable[[float, Servers], None] = lambda _at, _servers: None
    bad: Callable[[StoryServer], int] = lambda server: server.requests - server.statuses.get(200, 0)


@dataclass(frozen=True)
class Told:
    """End of a story: the action, its seconds, the candidate's requests, and the bad ones among them."""

    end: CanaryAction
    seconds: float
    requests: int
    bad: int
    reason: str


def always(**statuses: float) -> Callable[[float, int], Rates]:
    """Return rates that do not change: shares by status, such as s400=0.1."""
    rates = Rates({int(name[1:]): share for name, share in statuses.items()})
    return lambda _at, _weight: rates


def _restart_each_minute(at: float, servers: Servers) -> None:
    for name in ("b-first", "b-second"):
        if at % 60 == 0:
            servers[name].restart()
        servers[name].answers = servers[name].is_ready = at % 60 >= 15


def _old_outage(at: float, servers: Servers) -> None:
    """The second host's champion is not read at the first look; its counters have an outage of last week."""
    if at == 0:
        servers["a-second"].statuses = {200: 800_000, 500: 200_000}
    servers["a-second"].answers = at > 0


def _one_host(at: float, servers: Servers) -> None:
    if at == 0:
        del servers["b-second"]


def _champion_restarts(at: float, servers: Servers) -> None:
    if at in (60, 120):
        servers["a-first"].restart()


BAD, GOOD = CanaryAction.ROLL_BACK, CanaryAction.PROMOTE
STORIES = (
    Story("each request is refused: a feature was added (400)", BAD, always(s400=1.0)),
    Story("99 percent of the clients send the former inputs (400)", BAD, always(s400=0.99)),
    Story("every tenth request has a value that it refuses (400)", BAD, always(s400=0.1)),
    Story("its model has another name in the paths (404)", BAD, always(s404=1.0)),
    Story("its limit of bytes is smaller than 5 percent of the requests (413)", BAD, always(s413=0.05)),
    Story(
        "it runs on one of two hosts, and refuses clients there from 10 percent on (429)",
        BAD,
        lambda _at, weight: Rates({429: 0.15 if weight >= 10 else 0.0}),
        event=_one_host,
    ),
    Story("it fails on 3 percent of the inputs (500)", BAD, always(s500=0.03)),
    Story("its memory leaks: from the third minute on it fails half of the time (500)", BAD, lambda at, _weight: Rates({500: 0.5 if at >= 180 else 0.001})),
    Story("it has no room at half of the traffic (503)", BAD, lambda _at, weight: Rates({503: 0.08 if weight >= 50 else 0.0})),
    Story("it is late for every fifth request", BAD, lambda _at, _weight: Rates(late=0.2), bad=lambda server: server.late),
    Story("it is uncertain about every fourth request", BAD, lambda _at, _weight: Rates(low=0.25), bad=lambda server: server.low),
    Story("it ends and starts again each minute, and is away for 15 seconds", BAD, event=_restart_each_minute),
    Story("it fails on 5 percent (500), beside a champion's server with an outage of last week in its counters", BAD, always(s500=0.05), event=_old_outage),
    Story("60 percent of the requests are wrong, for both versions (400)", BAD, always(s400=0.6), always(s400=0.6), per_second=2, seconds=60),
    Story("nobody uses the service: one request in an hour", BAD, per_second=1 / 3600, seconds=300),
    Story("as good as the champion in each way", GOOD),
    Story("the champion fails on 2 percent (500), and the candidate does not", GOOD, champion=always(s500=0.02)),
    Story("30 percent of the requests are wrong, for both versions (400)", GOOD, always(s400=0.3), always(s400=0.3)),
    Story("as good as the champion, whose server starts again twice", GOOD, event=_champion_restarts),
)  # fmt: skip


@cache
def ending(story: Story) -> Told:
    """Return the end of a story."""
    rng = np.random.default_rng(len(story.name))
    servers: Servers = {
        f"{slot}-{host}": StoryServer(version)
        for slot, version in (("a", CHAMPION), ("b", CANDIDATE))
        for host in ("first", "second")
    }
    record: CanaryRecord | None = None
    at, requests, bad = 0.0, 0, 0
    while record is None or record.outcome is None:
        if record is not None:
            weight = weight_of(PLAN, record)
            total = int(rng.poisson(story.per_second * story.seconds))
            count = int(rng.binomial(total, weight / 100))
            before = _suffered(story, servers)
            _send(servers, CHAMPION, total - count, story.champion(at, weight), rng)
            requests += _send(servers, CANDIDATE, count, story.candidate(at, weight), rng)
            bad += _suffered(story, servers) - before
        story.event(at, servers)
        look = look_at(at, {name: each.samples() for name, each in servers.items()}, CHAMPION, CANDIDATE, BOUNDS)
        if record is None:
            record = begun("digits", CHAMPION, CANDIDATE, look)
        _, record = decided(PLAN, record, look)
        at += story.seconds
    return Told(record.outcome, at - story.seconds, requests, bad, record.reason)


def _send(servers: Servers, version: str, count: int, rates: Rates, rng: np.random.Generator) -> int:
    ready = [each for each in servers.values() if each.version == version and each.answers]
    for number, server in enumerate(ready):
        server.take(count // len(ready) + (number < count % len(ready)), rates, rng)
    return count if ready else 0


def _suffered(story: Story, servers: Servers) -> int:
    return sum(story.bad(each) for each in servers.values() if each.version == CANDIDATE)


def table() -> list[str]:
    """Return the rows of the page's table."""
    words = {CanaryAction.ROLL_BACK: "rolled back", CanaryAction.PROMOTE: "promoted"}
    return [
        f"| {story.name} | {words[end.end]} | {end.seconds:,.0f} | {end.requests:,} | {end.bad:,} |"
        for story in STORIES
        for end in (ending(story),)
    ]


if __name__ == "__main__":
    print("\n".join(table()))
