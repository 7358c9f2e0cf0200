"""Cost of alarms and of the audit trail, billed by the month and by the number of events."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.plan.aws.guardrails import guardrails_args
from landbridge.plan.cost.bill_lines import BillItem, by_volume, monthly


def guardrails_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the lines of the alarms (each alarm, the heartbeat's metric, the topic's key) and of the trail (its key, data
    events). E-mails cost nothing at this number.
    """
    region, planned = environment.region, guardrails_args(environment)
    if planned.trail is not None:
        yield from monthly("key of the audit trail", "kms_key", region, 1, kind="control")
        if planned.trail.data_buckets:
            yield by_volume("reads and writes of regulated objects in the trail", "control", "data_events", region)
    alarms = planned.alarms
    if alarms is None:
        return
    count = len(alarms.alarms)
    yield from monthly(f"{count} x CloudWatch alarm", "cloudwatch_alarm", region, count, kind="control")
    if alarms.heartbeat:
        yield from monthly("metric of the burst heartbeat", "cloudwatch_metric", region, 1, kind="control")
    yield from monthly("key of the alarms' topic", "kms_key", region, 1, kind="control")
