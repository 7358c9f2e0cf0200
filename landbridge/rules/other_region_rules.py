"""Rules about a pool's capacity, held against it in other regions as at home: written once, run once more for each. No rules."""

from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.environment import Environment
from landbridge.plan.other_regions import in_region

#: What follows from a region, from what is bought there, or from the range there. Everything else is said at home already.
RULES_PER_REGION = (
    *("unknown-zone", "repeated-zone", "type-not-in-region", "type-not-in-zone", "gang-over-zones", "no-common-zone"),
    *(
        "fallback-accelerators",
        "fallback-processors",
        "fallback-architecture",
        "fallback-network",
        "ultraserver-without-block",
    ),
    *("purchase-not-offered", "prepaid-capacity-order", "duplicate-fallback", "spot-price", "spot-allocation"),
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
    """Other regions that can be judged, each as an environment of its own."""
    for name in environment.aws.other_regions:
        if name in regions() and name != environment.region:
            yield name, in_region(environment, name)
