"""Heartbeat of the burst controller: a CloudWatch metric, whose absence raises an alarm.

The acting controller sends it after a pass in which it has read Slurm and EC2. CloudWatch that does not answer is no
failure of the pass.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.aws.client import cloudwatch_client
from landbridge.burst.model.errors import AwsError

if TYPE_CHECKING:
    from landbridge.burst.config.config import BurstConfig

METRIC = "BurstHeartbeat"


class MetricsPort(Protocol):
    """Port to CloudWatch."""

    def put_metric_data(self, **parameters: Any) -> Any: ...


@dataclass(slots=True)
class Heartbeat:
    """Heartbeat with the time of the last one, in memory only: a restarted daemon sends one at once."""

    client: MetricsPort
    namespace: str
    cluster: str
    seconds: float
    sent: float = field(default=float("-inf"))

    def due(self, now: float) -> bool:
        """Return whether the next heartbeat is due; also after the clock has gone back."""
        return not 0 <= now - self.sent < self.seconds

    def send(self, now: float) -> None:
        """Send the heartbeat; raise AwsError. After a failure the next one is due after the same interval."""
        self.sent = now
        datum = {
            "MetricName": METRIC,
            "Dimensions": [{"Name": "Cluster", "Value": self.cluster}],
            "Value": 1.0,
            "Unit": "Count",
        }
        try:
            self.client.put_metric_data(Namespace=self.namespace, MetricData=[datum])
        except ClientError as error:
            raise AwsError(error.response["Error"]["Code"], str(error)) from error
        except BotoCoreError as error:
            raise AwsError(type(error).__name__, str(error)) from error


def heartbeat_of(config: "BurstConfig") -> Heartbeat | None:
    """Return the heartbeat; None if the environment has no alarm for it."""
    if config.heartbeat_namespace is None:
        return None
    client = cloudwatch_client(config.policy.region, config.endpoint, config.credentials_file, config.fips_endpoints)
    return Heartbeat(client, config.heartbeat_namespace, config.policy.cluster, config.heartbeat_seconds)
