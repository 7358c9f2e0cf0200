"""Replay of a job queue: submissions, starts and ends in order; the controller's policy decides which jobs may burst."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import IntEnum
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

from landbridge.burst.model import SlurmJob
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.promote import reason_to_promote
from landbridge.simulation.backfill_queue import BackfillQueue, GpuCapacity
from landbridge.simulation.budget import SimulatedBudget
from landbridge.simulation.budget_waitlist import BudgetWaitlist
from landbridge.simulation.cloud_pool import SimulatedPool
from landbridge.simulation.job_queue import JobQueue
from landbridge.simulation.onprem import Backlog, OnpremNodes
from landbridge.simulation.result import Sample, SimulatedJob, SimulationResult
from landbridge.simulation.scenario import Scenario

#: Samples over the time of submissions, for the chart.
MAX_SAMPLES = 600


class EventKind(IntEnum):
    """Kind of event, in the order of events of one time: those that free GPUs or money come first."""

    JOB_END = 0
    NODE_IDLE = 1  # a node has been idle for the pool's suspend_after
    MONTH_START = 2
    BUDGET_RETRY = 3  # jobs that a budget refused are tried again
    PROMOTION = 4  # a job has waited long enough on-prem to burst


class Event(NamedTuple):
    """Event of the replay, with the number of a job, of a pool, or of a node of that pool, depending on the kind."""

    at: float
    kind: EventKind
    job: int = 0
    pool: int = 0
    node: int = 0


def replay(
    scenario: Scenario,
    tasks: Sequence[SimulatedJob],
    *,
    bursting: bool = True,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Replay `tasks` in the order of their submission; without `bursting`, only the site runs them."""
    return _Run(scenario, tasks, bursting).play(progress)


