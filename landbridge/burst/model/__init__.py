"""Values of the burst controller: observed Slurm and EC2, journal state and policy in; actions out. Standard library only.

Timestamps are seconds since 1970 (UTC), money is US dollars. No function reads a clock: `now` is always a parameter.
"""

from landbridge.burst.model.actions import (
    Action,
    ActionOutcome,
    CommentJobs,
    DecisionRecord,
    Down,
    Gang,
    JobComment,
    KeepNodes,
    Launch,
    PowerDown,
    PowerUp,
    Promote,
    ReadStatuses,
    ReconcileDecision,
    RecordTopology,
    Renew,
    SetAddresses,
    Terminate,
)
from landbridge.burst.model.charges import Charge, ChargeKey, ChargeKind
from landbridge.burst.model.ec2_view import CloudInstance, Ec2View, Market
from landbridge.burst.model.holds import BudgetHold, Claim
from landbridge.burst.model.instance_status import InstanceStatus, StatusRead
from landbridge.burst.model.node_keep import MAX_KEEP_SECONDS, NodeKeep
from landbridge.burst.model.policy import (
    AccountPolicy,
    BurstPolicy,
    LaunchInterface,
    Offering,
    PoolPolicy,
    PromotionPolicy,
    StagingPolicy,
)
from landbridge.burst.model.slurm_view import SlurmJob, SlurmNode, SlurmView
from landbridge.burst.model.state import (
    Attempt,
    Backoff,
    CircuitBreaker,
    InsufficientCapacity,
    Observation,
    ObservationKind,
    OrderKind,
    RegistrationFailure,
    SlurmOrder,
    State,
    TerminationRefusal,
)
from landbridge.burst.model.training_job import TrainingJob

__all__ = [
    "MAX_KEEP_SECONDS",
    "AccountPolicy",
    "Action",
    "ActionOutcome",
    "Attempt",
    "Backoff",
    "BudgetHold",
    "BurstPolicy",
    "Charge",
    "ChargeKey",
    "ChargeKind",
    "CircuitBreaker",
    "Claim",
    "CloudInstance",
    "CommentJobs",
    "DecisionRecord",
    "Down",
    "Ec2View",
    "Gang",
    "InstanceStatus",
    "InsufficientCapacity",
    "JobComment",
    "KeepNodes",
    "Launch",
    "LaunchInterface",
    "Market",
    "NodeKeep",
    "Observation",
    "ObservationKind",
    "Offering",
    "OrderKind",
    "PoolPolicy",
    "PowerDown",
    "PowerUp",
    "Promote",
    "PromotionPolicy",
    "ReadStatuses",
    "ReconcileDecision",
    "RecordTopology",
    "RegistrationFailure",
    "Renew",
    "SetAddresses",
    "SlurmJob",
    "SlurmNode",
    "SlurmOrder",
    "SlurmView",
    "StagingPolicy",
    "State",
    "StatusRead",
    "Terminate",
    "TerminationRefusal",
    "TrainingJob",
]
