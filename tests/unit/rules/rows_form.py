"""Mistakes with the file's form, which loading finds."""

from tests.unit.core.samples import REMOVED
from tests.unit.rules.row import Row

POOL = ("aws", "pools", 0)
ENVIRONMENT = ("config", "landbridge:environment")

ROWS = [
    Row("unknown-key", "misspelt key", {(*POOL, "instnce"): "p5.48xlarge"}, (*POOL, "instnce"), '"instance"'),
    Row("unknown-key", "a key at the wrong place", {("instance",): "p5.48xlarge"}, ("instance",), "instance"),
    Row("unknown-key", "a key of an earlier version", {("aws", "kubernetes"): {"version": "1.34"}}, ("aws", "kubernetes"), "builds no EKS cluster"),
    Row("missing-key", "a pool without a type", {(*POOL, "instance"): REMOVED}, (*POOL, "instance"), "no default"),
    Row("missing-key", "a link without its kind", {("link",): {"gateway_address": "3.3.3.3"}}, ("link", "kind"), "vpn"),
    Row("missing-key", "an account without its data class", {("scheduler", "accounts", "vision"): {}}, ("scheduler", "accounts", "vision", "data_class"), "missing"),
    Row("wrong-type", "a version without quotes", {("scheduler", "slurm"): {"version": 26.05}}, ("scheduler", "slurm", "version"), "quotes"),
    Row("wrong-type", "a number in quotes", {(*POOL, "max_nodes"): "4"}, (*POOL, "max_nodes"), "whole number"),
    Row("wrong-type", "a mapping where a list belongs", {("users",): {"alice": 20001}}, ("users",), "a list"),
    Row("wrong-format", "an address that is not a range", {("aws", "cidr"): "10.60.0.1/16"}, ("aws", "cidr"), "10.60.0.0/16"),
    Row("wrong-format", "a role for the nodes of a pool", {(*POOL, "node_policies"): ["arn:aws:iam::123456789012:role/ours"]}, (*POOL, "node_policies", 0), "not a policy"),
    Row("wrong-format", "an octet above 255", {("link", "gateway_address"): "999.1.1.1"}, ("link", "gateway_address"), "999.1.1.1"),
    Row("wrong-format", "a zone by its name", {(*POOL, "capacity", 0, "zones"): ["us-east-1a"]}, (*POOL, "capacity", 0, "zones", 0), "zone's id"),
    Row("out-of-range", "more nodes than a pool may have", {(*POOL, "max_nodes"): 5000}, (*POOL, "max_nodes"), "at most 1024"),
    Row("out-of-range", "a pool without capacity", {(*POOL, "capacity"): []}, (*POOL, "capacity"), "at least 1"),
    Row("unknown-value", "a word that is not a choice", {("aws", "nat"): "multi"}, ("aws", "nat"), "per_zone"),
    Row("unknown-value", "the market by AWS's name for it", {(*POOL, "capacity", 0, "kind"): "capacity-block"}, (*POOL, "capacity", 0, "kind"), '"capacity_block"'),
    Row("unknown-value", "an unknown type of network interface", {(*POOL, "interfaces"): [{"card": 0, "device": 0, "type": "efaa"}]}, (*POOL, "interfaces", 0, "type"), '"efa"'),
    Row("unknown-value", "a placement strategy that EC2 does not have", {(*POOL, "placement"): "clustered"}, (*POOL, "placement"), '"cluster"'),
    Row("unknown-value", "a Lustre deployment that FSx does not have", {("storage", "cloud_scratch"): {"kind": "fsx_lustre", "deployment": "persistent_3"}}, ("storage", "cloud_scratch", "deployment"), "persistent"),
    Row("node-range", "an open bracket in a host range", {("onprem", "nodes", 0, "hosts"): "dgx[01-02"}, ("onprem", "nodes", 0, "hosts"), "dgx[01-04]"),
    Row("duplicate-key", "a key twice", {}, (*ENVIRONMENT, "owner"), "is repeated", edit=('"owner"', '"owner": "b",\n "owner"')),
    Row("bad-yaml", "a bracket that is not closed", {}, (), "not YAML", edit=('"pools": [', '"pools": [[')),
]  # fmt: skip