class _Run:
    def __init__(self, scenario: Scenario, tasks: Sequence[SimulatedJob], bursting: bool) -> None:
        self.scenario, self.jobs = scenario, tasks
        self.result = SimulationResult(tasks, [None] * len(tasks), [""] * len(tasks))
        gpus, limits = [task.gpus for task in tasks], [task.limit for task in tasks]
        self.events: list[Event] = []
        self.remaining = len(tasks)  # jobs that have not ended and may still run
        self.queue_of_job: dict[int, int] = {}  # running job -> number of its queue
        self.busy = [0, 0]  # GPUs on-prem, in AWS
        self.submitted_jobs = 0
        self.is_stuck = False  # a month began, and no job could start although none ran
        self.budget = SimulatedBudget(scenario.policy)
        self.onprem_nodes = [OnpremNodes.of(nodes, each) for nodes, each in scenario.onprem]
        self.backlog = Backlog(scenario.onprem_gpus)
        pools = scenario.pools if bursting else ()
        self.cloud_pools = [SimulatedPool(pool, scenario.policy.pools[pool.name], self.budget) for pool in pools]
        self.waitlists = [BudgetWaitlist() for _ in self.cloud_pools]
        start_functions = [partial(self._start_onprem, number) for number in range(len(self.onprem_nodes))]
        start_functions += [partial(self._start_in_aws, number) for number in range(len(self.cloud_pools))]
        capacities: list[GpuCapacity] = [*self.onprem_nodes, *self.cloud_pools]
        self.queues = [
            BackfillQueue(capacity, JobQueue(len(tasks)), gpus, limits, start_function)
            for capacity, start_function in zip(capacities, start_functions, strict=True)
        ]
        self.queues_to_run: list[BackfillQueue] = []
        # Computed once for all jobs of a size or an account.
        sizes, onprem_count = set(gpus), len(self.onprem_nodes)
        self.onprem_queues = {
            size: [self.queues[number] for number, nodes in enumerate(self.onprem_nodes) if size <= nodes.size]
            for size in sizes
        }
        self.pool_queues = {
            size: [
                queue
                for queue, cloud in zip(self.queues[onprem_count:], self.cloud_pools, strict=True)
                if size <= cloud.size
            ]
            for size in sizes
        }
        accounts = {task.account for task in tasks}
        self.restricted = {
            account for account in accounts if residency.reject_if_restricted(scenario.policy, account) is not None
        }

    def play(self, progress: Callable[[int], None] | None) -> SimulationResult:
        """Handle the events in order until every job that can run has ended."""
        tasks, events = self.jobs, self.events
        now = sample_at = tasks[0].submitted if tasks else 0.0
        step = max((tasks[-1].submitted - now) / MAX_SAMPLES, 1.0) if tasks else 1.0
        self._open(now)
        next_task = reported = 0
        while self.remaining:
            if next_task < len(tasks) and tasks[next_task].submitted < events[0][0]:
                now = tasks[next_task].submitted
                self._submit(next_task, now)
                next_task += 1
            else:
                event = heappop(events)
                now = event.at
                self._handle(event)
            while self.queues_to_run:
                self.queues_to_run.pop().run(now)
            if now >= sample_at:
                self.result.samples.append(self._sample(now))
                sample_at = now + step
            if progress is not None and (next_task + len(tasks) - self.remaining) >> 10 != reported:
                reported = (next_task + len(tasks) - self.remaining) >> 10
                progress((next_task + len(tasks) - self.remaining) // 2)
            if next_task == len(tasks) and not self.queue_of_job and self._is_finished():
                break
        self._close(now)
        return self.result

    def _handle(self, event: Event) -> None:
        match event.kind:
            case EventKind.JOB_END:
                self._end(event.job, event.at)
            case EventKind.NODE_IDLE:
                self._idle(event.pool, event.node, event.at)
            case EventKind.MONTH_START:
                self._start_month(event.at)
            case EventKind.BUDGET_RETRY:
                self._retry(event.pool, event.at)
            case EventKind.PROMOTION:
                self._promote(event.job, event.at)

    # Jobs.

    def _submit(self, job: int, now: float) -> None:
        task, self.submitted_jobs = self.jobs[job], job + 1
        onprem_queues = self.onprem_queues[task.gpus]
        start = self.backlog.start_of_next(now) if onprem_queues else math.inf
        if onprem_queues:
            self.backlog.waiting += task.gpus * task.limit
        for queue in onprem_queues:
            if self._waits(job):
                queue.offer(job, now)
        if not self._waits(job):
            return
        if not onprem_queues:
            if not self._burst(job, now):
                self.remaining -= 1
        elif self.cloud_pools:
            promotion = self.scenario.promotion
            if promotion is None or reason_to_promote(
                SlurmJob(0, "PENDING", submitted=now, expected_start=start), promotion, now
            ):
                self._burst(job, now)
            else:
                heappush(self.events, Event(now + promotion.wait_seconds, EventKind.PROMOTION, job))

    def _promote(self, job: int, now: float) -> None:
        if self._waits(job):
            self._burst(job, now)

    def _burst(self, job: int, now: float) -> bool:
        """Add a job to the queues of the pools; return False if its data has to stay on-prem or it is larger than any
        pool."""
        task = self.jobs[job]
        if task.account in self.restricted:
            self._refuse("RESIDENCY", job)
            return False
        queues = self.pool_queues[task.gpus]
        if not queues:
            self._refuse("SIZE", job)
        for queue in queues:
            if self._waits(job):
                queue.offer(job, now)
        return bool(queues)

    def _start_onprem(self, number: int, job: int, now: float) -> None:
        task, allocator = self.jobs[job], self.onprem_nodes[number].allocator
        parts = allocator.fit(task.gpus)
        if parts is None:
            raise AssertionError("a queue starts only jobs that fit")
        allocator.take(job, parts, now + task.limit)
        self.backlog.start(job, task.gpus, now + task.limit)
        self._started(job, number, now, "")

    def _start_in_aws(self, number: int, job: int, now: float) -> None:
        task, cloud = self.jobs[job], self.cloud_pools[number]
        begin = cloud.start(job, task.gpus, task.account, task.limit, now)
        if begin is None:
            self._refuse("BUDGET", job)
            usd = cloud.max_usd(task.gpus, task.limit)
            if self.budget.could_ever_hold(task.account, cloud.pool.name, usd):
                self.waitlists[number].add(job, task.account, usd)
        else:
            self._started(job, len(self.onprem_nodes) + number, begin, cloud.pool.name)

    def _started(self, job: int, queue: int, begin: float, pool: str) -> None:
        task = self.jobs[job]
        self.result.began[job], self.result.pool[job] = begin, pool
        self.queue_of_job[job] = queue
        self.busy[bool(pool)] += task.gpus
        if self.onprem_queues[task.gpus]:
            self.backlog.waiting -= task.gpus * task.limit
        heappush(self.events, Event(begin + task.seconds, EventKind.JOB_END, job))
        for other in self.queues:
            if other.waiting.remove(job) and other.reservation is not None and other.reservation.job == job:
                self.queues_to_run.append(other)

    def _end(self, job: int, now: float) -> None:
        queue, task = self.queue_of_job.pop(job), self.jobs[job]
        self.remaining -= 1
        if queue < len(self.onprem_nodes):
            self.onprem_nodes[queue].allocator.give(job)
            self.backlog.end(job)
            self.busy[0] -= task.gpus
        else:
            number = queue - len(self.onprem_nodes)
            cloud = self.cloud_pools[number]
            for node in cloud.end(job, now):
                heappush(
                    self.events, Event(now + cloud.scenario.suspend_after, EventKind.NODE_IDLE, pool=number, node=node)
                )
            self.busy[1] -= task.gpus
        self.queues[queue].run(now)

    # AWS.

    def _idle(self, number: int, node: int, now: float) -> None:
        cloud = self.cloud_pools[number]
        if now >= cloud.idle_since(node) + cloud.scenario.suspend_after:
            cloud.terminate(node, now)
            # Its hold is released, for any pool.
            for other, waitlist in enumerate(self.waitlists):
                if waitlist.lines and not waitlist.is_retry_scheduled:
                    waitlist.is_retry_scheduled = True
                    heappush(
                        self.events,
                        Event(
                            now + self.scenario.policy.insufficient_capacity_seconds[1],
                            EventKind.BUDGET_RETRY,
                            pool=other,
                        ),
                    )

    def _retry(self, number: int, now: float) -> None:
        """Queue jobs again that a budget refused, while budget and GPUs are available for them."""
        waitlist, queue = self.waitlists[number], self.queues[len(self.onprem_nodes) + number]
        waitlist.is_retry_scheduled = False
        pool = self.cloud_pools[number].pool.name

        def allowed(account: str, usd: float) -> bool:
            return self.budget.refusal([(account, pool, usd)], now) is None

        while queue.capacity.idle() and (job := waitlist.next(allowed, self._waits)) is not None:
            queue.offer(job, now)
            if self._waits(job):
                break

    def _start_month(self, now: float) -> None:
        end = next_month(now)
        heappush(self.events, Event(end, EventKind.MONTH_START))
        self.budget.start_month(now)
        for cloud in self.cloud_pools:
            cloud.renew_warm(end, now)
        for number in range(len(self.cloud_pools)):
            self._retry(number, now)
        self.is_stuck = not self.queue_of_job

    # Begin and end of the replay.

    def _open(self, now: float) -> None:
        end = next_month(now)
        heappush(self.events, Event(end, EventKind.MONTH_START))
        for cloud in self.cloud_pools:
            cloud.keep_warm(end, now)

    def _is_finished(self) -> bool:
        """Return whether no job can start any more."""
        return self.is_stuck or not any(self._waits(job) for waitlist in self.waitlists for job in waitlist.jobs())

    def _close(self, now: float) -> None:
        result = self.result
        while self.events:
            event = heappop(self.events)
            if event.kind is EventKind.NODE_IDLE:
                self._idle(event.pool, event.node, event.at)
                now = max(now, event.at)
        for cloud in self.cloud_pools:
            for node in list(cloud.nodes):
                cloud.terminate(node, now)
            result.stays += cloud.stays
            result.peaks[cloud.pool.name], result.launches[cloud.pool.name] = cloud.peak, cloud.launches
        result.ended, result.spent = now, dict(self.budget.state.spent)

    def _waits(self, job: int) -> bool:
        return self.result.began[job] is None

    def _refuse(self, code: str, job: int) -> None:
        self.result.refused.setdefault(code, set()).add(job)

    def _sample(self, now: float) -> Sample:
        waiting = self.remaining - len(self.queue_of_job) - (len(self.jobs) - self.submitted_jobs)
        return Sample(now, self.busy[0], self.busy[1], waiting)


def next_month(now: float) -> float:
    """Return the start of the next month, UTC."""
    date = datetime.fromtimestamp(now, UTC)
    year, month = (date.year + 1, 1) if date.month == 12 else (date.year, date.month + 1)
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
