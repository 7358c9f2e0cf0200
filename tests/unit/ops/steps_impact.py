"""Steps of a preview as the engine reports them (the JSON of its step events), and a change with its effect."""

from dataclasses import dataclass
from typing import Any

from landbridge.catalog.aws.impact import Effect

Step = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """Change with its effect. `text` is part of the reason or of the first action; `known` names where users met it."""

    name: str
    steps: tuple[Step, ...]
    effect: Effect
    text: str
    known: str = ""


def urn(token: str, name: str) -> str:
    return f"urn:pulumi:hybrid::landbridge::landbridge:index:Some${token}::{name}"


def step(operation: str, token: str, name: str, **more: Any) -> Step:
    """Return a step event's metadata; `old`, `new` (inputs), `diff` (detailed), `diffs` and `keys` are the engine's."""
    old, new = more.get("old"), more.get("new")
    resource_urn = urn(token, name)
    flags = {"protect": more.get("protect"), "retainOnDelete": more.get("retain")}
    state = {"urn": resource_urn, "type": token, "id": "x", "parent": "", "provider": "", "custom": True, **flags}
    return {
        "op": operation,
        "urn": resource_urn,
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
    """Return the three steps of a replacement; as with the real provider, the first two carry the reason."""
    details = {"keys": list(keys), "diff": dict.fromkeys(keys, "update-replace"), **more}
    return (
        step("create-replacement", token, name, **details),
        step("replace", token, name, **details),
        step("delete-replaced", token, name, old=more.get("old"), retain=more.get("retain")),
    )


def sized(token: str, name: str, key: str, old: Any, new: Any, part: str = "") -> tuple[Step, ...]:
    """Return the step of an update of one property, `part` of which differs."""
    return (step("update", token, name, diff={key + part: "update"}, old={key: old}, new={key: new}),)


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
