"""Mistakes with other regions."""

from tests.unit.rules.parts import ON_DEMAND, POOL
from tests.unit.rules.row import Row

OTHERS = ("aws", "other_regions")
OHIO = (*OTHERS, "us-east-2")
REGION = {"cidr": "10.70.0.0/16", "pools": {"p5": {"capacity": [{**ON_DEMAND, "zones": ["use2-az1"]}]}}}
CLASS = ("data_classes", "internal", "regions")
LISTED = {CLASS: ["us-east-2"]}
GOOD = {OHIO: REGION, **LISTED}


def region(**capacity: object) -> dict[str, object]:
    """Return the region in Ohio with other capacity."""
    return {**REGION, "pools": {"p5": {"capacity": [{**ON_DEMAND, "zones": ["use2-az1"], **capacity}]}}}


ROWS = [
    Row("other-region-unknown", "an unknown other region", {(*OTHERS, "us-east-9"): REGION}, (*OTHERS, "us-east-9"), "us-east"),
    Row("other-region-unknown", "another region that is the environment's own", {(*OTHERS, "us-east-1"): REGION}, (*OTHERS, "us-east-1"), "own region"),
    Row("other-region-unknown", "another region in another partition", {(*OTHERS, "us-gov-west-1"): REGION}, (*OTHERS, "us-gov-west-1"), "partition"),
    Row("other-region-link", "another region and no link to reach it through", {**GOOD, ("link",): None}, OTHERS, "no link"),
    Row("other-region-pool", "capacity in another region for an unknown pool", {**GOOD, (*OHIO, "pools", "p4"): REGION["pools"]["p5"]}, (*OHIO, "pools", "p4"), "known: p5"),
    Row("other-region-image", "an image's id used in another region", {**GOOD, (*POOL, "image"): "ami-0123456789abcdef0"}, (*OHIO, "pools", "p5"), "copy-image"),
    Row("other-region-storage", "scratch that nodes in another region do not have", {**GOOD, ("storage", "cloud_scratch"): {"kind": "fsx_lustre", "capacity_gib": 1200}}, ("storage", "cloud_scratch"), "us-east-2"),
    Row("other-region-class", "a class in a region that is not built", {**GOOD, CLASS: ["us-east-2", "us-west-2"]}, (*CLASS, 1), '"us-east-2"'),
    Row("other-region-class", "a class that stays on-prem and lists a region", {**GOOD, ("data_classes", "restricted", "regions"): ["us-east-2"]}, ("data_classes", "restricted", "regions"), "may not be in AWS"),
    Row("other-region-class", "another region that no class may use", {OHIO: REGION}, OHIO, "no job may start there"),
    Row("class-not-in-region", "regulated data in another region", {**GOOD, ("data_classes", "itar"): {"sites": ["onprem", "aws"], "regime": "itar", "regions": ["us-east-2"]}}, ("data_classes", "itar", "regions", 0), "us-east-2"),
    Row("unknown-zone", "a zone of the environment's own region in another region", {**GOOD, OHIO: region(zones=["use1-az4"])}, (*OHIO, "pools", "p5", "capacity", 0, "zones", 0), "us-east-2"),
    Row("type-not-in-region", "an equivalent type that the other region does not offer", {**GOOD, OHIO: region(instance="p6-b300.48xlarge", zones=[])}, (*OHIO, "pools", "p5", "capacity", 0, "instance"), "us-east-2"),
    Row("fallback-accelerators", "another region with another GPU", {**GOOD, OHIO: region(instance="p4d.24xlarge")}, (*OHIO, "pools", "p5", "capacity", 0, "instance"), "p4d"),
    Row("vpc-size", "a range in another region that is too small", {**GOOD, (*OHIO, "cidr"): "10.70.0.0/26"}, (*OHIO, "cidr"), "VPC"),
    Row("overlapping-cidrs", "another region's range that is the site's", {**GOOD, (*OHIO, "cidr"): "10.20.128.0/20"}, (*OHIO, "cidr"), "overlaps"),
    Row("private-cidr", "another region with public addresses", {**GOOD, (*OHIO, "cidr"): "11.70.0.0/16"}, (*OHIO, "cidr"), "public"),
]  # fmt: skip
