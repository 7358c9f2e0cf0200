"""From Slurm's order to launch requests: nodes are neither lost nor launched twice, gangs stay together."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.config import Config, ConfigError, Pool, Subnet, parse
from landbridge.burst.errors import Kind, LaunchProblem, classify
from landbridge.burst.order import JobFacts, ResumeJob, ResumeOrder, read_order
from landbridge.burst.prolog_wait import verdict
from landbridge.burst.request import Live, Plan, plan
from landbridge.burst.slurm import number
from landbridge.burst.tokens import client_token
from sandbox.cloud.addresses import AddressBook
from sandbox.cloud.fleet import Candidate, fill
from sandbox.cloud.throttle import Bucket

NOW = datetime(2026, 11, 21, 12, 34, 56, tzinfo=UTC)
SUBNETS = (Subnet("subnet-a", "use1-az4", None), Subnet("subnet-b", "use1-az6", None))


def _pool(name: str) -> Pool:
    return Pool(name, f"{name}-", 9, "p5.48xlarge", "on-demand", "lt-1", "1", SUBNETS)


CONFIG = Config(
    cluster="sandbox",
    region="us-east-1",
    endpoint=None,
    credentials_file=None,
    log_file="log",
    lease_minutes=30,
    slurm_key_secret="key",
    pools={name: _pool(name) for name in ("p5", "g6")},
    accounts={},
)
FACTS = {7: JobFacts(7, restarts=0, started=1_795_000_000, minutes=120)}


def job(number: int, *nodes: str, allocated: tuple[str, ...] = ()) -> ResumeJob:
    return ResumeJob(number, nodes, allocated or nodes)


def planned(
    *jobs: ResumeJob, more: tuple[str, ...] = (), live: tuple[Live, ...] = (), facts: Mapping[int, JobFacts] = FACTS
) -> Plan:
    nodes = (*dict.fromkeys(node for job in jobs for node in job.nodes), *more)
    return plan(ResumeOrder(nodes, jobs), facts, CONFIG, live, NOW)


def test_gang_is_one_request() -> None:
    result = planned(job(7, "p5-1", "p5-2"))
    (request,) = result.requests
    assert (request.nodes, request.jobs, request.whole) == (("p5-1", "p5-2"), (7,), True)
    assert request.subnets == SUBNETS
    assert request.tags("sandbox") == {
        "landbridge:cluster": "sandbox",
        "landbridge:pool": "p5",
        "landbridge:job": "7",
        "landbridge:nodes": "p5-[1-2]",
        "landbridge:lease-expires": "2026-11-18T13:21:40Z",  # start, two hours' limit and 15 minutes
    }


def test_single_node_jobs_and_jobless_nodes_are_batched_apart() -> None:
    result = planned(job(1, "p5-1"), job(2, "p5-2"), job(3, "p5-3", "p5-4"), more=("p5-5", "g6-1"))
    shape = [(request.pool.name, request.nodes, request.jobs, request.whole) for request in result.requests]
    assert shape == [
        ("p5", ("p5-3", "p5-4"), (3,), True),
        ("p5", ("p5-1", "p5-2"), (1, 2), False),
        ("p5", ("p5-5",), (), False),
        ("g6", ("g6-1",), (), False),
    ]


def test_last_node_of_a_gang_joins_the_zone_of_the_others() -> None:
    live = (Live("i-1", "subnet-b", "p5-1", "p5-1"),)
    (request,) = planned(job(7, "p5-2", allocated=("p5-1", "p5-2")), live=live).requests
    assert [subnet.zone for subnet in request.subnets] == ["use1-az6"]


def test_nothing_is_launched_for_nodes_that_have_their_instance() -> None:
    live = tuple(Live(f"i-{n}", "subnet-a", f"p5-{n}", "p5-[1-2]") for n in (1, 2))
    result = planned(job(7, "p5-1", "p5-2"), live=live)
    assert (result.requests, result.running) == ((), ("p5-1", "p5-2"))


def test_interrupted_launch_is_repeated_under_its_own_token() -> None:
    """One of two was named when the program was killed: the same call returns the same two instances."""
    whole = planned(job(7, "p5-1", "p5-2")).requests[0]
    again = planned(job(7, "p5-1", "p5-2"), live=(Live("i-1", "subnet-a", "p5-1", "p5-[1-2]"),)).requests[0]
    assert again.token("sandbox", 0) == whole.token("sandbox", 0)
    assert again.tags("sandbox") == whole.tags("sandbox")
    assert again.named == {"p5-1": "i-1"}


def test_foreign_node_is_reported() -> None:
    assert planned(job(7, "dgx01", "p5-1"), more=("p5-10",)).unknown == ("dgx01", "p5-10")


def test_restarted_job_gets_another_token() -> None:
    first = planned(job(7, "p5-1", "p5-2")).requests[0]
    restarted = {7: JobFacts(7, restarts=1, started=1_795_000_100, minutes=120)}
    second = planned(job(7, "p5-1", "p5-2"), facts=restarted).requests[0]
    assert first.token("sandbox", 0) != second.token("sandbox", 0)


def test_a_request_does_not_depend_on_the_moment() -> None:
    """AWS refuses a repeated token with other parameters: tags, and the lease among them, have to be the same."""
    order = ResumeOrder(("p5-1", "p5-2"), (job(7, "p5-1", "p5-2"),))
    for facts in (FACTS, {}):
        first, second = (plan(order, facts, CONFIG, (), NOW + timedelta(seconds=s)).requests[0] for s in (0, 90))
        assert first.tags("sandbox") == second.tags("sandbox")
        assert first.token("sandbox", 0) == second.token("sandbox", 0)


names = st.sampled_from([f"p5-{n}" for n in range(1, 10)] + [f"g6-{n}" for n in range(1, 6)] + ["dgx01"])


@given(
    jobs=st.lists(st.lists(names, min_size=1, max_size=5, unique=True), max_size=6),
    more=st.lists(names, max_size=4, unique=True),
    up=st.lists(names, max_size=5, unique=True),
)
def test_every_node_is_launched_once_or_accounted_for(jobs: list[list[str]], more: list[str], up: list[str]) -> None:
    live = tuple(Live(f"i-{node}", "subnet-a", node, "other") for node in up)
    entries = tuple(job(index + 1, *nodes) for index, nodes in enumerate(jobs))
    nodes = {node for nodes in (*jobs, more) for node in nodes}
    result = plan(ResumeOrder(tuple(sorted(nodes)), entries), {}, CONFIG, live, NOW)
    launched = [node for request in result.requests for node in request.nodes]
    assert len(launched) == len(set(launched))
    assert set(launched) | set(result.running) | set(result.unknown) == nodes
    assert set(result.running) == nodes & set(up) - set(result.unknown)
    tokens = [request.token("sandbox", 0) for request in result.requests]
    assert len(tokens) == len(set(tokens))


@given(st.lists(st.integers(1, 99), max_size=5), st.lists(names, min_size=1, max_size=5), st.integers(0, 9))
def test_token_ignores_order_and_fits(jobs: list[int], nodes: list[str], attempt: int) -> None:
    token = client_token("sandbox", jobs, "0/1", nodes, attempt)
    assert token == client_token("sandbox", reversed(jobs), "0/1", reversed(nodes), attempt)
    assert token != client_token("sandbox", jobs, "0/1", nodes, attempt + 1)
    assert len(token) <= 64


RESUME = '{"jobs":[{"job_id":18,"nodes_alloc":"p5-[1-3]","nodes_resume":"p5-[2-3]","partition":"p5","features":null}]}'


@pytest.mark.parametrize(
    ("text", "jobs"),
    [
        (RESUME, (ResumeJob(18, ("p5-2", "p5-3"), ("p5-1", "p5-2", "p5-3"), "p5"),)),
        ('{"jobs":[{"job_id":18,"nodes":"p5-2"}]}', (ResumeJob(18, ("p5-2",), ("p5-2",)),)),
        ('{"jobs":[{"job_id":18,"nodes_resume":"p5-["}]}', ()),
        ("not json", ()),
        ("[]", ()),
        (None, ()),
    ],
)
def test_resume_file(text: str | None, jobs: tuple[ResumeJob, ...]) -> None:
    assert read_order("p5-[2-3]", text) == ResumeOrder(("p5-2", "p5-3"), jobs)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("InsufficientInstanceCapacity", Kind.CAPACITY),
        ("UnfulfillableCapacity", Kind.CAPACITY),
        ("VcpuLimitExceeded", Kind.QUOTA),
        ("RequestLimitExceeded", Kind.THROTTLE),
        ("UnauthorizedOperation", Kind.CONFIGURATION),
        ("EndpointConnectionError", Kind.NETWORK),
        ("SomethingNew", Kind.CONFIGURATION),
    ],
)
def test_taxonomy(code: str, kind: Kind) -> None:
    assert classify(code) is kind


def test_reason_is_one_short_line() -> None:
    reason = LaunchProblem("VcpuLimitExceeded", 'You "have"\nrequested ' + "x" * 500).reason()
    assert reason.startswith("landbridge: VcpuLimitExceeded (quota) You 'have' requested")
    assert len(reason) <= 200
    assert "\n" not in reason


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], "wait"),
        ([{"ALLOCATED", "CLOUD"}], "up"),
        ([{"ALLOCATED", "CLOUD"}, {"ALLOCATED", "CLOUD", "POWERING_UP"}], "wait"),
        ([{"ALLOCATED", "NOT_RESPONDING"}], "wait"),
        ([{"ALLOCATED", "POWERING_UP"}, {"DOWN", "CLOUD", "POWERING_DOWN"}], "down"),
    ],
)
def test_prolog_verdict(states: list[set[str]], expected: str) -> None:
    assert verdict(frozenset(state) for state in states) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5, 5), (None, None), ({"set": True, "infinite": False, "number": 60}, 60), ({"set": False, "number": 0}, None)],
)
def test_slurm_numbers(value: object, expected: int | None) -> None:
    assert number(value) == expected


def test_configuration_reports_all_faults_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(
            {"cluster": "", "region": "us-east-1", "pools": {"p5": {"max_nodes": -1, "market": "cheap", "subnets": []}}}
        )
    text = str(caught.value)
    for part in ("cluster", "lease_minutes", "pools.p5.max_nodes", "'cheap'", "pools.p5.subnets"):
        assert part in text


rooms = st.lists(
    st.builds(Candidate, st.sampled_from(["p5", "p4"]), st.sampled_from(["a", "b"]), st.integers(0, 9)), max_size=6
)


@given(rooms, st.integers(1, 12), st.integers(0, 12), st.booleans(), st.booleans())
def test_fill(rooms: list[Candidate], total: int, minimum: int, zone: bool, kind: bool) -> None:
    counts = fill(rooms, total, minimum, zone, kind)
    used = [candidate for candidate, count in zip(rooms, counts, strict=True) if count]
    assert all(0 <= count <= candidate.room for candidate, count in zip(rooms, counts, strict=True))
    assert sum(counts) == 0 or min(minimum, total) <= sum(counts) <= total
    assert len({candidate.zone for candidate in used}) <= 1 or not zone
    assert len({candidate.instance_type for candidate in used}) <= 1 or not kind
    if not zone and not kind and sum(candidate.room for candidate in rooms) >= max(total, minimum):
        assert sum(counts) == total or minimum > total


@given(st.integers(1, 11), st.sets(st.integers(4, 14), max_size=4))
def test_addresses_are_free_and_different(count: int, reserved: set[int]) -> None:
    from ipaddress import IPv4Network

    subnet, used = IPv4Network("10.60.0.0/28"), dict[str, str]()
    book = AddressBook([f"10.60.0.{n}" for n in reserved])
    possible = book.free(subnet, used)
    assert possible == 11 - len(reserved)
    for _ in range(min(count, possible)):
        used[book.choose(subnet, used)] = "taken"
    assert len(used) == min(count, possible)
    assert not reserved & {int(address.rpartition(".")[2]) for address in used}
    assert not {"10.60.0.0", "10.60.0.1", "10.60.0.2", "10.60.0.3", "10.60.0.15"} & set(used)


def test_bucket_refills() -> None:
    clock = [0.0]
    bucket = Bucket(2, 0.5, lambda: clock[0])
    assert [bucket.take(), bucket.take(), bucket.take()] == [True, True, False]
    clock[0] = 2.0
    assert [bucket.take(), bucket.take()] == [True, False]
