"""The dry run of preflight asks EC2 for the launch that the burst controller makes."""

from typing import Any

import pytest

from landbridge.burst.aws.launch_call import launch_call
from landbridge.burst.config.config import parse
from landbridge.live.request import launch_request
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.cpu_options import cpu_options
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.roles.burst import burst_config
from tests.unit.burst.launches import attempt
from tests.unit.core.samples import environment
from tests.unit.plan.ansible.test_burst import built

CR = "cr-0123456789abcdef0"
#: Parameters that the launch template has, or that name one launch.
ELSEWHERE = {"ImageId", "BlockDeviceMappings", "MetadataOptions", "LaunchTemplate", "ClientToken", "TagSpecifications"}


@pytest.mark.parametrize(
    ("pool", "capacity"),
    [
        ({}, {"kind": "on_demand", "zones": ["use1-az4"]}),
        ({}, {"kind": "spot", "zones": ["use1-az4"], "max_price_usd": 30.5}),
        ({}, {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4", "count": 4}),
        ({"instance": "g6e.xlarge", "efa": False, "public_ip": True}, {"kind": "on_demand", "zones": ["use1-az4"]}),
        ({"threads_per_core": 1}, {"kind": "on_demand", "zones": ["use1-az4"]}),
        ({"security_groups": ["sg-0123456789abcdef0"]}, {"kind": "on_demand", "zones": ["use1-az4"]}),
    ],
)
def test_both_requests_have_the_same_interfaces_market_and_target(pool: Any, capacity: Any) -> None:
    changes = {("aws", "pools", 0, key): value for key, value in {**pool, "capacity": [capacity]}.items()}
    site = environment(changes)
    offering = parse(burst_config(site, built(site))).policy.pools["p5"].offerings[0]
    launched = launch_call(attempt("p5-1", "p5-2"), offering, {}, True)
    (terms,) = fallbacks(site.aws.pools[0], site.region)
    dry = launch_request(
        pool_args(site, site.aws.pools[0]),
        terms,
        pool_interfaces(site.aws.pools[0], terms.instance),
        subnet=offering.subnet,
        groups=offering.security_groups,
        image="ami-0a11ce5a9db0c5000",
        count=2,
        placement_group=offering.placement_group,
        cpus=cpu_options(site.aws.pools[0], terms.instance),
    )
    assert {key: value for key, value in launched.items() if key not in ELSEWHERE} == {
        key: value for key, value in dry.items() if key not in ELSEWHERE
    }
