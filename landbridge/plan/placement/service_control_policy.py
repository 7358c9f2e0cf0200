"""Service control policy of the organisation for the cluster's account: regions, other accounts, data classes and GPU types.

It denies what no policy inside the account can permit again. It has denials only: it is attached beside FullAWSAccess,
or beside an allow list of the organisation. An SCP does not know Slurm: a launch has the data class of its jobs as a
tag, which the burst controller sets from the account; launches without the tag are those of kept nodes and operators.
Source: AWS Organizations User Guide, "Service control policies (SCPs)" and "SCP syntax"; Service Authorization
Reference, "Actions defined by Amazon EC2" (aws:RequestTag and ec2:InstanceType of RunInstances).
"""

import json
import re
from typing import Any

from landbridge.catalog import instances, regions
from landbridge.catalog.aws.access.service_control_policies import service_control_policy_facts
from landbridge.catalog.regimes import regimes
from landbridge.environment import Environment
from landbridge.findings import Finding
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.other_regions import other_regions
from landbridge.tags import DATA_CLASS

Statement = dict[str, Any]
_TAG = f"aws:RequestTag/{DATA_CLASS}"
_REGION = "aws:RequestedRegion"


def permitted_regions(environment: Environment) -> tuple[str, ...]:
    """Return the regions of the environment's resources: its own, regions of replicas, and regions of pools."""
    classes = environment.storage.data_hub.classes.values()
    replicas = {class_.replica_region for class_ in classes if class_.replica_region is not None}
    return (environment.region, *sorted({*replicas, *environment.aws.other_regions}))


def class_regions(environment: Environment, name: str) -> tuple[str, ...]:
    """Return the regions where jobs with data of a class may run; empty if none may be in AWS."""
    data_class = environment.data_classes[name]
    if "aws" not in data_class.sites:
        return ()
    regime = regimes().get(data_class.regime or "")
    names = dict.fromkeys((environment.region, *data_class.regions))
    return tuple(region for region in names if regime is None or regime.allows_region(region))


def planned_types(environment: Environment) -> tuple[str, ...]:
    """Return the instance types that pools start in any region, and the types of node image builds."""
    environments = {environment.region: environment, **other_regions(environment)}
    builds = {
        image.build.instance
        for image in environment.aws.images.values()
        if image.build is not None and image.build.instance is not None
    }
    started = {
        terms.instance
        for region, region_environment in environments.items()
        for pool in region_environment.aws.pools
        for terms in fallbacks(pool, region)
    }
    return tuple(sorted(builds | started))


def service_control_policy(environment: Environment) -> str:
    """Return the document without spaces, as its size is counted."""
    statements = [
        _other_regions(environment),
        _other_accounts(environment),
        *_data_classes(environment),
        _types(environment),
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))


def size_findings(text: str) -> tuple[Finding, ...]:
    """Return a finding if the document is larger than AWS Organizations accepts."""
    limit = service_control_policy_facts().characters
    if len(text) <= limit:
        return ()
    message = f"the service control policy has {len(text):,} characters; AWS Organizations accepts {limit:,}"
    fix = "use fewer data classes or instance types, or attach its statements as several policies"
    return (Finding("service-control-policy-size", message, fix=fix),)


def _other_regions(environment: Environment) -> Statement:
    return {
        "Sid": "DenyOtherRegions",
        "Effect": "Deny",
        "NotAction": list(service_control_policy_facts().global_actions),
        "Resource": "*",
        "Condition": {"StringNotEquals": {_REGION: list(permitted_regions(environment))}},
    }


def _other_accounts(environment: Environment) -> Statement:
    """Return the denial of uploads into buckets of other accounts, except those that the endpoints' policies trust.

    A service control policy does not apply to principals of other accounts. They need an Allow of a bucket's own policy
    too, and the hub's buckets have none. Source: IAM User Guide, "IAM policy elements: Variables and tags" (variables in
    service control policies) and aws:ResourceAccount; read 2026-11-26.
    """
    accounts = ["${aws:PrincipalAccount}", *environment.aws.endpoint_policy.accounts]
    return {
        "Sid": "DenyOtherAccounts",
        "Effect": "Deny",
        "Action": ["s3:PutObject", "s3:ReplicateObject"],
        "Resource": "*",
        "Condition": {"StringNotEquals": {"aws:ResourceAccount": accounts}},
    }


def _data_classes(environment: Environment) -> list[Statement]:
    """Return the denials of launches by their data class: default deny, then classes that not every region may have."""
    by_class = {name: class_regions(environment, name) for name in environment.data_classes}
    in_aws = sorted(name for name, names in by_class.items() if names)
    unknown = {"StringNotEquals": {_TAG: in_aws}} if in_aws else {}
    statements = [_launch(environment, "DataClasses", {"Null": {_TAG: "false"}, **unknown})]
    by_regions: dict[tuple[str, ...], list[str]] = {}
    for name in in_aws:
        by_regions.setdefault(by_class[name], []).append(name)
    launch_regions = {environment.region, *environment.aws.other_regions}
    for number, (names, classes) in enumerate(sorted(by_regions.items()), start=1):
        if not launch_regions <= set(names):
            condition = {"StringEquals": {_TAG: classes}, "StringNotEquals": {_REGION: list(names)}}
            statements.append(_launch(environment, f"DataClassRegions{number}", condition))
    return statements


def _types(environment: Environment) -> Statement:
    """Return the denial of accelerated types besides the pools' types; of all accelerated types without data in AWS."""
    # All families of a letter, so that it includes types that are newer than the catalogue: p*, g*, trn*.
    families = {name.split(".")[0] for name, kind in instances().items() if kind.accelerators is not None}
    patterns = sorted({f"{re.split('[0-9]', family)[0]}*" for family in families})
    patterns = [
        word for word in patterns if not any(word != other and word.startswith(other[:-1]) for other in patterns)
    ]
    is_in_aws = any(class_regions(environment, name) for name in environment.data_classes)
    types = list(planned_types(environment)) if is_in_aws else []
    condition: dict[str, Any] = {"StringLike": {"ec2:InstanceType": patterns}}
    if types:
        condition["StringNotEquals"] = {"ec2:InstanceType": types}
    statement = _launch(environment, "GpuTypes", condition)
    return {**statement, "Action": ["ec2:RunInstances", "ec2:StartInstances"]}


def _launch(environment: Environment, sid: str, condition: dict[str, Any]) -> Statement:
    facts = regions().get(environment.region)
    partition = facts.partition if facts is not None else "aws"
    return {
        "Sid": sid,
        "Effect": "Deny",
        "Action": "ec2:RunInstances",
        "Resource": f"arn:{partition}:ec2:*:*:instance/*",
        "Condition": condition,
    }
