"""Cluster of a replay: its queues, on-prem nodes and pools, and the start and end of each job."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappush

from landbridge.burst.model import SlurmJob
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.promote import reason_to_promote
from landbridge.simulation.backfill_queue import BackfillQueue, GpuCapacity
from landbridge.simulation.budget import SimulatedBudget
from landbridge.simulation.budget_waitlist import BudgetWaitlist
from landbridge.simulation.cloud_pool import SimulatedPool
from landbridge.simulation.conditions import Conditions
from landbridge.simulation.events import Event, EventKind, next_month
from landbridge.simulation.fair_share import DecayedUsage, FairShareQueue
from landbridge.simulation.job_queue import JobQueue
from landbridge.simulation.onprem import Backlog, OnpremNodes
from landbridge.simulation.result import SimulatedJob, SimulationResult
from landbridge.simulation.scenario import Scenario


class SimulatedCluster:
    """State of a replay. Jobs are numbered in the order of their submission; queues are those of the on-prem nodes, then
    those of the pools."""

    def __init__(
        self, scenario: Scenario, tasks: Sequence[SimulatedJob], bursting: bool, conditions: Conditions
    ) -> None:
        self.scenario, self.jobs, self.conditions = scenario, tasks, conditions
        self.has_interruptions = conditions.has_interruptions
        self.result = SimulationResult(tasks, [None] * len(tasks), [""] * len(tasks))
        gpus, limits = [task.gpus for task in tasks], [task.limit for task in tasks]
        self.events: list[Event] = []
        self.remaining = len(tasks)  # jobs that have not ended and may still run
        self.queue_of_job: dict[int, int] = {}  # running job -> number of its queue
        self.busy = [0, 0]  # GPUs on-prem, in AWS
        self.is_stuck = False  # a month began, and no job could start although none ran
        self.budget = SimulatedBudget(scenario.policy)
        kinds = scenario.onprem_kinds or ("",) * len(scenario.onprem)
        self.onprem_nodes = [
            OnpremNodes.of(nodes, each, kind) for (nodes, each), kind in zip(scenario.onprem, kinds, strict=True)
        ]
        pools = scenario.pools if bursting else ()
        self.cloud_pools = [SimulatedPool(pool, scenario.policy.pools[pool.name], self.budget) for pool in pools]
        self.waitlists = [BudgetWaitlist() for _ in self.cloud_pools]
        start_functions = [partial(self._start_onprem, number) for number in range(len(self.onprem_nodes))]
        start_functions += [partial(self._start_in_aws, number) for number in range(len(self.cloud_pools))]
        capacities: list[GpuCapacity] = [*self.onprem_nodes, *self.cloud_pools]
        self.usage: DecayedUsage | None = None
        new_queue: Callable[[], JobQueue] = partial(JobQueue, len(tasks))
        if conditions.half_life_hours is not None:
            self.usage = DecayedUsage(3600 * conditions.half_life_hours, conditions.shares)
            owners = [(task.account, task.user) for task in tasks]
            new_queue = partial(FairShareQueue, len(tasks), owners, self.usage)
        self.queues = [
            BackfillQueue(capacity, new_queue(), gpus, limits, start_function)
            for capacity, start_function in zip(capacities, start_functions, strict=True)
        ]
        self.queues_to_run: list[BackfillQueue] = []
        # Computed once for all jobs of a size and kind, or of an account.
        shapes, onprem_count = {(task.gpus, task.kind) for task in tasks}, len(self.onprem_nodes)
        self.onprem_queues = {
            (size, kind): [
                self.queues[number]
                for number, nodes in enumerate(self.onprem_nodes)
                if size <= nodes.size and kind in ("", nodes.kind)
            ]
            for size, kind in shapes
        }
        self.pool_queues = {
            (size, kind): [
                queue
                for queue, cloud in zip(self.queues[onprem_count:], self.cloud_pools, strict=True)
                if size <= cloud.size and kind in ("", cloud.scenario.kind)
            ]
            for size, kind in shapes
        }
        self.backlogs = {
            kind: Backlog(sum(nodes.size for nodes in self.onprem_nodes if kind in ("", nodes.kind)))
            for kind in {kind for _, kind in shapes}
        }
        accounts = {task.account for task in tasks}
        self.restricted = {
            account for account in accounts if residency.reject_if_restricted(scenario.policy, account) is not None
        }
        # Interrupted jobs: run time that is left, and number of restarts; those that wait for their next start.
        self.left: dict[int, float] = {}
        self.restarts: dict[int, int] = {}
        self.is_waiting_again: set[int] = set()
        self.last_start: dict[int, float] = {}  # only with interruptions

    # Jobs.

    def submit(self, job: int, now: float) -> None:
        """Queue a job, for the first time or after an interruption."""
        task = self.jobs[job]
        onprem_queues, backlog = self.onprem_queues[task.gpus, task.kind], self.backlogs[task.kind]
        start = backlog.start_of_next(now) if onprem_queues else math.inf
        if onprem_queues:
            backlog.waiting += task.gpus * task.limit
        for queue in onprem_queues:
            if self.waits(job):
                queue.offer(job, now)
        if not self.waits(job):
            return
        if not onprem_queues:
            if not self.burst(job, now):
                self.remaining -= 1
        elif self.cloud_pools:
            promotion = self.scenario.promotion
            if promotion is None or reason_to_promote(
                SlurmJob(0, "PENDING", eligible=now, expected_start=start), promotion, now
            ):
                self.burst(job, now)
            else:
                heappush(self.events, Event(now + promotion.wait_seconds, EventKind.PROMOTION, job))

    def burst(self, job: int, now: float) -> bool:
        """Add a job to the queues of the pools; return False if its data has to stay on-prem, or if no pool is large
        enough and of its kind."""
        task = self.jobs[job]
        if task.account in self.restricted:
            self.refuse("RESIDENCY", job)
            return False
        queues = self.pool_queues[task.gpus, task.kind]
        if not queues:
            has_kind = not task.kind or any(task.kind == cloud.scenario.kind for cloud in self.cloud_pools)
            self.refuse("SIZE" if has_kind else "KIND", job)
        for queue in queues:
            if self.waits(job):
                queue.offer(job, now)
                if self.conditions.capacity and self.waits(job) and self._lacks_capacity(queue, task.gpus):
                    self.refuse("CAPACITY", job)
        return bool(queues)

    def _lacks_capacity(self, queue: BackfillQueue, gpus: int) -> bool:
        """Return whether a job waits because AWS has too few instances for its pool."""
        return isinstance(queue.capacity, SimulatedPool) and queue.capacity.lacks_capacity(gpus)

    def _start_onprem(self, number: int, job: int, now: float) -> None:
        task, allocator = self.jobs[job], self.onprem_nodes[number].allocator
        parts = allocator.fit(task.gpus)
        if parts is None:
            raise AssertionError("a queue must start only jobs that fit")
        allocator.take(job, parts, now + task.limit)
        self.backlogs[task.kind].start(job, task.gpus, now + task.limit)
        self._started(job, number, now, "", now)

    def _start_in_aws(self, number: int, job: int, now: float) -> None:
        task, cloud = self.jobs[job], self.cloud_pools[number]
        begin = cloud.start(job, task.gpus, task.account, task.limit, now)
        if begin is None:
            self.refuse("BUDGET", job)
            usd = cloud.max_usd(task.gpus, task.limit)
            if self.budget.could_ever_hold(task.account, cloud.pool.name, usd):
                self.waitlists[number].add(job, task.account, usd)
        else:
            self._started(job, len(self.onprem_nodes) + number, begin, cloud.pool.name, now)

    def _started(self, job: int, queue: int, begin: float, pool: str, now: float) -> None:
        task, result = self.jobs[job], self.result
        seconds = task.seconds
        if job in self.is_waiting_again:
            self.is_waiting_again.discard(job)
            seconds = self.left[job] + self.conditions.restart_seconds
        else:
            result.began[job] = begin
        if self.has_interruptions:
            self.last_start[job] = begin
        result.pool[job] = pool
        self.queue_of_job[job] = queue
        self.busy[bool(pool)] += task.gpus
        if self.onprem_queues[task.gpus, task.kind]:
            self.backlogs[task.kind].waiting -= task.gpus * task.limit
        if self.usage is not None:
            self.usage.change(task.account, task.user, task.gpus, now)
        heappush(self.events, Event(begin + seconds, EventKind.JOB_END, job, node=self.restarts.get(job, 0)))
        for other in self.queues:
            if other.waiting.remove(job) and other.reservation is not None and other.reservation.job == job:
                self.queues_to_run.append(other)

    def end(self, job: int, now: float) -> None:
        """End a job that has run completely, and start others."""
        if self.has_interruptions:
            seconds = now - self.last_start.pop(job)
            gpus = self.jobs[job].gpus
            self.result.gpu_seconds[bool(self.result.pool[job])] += seconds * gpus
            if job in self.restarts:
                self.result.lost_gpu_seconds += self.conditions.restart_seconds * gpus
        queue = self.release(job, now)
        self.remaining -= 1
        self.queues[queue].run(now)

    def release(self, job: int, now: float) -> int:
        """Free the GPUs of a running job; return the number of its queue."""
        queue, task = self.queue_of_job.pop(job), self.jobs[job]
        if queue < len(self.onprem_nodes):
            self.onprem_nodes[queue].allocator.give(job)
            self.backlogs[task.kind].end(job)
            self.busy[0] -= task.gpus
        else:
            number = queue - len(self.onprem_nodes)
            cloud = self.cloud_pools[number]
            for node in cloud.end(job, now):
                heappush(
                    self.events, Event(now + cloud.scenario.suspend_after, EventKind.NODE_IDLE, pool=number, node=node)
                )
            self.busy[1] -= task.gpus
        if self.usage is not None:
            self.usage.change(task.account, task.user, -task.gpus, now)
        return queue

    # AWS.

    def suspend(self, number: int, node: int, now: float) -> None:
        """Terminate a node of a pool if it has been idle for the pool's suspend_after."""
        cloud = self.cloud_pools[number]
        if now >= cloud.idle_since(node) + cloud.scenario.suspend_after:
            cloud.terminate(node, now)
            self.plan_retries(now)

    def plan_retries(self, now: float) -> None:
        """Try the jobs again that a budget refused, after the hold of an instance was released, for any pool."""
        for other, waitlist in enumerate(self.waitlists):
            if waitlist.lines and not waitlist.is_retry_scheduled:
                waitlist.is_retry_scheduled = True
                at = now + self.scenario.policy.insufficient_capacity_seconds[1]
                heappush(self.events, Event(at, EventKind.BUDGET_RETRY, pool=other))

    def retry(self, number: int, now: float) -> None:
        """Queue jobs again that a budget refused, while budget and GPUs are available for them."""
        waitlist, queue = self.waitlists[number], self.queues[len(self.onprem_nodes) + number]
        waitlist.is_retry_scheduled = False
        pool = self.cloud_pools[number].pool.name

        def allowed(account: str, usd: float) -> bool:
            return self.budget.refusal([(account, pool, usd)], now) is None

        while queue.capacity.idle() and (job := waitlist.next(allowed, self.waits)) is not None:
            queue.offer(job, now)
            if self.waits(job):
                break

    def start_month(self, now: float) -> None:
        """Begin the budgets of a month."""
        end = next_month(now)
        heappush(self.events, Event(end, EventKind.MONTH_START))
        self.budget.start_month(now)
        for cloud in self.cloud_pools:
            cloud.renew_warm(end, now)
        for number in range(len(self.cloud_pools)):
            self.retry(number, now)
        self.is_stuck = not self.queue_of_job

    def waits(self, job: int) -> bool:
        """Return whether a job waits for a start."""
        return self.result.began[job] is None or job in self.is_waiting_again

    def refuse(self, code: str, job: int) -> None:
        """Count a job that may not run in AWS now, or not at all."""
        self.result.refused.setdefault(code, set()).add(job)
