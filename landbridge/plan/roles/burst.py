"""Role burst: the burst controller and its configuration, /etc/landbridge/burst.json, from the environment and the stack's outputs.

Its keys are the field names of landbridge.burst.model.BurstPolicy (landbridge/burst/config/config.py reads them).
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from landbridge.catalog import instances
from landbridge.catalog.aws.alarms import alarm_facts
from landbridge.environment import Environment, PoolSettings
from landbridge.plan.aws.alarms import heartbeat
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.instances.capacity import Terms, boot_seconds, fallbacks, kept_nodes
from landbridge.plan.instances.cpu_options import cpu_options
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.instances.rates import worst_rate
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import InventoryHost, service_hosts
from landbridge.plan.other_regions import other_regions
from landbridge.plan.site.data_exchange import data_staging, exchange_folder
from landbridge.plan.slurm.auth_key import key_file
from landbridge.plan.slurm.controller_pair import SHARED, shared_state, state_folder
from landbridge.plan.slurm.jobs.promotions import promotions
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
from landbridge.plan.slurm.partitions import OPERATORS, partition_sites

if TYPE_CHECKING:
    from landbridge.plan.outputs import PoolOutput, StackOutputs

#: File of the secret that signs residency records; the role burst writes it.
RECORDS_KEY = "/etc/landbridge/records-key"


def node_prefix(pool: str) -> str:
    """Return the name prefix of a pool's Slurm nodes; a number from 1 follows."""
    return f"{pool}-"


def burst_config(environment: Environment, outputs: "StackOutputs") -> dict[str, Any]:
    """Return the configuration of the burst programs as plain data, without secrets."""
    from landbridge.plan.roles.hosts.roles_anywhere import VALIDITY_FILE, roles_anywhere

    settings, budget = environment.burst, environment.budget
    pools = {pool.name: pool for pool in environment.aws.pools}
    return {
        "cluster": outputs.cluster,
        "region": outputs.region,
        "cost_center": environment.cost_center,
        "endpoint": aws_endpoint(environment),
        "credentials_file": credentials_file(environment),
        **({} if roles_anywhere(environment) is None else {"certificate_validity": VALIDITY_FILE}),
        "slurm_key_secret": outputs.secrets.slurm_key,
        "metrics": None if settings.metrics_port is None else f"127.0.0.1:{settings.metrics_port}",
        "snapshot_dir": _snapshots(environment),
        "records_key": RECORDS_KEY,
        "fips_endpoints": fips_endpoints(environment, "onprem" if environment.onprem is not None else "cloud"),
        "heartbeat_namespace": heartbeat(environment),
        "heartbeat_seconds": alarm_facts().heartbeat_seconds,
        "monthly_usd": budget.monthly_usd,
        "hard": budget.hard,
        "pool_monthly_usd": {name: usd for name, usd in sorted(budget.pools.items()) if name in outputs.pools},
        "unpriced": settings.unpriced,
        "lease_minutes": environment.aws.lease_minutes,
        "grace_minutes": settings.grace_minutes,
        "orphan_seconds": 60 * settings.orphan_minutes,
        "breaker_seconds": 60 * settings.breaker_minutes,
        "impaired_seconds": 60 * settings.impaired_minutes,
        "event_margin_seconds": 60 * settings.event_margin_minutes,
        **{
            key: value
            for key, value in (
                ("launch_bucket", settings.launch_bucket),
                ("launch_per_second", settings.launch_per_second),
            )
            if value is not None
        },
        "operators": [OPERATORS],
        "accounts": accounts(environment),
        "promotions": [
            {"partition": partition, "partitions": list(others), "wait_seconds": seconds}
            for partition, others, seconds in promotions(environment)
        ],
        **_staging(environment),
        "pools": {
            name: _pool(environment, pools[name], outputs)
            for name, pool_outputs in sorted(outputs.pools.items())
            # A pool that was removed from the file is deleted at the next `up`; a pool without a subnet cannot launch.
            if name in pools and pool_outputs.subnets
        },
    }


def _staging(environment: Environment) -> dict[str, Any]:
    """Return the settings of data staging: the folder of the exchange, and the sites of each partition."""
    if data_staging(environment) is None:
        return {}
    sites = partition_sites(environment, (*onprem_nodes(environment), *cloud_nodes(environment)))
    partitions = {name: sorted(places, reverse=True) for name, places in sorted(sites.items())}
    return {"staging": {"exchange": exchange_folder(environment), "partitions": partitions}}


def credentials_file(environment: Environment) -> str | None:
    """Return the AWS credentials file; None for the SDK's usual sources: of a host in AWS, its instance profile."""
    from landbridge.plan.roles.hosts.roles_anywhere import BURST_FILE

    site = environment.onprem
    return None if site is None or site.aws_credentials == "host" else BURST_FILE


def accounts(environment: Environment) -> dict[str, dict[str, Any]]:
    """Return the accounts with their data class and budget. Jobs of an account with an unknown class stay on-prem."""
    from landbridge.plan.placement.residency import account_residencies

    by_account: dict[str, dict[str, Any]] = {}
    for name, account in account_residencies(environment).items():
        budget = environment.budget.accounts.get(name)
        by_account[name] = {
            "data_class": account.data_class,
            "aws": account.aws,
            "monthly_usd": budget.monthly_usd if budget is not None else None,
            "hard": budget is not None and budget.hard,
        }
        if account.regions:
            by_account[name]["regions"] = list(account.regions)
    return by_account


def _snapshots(environment: Environment) -> str:
    """Return the folder of journal snapshots beside Slurm's StateSaveLocation: for the standby controller, and after the
    loss of the journal.
    """
    return f"{state_folder(environment)}/landbridge-burst"


