"""Policies for the world: two pools of a few nodes, several offerings each, times short enough for a test."""

from typing import Any

from hypothesis import strategies as st

from landbridge.burst.model import AccountPolicy, BurstPolicy, Market, Offering, PoolPolicy, PromotionPolicy
from tests.unit.burst.world.clock import START
from tests.unit.burst.world.slurmctld import LOCAL


def offering(
    kind: str, zone: str, market: Market = "on-demand", type: str = "p5.48xlarge", usd: float = 12.0, **fields: Any
) -> Offering:
    return Offering(
        key=f"{type}/{zone}/{market}/{kind}",
        kind=kind,
        instance_type=type,
        subnet=f"subnet-{zone}",
        zone=zone,
        market=market,
        launch_template_id=f"lt-{type}",
        launch_template_version="1",
        placement_group=f"pg-{zone}",
        usd_hour=usd,
        **fields,
    )


BLOCK = offering("capacity_block", "b", "capacity-block", usd=7.0, opens=START + 600, closes=START + 4200, size=2)
#: In another region, in which the data of account poor may not be.
FAR = offering("on_demand", "far-a", usd=13.0, region="eu-north-1")
GPU = (
    offering("reservation", "a", usd=9.0),
    offering("on_demand", "a", topology=True),
    offering("on_demand", "b", topology=True),
    offering("on_demand", "b", type="p5e.48xlarge", usd=14.0),
    offering("spot", "b", "spot", usd=5.0),
)
BIG = (
    offering("on_demand", "a", type="p4d.24xlarge", usd=20.0),
    offering("on_demand", "c", type="p4d.24xlarge", usd=20.0),
)


def policy(
    batch: int = 500,
    cluster_usd: float | None = None,
    poor_usd: float = 6.0,
    block: bool = False,
    far: bool = False,
    **settings: Any,
) -> BurstPolicy:
    """Return a policy with an account without a cap, one with a hard cap, and one whose data must stay on-prem."""
    offerings = (*((BLOCK,) if block else ()), *GPU, *((FAR,) if far else ()))
    return BurstPolicy(
        cluster="site",
        region="eu-central-1",
        pools={
            "gpu": PoolPolicy("gpu", "g-", 8, offerings, resume_timeout=300.0, boot_seconds=60.0),
            "big": PoolPolicy("big", "b-", 4, BIG, resume_timeout=300.0, boot_seconds=60.0),
        },
        accounts={
            "lab": AccountPolicy("lab", "internal", True, regions=(FAR.region,)),
            "poor": AccountPolicy("poor", "private", True, monthly_usd=poor_usd, hard=True),
            "secret": AccountPolicy("secret", "restricted", False),
        },
        monthly_usd=cluster_usd,
        hard=cluster_usd is not None,
        lease_minutes=20.0,
        grace_minutes=10.0,
        orphan_seconds=120.0,
        settle_seconds=90.0,
        insufficient_capacity_seconds=(60.0, 240.0),
        breaker_seconds=120.0,
        impaired_seconds=120.0,
        event_margin_seconds=180.0,
        launch_batch=batch,
        promotions=(PromotionPolicy(LOCAL, ("gpu",), 600.0),),
        **settings,
    )


def policies() -> st.SearchStrategy[BurstPolicy]:
    return st.builds(
        policy,
        batch=st.sampled_from([500, 500, 2, 1]),
        cluster_usd=st.sampled_from([None, None, 25.0, 200.0]),
        poor_usd=st.sampled_from([6.0, 40.0]),
        block=st.booleans(),
        far=st.booleans(),
        launch_bucket=st.sampled_from([1000, 1000, 3]),
        launch_per_second=st.just(0.1),
    )
