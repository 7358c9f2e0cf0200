"""Scripts of a pool at the boot of its nodes, from a bucket of the emulated AWS, with the rights of the nodes' role."""

from collections.abc import Iterator

import pytest

from sandbox.demo.bring_up import BringUp
from sandbox.demo.full import clients
from tests.e2e.support.bursting import NODES, Bursting, fresh, scaled
from tests.e2e.support.node_scripts import CONFIGURED, REFUSAL, START, put

pytestmark = [pytest.mark.lab, pytest.mark.engine]


@pytest.fixture(scope="module")
def bursting(deployment: BringUp) -> Iterator[Bursting]:
    with scaled(deployment) as ready:
        yield ready


@pytest.fixture(autouse=True)
def _fresh(bursting: Bursting) -> Iterator[None]:
    yield from fresh(bursting)


def refused_nodes(bursting: Bursting, number: int, reason: str) -> str:
    """Wait for a node that refuses its job for this reason, and for its instance to end; return the instance's console."""
    bursting.wait_for(
        f"a node that is down with the reason {reason!r}",
        bursting.nodes,
        lambda nodes: any(reason in node.get("reason", "") and "DOWN" in node["state"] for node in nodes.values()),
        every=0.1,
    )
    bursting.on_controller("scancel", str(number))
    bursting.wait_for("its instance to end", bursting.alive, lambda instances: not instances)
    first = bursting.launched(number)[0]["id"]
    output = clients(bursting.deployment, "ec2").get_console_output(InstanceId=first)["Output"]
    return str(output)


def test_the_scripts_have_run_before_the_first_job(bursting: Bursting) -> None:
    lines = f"node_start p5 {NODES[0]} first\\nnode_configured directory"
    number = bursting.submit(
        f"--nodelist={NODES[0]}", script=f'test "$(cat /etc/scripts-of-this-boot)" = "$(printf "{lines}")"'
    )
    assert bursting.ended(number).nodes == (NODES[0],), "the job, which compares the lines, has completed"


def test_a_node_whose_script_fails_takes_no_job_and_its_console_has_the_log(bursting: Bursting) -> None:
    bursting.deployment.cluster.run(bursting.login, "touch", REFUSAL, user="alice")
    try:
        number = bursting.submit("--nodes=1")
        reason = f"landbridge: action: node_configured {CONFIGURED.name}: exit status 3"
        console = refused_nodes(bursting, number, reason)
    finally:
        bursting.deployment.cluster.run(bursting.login, "rm", REFUSAL, user="alice")
    assert "no licence for p5-" in console and reason in console


def test_a_node_whose_script_was_changed_runs_nothing(bursting: Bursting) -> None:
    s3 = clients(bursting.deployment, "s3")
    put(s3, START, START.read_bytes() + b"touch /etc/changed\n")
    try:
        number = bursting.submit("--nodes=1")
        console = refused_nodes(bursting, number, f"landbridge: action: node_start {START.name}: s3://")
    finally:
        put(s3, START, START.read_bytes())
    assert "has the sha256" in console