def _pool(environment: Environment, pool: PoolSettings, outputs: "StackOutputs") -> dict[str, Any]:
    return {
        "node_prefix": node_prefix(pool.name),
        "max_nodes": pool.max_nodes,
        "min_nodes": kept_nodes(pool, environment.region),
        "resume_timeout": pool.resume_timeout,
        "boot_seconds": boot_seconds(pool),
        "offerings": [
            *_offerings(environment, pool, outputs.pools[pool.name]),
            *(
                {**offering, "region": region}
                for region, region_environment in other_regions(environment).items()
                for offering in _offerings_of_region(
                    region_environment, pool.name, outputs.region_pools.get(region, {})
                )
            ),
        ],
    }


def _offerings_of_region(
    region_environment: Environment, pool: str, outputs: Mapping[str, "PoolOutput"]
) -> Iterator[dict[str, Any]]:
    """Yield a pool's offerings in another region, if its resources exist there."""
    region_pool = next((settings for settings in region_environment.aws.pools if settings.name == pool), None)
    if region_pool is not None and pool in outputs:
        yield from _offerings(region_environment, region_pool, outputs[pool])


def _offerings(environment: Environment, pool: PoolSettings, outputs: "PoolOutput") -> Iterator[dict[str, Any]]:
    """Yield the offerings of every capacity in the file's order, one for each of its zones."""
    subnets, used_keys = {subnet.zone: subnet for subnet in outputs.subnets}, set[str]()
    for number, terms in enumerate(fallbacks(pool, environment.region)):
        for zone in terms.zones:
            subnet = subnets.get(zone)
            if subnet is None:
                # The file has a new zone whose subnet is not created yet.
                continue
            key = _key(terms, zone)
            key = f"{key}/{number}" if key in used_keys else key
            used_keys.add(key)
            options = cpu_options(pool, terms.instance)
            placement_group = subnet.placement_group if terms.placement is not None else None
            yield {
                "key": key,
                "kind": terms.kind,
                "instance_type": terms.instance,
                "subnet": subnet.id,
                "zone": zone,
                "market": terms.market.kind,
                "launch_template_id": outputs.launch_template_id,
                "launch_template_version": outputs.launch_template_version,
                "placement_group": terms.placement_group or placement_group,
                # EC2 uses an open reservation for every matching launch that does not target another one.
                "reservation": terms.market.reservation if terms.market.preference is None else None,
                "reservation_group": terms.market.reservation_group,
                "usd_hour": worst_rate(terms, environment),
                "max_price_usd": terms.market.max_price_usd,
                "opens": terms.starts.timestamp() if terms.starts is not None else None,
                "closes": terms.leave_by.timestamp() if terms.leave_by is not None else None,
                "size": terms.size,
                "interfaces": [
                    {"card": nic.network_card, "device": nic.device, "kind": nic.type}
                    for nic in pool_interfaces(pool, terms.instance)
                ],
                "security_groups": [outputs.security_group_id, *pool.security_groups],
                "public_ip": pool.public_ip,
                "gpus": _gpus(terms.instance),
                "topology": instances()[terms.instance].network_nodes is not None,
                **({} if options is None else options.model_dump()),
            }


def _gpus(instance_type: str) -> int:
    accelerators = instances()[instance_type].accelerators
    return accelerators.count if accelerators is not None and accelerators.kind == "gpu" else 0


def _key(terms: Terms, zone: str) -> str:
    """Return the key under which insufficient capacity is recorded."""
    reservation = terms.market.reservation or (terms.market.reservation_group or "").rpartition("/")[2]
    return "/".join(part for part in (terms.instance, zone, terms.market.kind, reservation) if part)


def burst_variables(environment: Environment, outputs: "StackOutputs | None") -> dict[str, Any]:
    """Return the variables of the burst controller."""
    served = service_hosts(environment)
    variables: dict[str, Any] = {"burst_find_links": served.packages.python_find_links or ""}
    if environment.scheduler.auth == "slurm":
        variables["burst_key_file"] = key_file(environment)
    if environment.onprem is None:
        variables["burst_metadata"] = True
    if shared_state(environment) is not None:
        variables["burst_snapshot_mount"] = SHARED
    if data_staging(environment) is not None:
        variables["burst_exchange_mount"] = exchange_folder(environment).rpartition("/")[0]
    if outputs is not None:
        variables["burst_config"] = burst_config(environment, outputs)
        variables["burst_key_secret"] = outputs.secrets.slurm_key
    return variables


def _host_variables(site: Site, host: InventoryHost) -> dict[str, Any]:
    """Return the variables of a controller whose Slurm others configure; empty for hosts that Landbridge configures.

    Its account exists, and its operating system, firewall and kernel settings stay as they are.
    """
    existing = site.environment.existing_slurm
    if existing is None or ROLE.group not in host.groups:
        return {}
    return {
        "landbridge_base": False,
        "landbridge_tuning": False,
        "landbridge_hardening": False,
        "burst_uid": existing.uid,
        "burst_account": False,
    }


def _has_metrics(site: Site) -> bool:
    return bool(site.environment.aws.pools) and site.environment.burst.metrics_port is not None


ROLE = HostRole(
    group="burst",
    place=180,
    # A standby controller runs the burst controller too; a lease decides which of the two is active.
    members=lambda environment, served: served.controllers if environment.aws.pools else (),
    beside_existing_slurm=True,
    variables={"burst": lambda site: burst_variables(site.environment, site.outputs)},
    host_variables=_host_variables,
    exporters={"burst": _has_metrics},
)
