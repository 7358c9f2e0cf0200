"""Interruptions of a replay: failed nodes, interrupted spot instances, and a changed number of instances in AWS."""

from heapq import heappush
from random import Random

from landbridge.simulation.cluster import SimulatedCluster
from landbridge.simulation.events import Event, EventKind, next_month


class Interruptions:
    """Source of interruptions. Each group of on-prem nodes and each pool has a Poisson process for the largest number of
    nodes that it can have; an event of a node that is not up has no effect.

    `pending`: changes that are still to come, after which a waiting job may start.
    """

    def __init__(self, cluster: SimulatedCluster, start: float) -> None:
        self.cluster, self.conditions = cluster, cluster.conditions
        self.pending = 0
        self._random = Random(self.conditions.seed)
        failures = 1 / self.conditions.mtbf_hours if self.conditions.mtbf_hours is not None else 0.0
        self._failures = failures
        spot = self.conditions.spot_interruptions
        #: (nodes, events of one node in an hour), by number of the queue.
        self._sources = [(nodes.nodes, failures) for nodes in cluster.onprem_nodes]
        self._sources += [
            (cloud.pool.max_nodes, failures + spot * any(offering.kind == "spot" for offering in cloud.pool.offerings))
            for cloud in cluster.cloud_pools
        ]
        if self.conditions.has_interruptions:
            for number in range(len(self._sources)):
                self._plan(number, start)
        for step in self.conditions.capacity:
            for number, cloud in enumerate(cluster.cloud_pools):
                if cloud.pool.name == step.pool and (step.at is None or step.at <= start):
                    cloud.limit = step.nodes
                elif cloud.pool.name == step.pool and step.at is not None:
                    self.pending += 1
                    heappush(cluster.events, Event(step.at, EventKind.CAPACITY, pool=number, node=step.nodes))

    def _plan(self, number: int, now: float) -> None:
        nodes, rate = self._sources[number]
        if nodes and rate:
            at = now + 3600 * self._random.expovariate(nodes * rate)
            heappush(self.cluster.events, Event(at, EventKind.INTERRUPTION, pool=number))

    def interrupt(self, number: int, now: float) -> None:
        """Interrupt a random node of a queue, if it is up, and plan the next event."""
        cluster, onprem_count = self.cluster, len(self.cluster.onprem_nodes)
        nodes, rate = self._sources[number]
        chosen, level = self._random.randrange(nodes), self._random.random() * rate
        self._plan(number, now)
        if number < onprem_count:
            if chosen in cluster.onprem_nodes[number].allocator.free:
                self._fail_onprem(number, chosen, now)
            return
        cloud = cluster.cloud_pools[number - onprem_count]
        node = chosen + 1
        instance = cloud.nodes.get(node)
        if instance is None:
            return
        is_spot = cloud.pool.offerings[instance.offering].kind == "spot"
        if level >= self._failures + self.conditions.spot_interruptions * is_spot:
            return
        killed = self._kill(cloud.allocators[instance.offering].jobs_on(node), now)
        cloud.terminate(node, now)
        cluster.plan_retries(now)
        if instance.warm:
            cloud.keep_warm(next_month(now), now, boots=True)
        self._count(cloud.pool.name)
        self._requeue(killed, number, now)

    def repair(self, number: int, node: int, now: float) -> None:
        """Return a node to its group."""
        self.pending -= 1
        self.cluster.onprem_nodes[number].allocator.add(node)
        self._run(number, now)

    def set_capacity(self, number: int, nodes: int, now: float) -> None:
        """Change the number of instances that AWS has for a pool. Running ones stay."""
        self.pending -= 1
        cloud = self.cluster.cloud_pools[number]
        cloud.limit = nodes
        cloud.keep_warm(next_month(now), now, boots=True)
        self._run(len(self.cluster.onprem_nodes) + number, now)

    def _fail_onprem(self, number: int, node: int, now: float) -> None:
        allocator = self.cluster.onprem_nodes[number].allocator
        killed = self._kill(allocator.jobs_on(node), now)
        allocator.remove(node)
        self._count("")
        self.pending += 1
        at = now + 3600 * self.conditions.repair_hours
        heappush(self.cluster.events, Event(at, EventKind.REPAIR, pool=number, node=node))
        self._requeue(killed, number, now)

    def _kill(self, jobs: list[int], now: float) -> list[int]:
        """End jobs before their end; their run time since the last checkpoint is lost."""
        cluster, conditions, result = self.cluster, self.conditions, self.cluster.result
        for job in jobs:
            task, attempt = cluster.jobs[job], cluster.restarts.get(job, 0)
            overhead = conditions.restart_seconds if attempt else 0.0
            left = cluster.left.get(job, task.seconds)
            ran = max(now - cluster.last_start.pop(job), 0.0)
            done = max(ran - overhead, 0.0)
            interval = conditions.checkpoint_seconds
            saved = done - done % interval if interval else 0.0
            result.gpu_seconds[bool(result.pool[job])] += ran * task.gpus
            result.lost_gpu_seconds += (ran - saved) * task.gpus
            cluster.left[job], cluster.restarts[job] = left - saved, attempt + 1
            cluster.release(job, now)
        return jobs

    def _requeue(self, jobs: list[int], number: int, now: float) -> None:
        cluster = self.cluster
        for job in jobs:
            if cluster.restarts[job] > self.conditions.max_restarts:
                cluster.remaining -= 1
                cluster.result.unfinished.add(job)
                continue
            cluster.result.restarts += 1
            cluster.is_waiting_again.add(job)
            cluster.submit(job, now)
        self._run(number, now)

    def _run(self, number: int, now: float) -> None:
        """Run a queue whose capacity changed."""
        queue = self.cluster.queues[number]
        queue.reservation = None
        queue.run(now)

    def _count(self, pool: str) -> None:
        counts = self.cluster.result.interruptions
        counts[pool] = counts.get(pool, 0) + 1
