"""burst.json: the plan writes it for the controller, and the burst programs read it with the values of the environment
file."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings

from landbridge.burst.config.config import BurstConfig, parse
from landbridge.burst.model import Offering
from landbridge.environment import Environment
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.burst import burst_config
from tests.unit.core.samples import environment
from tests.unit.plan.estates import pools

CR = "cr-0123456789abcdef0"
BLOCK = {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4", "count": 2}
WINDOW = {"starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
POOL = ("aws", "pools", 0)


def built(site: Environment) -> StackOutputs:
    """Return the stack outputs of this environment that a launch needs."""
    planned_pools = {}
    for pool in site.aws.pools:
        args = pool_args(site, pool)
        subnets = [
            {
                "id": f"subnet-{zone}",
                "zone": zone,
                "placement_group": args.placement_group(zone) if zone in args.placement_zones else None,
            }
            for zone in args.zones
        ]
        planned_pools[pool.name] = {
            "launch_template_id": "lt-0123456789abcdef0",
            "launch_template_name": args.name,
            "launch_template_version": "3",
            "instance_type": args.instance_type,
            "max_nodes": args.max_nodes,
            "market": args.market.kind,
            "security_group_id": "sg-1",
            "subnets": subnets,
        }
    arn = "arn:aws:iam::123456789012:role/r"
    raw: dict[str, Any] = {
        "cluster": site.name,
        "region": site.region,
        "network": {"vpc_id": "vpc-1", "cidr": "10.60.0.0/16", "subnets": {}},
        "link_pre_shared_keys": ["not-for-the-controller", "not-for-the-controller"],
        "data_hub": {"buckets": {}},
        "identity": {"node_instance_profile": "n", "node_role_arn": arn},
        "secrets": {"slurm_key": f"{site.name}/slurm-key"},
        "pools": planned_pools,
    }
    return StackOutputs.model_validate(raw)


def read(changes: dict[Any, Any] | None = None) -> BurstConfig:
    site = environment(changes or {})
    raw = burst_config(site, built(site))
    assert "not-for-the-controller" not in str(raw)
    return parse(raw)


def offerings(*capacity: dict[str, Any], **settings: Any) -> tuple[Offering, ...]:
    changes: dict[Any, Any] = {(*POOL, "capacity"): list(capacity)}
    return read(changes | {(*POOL, key): value for key, value in settings.items()}).policy.pools["p5"].offerings


def test_the_environment_file_becomes_the_policy() -> None:
    config = read({("cost_center",): "4711", ("budget",): {"monthly_usd": 1000, "hard": True}})
    policy = config.policy
    assert (policy.cluster, policy.region, policy.cost_center) == ("test", "us-east-1", "4711")
    assert (policy.monthly_usd, policy.hard, policy.unpriced) == (1000, True, False)
    assert config.slurm_key_secret == "test/slurm-key" and config.credentials_file is not None
    pool = policy.pools["p5"]
    assert (pool.node_prefix, pool.max_nodes, pool.min_nodes, pool.resume_timeout) == ("p5-", 4, 0, 1200)
    assert pool.boot_seconds == 600
    assert [node for node in ("p5-0", "p5-1", "p5-4", "p5-5", "p5-x", "dgx01") if pool.owns(node)] == ["p5-1", "p5-4"]
    (offering,) = pool.offerings
    assert (offering.key, offering.subnet) == ("p5.48xlarge/use1-az4/on-demand", "subnet-use1-az4")
    assert offering.placement_group == "test-p5" and offering.usd_hour is not None
    assert len(offering.interfaces) == 33 and offering.interfaces[0].kind == "interface"
    assert offering.security_groups == ("sg-1",) and not offering.public_ip
    assert offering.topology


def test_the_topology_is_read_only_for_types_whose_network_nodes_ec2_knows() -> None:
    planned = offerings({"kind": "on_demand"}, {"kind": "on_demand", "instance": "p5.4xlarge"})
    assert {offering.instance_type: offering.topology for offering in planned} == {
        "p5.48xlarge": True,
        "p5.4xlarge": False,
    }


def test_an_offering_has_the_gpus_of_its_type() -> None:
    planned = offerings({"kind": "on_demand"}, {"kind": "on_demand", "instance": "p5.4xlarge"})
    assert {offering.instance_type: offering.gpus for offering in planned} == {"p5.48xlarge": 8, "p5.4xlarge": 1}


def test_offerings_are_in_the_sequence_of_the_capacities_and_their_zones() -> None:
    planned = offerings(
        {**BLOCK, **WINDOW},
        {"kind": "on_demand", "zones": ["use1-az6", "use1-az4"]},
        {"kind": "on_demand", "zones": ["use1-az6"], "instance": "p5en.48xlarge"},
        {"kind": "spot", "zones": ["use1-az6"], "max_price_usd": 30.0},
    )
    assert [offering.key for offering in planned] == [
        f"p5.48xlarge/use1-az4/capacity-block/{CR}",
        "p5.48xlarge/use1-az6/on-demand",
        "p5.48xlarge/use1-az4/on-demand",
        "p5en.48xlarge/use1-az6/on-demand",
        "p5.48xlarge/use1-az6/spot",
    ]
    block, first, second, other, spot = planned
    assert block.placement_group is None and (block.reservation, block.size) == (CR, 2)
    assert block.opens == datetime(2026, 12, 1, 11, 30, tzinfo=UTC).timestamp()
    assert block.closes == datetime(2026, 12, 8, 11, 0, tzinfo=UTC).timestamp(), (
        "jobs end before AWS ends the capacity block"
    )
    assert (first.placement_group, second.placement_group) == ("test-p5-use1-az6", "test-p5-use1-az4")
    assert (len(first.interfaces), len(other.interfaces)) == (33, 17)
    assert (spot.usd_hour, spot.max_price_usd) == (30.0, 30.0)


def test_the_price_of_spot_is_its_maximum() -> None:
    on_demand, spot, high_bid = offerings(
        {"kind": "on_demand", "zones": ["use1-az4"]},
        {"kind": "spot", "zones": ["use1-az4"]},
        {"kind": "spot", "zones": ["use1-az4"], "max_price_usd": 10_000.0},
    )
    assert spot.usd_hour == on_demand.usd_hour == high_bid.usd_hour, (
        "never more than on demand, whatever the maximum price"
    )
    assert len({spot.key, high_bid.key}) == 2


def test_each_kind_of_reservation_is_targeted_in_its_own_way() -> None:
    arn = "arn:aws:resource-groups:us-east-1:123456789012:group/gpus"
    targeted, opened, grouped, group = offerings(
        {"kind": "reservation", "reservation": CR, "zone": "use1-az4"},
        {"kind": "reservation", "reservation": "cr-0123456789abcdef1", "zone": "use1-az4", "match": "open"},
        {"kind": "reservation", "reservation": "cr-0123456789abcdef2", "zone": "use1-az4", "placement_group": "own"},
        {"kind": "reservation_group", "group": arn, "zones": ["use1-az4"]},
    )
    assert (targeted.reservation, targeted.placement_group) == (CR, None)
    assert opened.reservation is None and opened.reservation_group is None and opened.placement_group is None
    assert (grouped.reservation, grouped.placement_group) == ("cr-0123456789abcdef2", "own")
    assert (group.reservation, group.reservation_group) == (None, arn)
    assert len({offering.key for offering in (targeted, opened, grouped, group)}) == 4


def test_accounts_have_their_permission_for_aws_and_their_budget() -> None:
    policy = read(
        {
            ("scheduler", "accounts", "clinic"): {"users": ["bob"], "data_class": "restricted"},
            ("scheduler", "accounts", "odd"): {"users": ["bob"], "data_class": "unheard-of"},
            ("budget", "accounts"): {"vision": {"monthly_usd": 500, "hard": True}},
            ("budget", "pools"): {"p5": 9000},
        }
    ).policy
    assert {name: account.aws for name, account in policy.accounts.items()} == {
        "vision": True,
        "clinic": False,
        "odd": False,
    }
    vision = policy.accounts["vision"]
    assert (vision.monthly_usd, vision.hard, vision.data_class) == (500, True, "internal")
    assert policy.accounts["clinic"].monthly_usd is None
    assert dict(policy.pool_monthly_usd) == {"p5": 9000} and "root" in policy.operators


def test_waiting_times_of_burst_are_read_from_the_file() -> None:
    settings = {"wait_minutes": 20, "grace_minutes": 30, "orphan_minutes": 3, "breaker_minutes": 60, "unpriced": True}
    of_health = {"impaired_minutes": 10, "event_margin_minutes": 0}
    config = read({("burst",): {**settings, **of_health, "metrics_port": None}})
    policy = config.policy
    assert (policy.grace_minutes, policy.orphan_seconds, policy.breaker_seconds) == (30, 180, 3600)
    assert (policy.impaired_seconds, policy.event_margin_seconds) == (600, 0)
    assert policy.unpriced and config.metrics is None
    (promotion,) = policy.promotions
    assert (promotion.partition, promotion.partitions, promotion.wait_seconds) == ("gpu", ("p5",), 1200)
    assert read().policy.promotions == () and read().metrics == "127.0.0.1:9810"


def test_raised_limits_of_launches_are_read_from_the_file() -> None:
    raised = read({("burst",): {"launch_bucket": 4000, "launch_per_second": 10}}).policy
    assert (raised.launch_bucket, raised.launch_per_second) == (4000, 10)
    assert (read().policy.launch_bucket, read().policy.launch_per_second) == (1000, 2)


def test_pools_and_zones_without_stack_outputs_are_left_out() -> None:
    site = environment({(*POOL, "capacity"): [{"kind": "on_demand", "zones": ["use1-az4", "use1-az6"]}]})
    outputs = built(site)
    pool = outputs.pools["p5"]
    with_one_zone = outputs.model_copy(update={"pools": {"p5": pool.model_copy(update={"subnets": pool.subnets[:1]})}})
    assert [offering["zone"] for offering in burst_config(site, with_one_zone)["pools"]["p5"]["offerings"]] == [
        "use1-az4"
    ]
    without_pool = outputs.model_copy(update={"pools": {"other": pool}})
    assert burst_config(site, without_pool)["pools"] == {}


def test_a_copy_of_the_journal_is_beside_slurms_state_which_a_pair_shares() -> None:
    assert str(read().snapshot_dir) == "/var/lib/slurm/slurmctld/landbridge-burst"
    pair = {
        ("onprem", "services", "controller"): ["ctl01", "ctl02"],
        ("onprem", "addresses", "ctl02"): "10.20.0.16",
    }
    assert str(read(pair).snapshot_dir) == "/var/lib/slurm/shared/test/landbridge-burst"


@settings(deadline=None)
@given(pools())
def test_the_burst_programs_can_read_any_pool(data: dict[str, Any]) -> None:
    site = environment({POOL: data})
    outputs = built(site)
    pool = parse(burst_config(site, outputs)).policy.pools.get(data["name"])
    if pool is None:
        assert not outputs.pools[data["name"]].subnets, "only a pool that no zone offers is left out"
        return
    assert len({offering.key for offering in pool.offerings}) == len(pool.offerings)
    assert all(offering.usd_hour is None or offering.usd_hour > 0 for offering in pool.offerings)


def test_a_launch_without_smt_has_the_cores_of_its_own_type() -> None:
    capacity = [
        {"kind": "on_demand", "zones": ["use1-az4"]},
        {"kind": "spot", "zones": ["use1-az4"], "instance": "p5.4xlarge"},
    ]
    site = environment({(*POOL, "threads_per_core"): 1, (*POOL, "capacity"): capacity})
    offerings = parse(burst_config(site, built(site))).policy.pools["p5"].offerings
    cpus = [(offering.instance_type, offering.core_count, offering.threads_per_core) for offering in offerings]
    assert cpus == [("p5.48xlarge", 96, 1), ("p5.4xlarge", 8, 1)]
    plain = environment({(*POOL, "capacity"): capacity})
    assert "core_count" not in burst_config(plain, built(plain))["pools"]["p5"]["offerings"][0]
