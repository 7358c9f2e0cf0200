"""Access to EFS file systems: access point, file system policy, rights of clients, and the mount over TLS.

Source: EFS User Guide, "Using IAM to control access to file systems" and "Working with access points"; EFS API Reference,
RootDirectory and CreationInfo; man page of mount.efs, 2026-11-26.
"""

from collections.abc import Sequence
from typing import Any

from landbridge.environment import Efs, EfsHome, Environment, ExistingEfs
from landbridge.plan.args import Args
from landbridge.plan.aws.access.iam_policies import ArnContext, Statement, allow, single_or_list
from landbridge.plan.policy_document import document

_MOUNT, _WRITE, _ROOT = (f"elasticfilesystem:Client{right}" for right in ("Mount", "Write", "RootAccess"))
_ACCESS_POINT = "elasticfilesystem:AccessPointArn"
#: Folder of a share, which EFS creates with this mode at the first mount: root of nodes is squashed, and cannot create one.
_SHARE_FOLDER, _SHARE_MODE = "/share", "1777"


class EfsAccess(Args):
    """Access point of a file system that Landbridge creates: its folder, and the folder's mode if EFS creates it.

    It sets no POSIX user: each user keeps their own files. The file system policy squashes root.
    """

    path: str
    mode: str | None


class EfsClientRight(Args):
    """Right of Landbridge's clients on an existing file system, through its access point if it has one."""

    id: str
    access_point: str | None
    read_only: bool


def efs_access(share: Efs) -> EfsAccess | None:
    """Plan the access point of a file system; None for one that is mounted in clear text.

    Homes are in the root folder of the file system, where root of the login hosts creates them.
    """
    if not share.tls:
        return None
    return (
        EfsAccess(path="/", mode=None)
        if isinstance(share, EfsHome)
        else EfsAccess(path=_SHARE_FOLDER, mode=_SHARE_MODE)
    )


def mounts_efs_over_tls(environment: Environment) -> bool:
    """Return true if hosts in AWS need the EFS mount helper."""
    storage = environment.storage
    systems = [*storage.in_aws().values(), *storage.existing().values()]
    return any(isinstance(share, Efs | ExistingEfs) and share.tls for share in systems)


def mount_options(access_point: str | None) -> str:
    """Return the options of `mount -t efs`, which adds the options that EFS recommends for NFS."""
    return ",".join(["tls", "iam", *([f"accesspoint={access_point}"] if access_point else []), "_netdev"])


def file_system_policy(file_system: str, access_point: str, clients: Sequence[str], root_clients: Sequence[str]) -> str:
    """Return the policy of a file system: the clients' roles read and write through the access point, over TLS, and nothing
    else is allowed. Root of `root_clients` is root, that of all others is squashed. All arguments are ARNs.

    A policy replaces EFS's default one, which allows every client with a route, without credentials. The Deny statements also hold
    for roles that another policy of the account allows. EFS enforces no other condition keys for NFS clients.
    """
    every = [_MOUNT, _WRITE, _ROOT]
    through = {
        "StringEquals": {_ACCESS_POINT: access_point},
        "Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"},
    }

    def principals(arns: Sequence[str]) -> dict[str, Any]:
        return {"Principal": {"AWS": single_or_list(sorted(arns))}}

    def deny(sid: str, condition: dict[str, Any]) -> Statement:
        statement = {"Sid": sid, "Effect": "Deny", "Principal": {"AWS": "*"}, "Action": every, "Resource": file_system}
        return {**statement, "Condition": condition}

    statements = [allow("MountAndWrite", [_MOUNT, _WRITE], file_system, through) | principals(clients)]
    if root_clients:
        statements.append(allow("RootAccess", [_ROOT], file_system, through) | principals(root_clients))
    statements.append(deny("DenyClearText", {"Bool": {"aws:SecureTransport": "false"}}))
    statements.append(deny("DenyWithoutAccessPoint", {"StringNotEquals": {_ACCESS_POINT: access_point}}))
    return document(statements)


def existing_efs_rights(environment: Environment) -> tuple[EfsClientRight, ...]:
    """Plan the rights of clients on existing file systems that are mounted over TLS."""
    return tuple(
        EfsClientRight(id=share.id, access_point=share.access_point, read_only=share.read_only)
        for share in environment.storage.existing().values()
        if isinstance(share, ExistingEfs) and share.tls
    )


def client_statements(place: ArnContext, rights: Sequence[EfsClientRight]) -> list[Statement]:
    """Return the statements of a client's role; none has root access, which the owner's policy may give."""
    return [
        allow(
            f"MountEfs{number}",
            [_MOUNT] if right.read_only else [_MOUNT, _WRITE],
            _arn(place, "file-system", right.id),
            None
            if right.access_point is None
            else {"StringEquals": {_ACCESS_POINT: _arn(place, "access-point", right.access_point)}},
        )
        for number, right in enumerate(rights)
    ]


def _arn(place: ArnContext, kind: str, name: str) -> str:
    return f"arn:{place.partition}:elasticfilesystem:{place.region}:{place.account}:{kind}/{name}"
