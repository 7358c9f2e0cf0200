"""Mistakes with the EKS cluster, and with services and regulated data that a region does not have."""

from datetime import date
from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

EKS: DataPath = ("aws", "kubernetes")
POOL: DataPath = ("aws", "pools", 0)
TWO = {("aws", "pools", 0, "capacity", 0, "zones"): ["use1-az4", "use1-az6"]}
CLASS: DataPath = ("data_classes", "secret")


def eks(**more: Any) -> dict[DataPath, Any]:
    """Return the changes for a cluster in two zones."""
    return {**TWO, EKS: {"version": "1.34", **more}}


def regulated(regime: str) -> dict[DataPath, Any]:
    """Return the changes for a data class that may be at both sites."""
    return {CLASS: {"sites": ["onprem", "aws"], "regime": regime}}


ROWS = [
    Row("kubernetes-version", "a version that EKS no longer has", eks(version="1.21"), (*EKS, "version"), "Kubernetes 1.21 is not offered by EKS"),
    Row("kubernetes-version", "a version newer than the catalogue", eks(version="1.99"), (*EKS, "version"), "newer"),
    Row("kubernetes-support", "a version that costs extra", eks(version="1.32"), (*EKS, "version"), "the standard support of Kubernetes 1.32 ended", today=date(2026, 11, 20)),
    Row("kubernetes-support", "a version after its end of support", eks(version="1.29"), (*EKS, "version"), "no such cluster", today=date(2026, 11, 20)),
    Row("kubernetes-ranges", "a services' range too small", eks(service_cidr="172.20.0.0/26"), (*EKS, "service_cidr"), "/24"),
    Row("kubernetes-ranges", "carriers' addresses for services", eks(service_cidr="100.64.0.0/16"), (*EKS, "service_cidr"), "RFC 1918"),
    Row("kubernetes-ranges", "pods in a range that the VPC does not have", eks(pod_cidr="100.64.0.0/16"), (*EKS, "pod_cidr"), "secondary_cidrs"),
    Row("kubernetes-ranges", "a pods' range too small for every zone", {**eks(pod_cidr="100.64.0.0/26"), ("aws", "secondary_cidrs"): ["100.64.0.0/16"]}, (*EKS, "pod_cidr"), "too small"),
    Row("kubernetes-zones", "EKS in one zone", {EKS: {"version": "1.34"}}, EKS, "2 zones"),
    Row("kubernetes-zones", "EKS in the zone that it cannot use", {**eks(), ("aws", "pools", 0, "capacity", 0, "zones"): ["use1-az3", "use1-az4"]}, EKS, "use1-az3"),
    Row("kubernetes-pools", "a misspelt pool", eks(pools=["p5x"]), (*EKS, "pools", 0), '"p5"'),
    Row("kubernetes-pools", "a pool twice", eks(pools=["p5", "p5"]), (*EKS, "pools", 1), "the pool p5 is repeated"),
    Row("kubernetes-pools", "a pool with two schedulers", {**eks(pools=["p5"]), ("scheduler", "partitions"): {"train": {"nodes": ["p5"]}}}, ("scheduler", "partitions", "train", "nodes", 0), "the pool p5 is in the EKS"),
    Row("kubernetes-pools", "a cluster without pools and hybrid nodes", eks(), EKS, "runs no"),
    Row("kubernetes-pods", "more pods than a small node runs", {**eks(pools=["p5"], pods_per_node=200), (*POOL, "instance"): "g5.xlarge"}, (*EKS, "pods_per_node"), "110"),
    Row("kubernetes-public", "a public API server that nodes cannot reach", eks(endpoint="public"), (*EKS, "endpoint"), "cannot reach"),
    Row("kubernetes-public", "an API server on the internet", {**eks(endpoint="public"), ("aws", "nat"): "single"}, (*EKS, "endpoint"), "internet"),
    Row("kubernetes-public", "one public endpoint in a closed network", {**eks(endpoint="public"), ("aws", "nat"): "single", ("aws", "vpc_endpoints"): "derived"}, (*EKS, "endpoint"), "the API server has a public endpoint"),
    Row("hybrid-nodes", "hybrid nodes with carriers' addresses", {**eks(hybrid_nodes=True), ("onprem", "cidr"): "100.70.0.0/16"}, (*EKS, "hybrid_nodes"), "RFC 1918"),
    Row("hybrid-nodes", "hybrid nodes in a site without nodes", {**eks(hybrid_nodes=True), ("onprem", "nodes"): []}, (*EKS, "hybrid_nodes"), "no on-prem nodes"),
    Row("hybrid-nodes", "hybrid nodes whose pods' range is not in the file", eks(hybrid_nodes=True), (*EKS, "hybrid_nodes"), "container_cidrs"),
    Row("service-not-in-region", "hybrid nodes in GovCloud", eks(hybrid_nodes=True), (*EKS, "hybrid_nodes"), "us-gov-west-1", region="us-gov-west-1"),
    Row("service-not-in-region", "a Capacity Block in a region without them", {(*POOL, "instance"): "p5en.48xlarge", (*POOL, "capacity", 0): {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "euc1-az1"}}, (*POOL, "capacity", 0, "kind"), "eu-central-1", region="eu-central-1"),
    Row("class-not-in-region", "ITAR data in a commercial region", regulated("itar"), (*CLASS, "sites"), "us-gov"),
    Row("class-not-in-region", "FedRAMP High data in a commercial region", regulated("fedramp_high"), (*CLASS, "sites"), "us-gov"),
    Row("class-not-in-region", "Europeans' data in the United States", regulated("gdpr"), (*CLASS, "sites"), "eu-"),
    Row("class-not-in-region", "health data outside the United States", regulated("hipaa"), (*CLASS, "sites"), "us-", region="eu-west-1"),
    Row("class-not-in-region", "classified data in AWS", {CLASS: {"sites": ["aws"], "regime": "classified"}}, (*CLASS, "sites"), "on-prem under"),
    Row("class-obligations", "health data in AWS without an agreement", regulated("hipaa"), (*CLASS, "regime"), "business associate"),
]  # fmt: skip
