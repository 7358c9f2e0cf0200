"""View of a service in one pass: the metrics of its servers, and the servers by version that are ready."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from landbridge.serving.canary_controller.exposition import MetricSample
from landbridge.serving.canary_controller.guard_counters import READY
from landbridge.serving.follow.config import FollowedService


@dataclass(frozen=True, slots=True)
class ServiceView:
    """Metrics of a service's servers, and the servers by version that are ready and that the gateway uses."""

    samples: Mapping[str, tuple[MetricSample, ...] | None]
    by_version: Mapping[str, tuple[str, ...]]

    def ready(self, version: str) -> tuple[str, ...]:
        """Return the servers of a version."""
        return self.by_version.get(version, ())

    def on(self, names: Collection[str]) -> "ServiceView":
        """Return the view of some of the servers."""
        by_version = {key: tuple(name for name in value if name in names) for key, value in self.by_version.items()}
        samples = {name: read for name, read in self.samples.items() if name in names}
        return ServiceView(samples, {key: value for key, value in by_version.items() if value})


def running_slots(service: FollowedService, view: ServiceView) -> dict[str, str]:
    """Return the version of each slot that the gateway uses."""
    slots = {server.name: server.slot for server in service.servers}
    return {slots[name]: version for version, names in view.by_version.items() for name in names}


def ready_versions(samples: tuple[MetricSample, ...]) -> Iterator[str]:
    """Yield the versions that are ready by a server's samples."""
    for each in samples:
        if each.name == READY and each.value > 0:
            yield each.labels.get("version", "")
