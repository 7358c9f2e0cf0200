"""Replay of a job queue: submissions, starts and ends in order; the controller's policy decides which jobs may burst."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from landbridge.simulation.cluster import SimulatedCluster
from landbridge.simulation.conditions import NO_CONDITIONS, Conditions
from landbridge.simulation.events import Event, EventKind, next_month
from landbridge.simulation.interruptions import Interruptions
from landbridge.simulation.result import Sample, SimulatedJob, SimulationResult
from landbridge.simulation.scenario import Scenario

#: Samples over the time of submissions, for the chart.
MAX_SAMPLES = 600


def replay(
    scenario: Scenario,
    tasks: Sequence[SimulatedJob],
    *,
    bursting: bool = True,
    conditions: Conditions = NO_CONDITIONS,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Replay `tasks` in the order of their submission; without `bursting`, only the site runs them."""
    return _Run(scenario, tasks, bursting, conditions).play(progress)


class _Run:
    def __init__(
        self, scenario: Scenario, tasks: Sequence[SimulatedJob], bursting: bool, conditions: Conditions
    ) -> None:
        self.jobs = tasks
        self.cluster = SimulatedCluster(scenario, tasks, bursting, conditions)
        self.interruptions = Interruptions(self.cluster, tasks[0].submitted if tasks else 0.0)
        self.submitted_jobs = 0

    def play(self, progress: Callable[[int], None] | None) -> SimulationResult:
        """Handle the events in order until every job that can run has ended."""
        tasks, cluster = self.jobs, self.cluster
        events, usage = cluster.events, cluster.usage
        now = sample_at = tasks[0].submitted if tasks else 0.0
        step = max((tasks[-1].submitted - now) / MAX_SAMPLES, 1.0) if tasks else 1.0
        self._open(now)
        next_task = reported = 0
        while cluster.remaining:
            if next_task < len(tasks) and tasks[next_task].submitted < events[0][0]:
                now = tasks[next_task].submitted
                if usage is not None:
                    usage.now = now
                next_task += 1
                self.submitted_jobs = next_task
                cluster.submit(next_task - 1, now)
            else:
                event = heappop(events)
                now = event.at
                if usage is not None:
                    usage.now = now
                self._handle(event)
            while cluster.queues_to_run:
                cluster.queues_to_run.pop().run(now)
            if now >= sample_at:
                cluster.result.samples.append(self._sample(now))
                sample_at = now + step
            if progress is not None and (next_task + len(tasks) - cluster.remaining) >> 10 != reported:
                reported = (next_task + len(tasks) - cluster.remaining) >> 10
                progress((next_task + len(tasks) - cluster.remaining) // 2)
            if next_task == len(tasks) and not cluster.queue_of_job and self._is_finished():
                break
        self._close(now)
        return cluster.result

    def _handle(self, event: Event) -> None:
        cluster = self.cluster
        match event.kind:
            case EventKind.JOB_END:
                # The end of a run that was interrupted has no effect.
                if event.node == cluster.restarts.get(event.job, 0):
                    cluster.end(event.job, event.at)
            case EventKind.NODE_IDLE:
                cluster.suspend(event.pool, event.node, event.at)
            case EventKind.MONTH_START:
                cluster.start_month(event.at)
            case EventKind.BUDGET_RETRY:
                cluster.retry(event.pool, event.at)
            case EventKind.PROMOTION:
                if cluster.waits(event.job):
                    cluster.burst(event.job, event.at)
            case EventKind.REPAIR:
                self.interruptions.repair(event.pool, event.node, event.at)
            case EventKind.CAPACITY:
                self.interruptions.set_capacity(event.pool, event.node, event.at)
            case EventKind.INTERRUPTION:
                self.interruptions.interrupt(event.pool, event.at)

    def _open(self, now: float) -> None:
        end = next_month(now)
        heappush(self.cluster.events, Event(end, EventKind.MONTH_START))
        for cloud in self.cluster.cloud_pools:
            cloud.keep_warm(end, now)

    def _is_finished(self) -> bool:
        """Return whether no job can start any more."""
        cluster = self.cluster
        if self.interruptions.pending:
            return False
        return cluster.is_stuck or not any(
            cluster.waits(job) for waitlist in cluster.waitlists for job in waitlist.jobs()
        )

    def _close(self, now: float) -> None:
        cluster, result = self.cluster, self.cluster.result
        while cluster.events:
            event = heappop(cluster.events)
            if event.kind is EventKind.NODE_IDLE:
                cluster.suspend(event.pool, event.node, event.at)
                now = max(now, event.at)
        for cloud in cluster.cloud_pools:
            for node in list(cloud.nodes):
                cloud.terminate(node, now)
            result.stays += cloud.stays
            result.peaks[cloud.pool.name], result.launches[cloud.pool.name] = cloud.peak, cloud.launches
        result.unfinished |= cluster.is_waiting_again
        result.ended, result.spent = now, dict(cluster.budget.state.spent)

    def _sample(self, now: float) -> Sample:
        cluster = self.cluster
        waiting = cluster.remaining - len(cluster.queue_of_job) - (len(self.jobs) - self.submitted_jobs)
        return Sample(now, cluster.busy[0], cluster.busy[1], waiting)
