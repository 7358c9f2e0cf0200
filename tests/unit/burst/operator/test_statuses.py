"""Statuses of nodes and pools for operators."""

import pytest

from landbridge.burst.model import (
    BudgetHold,
    CircuitBreaker,
    CloudInstance,
    Ec2View,
    InsufficientCapacity,
    SlurmNode,
    State,
    TerminationRefusal,
)
from landbridge.burst.operator.status import account_spending, node_statuses, pool_statuses
from landbridge.timestamps import month_of
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    OFF,
    OFFERINGS,
    RISING,
    decide,
    ec2,
    end,
    job,
    launched,
    only_launch,
    site,
    slurm,
    success,
)

MONTH = month_of(NOW)


def instance(id: str, node: str, **fields: object) -> CloudInstance:
    return CloudInstance(id, node, "running", "10.0.0.1", "subnet-a", "p5", "on-demand", NOW, pool="gpu", **fields)  # type: ignore[arg-type]


def nodes(**states: tuple[str, ...]) -> dict[str, SlurmNode]:
    return {
        name.replace("_", "-"): SlurmNode(name.replace("_", "-"), frozenset(words)) for name, words in states.items()
    }


def test_nodes_of_slurm_and_instances_of_ec2_are_joined_by_name() -> None:
    instances = (instance("i-1", "g-1"), instance("i-2", "g-2"), instance("i-3", "g-2"), instance("i-4", ""))
    rows = node_statuses(instances, nodes(g_1=BUSY, g_2=BUSY, g_3=OFF, g_4=BUSY, g_5=RISING), State(), site())
    assert {(row.node, row.instance): row.remark for row in rows} == {
        ("", "i-4"): "instance without name",
        ("g-1", "i-1"): "",
        ("g-2", "i-2"): "several instances of this node",
        ("g-2", "i-3"): "several instances of this node",
        ("g-4", ""): "node without instance",
        ("g-5", ""): "node boots without an instance",
    }


def test_an_instance_whose_node_is_off_or_down_or_unknown_is_reported() -> None:
    instances = tuple(instance(f"i-{number}", f"g-{number}") for number in (1, 2, 3))
    down = SlurmNode("g-2", frozenset({"DOWN", "CLOUD"}), "Not responding")
    rows = node_statuses(instances, nodes(g_1=OFF) | {"g-2": down}, State(), site())
    assert [row.remark for row in rows] == [
        "instance of a node that is powered down",
        "node is down: Not responding",
        "no such node in Slurm",
    ]


@pytest.mark.parametrize("words", [("IDLE", "CLOUD", "DRAIN"), ("DOWN", "CLOUD")])
def test_a_node_that_an_operator_keeps_is_reported_with_its_price(words: tuple[str, ...]) -> None:
    decision = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(decision)
    state = end(decision, launch, success(launch))
    (machine,) = launched(launch, success(launch))
    node = SlurmNode("g-1", frozenset(words), "ann looks at the GPU")
    (row,) = node_statuses((machine,), {"g-1": node}, state, site())
    assert row.remark == "an operator keeps it for 10.00 USD an hour: ann looks at the GPU"


def test_an_instance_that_ec2_refuses_to_terminate_is_reported_before_other_remarks() -> None:
    refusal = TerminationRefusal("OperationNotPermitted", "x", NOW, NOW + 600)
    (row,) = node_statuses(
        (instance("i-1", "g-1"),), nodes(g_1=OFF), State(termination_refusals={"i-1": refusal}), site()
    )
    assert row.remark == "EC2 refuses to terminate it: OperationNotPermitted"


def test_pool_statuses_show_what_stops_a_pool_and_what_it_costs() -> None:
    state = State(
        insufficient_capacity={
            OFFERINGS[0].key: InsufficientCapacity(NOW + 60, 1, "ICE"),
            OFFERINGS[1].key: InsufficientCapacity(NOW - 1, 1, "ICE"),
        },
        breakers={"gpu": CircuitBreaker("UnauthorizedOperation", "no", NOW, 1, NOW + 600)},
        drained={"big": "rain"},
        holds={"i-1": BudgetHold("lab", "gpu", 10.0, NOW, NOW + 4 * 3600)},
        spent={(MONTH, "lab", "gpu"): 2.0, ("2026-01", "lab", "gpu"): 100.0, (MONTH, "", "big"): 5.0},
    )
    big, gpu = pool_statuses(site(), state, Ec2View(NOW, (instance("i-1", "g-1"),)), NOW)
    assert (big.name, big.drained, big.instances, big.spent_usd, big.dry) == ("big", "rain", 0, 5.0, ())
    assert (gpu.breaker, [dry.offering for dry in gpu.dry]) == ("UnauthorizedOperation: no", [OFFERINGS[0].key])
    assert (gpu.instances, gpu.spent_usd, gpu.held_usd) == (1, 2.0, 40.0)
    assert account_spending(state, NOW) == {"": (5.0, 0.0), "lab": (2.0, 40.0)}
