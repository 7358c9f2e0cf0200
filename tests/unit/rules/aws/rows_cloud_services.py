"""Mistakes in environments without an on-prem site."""

from datetime import date
from typing import Any

from landbridge.findings import DataPath
from tests.unit.core.samples import REMOVED
from tests.unit.rules.row import Row

SERVICES = ("aws", "services")
DATABASE = (*SERVICES, "database")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnobody nobody"
GOOD = {"zone": "use1-az4", "access": {"public_keys": [KEY]}}
#: The good environment with its services in AWS.
CLOUD: dict[DataPath, Any] = {
    ("onprem",): REMOVED,
    ("link",): REMOVED,
    ("data_classes", "restricted"): REMOVED,
    SERVICES: GOOD,
    ("storage",): {"home": {"kind": "efs"}},
}


def with_services(**changes: Any) -> dict[DataPath, Any]:
    """Return `CLOUD` with other services."""
    return {**CLOUD, SERVICES: {**GOOD, **changes}}


ROWS = [
    Row("controller-location", "neither a site nor services in AWS", {key: value for key, value in CLOUD.items() if key != SERVICES}, ("onprem",), "aws.services"),
    Row("controller-location", "a site and services in AWS", {SERVICES: GOOD}, SERVICES, "remove one"),
    Row("link-and-site", "a site without a link", {("link",): REMOVED}, ("link",), "gateway_address"),
    Row("link-and-site", "a link without a site", {**CLOUD, ("link",): {"kind": "vpn", "gateway_address": "3.3.3.3"}}, ("link",), "no site"),
    Row("needs-onprem-site", "homes on a host without a site", {**CLOUD, ("storage",): {"home": {"kind": "nfs"}}}, ("storage", "home"), "kind: efs"),
    Row("needs-onprem-site", "data that may be at no site", {**CLOUD, ("data_classes", "restricted"): {"sites": ["onprem"]}}, ("data_classes", "restricted", "sites"), "sites: [aws]"),
    Row("needs-onprem-site", "an activation for on-prem hosts without a site", {**CLOUD, ("aws", "iam"): {"ssm_activation": {"registrations": 8, "expires": "2031-01-01T00:00:00Z"}}}, ("aws", "iam", "ssm_activation"), "a hybrid activation is for on-prem hosts"),
    Row("needs-onprem-site", "a partition of on-prem nodes without a site", {**CLOUD, ("scheduler", "partitions"): {"metal": {"nodes": ["onprem"]}}}, ("scheduler", "partitions", "metal", "nodes", 0), "write pools"),
    Row("needs-onprem-site", "an endpoint for on-prem hosts without a site", {**CLOUD, ("aws", "endpoints"): {"onprem": "http://192.0.2.9:4580"}}, ("aws", "endpoints", "onprem"), "endpoints.onprem is for an on-prem site, and"),
    Row("pool-name-taken", "a pool with the controller's name", {**CLOUD, ("aws", "pools", 0, "name"): "controller"}, ("aws", "pools", 0, "name"), "another name"),
    Row("no-onprem-site", "services in AWS, for now", CLOUD, SERVICES, "add-metal-later"),
    Row("services-zone", "services in a zone of another region", with_services(zone="euw1-az1"), (*SERVICES, "zone"), "no zone euw1-az1"),
    Row("services-zone", "one zone for the database and its standby", with_services(standby_zone="use1-az4"), (*SERVICES, "standby_zone"), "standby_zone is the same zone as zone"),
    Row("services-addresses", "a subnet too small for the services", {**CLOUD, ("aws", "cidr"): "10.60.0.0/25"}, (*SERVICES, "zone"), "/27"),
    Row("services-addresses", "a controller outside its zone's subnet", with_services(addresses={"ctl01": "10.60.32.16"}), (*SERVICES, "addresses", "ctl01"), "outside 10.60.128.0/19"),
    Row("services-addresses", "a controller outside the reserved range", with_services(addresses={"ctl01": "10.60.128.99"}), (*SERVICES, "addresses", "ctl01"), "10.60.128.99 is outside the reserved range 10.60.128.16/28"),
    Row("unused-address", "an address for an unknown host of the services", with_services(addresses={"ctl02": "10.60.128.30"}), (*SERVICES, "addresses", "ctl02"), "the host ctl02 has an address and"),
    Row("duplicate-address", "two hosts of the services with one address", with_services(addresses={"login01": "10.60.128.16"}), (*SERVICES, "addresses", "login01"), "both have"),
    Row("services-type", "a controller of an unknown type", with_services(controller={"instance": "m7i.lrage"}), (*SERVICES, "controller", "instance"), "m7i.large"),
    Row("services-type", "a login host with GPUs", with_services(login={"instance": "g6e.xlarge"}), (*SERVICES, "login", "instance"), "a login host does"),
    Row("services-type", "hosts with two processor architectures", with_services(login={"instance": "m7g.large"}), (*SERVICES, "login", "instance"), "arm64"),
    Row("services-keys", "services without a key to log in", with_services(access={}), (*SERVICES, "access", "public_keys"), "ssh-ed25519"),
    Row("services-database", "a series of MariaDB that RDS does not have", with_services(database={"version": "9.9"}), (*DATABASE, "version"), "11.4"),
    Row("database-support", "a series of MariaDB whose support has ended", with_services(database={"version": "10.6"}), (*DATABASE, "version"), "2026-08-31", today=date(2026, 11, 21)),
    Row("database-single-zone", "300 nodes on accounting in one zone", {**CLOUD, ("aws", "pools", 0, "max_nodes"): 300}, (*DATABASE, "multi_az"), "multi_az: true"),
    Row("database-apply-immediately", "a database that every `up` may interrupt", with_services(database={"apply_immediately": True}), (*DATABASE, "apply_immediately"), "after that `up`"),
    Row("home-share-name", "a second file system called home", {**CLOUD, ("storage",): {"home": {"kind": "efs"}, "cloud_shares": {"home": {"kind": "efs"}}}}, ("storage", "cloud_shares", "home"), "another name"),
    Row("domain-name", "a domain of the services that AWS resolves itself", with_services(domain="ec2.internal"), (*SERVICES, "domain"), "VPC"),
    Row("root-access", "root logs in to the services", with_services(access={"user": "root", "public_keys": [KEY]}), (*SERVICES, "access", "user"), "sudo"),
]  # fmt: skip
