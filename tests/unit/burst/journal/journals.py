"""Journal state with a value in every field."""

from landbridge.burst.model import (
    Attempt,
    Backoff,
    BudgetHold,
    CircuitBreaker,
    InsufficientCapacity,
    Observation,
    ObservationKind,
    RegistrationFailure,
    State,
    TerminationRefusal,
)

NODES = ("p5-1", "p5-2", "p5-10")


def attempt(token: str = "lb-1", **more: object) -> Attempt:
    values = {
        "token": token, "gang": "g", "pool": "p5", "offering": "p5/a/on-demand", "nodes": NODES, "jobs": (7, 8), "account": "vision", "all_or_nothing": True,
        "lease": 2000.5, "created_at": 1000.0, "hold_usd": 12.5, "usd_hour": 55.04, "data_class": "internal", "instances": {"p5-1": "i-1"},
    }  # fmt: skip
    return Attempt(**{**values, **more})  # type: ignore[arg-type]


FULL = State(
    attempts={"lb-1": attempt(), "lb-2": attempt("lb-2", ended=1001.25, code="InsufficientInstanceCapacity")},
    insufficient_capacity={"p5/a/on-demand": InsufficientCapacity(1120.0, 2, "InsufficientInstanceCapacity")},
    breakers={"p5": CircuitBreaker("UnauthorizedOperation", 'you "may" not\n', 1000.0, 3, 1600.0)},
    holds={
        "i-1": BudgetHold(
            "vision", "p5", 55.04, 1000.0, 2000.0, requested_until=3000.0, claims=((7, "vision", 2500.0), (8, "", None))
        )
    },
    spent={("2026-11", "vision", "p5"): 3.25},
    backoffs={7: Backoff(1100.0, 1, "CAPACITY", "no room", reported=True)},
    drained={"p5": "maintenance"},
    first_seen={Observation(ObservationKind.INSTANCE_WITHOUT_NODE, "i-9"): 990.0},
    terminated_at={"i-8": 980.0},
    charged_until={"i-6": 985.0},
    node_addresses={"p5-1": "10.0.0.1"},
    topology_read={"p5-1": "i-1"},
    min_nodes_requested_at={"p5": 970.0},
    registration_failures={"lb-9": RegistrationFailure("p5", 960.0)},
    last_observation_at=990.0,
    throttled_until={"us-east-1/p5": 1003.5},
    termination_refusals={"i-7": TerminationRefusal("OperationNotPermitted", "protected", 950.0, 1550.0)},
)
