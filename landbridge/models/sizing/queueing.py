"""Waiting time of requests with random arrivals, for servers of equal speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log, sqrt


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """Time that a worker needs for a request: mean, coefficient of variation, and the quantile of 97.5 percent, in seconds."""

    mean: float
    variation: float
    high: float


def service_time(seconds: Sequence[float]) -> ServiceTime:
    """Return the service time of measured requests. Raises ValueError without a positive one."""
    ordered = sorted(seconds)
    if not ordered or ordered[0] <= 0:
        raise ValueError("at least one service time is needed, and all must be positive")
    count, mean = len(ordered), sum(ordered) / len(ordered)
    variance = sum((each - mean) ** 2 for each in ordered) / count
    return ServiceTime(mean, sqrt(variance) / mean, ordered[min(count - 1, ceil(0.975 * count) - 1)])


def waiting_share(load: float, workers: int) -> float:
    """Return the probability that a request waits, for a load in workers.

    Source: Erlang, Solution of some problems in the theory of probabilities of significance in automatic telephone exchanges, 1917
    (formula C), from the recurrence of formula B.
    """
    if load >= workers:
        return 1.0
    blocked = 1.0
    for number in range(1, workers + 1):
        blocked = load * blocked / (number + load * blocked)
    return workers * blocked / (workers - load * (1 - blocked))


def high_wait(service: ServiceTime, rate: float, workers: int, tail: float) -> float:
    """Return the wait that a share `tail` of requests exceeds, for `rate` requests per second; infinite if workers do not suffice.

    The wait of M/M/c is exponential with a mean of 1 / (c mu - rate) for those that wait; other service times scale it by
    (1 + cv^2) / 2, at least by a half. Source: Allen, Probability, statistics and queueing theory, 1990 (Allen-Cunneen approximation).
    """
    load = rate * service.mean
    if load >= workers:
        return inf
    waiting = waiting_share(load, workers)
    if waiting <= tail:
        return 0.0
    scale = max(0.5, (1 + service.variation**2) / 2)
    return log(waiting / tail) * service.mean / (workers - load) * scale


def high_latency(service: ServiceTime, rate: float, workers: int) -> float:
    """Return a bound on the quantile of 95 percent of wait and service: the sum of their quantiles of 97.5 percent.

    At most 2.5 percent of the requests exceed each of the two, so at most 5 percent exceed the sum (union bound).
    """
    return service.high + high_wait(service, rate, workers, 0.025)


def largest_rate(service: ServiceTime, workers: int, p95_seconds: float) -> float:
    """Return the requests per second up to which the bound is within the objective; 0 if a single request is above it."""
    if service.high > p95_seconds:
        return 0.0
    low, high = 0.0, workers / service.mean
    for _ in range(60):
        middle = (low + high) / 2
        if high_latency(service, middle, workers) <= p95_seconds:
            low = middle
        else:
            high = middle
    return low
