"""Training job of SageMaker in the journal: the cost that the budget holds for it, and its end."""

from dataclasses import dataclass

#: Value of a charge's field `pool` for training jobs. No pool can have this name.
TRAINING = "(sagemaker)"


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """Training job, written to the journal before CreateTrainingJob is called.

    `usd_hour`: price of one instance, 0 if it is not known. `status`: that of DescribeTrainingJob, empty until the result of the
    call is known. `ended`: time of the end, None before; then `usd` is spent and nothing is held any more.
    """

    name: str
    account: str
    user: str
    data_class: str
    instance_type: str
    nodes: int
    usd_hour: float
    seconds: int  # time limit
    created_at: float
    spot: bool = False
    status: str = ""
    ended: float | None = None
    billed_seconds: int = 0  # of one instance
    usd: float = 0.0

    @property
    def held_usd(self) -> float:
        """Return the cost of the whole time limit; 0 after the end. A spot job costs at most the on-demand price."""
        return 0.0 if self.ended is not None else self.cost(self.seconds)

    def cost(self, seconds: float) -> float:
        """Return the cost of a time of all instances."""
        return self.nodes * self.usd_hour * seconds / 3600
