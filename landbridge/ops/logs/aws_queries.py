"""Queries of AWS's own logs: VPC flow logs, tunnels and API calls, as commands of the AWS CLI. Pure."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.plan.network.flow_logs import flow_logs_args
from landbridge.plan.network.link import link_args
from landbridge.plan.other_regions import other_regions

#: Fields of each log. Source: CloudWatch Logs User Guide, "Supported logs and discovered fields"; Site-to-Site VPN User Guide, "Contents of
#: Site-to-Site VPN logs" (2026-11-26).
_FLOW_FIELDS = "@timestamp, srcAddr, srcPort, dstAddr, dstPort, protocol, action, bytes"
_TUNNEL_FIELDS = "@timestamp, @message"


@dataclass(frozen=True, slots=True)
class AwsLogQuery:
    """Query of a log in AWS: its region, the log group (empty: CloudTrail's events), and the command that runs it."""

    log: str
    region: str
    group: str
    command: str


def aws_log_queries(environment: Environment, start: int, end: int, words: str, most: int) -> tuple[AwsLogQuery, ...]:
    """Return the queries of every log that the environment has; times in seconds since 1970, `words`: a regular expression or empty."""
    return tuple(_queries(environment, start, end, words, most))


def _queries(environment: Environment, start: int, end: int, words: str, most: int) -> Iterator[AwsLogQuery]:
    for region, settings in {environment.region: environment, **other_regions(environment)}.items():
        flow = flow_logs_args(settings)
        if flow is not None:
            yield _insights("flow", region, flow.group, _FLOW_FIELDS, start, end, words, most)
    link = link_args(environment) if environment.link is not None and environment.onprem is not None else None
    if link is not None and link.logs is not None:
        yield _insights("vpn", environment.region, link.logs.group, _TUNNEL_FIELDS, start, end, words, most)
    line = ["aws", "cloudtrail", "lookup-events", "--region", environment.region]
    line += ["--start-time", str(start), "--end-time", str(end), "--max-results", str(min(most, 50))]
    yield AwsLogQuery("trail", environment.region, "", shlex.join(line))


def _insights(
    log: str, region: str, group: str, fields: str, start: int, end: int, words: str, most: int
) -> AwsLogQuery:
    escaped = words.replace("/", r"\/")
    filtered = f" | filter @message like /{escaped}/" if words else ""
    query = f"fields {fields}{filtered} | sort @timestamp desc | limit {min(most, 10_000)}"
    line = ["aws", "logs", "start-query", "--region", region, "--log-group-name", group]
    line += ["--start-time", str(start), "--end-time", str(end), "--query-string", query]
    started = shlex.join([*line, "--query", "queryId", "--output", "text"])
    return AwsLogQuery(log, region, group, f'aws logs get-query-results --region {region} --query-id "$({started})"')
