"""The heartbeat of the burst controller in the emulated AWS."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from landbridge.burst.aws.heartbeat import METRIC, Heartbeat, heartbeat_of
from landbridge.burst.config.config import parse
from landbridge.burst.model.errors import AwsError
from landbridge.catalog.aws.alarms import alarm_facts
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of


def test_a_heartbeat_is_the_metric_of_its_alarm(cloud: EmulatorProcess, burst: dict[str, Any]) -> None:
    alarm = alarm_facts().alarms["burst_silent"]
    heartbeat = heartbeat_of(parse({**burst, "heartbeat_namespace": alarm.namespace, "heartbeat_seconds": 240}))
    assert heartbeat is not None and heartbeat.due(0.0)
    heartbeat.send(1000.0)
    now = datetime.now(UTC)
    statistics = client_of(cloud, "cloudwatch").get_metric_statistics(
        Namespace=alarm.namespace,
        MetricName=alarm.metric_name,
        Dimensions=[{"Name": "Cluster", "Value": "sandbox"}],
        StartTime=now - timedelta(minutes=10),
        EndTime=now + timedelta(minutes=10),
        Period=300,
        Statistics=["Sum"],
    )
    assert alarm.metric_name == METRIC and sum(point["Sum"] for point in statistics["Datapoints"]) == 1
    assert not heartbeat.due(1239.0) and heartbeat.due(1240.0) and heartbeat.due(999.0)


def test_the_interval_is_shorter_than_the_period_of_the_alarm() -> None:
    alarm = alarm_facts().alarms["burst_silent"]
    assert alarm.minutes is not None and alarm_facts().heartbeat_seconds < 60 * alarm.minutes


def test_no_alarm_no_heartbeat(burst: dict[str, Any]) -> None:
    assert heartbeat_of(parse(burst)) is None


def test_a_refused_heartbeat_is_an_error_and_is_not_repeated_at_once(burst: dict[str, Any]) -> None:
    config = parse({**burst, "heartbeat_namespace": "Landbridge", "endpoint": "http://127.0.0.1:9"})
    heartbeat = heartbeat_of(config)
    assert isinstance(heartbeat, Heartbeat)
    with pytest.raises(AwsError, match="EndpointConnectionError"):
        heartbeat.send(1000.0)
    assert not heartbeat.due(1001.0)
