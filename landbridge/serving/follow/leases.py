"""Leases of a gateway's services: the tag of each is read and written once in a pass. A mark says to the export which it leads."""

from collections.abc import Callable
from dataclasses import dataclass, field

from landbridge.live.models.registry import ModelRegistry
from landbridge.serving.follow.config import FollowConfig, FollowedService
from landbridge.serving.follow.lease import EXPIRE_SECONDS, LEASE_TAG, LeaseState, stepped
from landbridge.serving.follow.record import lead_mark


@dataclass
class Leases:
    """Leases of the services of a gateway. `clock`: seconds that only rise."""

    config: FollowConfig
    clock: Callable[[], float]
    _states: dict[str, LeaseState] = field(default_factory=dict)
    _heard: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin without a lease, whatever an earlier process had."""
        for service in self.config.services:
            lead_mark(self.config.state, service.name).unlink(missing_ok=True)
            self._heard[service.name] = self.clock()

    def step(self, service: FollowedService, registry: ModelRegistry) -> bool:
        """Read the tag of a service, claim or renew it, and return whether the gateway leads. Raises RegistryError."""
        began, before = self.clock(), self._states.get(service.name, LeaseState())
        try:
            tag = registry.tags(service.model).get(LEASE_TAG, "")
            lease_step = stepped(before, self.config.host, tag, began, self.clock())
            self._states[service.name] = lease_step.state
            if lease_step.text:
                registry.set_model_tag(service.model, LEASE_TAG, lease_step.text)
                self._states[service.name] = lease_step.written(self.clock())
        finally:
            leads = self.leads(service)
            self._mark(service, leads)
        return leads

    def leads(self, service: FollowedService) -> bool:
        """Return whether the lease of a service is valid now."""
        return self._states.get(service.name, LeaseState()).leads(self.clock())

    def heard(self, service: FollowedService) -> None:
        """Note that a gateway leads a service."""
        self._heard[service.name] = self.clock()

    def is_alone(self, service: FollowedService) -> bool:
        """Return whether no gateway has led a service for as long as a lease takes to end."""
        return self.clock() - self._heard[service.name] >= EXPIRE_SECONDS

    def _mark(self, service: FollowedService, leads: bool) -> None:
        mark = lead_mark(self.config.state, service.name)
        if leads:
            self._heard[service.name] = self.clock()
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
        else:
            mark.unlink(missing_ok=True)
