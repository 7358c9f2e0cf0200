"""Money over all schedules of jobs, renewals that fail, silent regions and ends of months, against exact accounts.

Every step changes Slurm or AWS, and a pass follows. The accounts of the test know who was on each node.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from landbridge.burst.model import (
    AccountPolicy,
    ActionOutcome,
    BurstPolicy,
    CloudInstance,
    Down,
    Launch,
    ReconcileDecision,
    Renew,
    RequeueJobs,
    SlurmJob,
    SlurmNode,
    State,
    Terminate,
)
from landbridge.burst.reconcile.core import reconcile
from landbridge.burst.reconcile.outcome_state import apply_outcome
from landbridge.timestamps import month_of, month_start
from tests.thorough import examples
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    LEAVING,
    OFF,
    RISING,
    ec2,
    job,
    launched,
    offering,
    site,
    slurm,
    success,
)

RATE = 10.0
PASS_SECONDS = 7.0  # from the start of a job to the next pass
CAPS = {"poor": 20.0, "tiny": 6.0}
NODES = ("g-1", "g-2", "g-3")
CODES = {
    "": True,
    "RequestLimitExceeded": False,
    "UnauthorizedOperation": False,
    "ReadTimeoutError": False,
    "late": True,
}


def usd(seconds: float) -> float:
    return RATE * seconds / 3600


def policy(capped: bool) -> BurstPolicy:
    caps = {name: cap if capped else None for name, cap in {"lab": None, **CAPS}.items()}
    accounts = {name: AccountPolicy(name, "internal", True, cap, cap is not None) for name, cap in caps.items()}
    return site((offering("a"),), accounts=accounts)


@dataclass
class Cluster:
    """Three nodes in Slurm and AWS. `silent`: EC2 shows old leases; `code`: the result of renewals."""

    policy: BurstPolicy
    now: float
    state: State = field(default_factory=State)
    jobs: dict[int, SlurmJob] = field(default_factory=dict)
    states: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict.fromkeys(NODES, OFF))
    instances: dict[str, CloudInstance] = field(default_factory=dict)  # by node; with its real lease
    ended: list[CloudInstance] = field(default_factory=list)
    shown: dict[str, float] | None = None
    code: str = ""
    numbers: int = 0
    cost: Counter[str] = field(default_factory=Counter)  # by account
    overrun: float = 0.0  # cost after the ends of leases, which AWS enforces late
    renewal_ends: dict[str, float] = field(default_factory=dict)  # instance -> end of the renewal that may be in flight

    # Events.

    def step(self, kind: str, number: int, account: str, seconds: float) -> None:
        node = NODES[number % len(NODES)]
        if kind == "job" and self.states[node] not in (OFF, IDLE, BUSY):
            pass
        elif kind == "job":
            self.numbers += 1
            state = "CONFIGURING" if self.states[node] == OFF else "RUNNING"
            minutes = None if number == 5 else int(seconds // 6) + 1
            self.jobs[self.numbers] = job(
                *(self.numbers, node),
                state=state,
                account=account,
                minutes=minutes,
                started=self.now,
                gpus=self.numbers % 3,
                cpus=4 * number,
            )
            self.states[node] = RISING if self.states[node] == OFF else BUSY
            self.pay(PASS_SECONDS)
        elif kind == "end":
            self.end({member.id for member in self.jobs.values() if node in member.nodes and member.state == "RUNNING"})
        elif kind == "off" and self.states[node] == IDLE:
            self.states[node] = LEAVING
        elif kind == "silent":
            leases = {item.id: item.lease or 0.0 for item in self.instances.values()}
            self.shown = leases if self.shown is None else None
        elif kind == "renewals":
            self.code = list(CODES)[number % len(CODES)]
        else:
            self.wait(seconds)
        self.a_pass({4: "InsufficientInstanceCapacity", 3: "ReadTimeoutError"}.get(number, "") if kind == "job" else "")

    def wait(self, seconds: float) -> None:
        """Let time pass; then AWS ends instances without a lease, and Slurm jobs over their limit."""
        self.pay(seconds)
        for node, item in list(self.instances.items()):
            if (item.lease or 0.0) <= self.now:
                self.lose(node)
        limits = {m.id for m in self.jobs.values() if m.minutes is not None and m.started is not None
                  and m.started + 60 * m.minutes <= self.now}  # fmt: skip
        self.end(limits)
        for node, words in self.states.items():
            if words == LEAVING:
                self.states[node] = OFF
            elif words == RISING and node in self.instances:
                self.states[node] = BUSY
                self.jobs = {m.id: replace(m, state="RUNNING") if node in m.nodes else m for m in self.jobs.values()}

    def pay(self, seconds: float) -> None:
        """Add the cost of some seconds to the accounts of the jobs on each node, or of its launch."""
        for node, item in self.instances.items():
            self.overrun += usd(max(0.0, self.now + seconds - max(item.lease or 0.0, self.now)))
            shares = [*self.shares(node).values()]
            for account, share in shares:
                self.cost[account] += usd(seconds) * share / sum(part for _, part in shares)  # type: ignore[assignment]
        self.now += seconds

    def shares(self, node: str) -> dict[int, tuple[str, float]]:
        """Return who pays for the node, by job: the account, and the GPUs; else CPUs; 0 without a job: its launch."""
        members = [member for member in self.jobs.values() if node in member.nodes]
        has_gpus = any(member.gpus for member in members)
        counts = {m.id: (m.account, max(1.0, m.gpus if has_gpus else m.cpus)) for m in members}
        return counts or {0: (self.instances[node].account, 1.0)}

    def end(self, ids: set[int]) -> None:
        self.jobs = {id: member for id, member in self.jobs.items() if id not in ids}
        busy = {node for member in self.jobs.values() for node in member.nodes}
        for node, words in self.states.items():
            if words == BUSY and node not in busy:
                self.states[node] = IDLE

    def lose(self, node: str) -> None:
        item = self.instances.pop(node, None)
        if item is not None:
            self.ended = [*self.ended, replace(item, state="shutting-down")]
        self.jobs = {id: member for id, member in self.jobs.items() if node not in member.nodes}
        self.states[node] = OFF

    # The controller.

    def a_pass(self, launch_code: str) -> None:
        shown = self.shown or {}
        view = [replace(item, lease=shown.get(item.id, item.lease)) for item in self.instances.values()]
        nodes = [SlurmNode(name, frozenset(words)) for name, words in self.states.items()]
        slurm_view = slurm(*self.jobs.values(), at=self.now, nodes=nodes)
        decision = reconcile(slurm_view, ec2(*view, *self.ended, at=self.now), self.state, self.policy, self.now)
        self.ended = []
        self.state = decision.state
        for action in decision.actions:
            if isinstance(action, Renew):
                self.renewal_ends |= {id: max(self.renewal_ends[id], action.until) for id in action.instances}
        self.check()
        self.check_payers(decision)
        for action in decision.actions:
            outcome = ActionOutcome()
            if isinstance(action, Launch):
                outcome = self.launch(action, launch_code)
            elif isinstance(action, Renew):
                outcome = self.renew(action)
            elif isinstance(action, Terminate):
                for item in [item for item in self.instances.values() if item.id in action.instances]:
                    self.lose(item.node)
            elif isinstance(action, Down):
                self.down(action)
            elif isinstance(action, RequeueJobs):
                assert {member.account for member in action.jobs} <= CAPS.keys(), "for the cap of another account"
                self.end({member.id for member in action.jobs})
            self.state = apply_outcome(self.state, action, outcome, self.policy, self.now)
        self.check()

    def launch(self, action: Launch, code: str) -> ActionOutcome:
        """Launch, unless there is no capacity; without an answer EC2 shows the instances to the next pass."""
        if code == "InsufficientInstanceCapacity":
            return ActionOutcome(code)
        outcome = success(action, 1 + len(self.renewal_ends))
        for item in launched(action, outcome, self.now):
            self.instances[item.node], self.renewal_ends[item.id] = item, item.lease or 0.0
        return ActionOutcome(code) if code else outcome

    def renew(self, action: Renew) -> ActionOutcome:
        for node, item in self.instances.items():
            if CODES[self.code] and item.id in action.instances:
                self.instances[node] = replace(item, lease=action.until)
                if self.code == "":
                    self.renewal_ends[item.id] = action.until
        return ActionOutcome("ReadTimeoutError" if self.code == "late" else self.code)

    def down(self, action: Down) -> None:
        for node in action.nodes:
            if action.code == "BUDGET" and node in self.instances:
                assert not any(node in member.nodes for member in self.jobs.values()), "a node is lost for a cap"
            self.lose(node)

    # Properties.

    def check(self) -> None:
        spent, held = Counter[str](), Counter[str]()
        for (month, account, _), amount in self.state.spent.items():
            spent[account] += amount if month == month_of(self.now) else 0.0  # type: ignore[assignment]
        for hold in self.state.holds.values():
            held.update(hold.charges(hold.since, max(hold.end, self.now)))
        for account, cap in CAPS.items() if any(entry.hard for entry in self.policy.accounts.values()) else ():
            assert spent[account] + held[account] <= cap + self.overrun + 1e-6, f"{account} is above its cap"
        counted = sum(self.state.spent.values()) + sum(held.values())
        leases = [(item.lease or 0.0, self.renewal_ends[item.id]) for item in self.instances.values()]
        may = sum(self.cost.values()) + sum(usd(max(0.0, lease - self.now)) for lease, _ in leases)
        launching = sum(hold.usd for key, hold in self.state.holds.items() if key in self.state.attempts)
        assert counted >= may - 1e-6, f"{may} may be spent, and {counted} is held or spent"
        renewals = sum(usd(max(0.0, renewal_end - lease)) for lease, renewal_end in leases)
        ending = sum(usd(max(0.0, self.renewal_ends[item.id] - self.now)) for item in self.ended)  # EC2 shows it next
        assert counted <= may + renewals + launching + ending + 1e-6, (
            f"{counted} is held or spent, and {may} may be spent"
        )

    def check_payers(self, decision: ReconcileDecision) -> None:
        """Check that every job that the pass leaves on an instance pays for it."""
        requeued = {m.id for action in decision.actions if isinstance(action, RequeueJobs) for m in action.jobs}
        for node, item in self.instances.items():
            claims = self.state.holds[item.id].claims
            paid = {claim.job for claim in claims if claim.end is None or claim.end > self.now}
            members = {member.id for member in self.jobs.values() if node in member.nodes}
            assert members <= paid | requeued, f"jobs {members} run on {node}, and {paid} pay"

    def accrued(self) -> Counter[str]:
        """Return the cost until now by account, as the journal has it."""
        accrued: Counter[str] = Counter()
        for (_, account, _), amount in self.state.spent.items():
            accrued[account] += amount  # type: ignore[assignment]
        for hold in self.state.holds.values():
            accrued.update(hold.charges(hold.since, self.now))
        return accrued


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["job", "job", "job", "end", "off", "wait", "wait", "wait", "silent", "renewals"]),
        st.integers(0, 5),
        st.sampled_from(["lab", "poor", "tiny"]),
        st.sampled_from([15.0, 60.0, 540.0]),
    ),
    min_size=12,
    max_size=40,
)
#: Time from the first step to the end of a month.
BEFORE = st.sampled_from([100.0, 1800.0, 86_400.0])


@settings(deadline=None, max_examples=examples(100, 10_000))
@given(STEPS, BEFORE)
def test_holds_cover_what_may_be_spent_within_every_cap_and_no_job_ends_for_anothers(steps, before):
    cluster = Cluster(policy(capped=True), month_start("2027-02") - before)
    for step in steps:
        cluster.step(*step)


@settings(deadline=None, max_examples=examples(100, 10_000))
@given(STEPS, BEFORE)
@example(
    [("job", 0, "lab", 540.0), ("wait", 0, "lab", 60.0), ("job", 0, "poor", 540.0), ("wait", 0, "lab", 540.0)], 100.0
)
def test_each_account_pays_for_the_node_seconds_of_its_jobs_and_idle_time_is_the_launching_accounts(steps, before):
    cluster = Cluster(policy(capped=False), month_start("2027-02") - before)
    for step in steps:
        cluster.step(*step)
        accrued = cluster.accrued()
        # A job that starts between the last pass of a month and its end pays from the first of the next month.
        tolerance = usd(PASS_SECONDS) if month_of(cluster.now) == "2027-02" else 1e-4
        for account in ("lab", *CAPS):
            assert abs(accrued[account] - cluster.cost[account]) <= tolerance, account
