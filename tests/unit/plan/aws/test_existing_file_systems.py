"""Plan of existing file systems: mounts from ids, and rules without equal ones."""

from typing import Any

from landbridge.plan.aws.storage.existing_file_systems import ExistingFileSystemsArgs, existing_file_systems_args
from tests.unit.core.samples import environment

ID = "fs-0123456789abcdef0"
COMMON = {"id": ID, "data_class": "internal", "mount": "/a"}
LUSTRE = {**COMMON, "kind": "existing_lustre", "mount_name": "abcdefgh", "zone": "use1-az4"}
ONTAP = {
    **COMMON,
    "kind": "existing_ontap",
    "svm": "svm-0123456789abcdef0",
    "junction_path": "/vol1",
    "zone": "use1-az4",
    "mount": "/b",
}
EFS = {**COMMON, "kind": "existing_efs", "access_point": "fsap-0123456789abcdef0", "mount": "/c"}


def planned(changes: Any = None, region: str = "us-east-1", **shares: Any) -> ExistingFileSystemsArgs:
    args = existing_file_systems_args(
        environment({("storage", "cloud_shares"): shares, **(changes or {})}, region=region)
    )
    assert args is not None
    return args


def test_an_environment_without_existing_file_systems_has_no_plan() -> None:
    assert existing_file_systems_args(environment()) is None


def test_a_name_has_the_regions_domain() -> None:
    (system,) = planned(region="eu-west-2", a={**LUSTRE, "zone": "euw2-az1"}).file_systems
    assert system.source == f"{ID}.fsx.eu-west-2.amazonaws.com@tcp:/abcdefgh"


def test_an_endpoint_outside_the_vpc_is_a_further_peer() -> None:
    share = {**ONTAP, "security_groups": ["sg-0123456789abcdef0"], "endpoint_cidr": "198.19.0.0/16"}
    assert [rule.peer for rule in planned(b=share).pool_rules] == ["sg-0123456789abcdef0", "198.19.0.0/16"]


def test_every_range_of_the_vpc_is_a_peer_if_no_group_is_named() -> None:
    args = planned({("aws", "secondary_cidrs"): ["100.64.0.0/16"]}, b=ONTAP)
    assert {rule.peer for rule in args.pool_rules} == {"10.60.0.0/16", "100.64.0.0/16"}


def test_a_rule_of_the_file_is_not_repeated() -> None:
    egress = {"destination": "10.60.0.0/16", "protocol": "tcp", "ports": "2049", "why": "a filer"}
    assert planned({("aws", "egress"): [egress]}, b=ONTAP).pool_rules == ()


def test_login_hosts_get_the_ports_of_what_they_mount() -> None:
    args = planned(a=LUSTRE, b=ONTAP, c=EFS)
    assert {rule.ports for rule in args.pool_rules} == {(988, 988), (1018, 1023), (2049, 2049)}
    (rule,) = args.service_rules
    assert rule.ports == (2049, 2049) and rule.why == "existing file systems: b, c"
