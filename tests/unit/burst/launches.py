"""A launch of p5 instances: its attempt, its tags, its offering."""

from typing import Any

from landbridge.burst.model import Attempt, BurstPolicy, LaunchInterface, Offering, State

TAGS = {"landbridge:cluster": "sandbox", "landbridge:job": "7,8", "Name": "sandbox-p5-7"}
EFA = (LaunchInterface(0, 0, "interface"), LaunchInterface(1, 1, "efa-only"))


def attempt(*nodes: str, token: str = "lb-1", **fields: Any) -> Attempt:
    defaults: dict[str, Any] = {
        "gang": "g",
        "pool": "p5",
        "offering": "p",
        "jobs": (7, 8),
        "account": "vision",
        "all_or_nothing": True,
    }
    defaults |= {"lease": 1_800_000_000.0, "created_at": 1_799_990_000.0, "hold_usd": 1.0, "usd_hour": 1.0}
    return Attempt(token=token, nodes=nodes, **{**defaults, **fields})


def in_zones(policy: BurstPolicy, *zones: str) -> State:
    """Return a journal with a launch of one node of pool p5 in each zone: p5-1 in the first."""
    keys = {offering.zone: offering.key for offering in policy.pools["p5"].offerings}
    launched = {
        f"lb-{number}": attempt(
            f"p5-{number}",
            token=f"lb-{number}",
            offering=keys[zone],
            ended=1.0,
            instances={f"p5-{number}": f"i-{number}"},
        )
        for number, zone in enumerate(zones, 1)
    }
    return State(attempts=launched)


def offering(subnet: str, template: str, group: str) -> Offering:
    """Return an offering of p5 instances with two interfaces each."""
    return Offering(
        key="p5.48xlarge/use1-az4/on-demand",
        kind="on_demand",
        instance_type="p5.48xlarge",
        subnet=subnet,
        zone="use1-az4",
        market="on-demand",
        launch_template_id=template,
        launch_template_version="1",
        interfaces=EFA,
        security_groups=(group,),
    )
