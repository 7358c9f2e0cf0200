"""Names of the rules that run once more for each region of other_regions. This module has no rules."""

from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.environment import Environment
from landbridge.plan.other_regions import in_region

#: Rules that depend on a region, its capacity or its CIDR range. Other rules run for the environment's own region only.
RULES_PER_REGION = (
    *("unknown-zone", "repeated-zone", "type-not-in-region", "type-not-in-zone", "gang-over-zones", "no-common-zone"),
    *(
        "fallback-accelerators",
        "fallback-processors",
        "fallback-architecture",
        "fallback-network",
        "ultraserver-without-block",
    ),
    *("purchase-not-offered", "prepaid-capacity-order", "duplicate-fallback", "spot-price"),
    *(
        "block-count",
        "no-blocks-in-region",
        "block-window",
        "block-expired",
        "block-far-ahead",
        "reservation-smaller-than-pool",
    ),
    *("reservation-count", "duplicate-reservation", "group-over-zones", "group-arn", "placement-not-supported"),
    *("subnet-cidr", "subnet-zone", "subnet-too-small", "vpc-size"),
)


def environments_of_other_regions(environment: Environment) -> Iterator[tuple[str, Environment]]:
    """Yield each other region that exists, with the environment as it is in that region."""
    for name in environment.aws.other_regions:
        if name in regions() and name != environment.region:
            yield name, in_region(environment, name)
