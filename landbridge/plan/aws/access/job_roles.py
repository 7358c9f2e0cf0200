"""IAM roles of jobs: one for each data class that may be in AWS, for that class's bucket and key alone.

The role job_credentials of each node gives a job short-lived credentials of the role of its account's data class.
"""

from collections.abc import Sequence
from typing import Any

from landbridge import hostlist
from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment
from landbridge.plan.args import Args
from landbridge.plan.aws.access.iam_policies import (
    READ,
    WRITE,
    ArnContext,
    Statement,
    allow,
    deny_backups,
    deny_dataset_changes,
    hub,
    single_or_list,
)
from landbridge.plan.aws.access.iam_policies import roles_anywhere_trust as anywhere_trust
from landbridge.plan.policy_document import document
from landbridge.plan.resource_names import shortened

#: Prefix of the role session names of jobs; the job id follows.
SESSION = "job-"
#: Trust policies have 2048 characters by default; this leaves room for the other parts of the policy.
#: Source: IAM User Guide, "IAM and AWS STS quotas": role trust policy length, 2026-11-25.
_MAX_HOST_CHARACTERS = 1000


class JobRolePlan(Args):
    """Role of the jobs of one data class. `hosts`: on-prem nodes whose certificates may assume it."""

    data_class: str
    name: str
    may_delete: bool = False
    hosts: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return the key of the role among the roles of the cluster, also the name of its profile on on-prem nodes."""
        return f"{SESSION}{self.data_class}"


def job_role_name(cluster: str, data_class: str) -> str:
    """Return the name of a class's role; a long name is shortened and stays unique."""
    return shortened(f"{cluster}-{SESSION}{data_class}", limits().names.rules["iam_role"].characters[1])


def job_roles(environment: Environment) -> tuple[JobRolePlan, ...]:
    """Plan a role for each data class whose sites include AWS, in the order of their names."""
    nodes = tuple(host for group in environment.node_groups for host in hostlist.expand(group.hosts))
    return tuple(
        JobRolePlan(
            data_class=name,
            name=job_role_name(environment.name, name),
            may_delete=data_class.jobs_may_delete,
            hosts=_common_names(nodes) if environment.aws.iam.anywhere and "onprem" in data_class.sites else (),
        )
        for name, data_class in sorted(environment.data_classes.items())
        if "aws" in data_class.sites
    )


def permissions(plan: JobRolePlan, bucket_arn: str, key_arn: str) -> list[Statement]:
    """Return the statements of a class's jobs: read and write its objects, delete them only if the class says so, and change no
    dataset.

    AbortMultipartUpload removes unfinished uploads only. S3 keeps the earlier versions of an object that is written
    again: the hub's buckets have versioning.
    """
    objects = [*READ, *WRITE, *(["s3:DeleteObject"] if plan.may_delete else [])]
    return [*hub([bucket_arn], [key_arn], objects), deny_backups([bucket_arn]), deny_dataset_changes([bucket_arn])]


def trust(plan: JobRolePlan, place: ArnContext, node_role_arns: Sequence[str], anchor: str | None) -> str:
    """Return the trust policy: the roles of nodes for sessions named after a job, from an EC2 instance; on-prem nodes by
    certificate.

    The user is the session's source identity, which CloudTrail records. Its action has a statement without the
    condition on the session's name: the key belongs to AssumeRole alone.
    Source: Service Authorization Reference, "Condition keys for AWS Security Token Service"; IAM User Guide, "Monitor
    and control actions taken with assumed roles", 2026-11-25.
    """
    principal = {"AWS": single_or_list(node_role_arns)}
    named = {"StringLike": {"sts:RoleSessionName": f"{SESSION}*"}}
    statements: list[dict[str, Any]] = [
        {
            "Sid": "AssumedByNodesForJobs",
            "Effect": "Allow",
            "Principal": principal,
            "Action": "sts:AssumeRole",
            "Condition": {**named, **from_instance(place)},
        },
        {
            "Sid": "NameUserOfJob",
            "Effect": "Allow",
            "Principal": principal,
            "Action": "sts:SetSourceIdentity",
        },
    ]
    if plan.hosts:
        statement = anywhere_trust(place.account, plan.hosts, anchor)
        if any("?" in host for host in plan.hosts):
            equals = dict(statement["Condition"]["StringEquals"])
            like = {key: equals.pop(key) for key in tuple(equals) if key.startswith("aws:PrincipalTag/")}
            statement["Condition"] = {**statement["Condition"], "StringEquals": equals, "StringLike": like}
        statements.append({"Sid": "AssumedByNodesOnPrem", **statement})
    return document(statements)


def node_statements(place: ArnContext, secret_arn: str, role_arns: list[str], *, bound: bool) -> list[Statement]:
    """Return the statements of each role of nodes: Slurm's key at boot, and the roles of jobs; no object of the hub.

    `bound`: the nodes' own subnets have interface endpoints of both services. The credentials of an instance then work
    from that instance's address alone.
    Source: IAM User Guide, "AWS global condition context keys": aws:Ec2InstanceSourceVpc and
    aws:Ec2InstanceSourcePrivateIPv4 are present with the credentials of an instance's role, aws:SourceVpc and
    aws:VpcSourceIp only in requests through a VPC endpoint; EC2 User Guide, "IAM roles for Amazon EC2", for
    ec2:SourceInstanceARN, 2026-11-25.
    """
    condition = _of_instance(place, bound=bound)
    statements = [allow("ReadSlurmKey", ["secretsmanager:GetSecretValue"], secret_arn, condition)]
    if role_arns:
        actions = ["sts:AssumeRole", "sts:SetSourceIdentity"]
        statements.append(allow("AssumeRolesOfJobs", actions, role_arns, condition))
    return statements


def certificate_statements(place: ArnContext, secret_arn: str | None, *, bound: bool) -> list[Statement]:
    """Return the statement of each role of nodes to read the certificate of their exporters; none without its secret."""
    if secret_arn is None:
        return []
    condition = _of_instance(place, bound=bound)
    return [allow("ReadMetricsCertificate", ["secretsmanager:GetSecretValue"], secret_arn, condition)]


def _of_instance(place: ArnContext, *, bound: bool) -> dict[str, Any]:
    condition: dict[str, Any] = dict(from_instance(place))
    if bound:
        condition["StringEquals"] = {
            "aws:Ec2InstanceSourceVpc": "${aws:SourceVpc}",
            "aws:Ec2InstanceSourcePrivateIPv4": "${aws:VpcSourceIp}",
        }
    return condition


def from_instance(place: ArnContext) -> dict[str, Any]:
    """Return the condition that a request has the credentials that EC2 delivered to an instance of this account."""
    arn = f"arn:{place.partition}:ec2:*:{place.account}:instance/*"
    return {"ArnLike": {"ec2:SourceInstanceARN": arn}}


def _common_names(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of certificates: each host, or patterns with ? for each digit if the names are too many."""
    if sum(len(host) + 4 for host in hosts) <= _MAX_HOST_CHARACTERS:
        return hosts
    return tuple(dict.fromkeys("".join("?" if char.isdigit() else char for char in host) for host in hosts))
