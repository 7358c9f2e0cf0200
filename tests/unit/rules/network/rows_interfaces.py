"""Mistakes with network interfaces and EFA."""

from typing import Any

from tests.unit.rules.parts import CAPACITY, ON_DEMAND, POOL
from tests.unit.rules.row import Row

NICS = (*POOL, "interfaces")
TYPE = (*POOL, "instance")
MAX = (*POOL, "max_nodes")
EFA = (*POOL, "efa")
PUBLIC = (*POOL, "public_ip")
ANYWHERE = {CAPACITY: ON_DEMAND}
VPC = {"id": "vpc-0123456789abcdef0", "subnets": {"use1-az4": {"id": "subnet-0123456789abcdef0", "cidr": "10.60.0.0/19", "public": True}}}  # fmt: skip


def nic(card: int, device: int, kind: str = "efa-only") -> dict[str, Any]:
    return {"card": card, "device": device, "type": kind}


PRIMARY = nic(0, 0, "interface")
B300 = {**ANYWHERE, TYPE: "p6-b300.48xlarge"}

ROWS = [
    Row("interface-layout", "no primary interface", {NICS: [nic(1, 0)]}, NICS, "card: 0, device: 0"),
    Row("interface-layout", "a primary interface without an address", {NICS: [nic(0, 0)]}, (*NICS, 0), "primary"),
    Row("interface-layout", "two interfaces with one card and device", {NICS: [PRIMARY, nic(1, 0), nic(1, 0, "interface")]}, (*NICS, 2), "twice"),
    Row("interface-layout", "a device that the card does not have", {NICS: [PRIMARY, nic(1, 2)]}, (*NICS, 1), "devices 0 to 1"),
    Row("interface-layout", "a card that the type does not have", {**ANYWHERE, TYPE: "p4d.24xlarge", NICS: [PRIMARY, nic(4, 0)]}, (*NICS, 1), "0 to 3"),
    Row("interface-layout", "two EFA interfaces on a card", {NICS: [PRIMARY, nic(1, 0), nic(1, 1, "efa")]}, (*NICS, 2), "more than one EFA"),
    Row("interface-layout", "EFA on the card that has none (p6-b300)", {**B300, NICS: [PRIMARY, nic(0, 1)]}, (*NICS, 1), "no interface of type efa-only"),
    Row("interface-layout", "the old layout on p6-b300", {**B300, NICS: [nic(0, 0, "efa")]}, (*NICS, 0), "it takes interface"),
    Row("interface-layout", "EFA by hand on a type without", {**ANYWHERE, TYPE: "g5.xlarge", NICS: [PRIMARY, nic(0, 1)]}, (*NICS, 1), "efa-only"),
    Row("interfaces-and-nics", "interfaces by hand and by policy", {NICS: [PRIMARY], MAX: 1, (*POOL, "nics"): "bandwidth"}, (*POOL, "nics"), "nics: bandwidth has no effect: interfaces are"),
    Row("interfaces-and-nics", "EFA switched off and written by hand", {NICS: [PRIMARY, nic(0, 1)], EFA: False}, EFA, "efa: false contradicts interfaces: some of them"),
    Row("efa-not-on-type", "EFA on a type without", {**ANYWHERE, TYPE: "g5.2xlarge", EFA: True}, EFA, "g5.2xlarge does not"),
    Row("efa-unused", "EFA switched off where nodes work together", {EFA: False}, EFA, "32 cards"),
    Row("efa-unused", "EFA on a few of the cards", {NICS: [PRIMARY, nic(0, 1), nic(1, 0)]}, NICS, "30 of the 32"),
    Row("legacy-interfaces", "an address for each of 32 cards", {(*POOL, "nics"): "legacy"}, (*POOL, "nics"), "128 in total"),
    Row("nics-bandwidth-without-effect", "bandwidth on a type with one card", {**ANYWHERE, TYPE: "g6e.12xlarge", (*POOL, "nics"): "bandwidth"}, (*POOL, "nics"), "nics: bandwidth has no effect on g6e.12xlarge"),
    Row("public-ip-interfaces", "a public address with several interfaces", {PUBLIC: True}, PUBLIC, "no public address"),
    Row("public-ip-subnet", "a public address in a private subnet", {**ANYWHERE, TYPE: "g6e.xlarge", PUBLIC: True}, PUBLIC, "private"),
    Row("public-ip-subnet", "nodes on the internet", {TYPE: "g6e.xlarge", PUBLIC: True, ("aws", "vpc"): VPC}, PUBLIC, "to the internet"),
    Row("own-security-groups", "one security group twice", {(*POOL, "security_groups"): ["sg-0123456789abcdef0"] * 2}, (*POOL, "security_groups", 1), "the security group sg-0123456789abcdef0 is repeated"),
    Row("own-security-groups", "own security groups beside EFA", {(*POOL, "security_groups"): ["sg-0123456789abcdef0"]}, (*POOL, "security_groups"), "preflight"),
    Row("security-group-count", "more security groups than an interface takes", {(*POOL, "security_groups"): [f"sg-0123456789abcde{n:02}" for n in range(5)]}, (*POOL, "security_groups"), "the default"),
    Row("security-group-count", "more security groups than any quota", {(*POOL, "security_groups"): [f"sg-0123456789abcde{n:02}" for n in range(16)]}, (*POOL, "security_groups"), "at most 16"),
]  # fmt: skip
