"""Check of the lifecycle rules of the data hub's buckets: none deletes or archives datasets."""

from collections.abc import Iterator, Mapping
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, warning
from landbridge.plan.aws.storage.data_hub import data_hub_args

#: Answers about a bucket that does not exist, or has no rules, or is another account's: `live-bucket` names the last one.
_NONE = ("NoSuchLifecycleConfiguration", "NoSuchBucket", "404")
#: Prefix of datasets and of their files for jobs.
_DATASETS = "datasets/"
#: Storage classes whose objects cannot be read before they are restored.
_ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")


@check("lifecycle rules of the hub's buckets", "s3:GetLifecycleConfiguration")
def bucket_lifecycle(scene: Scene) -> Iterator[Finding]:
    """No lifecycle rule of another program deletes or archives datasets in the data hub's buckets.

    A job would read a dataset without some of its files. The mover notices it within a day, and copies the files again and again.
    Source: S3 User Guide, "Managing the lifecycle of objects"; S3 API Reference, LifecycleRule and LifecycleRuleFilter.
    """
    if scene.account is None:
        return
    for plan in data_hub_args(scene.environment).buckets:
        name = plan.bucket_name(scene.account)
        try:
            rules = scene.aws.ask("s3", "get_bucket_lifecycle_configuration", Bucket=name)["Rules"]
        except AwsRefusal as refused:
            if refused.code not in _NONE:
                raise
            continue
        for rule in rules:
            effect = _effect(rule)
            is_planned = rule.get("ID") == "expiry" and (rule.get("Expiration") or {}).get("Days") == plan.expire_days
            if effect and _reaches_datasets(rule) and not is_planned:
                message = (
                    f"the lifecycle rule {rule.get('ID', '(without an id)')} of the bucket {name} {effect} datasets"
                )
                fix = f"let its prefix leave out {_DATASETS}, or disable it"
                yield warning("live-bucket-lifecycle", message, ("data_classes", plan.data_class), fix)


def _effect(rule: Mapping[str, Any]) -> str:
    """Return the effect of an enabled rule on current objects; empty for another rule."""
    if rule.get("Status") != "Enabled":
        return ""
    expiration = rule.get("Expiration") or {}
    if "Days" in expiration or "Date" in expiration:
        return "deletes"
    return "archives" if any(each["StorageClass"] in _ARCHIVES for each in rule.get("Transitions") or ()) else ""


def _reaches_datasets(rule: Mapping[str, Any]) -> bool:
    """Return whether a rule reaches objects of datasets, which have no tags."""
    condition = rule.get("Filter") or {}
    both = condition.get("And") or {}
    if condition.get("Tag") or both.get("Tags"):
        return False
    prefix = str(condition.get("Prefix") or both.get("Prefix") or rule.get("Prefix") or "")
    return _DATASETS.startswith(prefix) or prefix.startswith(_DATASETS)
