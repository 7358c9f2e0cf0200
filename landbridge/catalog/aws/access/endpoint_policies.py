"""Resources outside the account that requests through VPC endpoints need (endpoint_policies.yaml)."""

from datetime import date
from functools import cache

from pydantic import Field

from landbridge.catalog.files import Facts, read


class OutsideResources(Facts):
    """Actions on resources of other accounts, through one service's endpoint. `anonymous`: requests without credentials of the
    account, unsigned or presigned by AWS.
    """

    service: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    anonymous: bool = False
    why: str

    def arns(self, partition: str, region: str) -> list[str]:
        """Return the ARNs in a region."""
        return [arn.format(partition=partition, region=region) for arn in self.resources]


class _Policies(Facts):
    source: str
    as_of: date = Field(alias="date")
    rows: tuple[OutsideResources, ...]


@cache
def outside_resources() -> tuple[OutsideResources, ...]:
    """Return the rows of all services."""
    return read("endpoint_policies", _Policies).rows
