"""Mistakes with capacity reservations."""

from tests.unit.rules.parts import BLOCK, CAPACITY, FALLBACK, GROUP, ON_DEMAND, POOL, RESERVED, SECOND, pool
from tests.unit.rules.row import Row

MAX = (*POOL, "max_nodes")
ARN = "arn:aws:resource-groups:us-east-1:123456789012:group/ml"

ROWS = [
    Row("reservation-smaller-than-pool", "more nodes than reserved instances", {CAPACITY: {**RESERVED, "count": 2}}, MAX, "max_nodes: 2"),
    Row("reservation-smaller-than-pool", "more nodes than two blocks have", {CAPACITY: {**BLOCK, "count": 1}, FALLBACK: {**RESERVED, "count": 2}}, MAX, "max_nodes: 3"),
    Row("reservation-count", "a reservation larger than EC2 makes", {CAPACITY: {**RESERVED, "count": 1024}, FALLBACK: ON_DEMAND}, (*CAPACITY, "count"), "1 to 1000"),
    Row("reservation-larger-than-pool", "reserved instances that no node can use", {CAPACITY: {**RESERVED, "count": 8}, FALLBACK: ON_DEMAND}, (*CAPACITY, "count"), "raise max_nodes to 8"),
    Row("reservation-group-match", "a reservation of another placement group", {CAPACITY: {**RESERVED, "placement_group": "a"}, (*POOL, "placement_group"): "b"}, (*CAPACITY, "placement_group"), "placement_group: a"),
    Row("reservation-group-match", "a reservation made in a group, launches into none", {CAPACITY: {**RESERVED, "placement_group": "a"}, (*POOL, "placement"): "none"}, (*CAPACITY, "placement_group"), "placement: none"),
    Row("reservation-in-other-group", "a placement group that the reservation is not in", {CAPACITY: RESERVED, (*POOL, "placement_group"): "b"}, (*POOL, "placement_group"), "is in no placement group"),
    Row("reservation-in-other-group", "a cluster group for reservations made without", {CAPACITY: GROUP, (*POOL, "placement"): "cluster"}, (*POOL, "placement"), "is in no placement group"),
    Row("duplicate-reservation", "one reservation for two pools", {CAPACITY: RESERVED, SECOND: pool(capacity=[RESERVED])}, (*SECOND, "capacity", 0), "cr-0123456789abcdef2 is shared with the pool p5"),
    Row("duplicate-reservation", "one reservation with two types", {CAPACITY: RESERVED, SECOND: pool(capacity=[RESERVED], instance="p4d.24xlarge")}, (*SECOND, "capacity", 0), "p4d.24xlarge here"),
    Row("duplicate-reservation", "one reservation in two zones", {CAPACITY: RESERVED, FALLBACK: {**RESERVED, "zone": "use1-az6"}}, FALLBACK, "use1-az6 here"),
    Row("duplicate-reservation", "a reservation and a block with one id", {CAPACITY: BLOCK, FALLBACK: {**BLOCK, "kind": "reservation"}}, FALLBACK, "reservation here"),
    Row("open-reservation-used-up", "on-demand launches in an open reservation", {CAPACITY: {**RESERVED, "match": "open"}, SECOND: pool()}, (*SECOND, "capacity", 0), "use up"),
    Row("group-arn", "a reservation group of another region", {CAPACITY: {**GROUP, "group": ARN.replace("us-east-1", "us-west-2")}}, (*CAPACITY, "group"), "us-west-2"),
    Row("group-arn", "a reservation group of another account", {("aws", "account"): "210987654321", CAPACITY: GROUP}, (*CAPACITY, "group"), "account"),
    Row("group-arn", "a reservation group of another partition", {CAPACITY: {**GROUP, "group": ARN.replace("arn:aws", "arn:aws-us-gov")}}, (*CAPACITY, "group"), "partition"),
]  # fmt: skip
