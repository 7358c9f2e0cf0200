"""Mistakes with the account's quotas."""

from tests.unit.rules.parts import CAPACITY, ON_DEMAND, POOL, SECOND, pool
from tests.unit.rules.row import Row

QUOTAS = ("aws", "quotas")
P, SPOT_G = "L-417A185B", "L-3819A6DF"
WIDE = {("aws", "cidr"): "10.60.0.0/16"}
MANY = [pool(name=f"g{number}", instance="g6e.12xlarge", max_nodes=1, capacity=[ON_DEMAND]) for number in range(130)]

ROWS = [
    Row("unknown-quota", "an unknown quota", {QUOTAS: {"L-417A185C": 100}}, (*QUOTAS, "L-417A185C"), P),
    Row("fleet-quota", "a quota for half the pool", {QUOTAS: {P: 384}}, (*POOL, "max_nodes"), "2 of 4 nodes"),
    Row("fleet-quota", "a quota below one node", {QUOTAS: {P: 64}}, (*POOL, "max_nodes"), "not enough for one node"),
    Row("fleet-quota", "a quota for each pool, not for all", {QUOTAS: {P: 1000}, SECOND: pool()}, (*QUOTAS, P), "1536"),
    Row("fleet-quota", "a spot quota that is too small", {QUOTAS: {SPOT_G: 96}, (*POOL, "instance"): "g6e.48xlarge", CAPACITY: {"kind": "spot"}}, (*POOL, "max_nodes"), "not enough for one node"),
    Row("interface-quota", "more network interfaces than a region has", {**WIDE, (*POOL, "max_nodes"): 160}, ("aws", "pools"), "5280"),
    Row("placement-group-quota", "more placement groups than a region has", {("aws", "pools"): MANY}, ("aws", "pools"), "500"),
    Row("nat-elastic-ips", "a NAT gateway in each of six zones", {CAPACITY: ON_DEMAND, ("aws", "nat"): "per_zone"}, ("aws", "nat"), "6 NAT"),
]  # fmt: skip
