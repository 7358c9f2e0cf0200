"""Scripts of pools (`actions`): the data that their nodes get, and the permissions of the nodes' role to read them."""

import re
from collections.abc import Mapping
from typing import Any

from landbridge.environment import ActionScript, Environment, PoolActions, PoolSettings
from landbridge.plan.args import Args
from landbridge.plan.aws.access.iam_policies import ArnContext, Statement, allow
from landbridge.plan.aws.access.job_roles import from_instance
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.resource_names import ACCOUNT_DIGITS


class ActionPlan(Args):
    """Script of a pool, as a node gets it. `region` is None for a bucket in the environment's own region."""

    bucket: str
    key: str
    sha256: str
    arguments: tuple[str, ...] = ()
    timeout: int
    region: str | None = None


class ActionObject(Args):
    """Object that the nodes' role may read, with the data class of its bucket or the ARN of its KMS key."""

    bucket: str
    key: str
    #: Region of the bucket.
    region: str
    #: Data class whose bucket of the hub it is; None for any other bucket.
    data_class: str | None = None
    kms_key: str | None = None


def pool_actions(pool: PoolSettings) -> dict[str, tuple[ActionPlan, ...]]:
    """Return the scripts of a pool by event; an event without scripts is left out."""
    by_event: dict[str, tuple[ActionPlan, ...]] = {}
    for event, _, script in pool.actions.scripts():
        planned = ActionPlan(
            bucket=script.bucket,
            key=script.key,
            sha256=script.sha256,
            arguments=script.arguments,
            timeout=script.timeout,
            region=script.region,
        )
        by_event[event] = (*by_event.get(event, ()), planned)
    return by_event


def actions_data(actions: Mapping[str, tuple[ActionPlan, ...]]) -> dict[str, Any]:
    """Return the key of the pool's file on a node; empty without scripts, so that their launch templates do not change."""
    return (
        {"actions": {key: [plan.model_dump() for plan in plans] for key, plans in actions.items()}} if actions else {}
    )


def action_objects(environment: Environment) -> tuple[ActionObject, ...]:
    """Return the objects of all pools once each, in the order of the file. The pools share one role."""
    objects = (
        ActionObject(
            bucket=script.bucket,
            key=script.key,
            region=script.region or environment.region,
            data_class=hub_class(environment, script),
            kms_key=script.kms_key,
        )
        for pool in environment.aws.pools
        for _, _, script in pool.actions.scripts()
    )
    return tuple(dict.fromkeys(objects))


def hub_class(environment: Environment, script: ActionScript) -> str | None:
    """Return the data class whose bucket of the hub has the script; None for another bucket.

    A bucket's name ends in the account id, which is known when the environment is built.
    """
    for name in environment.data_classes:
        pattern = rf"{re.escape(bucket_prefix(environment.name, name))}-\d{{{ACCOUNT_DIGITS}}}"
        if re.fullmatch(pattern, script.bucket):
            return name
    return None


def action_seconds(actions: PoolActions) -> int:
    """Return the sum of the time limits of a pool's scripts."""
    return sum(script.timeout for _, _, script in actions.scripts())


def object_arns(objects: tuple[ActionObject, ...], partition: str) -> list[str]:
    """Return the ARNs of the objects."""
    return list(dict.fromkeys(f"arn:{partition}:s3:::{item.bucket}/{item.key}" for item in objects))


def script_statements(
    objects: tuple[ActionObject, ...], place: ArnContext, hub_keys: Mapping[str, str]
) -> list[Statement]:
    """Return the statements of the nodes' role for exactly these objects; none without objects.

    `hub_keys` are ARNs by data class. KMS is called by S3 for the node, and only then: the request may not have the key
    of the instance.
    Source: KMS Developer Guide, "kms:ViaService"; S3 User Guide, "Specifying server-side encryption with AWS KMS"
    (kms:Decrypt for GetObject), 2026-11-25.
    """
    if not objects:
        return []
    statements = [allow("ReadScripts", ["s3:GetObject"], object_arns(objects, place.partition), from_instance(place))]
    by_region: dict[str, list[str]] = {}
    for item in objects:
        key = hub_keys.get(item.data_class) if item.data_class is not None else item.kms_key
        if key is not None and key not in by_region.setdefault(item.region, []):
            by_region[item.region].append(key)
    for number, (region, keys) in enumerate((region, keys) for region, keys in by_region.items() if keys):
        via_s3 = {"StringEquals": {"kms:ViaService": f"s3.{region}.{place.suffix}"}}
        statements.append(allow(f"DecryptScripts{number or ''}", ["kms:Decrypt"], keys, via_s3))
    return statements
