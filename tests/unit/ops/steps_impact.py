"""Steps of a preview as the engine tells them (the JSON of its step events), and a change with what it means."""

from dataclasses import dataclass
from typing import Any

from landbridge.catalog.aws.impact import Effect

Step = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One change. `says` is in what is to be done first or in why; `known` is where users met it."""

    name: str
    steps: tuple[Step, ...]
    effect: Effect
    says: str
    known: str = ""


def urn(token: str, name: str) -> str:
    return f"urn:pulumi:hybrid::landbridge::landbridge:index:Some${token}::{name}"


def step(operation: str, token: str, name: str, **more: Any) -> Step:
    """A step event's metadata, with `old`, `new` (inputs), `diff` (detailed), `diffs` and `keys` as the engine spells them."""
    old, new = more.get("old"), more.get("new")
    own = urn(token, name)
    flags = {"protect": more.get("protect"), "retainOnDelete": more.get("retain")}
    state = {"urn": own, "type": token, "id": "x", "parent": "", "provider": "", "custom": True, **flags}
    return {
        "op": operation,
        "urn": own,
        "type": token,
        "provider": "",
        "old": None if operation == "create" else {**state, "inputs": old or {}},
        "new": None if operation == "delete" else {**state, "inputs": new or {}},
        "detailedDiff": {
            path: {"diffKind": kind, "inputDiff": True} for path, kind in (more.get("diff") or {}).items()
        },
        "diffs": more.get("diffs"),
        "keys": more.get("keys"),
    }


def replaced(token: str, name: str, *keys: str, **more: Any) -> tuple[Step, ...]:
    """The three steps of a replacement: as the real provider tells them, the first two carry the reason."""
    told = {"keys": list(keys), "diff": dict.fromkeys(keys, "update-replace"), **more}
    return (
        step("create-replacement", token, name, **told),
        step("replace", token, name, **told),
        step("delete-replaced", token, name, old=more.get("old"), retain=more.get("retain")),
    )


LUSTRE, ZFS, EFS = (
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "aws:efs/fileSystem:FileSystem",
)
TEMPLATE, INSTANCE = "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/instance:Instance"
BUCKET, LIFECYCLE = "aws:s3/bucket:Bucket", "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
VOLUME, DATABASE = "aws:ebs/volume:Volume", "aws:rds/instance:Instance"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


def lifecycle(days: int) -> dict[str, Any]:
    return {"rules": [{"id": "old-versions", "noncurrentVersionExpiration": {"noncurrentDays": days}}]}
