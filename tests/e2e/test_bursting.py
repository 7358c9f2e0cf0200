"""Bursting in the sandbox's cluster with real Slurm: with capacity, without capacity, and with too little."""

import time
from collections.abc import Iterator

import pytest

from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import ClusterError
from tests.e2e.support.bursting import NODES, POOL, Bursting, fresh, scaled

pytestmark = [pytest.mark.lab, pytest.mark.engine]


@pytest.fixture(scope="module")
def bursting(deployment: BringUp) -> Iterator[Bursting]:
    with scaled(deployment) as ready:
        yield ready


@pytest.fixture(autouse=True)
def _fresh(bursting: Bursting) -> Iterator[None]:
    yield from fresh(bursting)


def _own_seconds(bursting: Bursting, node: str) -> tuple[float, str, int]:
    """Return the seconds that Slurm and the controller add to EC2's launch and the boot, a text, and the job's id."""
    before = bursting.calls()
    number = bursting.submit("--nodes=1", f"--nodelist={node}", script="sleep 2")
    bursting.wait_for("a call of RunInstances", bursting.calls, lambda calls: calls > before, every=0.02)
    launched = time.time()
    assert bursting.ended(number).nodes == (node,)
    submitted = bursting.log_times(rf"_slurm_rpc_submit_batch_job: JobId={number} ")[-1]
    registered = bursting.log_times(rf"Node {node} now responding")[-1]
    started = bursting.log_times(rf"Configuration for JobId={number} is complete")[-1]
    text = (
        f"RunInstances after {launched - submitted:.2f} s, registered after {registered - launched:.2f} s,"
        f" running after {started - registered:.2f} s"
    )
    return (launched - submitted) + (started - registered), text, number


def test_a_job_starts_when_its_node_registers_and_an_idle_node_is_terminated(bursting: Bursting) -> None:
    """The time is printed and not asserted: it depends on the load of this machine."""
    node = NODES[0]
    seconds, text, number = _own_seconds(bursting, node)
    print(f"{seconds:.2f} s besides EC2's launch and the boot: {text}")
    ended = bursting.job(number)
    assert ended.restarts == 0
    (instance,) = bursting.launched(number)
    tags = instance["tags"]
    assert tags["landbridge:nodes"] == node and tags["landbridge:job"] == str(number)
    assert {"landbridge:cluster", "landbridge:pool", "landbridge:lease-expires", "landbridge:launch"} <= set(tags)
    assert tags["landbridge:data-class"] == "internal" and tags["landbridge:account"] == "vision"
    bursting.wait_until_off()


def test_a_job_without_capacity_gets_the_reason_and_runs_later(bursting: Bursting) -> None:
    bursting.set_capacity(everywhere=0)
    number = bursting.submit("--nodes=2", "--comment=mine", script="sleep 1")
    waiting = bursting.refused(number, "CAPACITY")
    assert waiting.restarts >= 1, "Slurm put it back into the queue"
    assert waiting.comment == "mine"
    assert bursting.launched(number) == []
    # One launch was tried in each zone.
    attempted = [record["text"] for record in bursting.records("launch", number)]
    assert sorted(attempted) == sorted(offering["key"] for offering in bursting.offerings()) and len(attempted) == 2
    bursting.set_capacity(everywhere=100)
    # A minute until the next attempt, another until Slurm checks for jobs whose begin time has passed, and the nodes' boot.
    ended = bursting.ended(number)
    assert len(bursting.launched(number)) == len(ended.nodes) == 2


def test_an_interactive_job_without_capacity_ends_with_the_reason_on_its_terminal(bursting: Bursting) -> None:
    bursting.set_capacity(everywhere=0)
    words = ("salloc", f"--partition={POOL}", "--gpus-per-node=8", "--nodes=1", "--time=5", "true")
    with pytest.raises(ClusterError) as error:
        bursting.deployment.cluster.run(bursting.login, *words, user=bursting.user, timeout=600)
    assert "landbridge: CAPACITY" in str(error.value) and "the job ends" in str(error.value)
    (ended,) = bursting.records("job-ends")[-1]["jobs"]
    job = bursting.job(ended)
    assert job.state in ("NODE_FAIL", "COMPLETING") and "landbridge: CAPACITY" in job.admin_comment


def test_half_a_gang_is_never_started(bursting: Bursting) -> None:
    bursting.set_capacity(use1_az4=2, use1_az6=1)
    number = bursting.submit("--nodes=3")
    bursting.refused(number, "CAPACITY")
    # A job that fits gets capacity meanwhile.
    small = bursting.submit("--nodes=1", script="sleep 1")
    bursting.ended(small)
    assert bursting.job(number).state == "PENDING"
    assert bursting.launched(number) == [], "EC2 launches all instances of a gang or none"
    bursting.wait_for(
        "the gang's nodes to be available again", lambda: _available(bursting), lambda nodes: len(nodes) == len(NODES)
    )


@pytest.mark.long
def test_a_wrong_launch_template_trips_the_breaker_until_it_is_reset(bursting: Bursting) -> None:
    templates = [offering["launch_template_id"] for offering in bursting.offerings()]

    def set_wrong_template(content: dict) -> None:  # type: ignore[type-arg]
        for offering in content["pools"][POOL]["offerings"]:
            offering["launch_template_id"] = "lt-0123456789abcdef0"

    bursting.configure(set_wrong_template)
    first = bursting.submit("--nodes=1")
    bursting.refused(first, "CONFIG")
    calls = bursting.calls()
    second = bursting.submit("--nodes=1")
    # CONFIG when it was in the refused call, BREAKER when only its pool was stopped.
    bursting.refused(second, "CONFIG", "BREAKER")
    assert bursting.calls() == calls, "no call of EC2 until an operator corrects the configuration"

    def restore_templates(content: dict) -> None:  # type: ignore[type-arg]
        for offering, template in zip(content["pools"][POOL]["offerings"], templates, strict=True):
            offering["launch_template_id"] = template

    bursting.configure(restore_templates)
    bursting.landbridge_burst("reset-breaker", POOL)
    # A minute until the next attempt, and another until Slurm checks for jobs whose begin time has passed.
    bursting.running(first)
    bursting.running(second)


def _available(bursting: Bursting) -> list[str]:
    """Return the nodes that Slurm would give to a job."""
    states = bursting.states()
    return [name for name, state in states.items() if not state & {"DOWN", "POWERING_DOWN", "POWER_DOWN", "DRAIN"}]
