"""The replay: every submission, start and end in its order, with the controller's policy deciding who may burst."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from heapq import heappop, heappush

from landbridge.burst.model import Job
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.promote import waits
from landbridge.simulation.backfill_queue import Lane, Room
from landbridge.simulation.budget import Purse
from landbridge.simulation.budget_waitlist import Parked
from landbridge.simulation.cloud_pool import Cloud
from landbridge.simulation.job_queue import Waiting
from landbridge.simulation.onprem import Backlog, Site
from landbridge.simulation.result import Played, Sample, Task
from landbridge.simulation.scenario import Setting

#: Events, in the order of those of one moment: what frees something comes first.
_END, _IDLE, _MONTH, _RETRY, _PROMOTE = range(5)
#: Moments of the submission time that the picture has.
SAMPLES = 600


def replay(
    setting: Setting,
    tasks: Sequence[Task],
    *,
    bursting: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Played:
    """Play the queue of `tasks`, which are in the order of their submission; without bursting as if there were no AWS."""
    return _Run(setting, tasks, bursting).play(progress)


class _Run:
    def __init__(self, setting: Setting, tasks: Sequence[Task], bursting: bool) -> None:
        self.setting, self.tasks = setting, tasks
        self.played = Played(tasks, [None] * len(tasks), [""] * len(tasks))
        gpus, limits = [task.gpus for task in tasks], [task.limit for task in tasks]
        self.events: list[tuple[float, int, int, int]] = []
        self.left = len(tasks)  # that have not ended and still may
        self.where: dict[int, int] = {}  # running job -> the number of its lane
        self.busy = [0, 0]  # GPUs on-prem, in AWS
        self.came = 0
        self.hopeless = False  # whether a month began, and nothing could start though nothing ran
        self.purse = Purse(setting.policy)
        self.sites = [Site.of(nodes, each) for nodes, each in setting.onprem]
        self.backlog = Backlog(setting.onprem_gpus)
        pools = setting.pools if bursting else ()
        self.clouds = [Cloud(pool, setting.policy.pools[pool.name], self.purse) for pool in pools]
        self.parked = [Parked() for _ in self.clouds]
        seats = [partial(self._start_onprem, number) for number in range(len(self.sites))]
        seats += [partial(self._start_in_aws, number) for number in range(len(self.clouds))]
        rooms: list[Room] = [*self.sites, *self.clouds]
        self.lanes = [
            Lane(room, Waiting(len(tasks)), gpus, limits, seat) for room, seat in zip(rooms, seats, strict=True)
        ]
        self.dirty: list[Lane] = []
        # What is the same for all jobs of a size or an account is found once.
        sizes, many = set(gpus), len(self.sites)
        self.homes = {size: [self.lanes[n] for n, site in enumerate(self.sites) if size <= site.size] for size in sizes}
        self.pools = {
            size: [lane for lane, cloud in zip(self.lanes[many:], self.clouds, strict=True) if size <= cloud.size]
            for size in sizes
        }
        accounts = {task.account for task in tasks}
        self.restricted = {account for account in accounts if residency.refusal(setting.policy, account) is not None}

    def play(self, progress: Callable[[int], None] | None) -> Played:
        """Event after event, until every job that can has ended."""
        tasks, events = self.tasks, self.events
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
                self.played.samples.append(self._sample(now))
                sample_at = now + step
            if progress is not None and (next_task + len(tasks) - self.left) >> 10 != told:
                told = (next_task + len(tasks) - self.left) >> 10
                progress((next_task + len(tasks) - self.left) // 2)
            if next_task == len(tasks) and not self.where and self._over():
                break
        self._close(now)
        return self.played

    # Jobs.

    def _submit(self, job: int, now: float) -> None:
        task, self.came = self.tasks[job], job + 1
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
        elif self.clouds:
            promotion = self.setting.promotion
            if promotion is None or waits(Job(0, "PENDING", submitted=now, expected_start=start), promotion, now):
                self._burst(job, now)
            else:
                heappush(self.events, (now + promotion.wait_seconds, _PROMOTE, job, 0))

    def _promote(self, job: int, _: int, now: float) -> None:
        if self._waits(job):
            self._burst(job, now)

    def _burst(self, job: int, now: float) -> bool:
        """Let a job wait for the pools too; False where it may not, or is larger than any of them."""
        task = self.tasks[job]
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
        task, shelf = self.tasks[job], self.sites[number].shelf
        parts = shelf.fit(task.gpus)
        if parts is None:
            raise AssertionError("a lane starts what fits")
        shelf.take(job, parts, now + task.limit)
        self.backlog.start(job, task.gpus, now + task.limit)
        self._started(job, number, now, "")

    def _start_in_aws(self, number: int, job: int, now: float) -> None:
        task, cloud = self.tasks[job], self.clouds[number]
        begin = cloud.start(job, task.gpus, task.account, task.limit, now)
        if begin is None:
            self._refuse("BUDGET", job)
            usd = cloud.worst(task.gpus, task.limit)
            if self.purse.ever(task.account, cloud.pool.name, usd):
                self.parked[number].add(job, task.account, usd)
        else:
            self._started(job, len(self.sites) + number, begin, cloud.pool.name)

    def _started(self, job: int, lane: int, begin: float, pool: str) -> None:
        task = self.tasks[job]
        self.played.began[job], self.played.pool[job] = begin, pool
        self.where[job] = lane
        self.busy[bool(pool)] += task.gpus
        if self.homes[task.gpus]:
            self.backlog.waiting -= task.gpus * task.limit
        heappush(self.events, (begin + task.seconds, _END, job, 0))
        for other in self.lanes:
            if other.waiting.remove(job) and other.promised is not None and other.promised.job == job:
                self.dirty.append(other)

    def _end(self, job: int, _: int, now: float) -> None:
        lane, task = self.where.pop(job), self.tasks[job]
        self.left -= 1
        if lane < len(self.sites):
            self.sites[lane].shelf.give(job)
            self.backlog.end(job)
            self.busy[0] -= task.gpus
        else:
            number = lane - len(self.sites)
            cloud = self.clouds[number]
            for node in cloud.end(job, now):
                heappush(self.events, (now + cloud.setting.suspend_after, _IDLE, number, node))
            self.busy[1] -= task.gpus
        self.lanes[lane].run(now)

    # AWS.

    def _idle(self, number: int, node: int, now: float) -> None:
        cloud = self.clouds[number]
        if now >= cloud.idle_since(node) + cloud.setting.suspend_after:
            cloud.terminate(node, now)
            # Its money is free again, for any pool.
            for other, parked in enumerate(self.parked):
                if parked.lines and not parked.awaited:
                    parked.awaited = True
                    heappush(self.events, (now + self.setting.policy.drought_seconds[1], _RETRY, other, 0))

    def _retry(self, number: int, _: int, now: float) -> None:
        """Offer jobs again that were refused, while there is money and room for them."""
        parked, lane = self.parked[number], self.lanes[len(self.sites) + number]
        parked.awaited = False
        pool = self.clouds[number].pool.name

        def allowed(account: str, usd: float) -> bool:
            return self.purse.refusal([(account, pool, usd)], now) is None

        while lane.room.idle() and (job := parked.next(allowed, self._waits)) is not None:
            lane.offer(job, now)
            if self._waits(job):
                break

    def _month(self, _: int, __: int, now: float) -> None:
        following = next_month(now)
        heappush(self.events, (following, _MONTH, 0, 0))
        self.purse.turn(now)
        for cloud in self.clouds:
            cloud.renew_warm(following, now)
        for number in range(len(self.clouds)):
            self._retry(number, 0, now)
        self.hopeless = not self.where

    # The frame.

    def _open(self, now: float) -> None:
        following = next_month(now)
        heappush(self.events, (following, _MONTH, 0, 0))
        for cloud in self.clouds:
            cloud.keep_warm(following, now)

    def _over(self) -> bool:
        """Whether nothing can start any more."""
        return self.hopeless or not any(self._waits(job) for parked in self.parked for job in parked.jobs())

    def _close(self, now: float) -> None:
        played = self.played
        while self.events:
            at, kind, number, node = heappop(self.events)
            if kind == _IDLE:
                self._idle(number, node, at)
                now = max(now, at)
        for cloud in self.clouds:
            for node in list(cloud.nodes):
                cloud.terminate(node, now)
            played.stays += cloud.stays
            played.peaks[cloud.pool.name], played.launches[cloud.pool.name] = cloud.peak, cloud.launches
        played.ended, played.spent = now, dict(self.purse.state.spent)

    def _waits(self, job: int) -> bool:
        return self.played.began[job] is None

    def _refuse(self, code: str, job: int) -> None:
        self.played.refused.setdefault(code, set()).add(job)

    def _sample(self, now: float) -> Sample:
        waiting = self.left - len(self.where) - (len(self.tasks) - self.came)
        return Sample(now, self.busy[0], self.busy[1], waiting)


_DO = (_Run._end, _Run._idle, _Run._month, _Run._retry, _Run._promote)


def next_month(now: float) -> float:
    """When the month after this moment's begins, UTC."""
    found = datetime.fromtimestamp(now, UTC)
    year, month = (found.year + 1, 1) if found.month == 12 else (found.year, found.month + 1)
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
