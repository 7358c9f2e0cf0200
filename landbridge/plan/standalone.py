"""Environment from a few values, for a user of a single component in another Pulumi program.

Settings that a component does not use (hosts, services) get reserved names and addresses; everything else is decided by
the same functions, with the same defaults, as for a complete environment.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from landbridge.environment import Environment, environment_from_config

#: RFC 5737 and RFC 2606: reserved addresses and names.
_UNUSED_ADDRESS = "192.0.2.1"
_HOST = "unused"


def standalone_environment(
    cluster: str,
    region: str,
    *,
    owner: str,
    cost_center: str,
    cidr: str = "10.60.0.0/16",
    onprem_cidr: str = "10.20.0.0/16",
    zones: Sequence[str] = (),
    pools: Sequence[Mapping[str, Any]] = (),
    classes: Sequence[str] = (),
    link: Mapping[str, Any] | None = None,
    storage: Mapping[str, Any] | None = None,
    dns: Mapping[str, Any] | None = None,
    mlops: Mapping[str, Any] | None = None,
    budget: Mapping[str, Any] | None = None,
    aws: Mapping[str, Any] | None = None,
    serving: Mapping[str, Any] | None = None,
    addresses: Mapping[str, str] | None = None,
) -> Environment:
    """Return an environment for `network_args`, `pool_args`, `data_hub_args`, `link_args` and the other plan functions.

    `zones` are the zone ids that need subnets if there are no pools; the mappings and `pools` are written as in an
    environment file, `classes` are the data classes that AWS may hold, `addresses` those of further hosts of the site. Raises FindingsError.
    """
    # A network without a pool would get no subnets: this pool only sets the zones.
    placeholder = {"name": _HOST, "instance": "m7i.large", "max_nodes": 1, "image": "ami-00000000000000000"}
    zone_pools = (
        [{**placeholder, "capacity": [{"kind": "on_demand", "zones": list(zones)}]}] if zones and not pools else []
    )
    raw: dict[str, Any] = {
        "owner": owner,
        "cost_center": cost_center,
        "data_classes": {name: {"sites": ["onprem", "aws"]} for name in classes or ("internal",)},
        "onprem": {
            "cidr": onprem_cidr,
            "nodes": [{"hosts": f"{_HOST}01", "platform": "dgx-h100", "address": _address(onprem_cidr, 32)}],
            "services": {
                "controller": [_HOST],
                **dict.fromkeys(("database", "storage", "gateway", "mlops"), _HOST),
                "login": [_HOST],
            },
            "addresses": {_HOST: _address(onprem_cidr, 2), **(addresses or {})},
        },
        "aws": {**(aws or {}), "cidr": cidr, "pools": [*pools, *zone_pools]},
        "link": link or {"kind": "vpn", "gateway_address": _UNUSED_ADDRESS, "onprem_asn": 65010},
        "storage": {"home": {"kind": "nfs", "export": "/home"}, "data_hub": {"kind": "s3"}, **(storage or {})},
        "budget": budget or {"monthly_usd": 1},
        "mlops": mlops or {},
    }
    if serving is not None:
        raw["serving"] = serving
    if dns is not None:
        raw["dns"] = dns
    if "services" in (aws or {}):
        # An environment with services in AWS has no site and no link.
        raw = {key: value for key, value in raw.items() if key not in ("onprem", "link")}
        raw["storage"] = {**raw["storage"], "home": {"kind": "efs"}}
    return environment_from_config(cluster, region, raw)


def _address(cidr: str, host: int) -> str:
    from ipaddress import IPv4Network

    return str(IPv4Network(cidr)[host])
