"""Service-linked roles of AWS services (service_linked_roles.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class ServiceLinkedRole(Facts):
    """Service-linked role: its service and name. `automatic`: the service creates it with its caller's permission."""

    service: str
    role: str
    automatic: bool

    @property
    def path(self) -> str:
        """Return the role's path and name, as in its ARN."""
        return f"aws-service-role/{self.service}/{self.role}"

    @property
    def command(self) -> str:
        """Return the command that creates the role in an account."""
        return f"aws iam create-service-linked-role --aws-service-name {self.service}"


class _ServiceLinkedRoles(Facts):
    source: str
    as_of: date = Field(alias="date")
    roles: Mapping[str, ServiceLinkedRole]


@cache
def service_linked_roles() -> Mapping[str, ServiceLinkedRole]:
    """Return the roles by the use that needs them."""
    return read("service_linked_roles", _ServiceLinkedRoles).roles
