"""CloudWatch alarms that send e-mail: VPN tunnels, reaper, burst controller, NAT gateways and accounting database."""

from collections.abc import Iterator, Mapping
from typing import Literal

from landbridge.catalog.aws.alarms import alarm_facts
from landbridge.environment import Environment
from landbridge.environment.aws.guardrails import Email
from landbridge.plan.args import Args
from landbridge.plan.aws.access.iam_policies import ArnContext, allow
from landbridge.plan.aws.accounting_database import database_name
from landbridge.plan.aws.storage.data_hub import key_policy
from landbridge.plan.network.link import connections
from landbridge.plan.network.subnets import subnets
from landbridge.plan.policy_document import document, merged

#: Tunnels of a VPN connection.
TUNNELS = (1, 2)


class AlarmPlan(Args):
    """Alarm on one metric. `dimensions` have fixed values; `ids` are dimensions whose values are ids of resources, by the
    keys of monitored_ids.
    """

    name: str
    description: str
    namespace: str
    metric: str
    statistic: str
    comparison: Literal["GreaterThanThreshold", "LessThanThreshold"]
    threshold: float
    period_seconds: int
    periods: int
    missing: str
    dimensions: dict[str, str]
    ids: dict[str, str]


class AlarmsArgs(Args):
    """Plan of the topic, its subscribers and its alarms, by key. `heartbeat`: the burst controller may publish one."""

    cluster: str
    subscribers: tuple[Email, ...]
    alarms: dict[str, AlarmPlan]
    heartbeat: bool

    @property
    def topic(self) -> str:
        """Name of the topic."""
        return f"{self.cluster}-alarms"


def wants_alarms(environment: Environment) -> bool:
    """Return true if alarms are configured, or by default in real AWS: the emulator has no metrics."""
    alarms = environment.aws.guardrails.alarms
    return environment.aws.endpoints.are_public if alarms is None else alarms


def heartbeat(environment: Environment) -> str | None:
    """Return the namespace of the burst controller's heartbeat metric; None without alarms or without pools.

    The daemon publishes it, and the alarm treats missing data as a failure: this covers a dead daemon, expired
    credentials and a site without internet access. Leases cannot replace it: without nodes there is none, and the lease
    of a long job stays valid for days after the last renewal.
    """
    if not wants_alarms(environment) or not environment.aws.pools:
        return None
    return alarm_facts().alarms["burst_silent"].namespace


def monitored_ids(environment: Environment) -> tuple[str, ...]:
    """Return the keys of resources whose alarms need their id: VPN connections, their tunnels' addresses, NAT gateways."""
    vpns = [f"vpn-{connection.key}" for connection in connections(environment)]
    gateways = [f"nat-{subnet.zone}" for subnet in subnets(environment) if subnet.tier == "public"]
    return (*(key for vpn in vpns for key in (vpn, *(f"{vpn}-{number}" for number in TUNNELS))), *gateways)


def alarms_args(environment: Environment, subscribers: tuple[str, ...], reaper: str | None) -> AlarmsArgs | None:
    """Plan the alarms; None without a subscriber. `reaper` is the name of the reaper's function."""
    if not wants_alarms(environment) or not subscribers:
        return None
    return AlarmsArgs(
        cluster=environment.name,
        subscribers=subscribers,
        alarms=dict(_alarms(environment, reaper)),
        heartbeat=heartbeat(environment) is not None,
    )


