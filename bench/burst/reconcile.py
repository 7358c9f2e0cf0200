"""Benchmark of one decision about 10,000 nodes, in processor seconds, a line for each situation.

`python -m bench.burst.reconcile`
"""

import time
from collections.abc import Iterator

from landbridge.burst.model import (
    AccountPolicy,
    BurstPolicy,
    CloudInstance,
    Ec2View,
    Launch,
    Offering,
    PoolPolicy,
    SlurmJob,
    SlurmNode,
    SlurmView,
    State,
)
from landbridge.burst.reconcile.core import reconcile

NODES, JOBS, NOW = 10_000, 200, 1_795_000_000.0
OFFERING = Offering(
    "p5.48xlarge/use1-az4/on-demand",
    "on_demand",
    "p5.48xlarge",
    "subnet-1",
    "use1-az4",
    "on-demand",
    "lt-1",
    "1",
    usd_hour=55.04,
)
POLICY = BurstPolicy(
    "bench",
    "us-east-1",
    {"p5": PoolPolicy("p5", "p5-", NODES, (OFFERING,))},
    {"vision": AccountPolicy("vision", "internal", True)},
)
NAMES = tuple(f"p5-{number}" for number in range(1, NODES + 1))
POWERED_DOWN, STARTING, RUNNING = (
    frozenset(words.split())
    for words in ("IDLE CLOUD POWERED_DOWN", "ALLOCATED CLOUD NOT_RESPONDING POWERING_UP", "ALLOCATED CLOUD")
)


def slurm(states: frozenset[str], state: str = "") -> SlurmView:
    """Return all nodes in `states`; if `state` is given, also `JOBS` jobs in that state on equal shares of the nodes."""
    share = NODES // JOBS
    jobs = {
        number: SlurmJob(
            number,
            state,
            NAMES[(number - 1) * share : number * share],
            "p5",
            "vision",
            started=NOW - 60,
            minutes=600,
        )
        for number in range(1, JOBS + 1)
        if state
    }
    return SlurmView(NOW, jobs, {name: SlurmNode(name, states) for name in NAMES})


def launched(state: State) -> tuple[State, Ec2View]:
    """Return the journal after the launch of 10,000 nodes, and EC2's instances."""
    decision = reconcile(slurm(STARTING, "CONFIGURING"), Ec2View(NOW, ()), state, POLICY, NOW)
    instances = []
    for action in decision.actions:
        if isinstance(action, Launch):
            for attempt in action.attempts:
                instances += [
                    CloudInstance(
                        f"i-{node}",
                        node,
                        "running",
                        "10.60.0.1",
                        "subnet-1",
                        "p5.48xlarge",
                        "on-demand",
                        NOW,
                        "p5",
                        attempt.token,
                        attempt.jobs,
                        "vision",
                        attempt.lease,
                    )
                    for node in attempt.nodes
                ]
    return decision.state, Ec2View(NOW + 30, tuple(instances))


def situations() -> Iterator[tuple[str, SlurmView, Ec2View, State]]:
    yield "all powered down", slurm(POWERED_DOWN), Ec2View(NOW, ()), State()
    yield f"all to be started, {JOBS} jobs", slurm(STARTING, "CONFIGURING"), Ec2View(NOW, ()), State()
    state, ec2_view = launched(State())
    yield "all running", slurm(RUNNING, "RUNNING"), ec2_view, state
    yield "all running, the journal lost", slurm(RUNNING, "RUNNING"), ec2_view, State()
    yield "all to be terminated", slurm(POWERED_DOWN), ec2_view, State()


def main() -> None:
    for situation, slurm_view, ec2_view, state in situations():
        took = []
        for _ in range(3):
            began = time.process_time()
            reconcile(slurm_view, ec2_view, state, POLICY, NOW + 30)
            took.append(time.process_time() - began)
        print(f"{min(took):.3f} {situation}", flush=True)


if __name__ == "__main__":
    main()
