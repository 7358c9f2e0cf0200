"""View of a service in one pass: the metrics of its servers, and the servers by version that are ready."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from landbridge.serving.canary_controller.exposition import MetricSample
from landbridge.serving.canary_controller.guard_counters import READY
from landbridge.serving.canary_controller.looks import read_samples
from landbridge.serving.canary_controller.runtime_socket import running_servers
from landbridge.serving.follow.config import FollowConfig, FollowedService
from landbridge.serving.follow.scaler import used_hosts


@dataclass(frozen=True, slots=True)
class ServiceView:
    """Metrics of a service's servers, and the servers by version that are ready and that the gateway uses.

    `contents`: digest of the files that a server has loaded, if it says so.
    """

    samples: Mapping[str, tuple[MetricSample, ...] | None]
    by_version: Mapping[str, tuple[str, ...]]
    contents: Mapping[str, str] = field(default_factory=dict)

    def ready(self, version: str, digest: str = "") -> tuple[str, ...]:
        """Return the servers of a version; with `digest` without those that have loaded other files of its number."""
        return tuple(name for name in self.by_version.get(version, ()) if self.has(name, digest))

    def has(self, name: str, digest: str) -> bool:
        """Return whether a server has the files of a digest, as far as both are known."""
        return not digest or self.contents.get(name, "") in ("", digest)

    def on(self, names: Collection[str]) -> "ServiceView":
        """Return the view of some of the servers."""
        by_version = {key: tuple(name for name in value if name in names) for key, value in self.by_version.items()}
        samples = {name: read for name, read in self.samples.items() if name in names}
        return ServiceView(samples, {key: value for key, value in by_version.items() if value}, self.contents)


def read_view(config: FollowConfig, service: FollowedService) -> ServiceView:
    """Return the view: the metrics of the servers of used hosts, and the servers that are ready there and running in the gateway."""
    hosts = used_hosts(config, service)
    authority = str(config.authority) if config.authority is not None else None
    samples = {each.name: read_samples(each.url, authority) for each in service.servers if each.host in hosts}
    running = running_servers(config.socket, service.backend)
    by_version: dict[str, list[str]] = {}
    for name, read in samples.items():
        for version in ready_versions(read or ()) if name in running else ():
            by_version.setdefault(version, []).append(name)
    contents = {
        name: each.labels.get("content", "")
        for name, read in samples.items()
        for each in read or ()
        if each.name == READY
    }
    return ServiceView(samples, {version: tuple(names) for version, names in by_version.items()}, contents)


def running_slots(service: FollowedService, view: ServiceView) -> dict[str, str]:
    """Return the version of each slot that the gateway uses."""
    slots = {server.name: server.slot for server in service.servers}
    return {slots[name]: version for version, names in view.by_version.items() for name in names}


def ready_versions(samples: tuple[MetricSample, ...]) -> Iterator[str]:
    """Yield the versions that are ready by a server's samples."""
    for each in samples:
        if each.name == READY and each.value > 0:
            yield each.labels.get("version", "")
