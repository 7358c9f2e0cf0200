"""Look at the model servers of both versions: their metrics over HTTP, and labels that came since."""

import ssl
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException

from landbridge.models.canary.decide import CanaryLook
from landbridge.models.canary.tallies import Tally
from landbridge.serving.canary_controller.exposition import MetricSample, samples
from landbridge.serving.canary_controller.guard_counters import GuardBounds, guard_counters, is_ready, shadow_counters

TIMEOUT_SECONDS = 3.0
#: Server of the counters that come from labels.
LABELS = "labels"


def read_samples(url: str, authority: str | None = None) -> tuple[MetricSample, ...] | None:
    """Return the samples of a model server; None if it does not answer."""
    context = ssl.create_default_context(cafile=authority) if url.startswith("https:") else None
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS, context=context) as answer:
            return tuple(samples(answer.read().decode(errors="replace")))
    except (OSError, ValueError, HTTPException):
        return None


def look_at(
    at: float,
    servers: Mapping[str, tuple[MetricSample, ...] | None],
    champion: str,
    candidate: str,
    bounds: GuardBounds,
    labels: Mapping[str, Tally] | None = None,
) -> CanaryLook:
    """Return a look from the samples by server; `labels` are the tallies of labelled predictions by version, if there are labels."""
    answered = {server: read for server, read in servers.items() if read is not None}
    return CanaryLook(
        at,
        _counters(answered, champion, bounds, labels),
        _counters(answered, candidate, bounds, labels),
        ready=any(is_ready(read, candidate) for read in answered.values()),
        copies={
            server: counters
            for server, read in answered.items()
            if (counters := shadow_counters(read, champion, candidate, bounds.latency_seconds))
        },
    )


def _counters(
    answered: Mapping[str, Sequence[MetricSample]],
    version: str,
    bounds: GuardBounds,
    labels: Mapping[str, Tally] | None,
) -> dict[str, dict[str, Tally]]:
    by_server = {server: guard_counters(read, version, bounds) for server, read in answered.items()}
    if labels is not None:
        by_server[LABELS] = {"quality": labels.get(version, Tally())}
    return {server: counters for server, counters in by_server.items() if counters}
