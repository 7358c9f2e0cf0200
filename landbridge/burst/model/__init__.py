"""What the burst controller knows and does, as plain values: three truths and a policy in, actions out. Standard library only.

Moments are seconds since 1970 (UTC), money is US dollars. Nothing here reads a clock; `now` is always handed in.
"""

from landbridge.burst.model.actions import (
    Action,
    Decision,
    Down,
    Gang,
    Launch,
    Outcome,
    PowerUp,
    Promote,
    Record,
    Renew,
    SetAddresses,
    Tell,
    Terminate,
)
from landbridge.burst.model.ec2_view import Ec2View, Instance, Market
from landbridge.burst.model.policy import Account, Interface, Place, Policy, Pool, Promotion
from landbridge.burst.model.slurm_view import Job, Node, SlurmView
from landbridge.burst.model.state import Attempt, Backoff, Breaker, Drought, Hold, Order, OrderKind, State

__all__ = [
    "Account",
    "Action",
    "Attempt",
    "Backoff",
    "Breaker",
    "Decision",
    "Down",
    "Drought",
    "Ec2View",
    "Gang",
    "Hold",
    "Instance",
    "Interface",
    "Job",
    "Launch",
    "Market",
    "Node",
    "Order",
    "OrderKind",
    "Outcome",
    "Place",
    "Policy",
    "Pool",
    "PowerUp",
    "Promote",
    "Promotion",
    "Record",
    "Renew",
    "SetAddresses",
    "SlurmView",
    "State",
    "Tell",
    "Terminate",
]
