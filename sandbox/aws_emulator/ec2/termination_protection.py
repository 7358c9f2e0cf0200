"""Termination protection of instances (DisableApiTermination).

Source: EC2 API Reference, TerminateInstances (2026-11-25): if an instance of the request is protected, the request
fails; the instances of its Availability Zone are not terminated, those of zones without a protected one are.
"""

from collections.abc import Iterable
from typing import Any

from sandbox.aws_emulator.server.errors import CloudError


def divide(instances: Iterable[Any]) -> tuple[list[str], CloudError | None]:
    """Return the ids of the instances that a request terminates, and its error if one of the others is protected."""
    instances = list(instances)
    protected = [
        instance
        for instance in instances
        if instance.disable_api_termination is True and instance.state != "terminated"
    ]
    if not protected:
        return [instance.id for instance in instances], None
    zones = {instance.placement.zone for instance in protected}
    message = (
        f"The instance '{protected[0].id}' may not be terminated. Modify its 'disableApiTermination' instance attribute "
        "and try again."
    )
    permitted = [instance.id for instance in instances if instance.placement.zone not in zones]
    return permitted, CloudError("OperationNotPermitted", message)
