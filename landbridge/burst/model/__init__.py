"""Values of the burst controller: observed Slurm and EC2, journal state and policy in; actions out. Standard library only.

Timestamps are seconds since 1970 (UTC), money is US dollars. No function reads a clock: `now` is always a parameter.
"""

from landbridge.burst.model.actions import (
    Action,
    ActionOutcome,
    CommentJob,
    DecisionRecord,
    Down,
    Gang,
    Launch,
    PowerUp,
    Promote,
    ReconcileDecision,
    RecordTopology,
    Renew,
    SetAddresses,
    Terminate,
)
from landbridge.burst.model.ec2_view import CloudInstance, Ec2View, Market
from landbridge.burst.model.policy import (
    AccountPolicy,
    BurstPolicy,
    LaunchInterface,
    Offering,
    PoolPolicy,
    PromotionPolicy,
)
from landbridge.burst.model.slurm_view import SlurmJob, SlurmNode, SlurmView
from landbridge.burst.model.state import (
    Attempt,
    Backoff,
    BudgetHold,
    CircuitBreaker,
    InsufficientCapacity,
    Observation,
    ObservationKind,
    OrderKind,
    RegistrationFailure,
    SlurmOrder,
    State,
)

__all__ = [
    "AccountPolicy",
    "Action",
    "ActionOutcome",
    "Attempt",
    "Backoff",
    "BudgetHold",
    "BurstPolicy",
    "CircuitBreaker",
    "CloudInstance",
    "CommentJob",
    "DecisionRecord",
    "Down",
    "Ec2View",
    "Gang",
    "InsufficientCapacity",
    "Launch",
    "LaunchInterface",
    "Market",
    "Observation",
    "ObservationKind",
    "Offering",
    "OrderKind",
    "PoolPolicy",
    "PowerUp",
    "Promote",
    "PromotionPolicy",
    "ReconcileDecision",
    "RecordTopology",
    "RegistrationFailure",
    "Renew",
    "SetAddresses",
    "SlurmJob",
    "SlurmNode",
    "SlurmOrder",
    "SlurmView",
    "State",
    "Terminate",
]
