"""Check of jobs that leave their node because EC2 has announced an event of its instance."""

from landbridge.burst.model import BurstPolicy
from landbridge.burst.reconcile.clock_skew import STATUS_INTERVAL_SECONDS
from tests.unit.burst.world.ec2 import Ec2World
from tests.unit.burst.world.machines import Announcement, Machine
from tests.unit.burst.world.sims import SimJob


def may_leave_for_event(
    policy: BurstPolicy, ec2: Ec2World, machine: Machine, job: SimJob, clean_since: float, read_by: float
) -> bool:
    """Return whether the controller may requeue a running job for an event of its node's instance.

    The margin before the event has begun by the controller's clock, and the event would end the job. The event is
    announced, or the controller cannot know yet that it is not any more. `clean_since`: true time since which no pass had
    a fault; `read_by`: true time until which a read that was due is done.
    """
    known = [event for event in machine.earlier if _is_latest_known(policy, ec2, machine, event, clean_since, read_by)]
    return any(
        event.at - policy.event_margin_seconds <= ec2.clock.now
        and (job.minutes is None or job.started is None or job.started + 60 * job.minutes > event.at)
        and not machine.is_block_end(event.at)
        for event in [*machine.announced_and_read(), *known]
    )


def _is_latest_known(
    policy: BurstPolicy, ec2: Ec2World, machine: Machine, event: Announcement, clean_since: float, read_by: float
) -> bool:
    """Return whether no pass without a fault has read the statuses since EC2 replaced the event, and the next read is not
    overdue.

    A pass reads them as its last action if the last read was STATUS_INTERVAL_SECONDS ago: the decisions of the pass do
    not know them yet. After a refused read, or after a clock was set back, the next one is later by the breaker's time.
    """
    if machine.read > max(event.until, clean_since):
        return False
    disturbed = max(clean_since, ec2.statuses_denied_at)
    return read_by <= max(event.until + STATUS_INTERVAL_SECONDS, disturbed + policy.breaker_seconds)
