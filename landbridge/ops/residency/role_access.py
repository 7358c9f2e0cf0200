"""Crossings between identities and buckets: sessions of jobs, nodes, SageMaker, and roles that are for no data."""

from collections.abc import Callable

from landbridge import hostlist
from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.graph import NO_CLASS, ONPREM, OUTSIDE, Barrier, DataGraph, DataPlace, in_words
from landbridge.ops.residency.iam_access import (
    FOREIGN,
    FOREIGN_BUCKET,
    named_buckets,
    passes,
    reads,
    reads_despite_key,
    trusts_host,
    writes,
    writes_elsewhere,
)
from landbridge.ops.residency.iam_forms import HubBucketForm, RoleForm, anchor_arn

_Barriers = Callable[[RoleForm, HubBucketForm], tuple[Barrier, ...]]

#: Roles that start and watch instances, or only add objects: no object is for them.
_WITHOUT_DATA = ("launch", "terminate", "read", "archive")
#: Role that may use the keys of buckets for the parts of its uploads.
_PARTS = "archive"
#: Requests with which data leaves to another account, by the service of the endpoint.
_LEAVING = {
    "s3": ("s3:PutObject", f"arn:aws:s3:::{FOREIGN_BUCKET}/x"),
    "secretsmanager": ("secretsmanager:PutSecretValue", f"arn:aws:secretsmanager:us-east-1:{FOREIGN}:secret:x"),
    "ssm": ("ssm:PutParameter", f"arn:aws:ssm:us-east-1:{FOREIGN}:parameter/x"),
    "logs": ("logs:PutLogEvents", f"arn:aws:logs:us-east-1:{FOREIGN}:log-group:x:log-stream:x"),
    "ecr.api": ("ecr:PutImage", f"arn:aws:ecr:us-east-1:{FOREIGN}:repository/x"),
}


def add_roles(graph: DataGraph, forms: CompiledForms) -> None:
    """Add the sessions of jobs, the rights of nodes, and SageMaker."""
    graph.add(DataPlace("elsewhere", "buckets and services of other AWS accounts", OUTSIDE))
    for role in forms.roles.values():
        if role.name.startswith("job-"):
            _session(graph, forms, role)
        elif role.name in _WITHOUT_DATA:
            where = forms.services_location
            place = graph.add(DataPlace(f"role:{role.name}", f"sessions of the role {role.name}", where, NO_CLASS))
            _reads(graph, forms, role, place, reads_despite_key if role.name == _PARTS else reads)
    if "node" in forms.roles:
        for region in forms.networks:
            _reads(graph, forms, forms.roles["node"], f"nodes:{region}")
            _writes(graph, forms, forms.roles["node"], f"nodes:{region}")
    for region in forms.networks:
        _leaving(graph, forms, region)
    where = forms.environment.region
    for role in forms.roles.values():
        if role.name.startswith("sagemaker-"):
            data_class = role.name.removeprefix("sagemaker-")
            title = f"training jobs of SageMaker for {data_class} in {where}"
            place = graph.add(DataPlace(role.name, title, where, data_class))
            _reads(graph, forms, role, place)
            _writes(graph, forms, role, place)


def _session(graph: DataGraph, forms: CompiledForms, role: RoleForm) -> None:
    """Add the sessions of the role of a class's jobs in AWS, and on-prem if the role trusts the certificates of nodes."""
    environment, data_class = forms.environment, role.name.removeprefix("job-")
    places = [(environment.region, list(forms.networks), "the credentials endpoint gives jobs the role of their class")]
    hosts = [host for group in environment.node_groups for host in hostlist.expand(group.hosts)]
    trusted = [
        decision
        for host in hosts[:1]
        if role.trust is not None and (decision := trusts_host(role, host, anchor_arn(environment))).allowed
    ]
    if trusted:
        places.append((ONPREM, [ONPREM], f"{trusted[0].why} admits nodes at the site"))
    for location, of_jobs, why in places:
        title = f"sessions of the role {role.name} {in_words(location)}"
        place = graph.add(DataPlace(f"session:{role.name}@{location}", title, location, data_class))
        for account, settings in environment.scheduler.accounts.items():
            for of_job in of_jobs:
                if settings.data_class == data_class:
                    path: DataPath = ("scheduler", "accounts", account, "data_class")
                    graph.flow(f"jobs:{account}@{of_job}", place, why, path)
        _reads(graph, forms, role, place)
        _writes(graph, forms, role, place)


def _reads(graph: DataGraph, forms: CompiledForms, role: RoleForm, place: str, barriers: _Barriers = reads) -> None:
    for key, bucket in forms.buckets.items():
        graph.cross(key, place, barriers(role, bucket))


def _writes(graph: DataGraph, forms: CompiledForms, role: RoleForm, place: str) -> None:
    for key, bucket in forms.buckets.items():
        graph.cross(place, key, writes(role, bucket))
    hub_names = {bucket.name for bucket in forms.buckets.values()}
    endpoint = None
    if _is_closed(forms) and graph.places[place].location != ONPREM:
        endpoint = forms.endpoints.get((graph.places[place].location, "s3"))
    for name in dict.fromkeys((FOREIGN_BUCKET, *named_buckets(role))):
        if name not in hub_names:
            title = "buckets of other AWS accounts" if name == FOREIGN_BUCKET else f"bucket {name}, not of the hub"
            target = graph.add(DataPlace(f"external:{name}", title, OUTSIDE))
            graph.cross(place, target, writes_elsewhere(role, name, endpoint))


def _leaving(graph: DataGraph, forms: CompiledForms, region: str) -> None:
    """Add requests with another account's own credentials through the VPC's endpoints. With NAT there are other ways,
    which are an assumption.
    """
    if not _is_closed(forms):
        return
    for (of_region, service), policy in forms.endpoints.items():
        if of_region == region and service in _LEAVING:
            action, arn = _LEAVING[service]
            # A request of the account's own principal is a right of its role (writes_elsewhere).
            graph.cross(f"nodes:{region}", "elsewhere", [passes(policy, action, arn, FOREIGN, FOREIGN)])


def _is_closed(forms: CompiledForms) -> bool:
    """Return whether VPC endpoints are the only way from the nodes to AWS."""
    aws = forms.environment.aws
    return aws.nat == "none" and aws.vpc is None
