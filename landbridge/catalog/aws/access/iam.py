"""IAM policy vocabulary: services, actions of services that nodes may need, condition operators and limits."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, Field

from landbridge.catalog import files
from landbridge.catalog.files import Facts, read


def _words(text: object) -> object:
    return tuple(text.split()) if isinstance(text, str) else text


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class IamLimits(Facts):
    """Limits of roles and policies; AWS raises `managed_policies_per_role` and `trust_policy_characters` by quotas."""

    managed_policies_per_role: int
    managed_policies_quota: str
    inline_policy_characters: int
    trust_policy_characters: int
    trust_policy_quota: str
    role_name: int
    path: int
    ssm_activation_days: int


class IamArns(Facts):
    """Services whose ARNs contain `both` region and account, only the `account`, or `neither`."""

    both: Words
    account: Words
    neither: Words


class IamFacts(Facts):
    """Facts of iam.yaml."""

    source: str
    date: date
    services: Words
    operators: Words
    global_keys: Words
    too_wide: Mapping[str, str]
    retired: Mapping[str, str]
    escalation: Words
    far_reaching: Words
    whole_resources: Words
    needed_by_nodes: Words
    arns: IamArns
    limits: IamLimits
    reserved_paths: tuple[str, ...]

    def is_everything(self, resource: str) -> bool:
        """Return true for `*`, and for an ARN that matches every resource of a type."""
        return resource == "*" or (resource.count(":") >= 5 and resource.split(":", 5)[5] in self.whole_resources)


class IamActions(Facts):
    """Actions of one service: on an `object` or a `bucket` (S3), on `some` resource type, or on `none` (only `*`).

    `arns` are the services on whose resources they act.
    """

    arns: Words

    bucket: Words = ()
    object: Words = ()
    some: Words = ()
    none: Words = ()

    def all(self) -> tuple[str, ...]:
        """Return all actions of the service."""
        return (*self.bucket, *self.object, *self.some, *self.none)


class _Service(Facts):
    source: str
    date: date
    #: None: the service itself.
    arns: Words | None = None
    actions: Mapping[str, Words]


@cache
def iam() -> IamFacts:
    """Return services, condition operators and limits (cached)."""
    return read("iam", IamFacts)


@cache
def iam_actions(service: str) -> IamActions | None:
    """Return the actions of a service, by its prefix in lower case; None if they are not recorded."""
    if service not in _recorded():
        return None
    row = read(f"iam/{service}", _Service)
    return IamActions(arns=row.arns or (service,), **row.actions)


class _Policies(Facts):
    source: str
    as_of: date = Field(alias="date")
    policies: Mapping[str, Words]


@cache
def managed_policies() -> Mapping[str, tuple[str, ...]]:
    """Return the AWS managed policies by path: `""`, `service-role/`, `job-function/`."""
    return read("iam_policies", _Policies).policies


@cache
def _recorded() -> frozenset[str]:
    return frozenset(files.names(files.package(), "iam"))
