"""Policy of EFS file systems and rights of their clients, by evaluation of whole requests."""

import json
from typing import Any

import pytest

from landbridge.ops.iam import Answer, Document, Policies, Request, evaluate
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.node_contract import image_expectations
from landbridge.plan.aws.storage.efs_access import (
    client_statements,
    existing_efs_rights,
    file_system_policy,
    mounts_efs_over_tls,
)
from landbridge.plan.roles.hosts.efs_utils import efs_variables
from tests.unit.core.samples import environment

REGION = "arn:aws:elasticfilesystem:us-east-1:123456789012"
SYSTEM, POINT, OTHER_POINT = (
    f"{REGION}:file-system/fs-1",
    f"{REGION}:access-point/fsap-1",
    f"{REGION}:access-point/fsap-2",
)
NODE, LOGIN, ADMIN = (f"arn:aws:iam::123456789012:role/{name}" for name in ("test-node", "test-login", "admin"))
POLICY = Document.of("file system", file_system_policy(SYSTEM, POINT, [NODE, LOGIN], [LOGIN]))
ALL_OF_EFS = Document.of(
    "admin", json.dumps({"Statement": {"Effect": "Allow", "Action": "elasticfilesystem:*", "Resource": "*"}})
)
THROUGH = {
    "aws:SecureTransport": "true",
    "elasticfilesystem:AccessedViaMountTarget": "true",
    "elasticfilesystem:AccessPointArn": POINT,
}
PLACE = ArnContext("test", "aws", "us-east-1", "123456789012")
EFS = {"kind": "existing_efs", "id": "fs-0123456789abcdef0", "data_class": "internal", "mount": "/sets"}


def allowed(role: str, right: str, context: dict[str, str] = THROUGH, identity: tuple[Document, ...] = ()) -> bool:
    session = f"{role.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/i-1"
    request = Request(role, f"elasticfilesystem:Client{right}", SYSTEM, context, session)
    return evaluate(request, Policies(identity=identity, resource=POLICY)).answer is Answer.ALLOW


def test_nodes_read_and_write_and_only_login_hosts_have_root() -> None:
    assert [allowed(NODE, right) for right in ("Mount", "Write", "RootAccess")] == [True, True, False]
    assert [allowed(LOGIN, right) for right in ("Mount", "Write", "RootAccess")] == [True, True, True]
    assert not allowed(ADMIN, "Mount"), "a role of the account without rights on EFS"


@pytest.mark.parametrize(
    "change",
    [
        {"aws:SecureTransport": "false"},
        {"elasticfilesystem:AccessPointArn": OTHER_POINT},
        {"elasticfilesystem:AccessPointArn": ""},
        {"elasticfilesystem:AccessedViaMountTarget": "false"},
    ],
    ids=["clear text", "another access point", "no access point", "no mount target"],
)
def test_each_other_way_is_refused(change: dict[str, str]) -> None:
    context = {key: value for key, value in {**THROUGH, **change}.items() if value}
    assert not allowed(NODE, "Mount", context)
    # The Deny statements hold for roles that another policy of the account allows.
    by_another = allowed(ADMIN, "Mount", context, (ALL_OF_EFS,))
    assert by_another == ("elasticfilesystem:AccessedViaMountTarget" in change)


def test_an_existing_file_system_is_mounted_with_a_right_on_it_alone() -> None:
    shares = {
        "a": {**EFS, "access_point": "fsap-0123456789abcdef0", "read_only": True},
        "b": {**EFS, "id": "fs-0123456789abcdef1", "mount": "/b"},
        "c": {**EFS, "id": "fs-0123456789abcdef2", "mount": "/c", "tls": False},
    }
    rights = existing_efs_rights(environment({("storage", "cloud_shares"): shares}))
    first, second = client_statements(PLACE, rights)
    assert first["Action"] == ["elasticfilesystem:ClientMount"]
    assert first["Resource"] == f"{REGION}:file-system/fs-0123456789abcdef0"
    point = {"elasticfilesystem:AccessPointArn": f"{REGION}:access-point/fsap-0123456789abcdef0"}
    assert first["Condition"] == {"StringEquals": point}
    assert second["Action"] == ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"]
    assert second["Resource"] == f"{REGION}:file-system/fs-0123456789abcdef1" and "Condition" not in second


@pytest.mark.parametrize("tls", [True, False])
def test_images_have_the_mount_helper_if_a_file_system_needs_it(tls: bool) -> None:
    shares: dict[str, Any] = {"files": {"kind": "efs", "mount": "/files", "tls": tls}}
    env = environment({("storage", "cloud_shares"): shares})
    assert mounts_efs_over_tls(env) is tls
    assert efs_variables(env) == ({"landbridge_efs_utils": True} if tls else {})
    assert image_expectations(env).get("efs", False) is tls


def test_a_policy_is_valid_json_with_one_role() -> None:
    statements = json.loads(file_system_policy(SYSTEM, POINT, [NODE], []))["Statement"]
    assert statements[0]["Principal"] == {"AWS": NODE}
