"""Mistakes with on-prem hosts' names and addresses."""

from landbridge.findings import DataPath
from tests.unit.core.samples import REMOVED
from tests.unit.rules.row import Row

NODES: DataPath = ("onprem", "nodes")
NODE = {"hosts": "smc[01-02]", "platform": "dgx-a100", "address": "10.20.1.31"}

ROWS = [
    Row("address-in-site", "nodes outside the site's range", {(*NODES, 0, "address"): "10.21.0.1"}, (*NODES, 0, "address"), "dgx01"),
    Row("address-in-site", "nodes count up into the broadcast address", {(*NODES, 0, "address"): "10.20.255.254"}, (*NODES, 0, "address"), "broadcast"),
    Row("address-in-site", "nodes count up past the last address", {(*NODES, 0, "address"): "255.255.255.255"}, (*NODES, 0, "address"), "above 255.255.255.255"),
    Row("address-in-site", "the network's own address for a host", {("onprem", "addresses", "ctl01"): "10.20.0.0"}, ("onprem", "addresses", "ctl01"), "ctl01"),
    Row("duplicate-address", "two services with one address", {("onprem", "addresses", "ctl01"): "10.20.0.12"}, ("onprem", "addresses", "db01"), "ctl01"),
    Row("duplicate-address", "a node with another node's address", {(*NODES, 1): {**NODE, "address": "10.20.1.12"}}, (*NODES, 1, "address"), "dgx02"),
    Row("duplicate-host", "a node in two groups", {(*NODES, 1): {**NODE, "hosts": "dgx02"}}, (*NODES, 1, "hosts"), "dgx02"),
    Row("duplicate-host", "a host that is a service and a node", {("onprem", "addresses", "dgx01"): "10.20.0.99"}, (*NODES, 0, "hosts"), "dgx01"),
    Row("service-without-address", "a service without an address", {("onprem", "addresses", "gw01"): REMOVED}, ("onprem", "services", "gateway"), "gw01"),
    Row("service-without-address", "a service moved to an unknown host", {("onprem", "services"): {"login": ["l1"]}}, ("onprem", "services", "login", 0), "l1"),
    Row("unused-address", "an address that nothing uses", {("onprem", "addresses", "lgn01"): "10.20.0.99"}, ("onprem", "addresses", "lgn01"), "lgn01"),
]  # fmt: skip
