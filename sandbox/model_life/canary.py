"""Canary of the demonstration: the product's controller with the catalogue's guards, at a short schedule, under load."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from landbridge.models.canary.decide import FINAL
from landbridge.models.drift.labels import joined
from landbridge.serving.canary_controller.controller import step
from landbridge.serving.canary_controller.guard_counters import GuardBounds
from landbridge.serving.canary_controller.looks import look_at
from landbridge.serving.canary_controller.plans import canary_plan
from sandbox.demo.report import DemoError
from sandbox.model_life.clients import DigitClients
from sandbox.model_life.registry import MODEL
from sandbox.model_life.serving import SLOTS

#: Schedule instead of the catalogue's 1, 10 and 50 percent of a minute each. The guards and their rates of false decisions stay.
PLAN = replace(
    canary_plan(True), weights=(10, 50), requests=50, step_seconds=0.5, limit_seconds=300.0, down_seconds=1.0
)
BOUNDS = GuardBounds(latency_seconds=0.25, low_confidence=0.5)
_REQUESTS = 400
_LABEL_SECONDS = 600.0


@dataclass(frozen=True)
class CanaryOutcome:
    """Outcome of a canary: last decision, its reason, requests of the clients during it, and those without an answer 200."""

    action: str
    reason: str
    requests: int
    errors: int


def decide(
    clients: DigitClients,
    champion: str,
    candidate: str,
    during: Callable[[int], None] = lambda _: None,
    load: int = _REQUESTS,
) -> CanaryOutcome:
    """Run a canary under load until it has ended. `during` gets the number of each look, after its load of `load` requests."""
    serving, moves = clients.serving, clients.serving.site.canary_moves()
    requests, errors = clients.statuses.total(), clients.errors
    deadline = time.monotonic() + 2 * PLAN.limit_seconds
    for number in range(1_000_000):
        samples = {slot: serving.metrics(slot) for slot in SLOTS}
        tallies = joined(clients.predictions, clients.labels, _LABEL_SECONDS).tallies
        look = look_at(time.time(), samples, champion, candidate, BOUNDS, tallies)
        record = serving.folder / f"canary-{candidate}.json"
        shares = serving.shares(samples, champion, candidate)
        decision = step(PLAN, record, look, (MODEL, champion, candidate), shares, moves)
        if decision.action in FINAL:
            # Requests after the decision are part of its effect.
            clients.send(_REQUESTS)
            return CanaryOutcome(
                decision.action, decision.reason, clients.statuses.total() - requests, clients.errors - errors
            )
        if time.monotonic() > deadline:
            break
        clients.send(load)
        during(number)
    raise DemoError(f"the canary of version {candidate} did not end: {decision.reason}")
