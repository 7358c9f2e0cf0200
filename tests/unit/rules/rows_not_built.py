"""What may be written and is not built yet."""

from tests.unit.rules.parts import FALLBACK, POOL, SPOT
from tests.unit.rules.row import Row

LEASED = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "10.99.0.1"}

ROWS = [
    Row("not-built-yet", "a registry that is planned only", {("mlops", "registry"): {}}, ("mlops", "registry"), "registry"),
    Row("not-built-yet", "a link that is planned only", {("link",): LEASED}, ("link", "kind"), "Direct Connect"),
    Row("not-built-yet", "a standby controller", {("onprem", "services"): {"controller": ["ctl01", "db01"]}}, ("onprem", "services", "controller", 1), "standby"),
    Row("not-built-yet", "a fallback that nothing tries", {FALLBACK: SPOT}, FALLBACK, "first capacity alone"),
    Row("not-built-yet", "nodes that nothing keeps", {(*POOL, "min_nodes"): 1}, (*POOL, "min_nodes"), "keeping nodes"),
    Row("not-built-yet", "local disks that nothing mounts", {(*POOL, "local_scratch"): "/local"}, (*POOL, "local_scratch"), "local disks"),
    Row("not-built-yet", "a driver that nothing installs", {(*POOL, "driver"): "open"}, (*POOL, "driver"), "driver"),
    Row("not-built-yet", "an EKS cluster", {("aws", "kubernetes"): {"version": "1.34"}}, ("aws", "kubernetes"), "EKS"),
    Row("not-built-yet", "a hard limit that nothing enforces", {("budget",): {"accounts": {"vision": {"monthly_usd": 1, "hard": True}}}}, ("budget", "accounts", "vision", "hard"), "hard limit"),
]  # fmt: skip
