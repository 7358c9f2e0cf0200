"""The replay: every submission, start and end in its order, with the controller's policy deciding who may burst."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from heapq import heappop, heappush

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

#: Events, in the order of those of one moment: what frees something comes first.
_END, _IDLE, _MONTH, _RETRY, _PROMOTE = range(5)
#: Moments of the submission time that the picture has.
SAMPLES = 600


def replay(
    scenario: Scenario,
    tasks: Sequence[SimulatedJob],
    *,
    bursting: bool = True,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Play the queue of `tasks`, which are in the order of their submission; without bursting as if there were no AWS."""
    return _Run(scenario, tasks, bursting).play(progress)


class _Run:
    def __init__(self, scenario: Scenario, tasks: Sequence[SimulatedJob], bursting: bool) -> None:
        self.scenario, self.jobs = scenario, tasks
        self.result = SimulationResult(tasks, [None] * len(tasks), [""] * len(tasks))
        gpus, limits = [task.gpus for task in tasks], [task.limit for task in tasks]
        self.events: list[tuple[float, int, int, int]] = []
        self.left = len(tasks)  # that have not ended and still may
        self.where: dict[int, int] = {}  # running job -> the number of its lane
        self.busy = [0, 0]  # GPUs on-prem, in AWS
        self.submitted_jobs = 0
        self.is_stuck = False  # whether a month began, and nothing could start though nothing ran
        self.budget = SimulatedBudget(scenario.policy)
        self.sites = [OnpremNodes.of(nodes, each) for nodes, each in scenario.onprem]
        self.backlog = Backlog(scenario.onprem_gpus)
        pools = scenario.pools if bursting else ()
        self.cloud_pools = [SimulatedPool(pool, scenario.policy.pools[pool.name], self.budget) for pool in pools]
        self.waitlists = [BudgetWaitlist() for _ in self.cloud_pools]
        seats = [partial(self._start_onprem, number) for number in range(len(self.sites))]
        seats += [partial(self._start_in_aws, number) for number in range(len(self.cloud_pools))]
        rooms: list[GpuCapacity] = [*self.sites, *self.cloud_pools]
        self.queues = [
            BackfillQueue(room, JobQueue(len(tasks)), gpus, limits, seat)
            for room, seat in zip(rooms, seats, strict=True)
        ]
        self.dirty: list[BackfillQueue] = []
        # What is the same for all jobs of a size or an account is found once.
        sizes, many = set(gpus), len(self.sites)
        self.homes = {
            size: [self.queues[n] for n, site in enumerate(self.sites) if size <= site.size] for size in sizes
        }
        self.pools = {
            size: [lane for lane, cloud in zip(self.queues[many:], self.cloud_pools, strict=True) if size <= cloud.size]
            for size in sizes
        }
        accounts = {task.account for task in tasks}
        self.restricted = {
            account for account in accounts if residency.reject_if_restricted(scenario.policy, account) is not None
        }

    def play(self, progress: Callable[[int], None] | None) -> SimulationResult:
        """Event after event, until every job that can has ended."""
        tasks, events = self.jobs, self.events
        now = sample_at = tasks[0].submitted if tasks else 0.0
        step = max((tasks[-1].submitted - now) / SAMPLES, 1.0) if tasks else 1.0
        self._open(now)
        next_task = told = 0
        while self.left:
            if next_task < len(tasks) and tasks[next_task].submitted < events[0][0]:
                now = tasks[next_task].submitted
                self._submit(next_task, now)
                next_task += 1
            else:
                now, kind, one, other = heappop(events)
                _DO[kind](self, one, other, now)
            while self.dirty:
                self.dirty.pop().run(now)
            if now >= sample_at:
                self.result.samples.append(self._sample(now))
                sample_at = now + step
            if progress is not None and (next_task + len(tasks) - self.left) >> 10 != told:
                told = (next_task + len(tasks) - self.left) >> 10
                progress((next_task + len(tasks) - self.left) // 2)
            if next_task == len(tasks) and not self.where and self._over():
                break
        self._close(now)
        return self.result

    # Jobs.

    def _submit(self, job: int, now: float) -> None:
        task, self.submitted_jobs = self.jobs[job], job + 1
        homes = self.homes[task.gpus]
        start = self.backlog.start_of_next(now) if homes else math.inf
        if homes:
            self.backlog.waiting += task.gpus * task.limit
        for lane in homes:
            if self._waits(job):
                lane.offer(job, now)
        if not self._waits(job):
            return
        if not homes:
            if not self._burst(job, now):
                self.left -= 1
        elif self.cloud_pools:
            promotion = self.scenario.promotion
            if promotion is None or reason_to_promote(
                SlurmJob(0, "PENDING", submitted=now, expected_start=start), promotion, now
            ):
                self._burst(job, now)
            else:
                heappush(self.events, (now + promotion.wait_seconds, _PROMOTE, job, 0))

    def _promote(self, job: int, _: int, now: float) -> None:
        if self._waits(job):
            self._burst(job, now)

    def _burst(self, job: int, now: float) -> bool:
        """Let a job wait for the pools too; False where it may not, or is larger than any of them."""
        task = self.jobs[job]
        if task.account in self.restricted:
            self._refuse("RESIDENCY", job)
            return False
        lanes = self.pools[task.gpus]
        if not lanes:
            self._refuse("SIZE", job)
        for lane in lanes:
            if self._waits(job):
                lane.offer(job, now)
        return bool(lanes)

    def _start_onprem(self, number: int, job: int, now: float) -> None:
        task, allocator = self.jobs[job], self.sites[number].allocator
        parts = allocator.fit(task.gpus)
        if parts is None:
            raise AssertionError("a lane starts what fits")
        allocator.take(job, parts, now + task.limit)
        self.backlog.start(job, task.gpus, now + task.limit)
        self._started(job, number, now, "")

    def _start_in_aws(self, number: int, job: int, now: float) -> None:
        task, cloud = self.jobs[job], self.cloud_pools[number]
        begin = cloud.start(job, task.gpus, task.account, task.limit, now)
        if begin is None:
            self._refuse("BUDGET", job)
            usd = cloud.worst(task.gpus, task.limit)
            if self.budget.ever(task.account, cloud.pool.name, usd):
                self.waitlists[number].add(job, task.account, usd)
        else:
            self._started(job, len(self.sites) + number, begin, cloud.pool.name)

    def _started(self, job: int, lane: int, begin: float, pool: str) -> None:
        task = self.jobs[job]
        self.result.began[job], self.result.pool[job] = begin, pool
        self.where[job] = lane
        self.busy[bool(pool)] += task.gpus
        if self.homes[task.gpus]:
            self.backlog.waiting -= task.gpus * task.limit
        heappush(self.events, (begin + task.seconds, _END, job, 0))
        for other in self.queues:
            if other.waiting.remove(job) and other.promised is not None and other.promised.job == job:
                self.dirty.append(other)

    def _end(self, job: int, _: int, now: float) -> None:
        lane, task = self.where.pop(job), self.jobs[job]
        self.left -= 1
        if lane < len(self.sites):
            self.sites[lane].allocator.give(job)
            self.backlog.end(job)
            self.busy[0] -= task.gpus
        else:
            number = lane - len(self.sites)
            cloud = self.cloud_pools[number]
            for node in cloud.end(job, now):
                heappush(self.events, (now + cloud.scenario.suspend_after, _IDLE, number, node))
            self.busy[1] -= task.gpus
        self.queues[lane].run(now)

    # AWS.

    def _idle(self, number: int, node: int, now: float) -> None:
        cloud = self.cloud_pools[number]
        if now >= cloud.idle_since(node) + cloud.scenario.suspend_after:
            cloud.terminate(node, now)
            # Its money is free again, for any pool.
            for other, parked in enumerate(self.waitlists):
                if parked.lines and not parked.awaited:
                    parked.awaited = True
                    heappush(
                        self.events, (now + self.scenario.policy.insufficient_capacity_seconds[1], _RETRY, other, 0)
                    )

    def _retry(self, number: int, _: int, now: float) -> None:
        """Offer jobs again that were refused, while there is money and room for them."""
        parked, lane = self.waitlists[number], self.queues[len(self.sites) + number]
        parked.awaited = False
        pool = self.cloud_pools[number].pool.name

        def allowed(account: str, usd: float) -> bool:
            return self.budget.refusal([(account, pool, usd)], now) is None

        while lane.room.idle() and (job := parked.next(allowed, self._waits)) is not None:
            lane.offer(job, now)
            if self._waits(job):
                break

    def _month(self, _: int, __: int, now: float) -> None:
        following = next_month(now)
        heappush(self.events, (following, _MONTH, 0, 0))
        self.budget.turn(now)
        for cloud in self.cloud_pools:
            cloud.renew_warm(following, now)
        for number in range(len(self.cloud_pools)):
            self._retry(number, 0, now)
        self.is_stuck = not self.where

    # The frame.

    def _open(self, now: float) -> None:
        following = next_month(now)
        heappush(self.events, (following, _MONTH, 0, 0))
        for cloud in self.cloud_pools:
            cloud.keep_warm(following, now)

    def _over(self) -> bool:
        """Whether nothing can start any more."""
        return self.is_stuck or not any(self._waits(job) for parked in self.waitlists for job in parked.jobs())

    def _close(self, now: float) -> None:
        played = self.result
        while self.events:
            at, kind, number, node = heappop(self.events)
            if kind == _IDLE:
                self._idle(number, node, at)
                now = max(now, at)
        for cloud in self.cloud_pools:
            for node in list(cloud.nodes):
                cloud.terminate(node, now)
            played.stays += cloud.stays
            played.peaks[cloud.pool.name], played.launches[cloud.pool.name] = cloud.peak, cloud.launches
        played.ended, played.spent = now, dict(self.budget.state.spent)

    def _waits(self, job: int) -> bool:
        return self.result.began[job] is None

    def _refuse(self, code: str, job: int) -> None:
        self.result.refused.setdefault(code, set()).add(job)

    def _sample(self, now: float) -> Sample:
        waiting = self.left - len(self.where) - (len(self.jobs) - self.submitted_jobs)
        return Sample(now, self.busy[0], self.busy[1], waiting)


_DO = (_Run._end, _Run._idle, _Run._month, _Run._retry, _Run._promote)


def next_month(now: float) -> float:
    """When the month after this moment's begins, UTC."""
    found = datetime.fromtimestamp(now, UTC)
    year, month = (found.year + 1, 1) if found.month == 12 else (found.year, found.month + 1)
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