def _alarms(environment: Environment, reaper: str | None) -> Iterator[tuple[str, AlarmPlan]]:
    name = environment.name
    for connection in connections(environment):
        vpn = f"vpn-{connection.key}"
        yield vpn, _alarm(name, vpn, "vpn", ids={"VpnId": vpn})
        for number in TUNNELS:
            tunnel = f"{vpn}-{number}"
            yield tunnel, _alarm(name, tunnel, "vpn_tunnel", ids={"VpnId": vpn, "TunnelIpAddress": tunnel})
    if reaper is not None:
        function, minutes = {"FunctionName": reaper}, 3 * environment.aws.guardrails.every_minutes
        yield "reaper-errors", _alarm(name, "reaper-errors", "reaper_errors", function)
        yield "reaper-silent", _alarm(name, "reaper-silent", "reaper_silent", function, minutes=minutes)
    if heartbeat(environment) is not None:
        yield "burst-silent", _alarm(name, "burst-silent", "burst_silent", {"Cluster": name})
    for key in monitored_ids(environment):
        if key.startswith("nat-"):
            yield key, _alarm(name, key, "nat", ids={"NatGatewayId": key})
    if environment.aws.services is not None:
        instance = {"DBInstanceIdentifier": database_name(environment)}
        free = alarm_facts().storage_share * environment.aws.services.database.storage_gib * 2**30
        yield "accounting-storage", _alarm(name, "accounting-storage", "accounting_storage", instance, threshold=free)
        yield "accounting-cpu", _alarm(name, "accounting-cpu", "accounting_cpu", instance)


def _alarm(
    cluster: str,
    key: str,
    facts_key: str,
    dimensions: Mapping[str, str] | None = None,
    *,
    ids: Mapping[str, str] | None = None,
    minutes: int | None = None,
    threshold: float | None = None,
) -> AlarmPlan:
    facts = alarm_facts().alarms[facts_key]
    known = facts.below if facts.above is None else facts.above
    return AlarmPlan(
        name=f"{cluster}-{key}",
        description=f"Landbridge {cluster}: {facts.description}",
        namespace=facts.namespace,
        metric=facts.metric_name,
        statistic=facts.statistic,
        comparison="LessThanThreshold" if facts.above is None else "GreaterThanThreshold",
        threshold=_given(threshold, known),
        period_seconds=60 * int(_given(minutes, facts.minutes)),
        periods=facts.periods,
        missing=facts.missing,
        dimensions=dict(dimensions or {}),
        ids=dict(ids or {}),
    )


def _given(planned: float | None, fact: float | None) -> float:
    value = fact if planned is None else planned
    if value is None:
        raise ValueError("neither the plan nor alarms.yaml has the value")
    return value


def _of_this_clusters_alarms(place: ArnContext) -> dict[str, dict[str, str]]:
    """Return the conditions of CloudWatch's requests for alarms of this cluster.

    Source: SNS Developer Guide, "Enable compatibility between event sources from AWS services and encrypted topics";
    aws/modern-data-architecture-accelerator, grantCloudWatchAlarmsTopicAccess, for both keys.
    """
    alarms = f"arn:{place.partition}:cloudwatch:{place.region}:{place.account}:alarm:{place.cluster}-*"
    return {"StringEquals": {"aws:SourceAccount": place.account}, "ArnLike": {"aws:SourceArn": alarms}}


def topic_policy(place: ArnContext, topic_arn: str) -> str:
    """Return the topic's policy: alarms of this cluster publish; the account's IAM policies decide about the rest."""
    statement = allow("PublishAlarms", ["sns:Publish"], topic_arn, _of_this_clusters_alarms(place))
    return document([{**statement, "Principal": {"Service": "cloudwatch.amazonaws.com"}}])


def topic_key_policy(place: ArnContext) -> str:
    """Return the key policy. AWS's key alias/aws/sns cannot be used: its policy does not permit CloudWatch, and cannot be
    changed.

    Source: as for the conditions; Amazon CloudWatch User Guide, "Alarm actions": the message is lost without the grant.
    """
    actions = ["kms:Decrypt", "kms:GenerateDataKey*"]
    statement = allow("AllowAlarms", actions, "*", _of_this_clusters_alarms(place))
    publisher = {**statement, "Principal": {"Service": "cloudwatch.amazonaws.com"}}
    return merged(key_policy(place.partition, place.account), [publisher])


def heartbeat_policy() -> str:
    """Return the policy of the role of the burst controller: metrics of Landbridge's namespace only.

    Source: CloudWatch User Guide, "Using condition keys to limit access to CloudWatch namespaces".
    """
    namespace = alarm_facts().alarms["burst_silent"].namespace
    condition = {"StringEquals": {"cloudwatch:namespace": namespace}}
    return document([allow("PutHeartbeat", ["cloudwatch:PutMetricData"], "*", condition)])
