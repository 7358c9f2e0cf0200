"""Helpers of the checks that run before moto's calls: type of a check, its error, and the list of resources that still exist."""

from collections.abc import Callable, Mapping
from typing import Any

#: Function that raises an error of EC2 for the arguments of a call.
Judge = Callable[[Any, Mapping[str, Any]], None]


def error(code: str, message: str) -> Exception:
    """Return an error of the class that moto answers with: these checks run inside moto's calls."""
    from moto.ec2.exceptions import EC2ClientError

    return EC2ClientError(code, message)


def alive(resources: Any) -> list[Any]:
    """Return the resources that are neither deleted nor being deleted."""
    return [resource for resource in resources if "delet" not in str(getattr(resource, "state", ""))]
