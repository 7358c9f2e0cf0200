"""Access to moto's instances outside a request, for metadata service, control endpoint and instance life cycle."""

from collections.abc import Iterator
from typing import Any

import moto.backends
from moto.ec2.models.instances import InstanceState, StateReason

ACCOUNT = "123456789012"
ALIVE = ("pending", "running", "stopping", "shutting-down")


def ec2_backends() -> Iterator[Any]:
    """Yield moto's EC2 backend of every region that has been used."""
    yield from list(moto.backends.get_backend("ec2")[ACCOUNT].values())


def find_instance(instance_id: str) -> tuple[Any, Any] | None:
    """Return (backend, instance) of an id in any region, including terminated instances; None if unknown."""
    for backend in ec2_backends():
        instance = backend.get_instance_by_id(instance_id)
        if instance is not None:
            return backend, instance
    return None


def instance_at(address: str) -> tuple[Any, Any] | None:
    """Return (backend, instance) of the instance that is not terminated and has this private address, or None."""
    for backend in ec2_backends():
        for instance in backend.all_instances():
            if instance.state in ALIVE and instance.private_ip == address:
                return backend, instance
    return None


def mark(instance_id: str, state: tuple[str, int], reason: str) -> None:
    """Set an instance's state, and the reason that DescribeInstances shows."""
    backend_and_instance = find_instance(instance_id)
    if backend_and_instance is None:
        return
    _, instance = backend_and_instance
    instance._state = InstanceState(*state)
    if reason:
        instance.state_reason = StateReason(reason, reason.partition(":")[0])


def tags_of(instance: Any) -> dict[str, str]:
    return {tag["key"]: tag["value"] for tag in instance.get_tags()}
