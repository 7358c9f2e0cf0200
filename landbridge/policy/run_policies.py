"""Run all policies over a resource or a whole graph."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from landbridge.policy import aws_refusals, compute, data, identity, network, stack  # noqa: F401  (they register themselves)
from landbridge.policy.registry import POLICIES, Level
from landbridge.policy.resource import Resource
from landbridge.policy.settings import PolicySettings


@dataclass(frozen=True, slots=True)
class Violation:
    """Violation of a policy."""

    policy: str
    level: Level
    resource: Resource
    message: str

    def __str__(self) -> str:
        return f"{self.resource.type} {self.resource.name}: {self.message} [{self.policy}]"


def resource_violations(resource: Resource, settings: PolicySettings | None = None) -> Iterator[Violation]:
    """Yield the violations of one resource."""
    chosen = settings or PolicySettings()
    for policy in POLICIES.values():
        if policy.check_resource is not None and (not policy.types or resource.type in policy.types):
            for message in policy.check_resource(resource, chosen):
                yield Violation(policy.name, policy.level, resource, message)


def violations(resources: Iterable[Resource], settings: PolicySettings | None = None) -> tuple[Violation, ...]:
    """Return the violations of all resources of a graph."""
    graph, chosen = tuple(resources), settings or PolicySettings()
    all_violations = [violation for resource in graph for violation in resource_violations(resource, chosen)]
    for policy in POLICIES.values():
        if policy.check_stack is not None:
            all_violations += [
                Violation(policy.name, policy.level, *violation_fields)
                for violation_fields in policy.check_stack(graph, chosen)
            ]
    return tuple(all_violations)
