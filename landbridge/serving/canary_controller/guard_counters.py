"""Counters of the guards from the metrics of a model server (`landbridge_model_*`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from landbridge.models.canary.tallies import Tally
from landbridge.models.drift.reference import BinnedCounts
from landbridge.serving.canary_controller.exposition import MetricSample, cumulative, total, whole

REQUESTS, READY = "landbridge_model_requests_total", "landbridge_model_ready"
LATENCY, CONFIDENCE = "landbridge_model_latency_seconds", "landbridge_model_confidence"
FEATURE = "landbridge_model_feature"
SLICE_FEATURE = "landbridge_model_slice_feature"
SHADOW, SHADOW_SECONDS = "landbridge_model_shadow_total", "landbridge_model_shadow_seconds"
#: First status of a refused request, and of a failed one, which is the server's fault (RFC 9110, sections 15.5 and 15.6). A refused one
#: may be the client's fault, and then both versions refuse it; the gateway's own refusals reach no model server.
_REFUSED, _FAILED = 400, 500


@dataclass(frozen=True, slots=True)
class GuardBounds:
    """Bounds by which a request is bad: seconds of the latency objective, and the confidence up to which an answer is low."""

    latency_seconds: float
    low_confidence: float


def is_ready(samples: Sequence[MetricSample], version: str) -> bool:
    """Return whether a server says that it is ready with a version."""
    return total(samples, READY, version=version) > 0


def has_version(samples: Sequence[MetricSample], version: str) -> bool:
    """Return whether a server has counters of a version."""
    return any(each.name in (READY, REQUESTS) and each.labels.get("version") == version for each in samples)


def guard_counters(samples: Sequence[MetricSample], version: str, bounds: GuardBounds) -> dict[str, Tally]:
    """Return the tally of each guard of a version at a server; empty for a server without this version.

    A bound between two buckets is that of the bucket above for latency, and below for confidence: neither counts a good request as bad.
    """
    if not has_version(samples, version):
        return {}
    requests = [each for each in samples if each.name == REQUESTS and each.labels.get("version") == version]
    failed, refused = (sum(each.value for each in requests if _status(each) >= first) for first in (_FAILED, _REFUSED))
    latency = cumulative(samples, LATENCY, version=version)
    confidence = cumulative(samples, CONFIDENCE, version=version)
    fast = next((count for bound, count in latency.items() if bound >= bounds.latency_seconds), 0.0)
    low = max((count for bound, count in confidence.items() if bound <= bounds.low_confidence), default=0.0)
    pairs = {
        "errors": (failed, sum(each.value for each in requests)),
        "refusals": (refused, sum(each.value for each in requests)),
        "latency": (whole(latency) - fast, whole(latency)),
        "drift": (low, whole(confidence)),
    }
    return {name: Tally(int(max(0.0, bad)), int(count)) for name, (bad, count) in pairs.items() if count >= bad}


def shadow_counters(samples: Sequence[MetricSample], version: str, candidate: str, bound: float) -> dict[str, Tally]:
    """Return the tally of each guard of a shadow, from the server of the version that sent copies; empty for another server.

    `bound`: seconds of the latency objective. Copies of which the other server had no room say nothing about its model. A lost
    connection has no version: it is the candidate's, which is the only other version on the host.
    """
    if not has_version(samples, version):
        return {}
    copies = [each for each in samples if each.name == SHADOW and each.labels.get("version") == version]

    def of(result: str) -> float:
        known = (each for each in copies if each.labels.get("candidate") in (candidate, ""))
        return sum(each.value for each in known if each.labels.get("result") == result)

    differed, failed = of("differed"), of("failed")
    compared = of("agreed") + differed
    seconds = cumulative(samples, SHADOW_SECONDS, version=version, candidate=candidate)
    fast = next((count for upper, count in seconds.items() if upper >= bound), 0.0)
    pairs = {
        "disagreement": (differed, compared),
        "errors": (failed, compared + failed),
        "late": (whole(seconds) - fast, whole(seconds)),
    }
    return {name: Tally(int(bad), int(count)) for name, (bad, count) in pairs.items() if count >= bad}


def binned_from(counts: dict[float, float], edges: Sequence[float]) -> BinnedCounts | None:
    """Return a histogram in the bins of a reference; None if it has no bucket at one of the edges."""
    if not counts or any(edge not in counts for edge in edges):
        return None
    at_edges = [*(counts[edge] for edge in edges), counts.get(inf, 0.0)]
    steps = [int(high - low) for low, high in zip([0.0, *at_edges], at_edges, strict=False)]
    return BinnedCounts(tuple(edges), tuple(steps)) if min(steps) >= 0 else None


def low_bound(reference: BinnedCounts, share: float) -> float:
    """Return the greatest edge up to which at most `share` of a reference's confidences are; 0 without one."""
    below, bound = 0.0, 0.0
    for edge, part in zip(reference.edges, reference.shares, strict=False):
        below += part
        if below > share:
            break
        bound = edge
    return bound


def _status(sample: MetricSample) -> int:
    status = sample.labels.get("status", "")
    return int(status) if status.isdigit() else _FAILED
