"""Role data_mover: the mover of the data that jobs state."""

from collections.abc import Mapping
from typing import Any

from landbridge.catalog import PriceRange, price_of
from landbridge.catalog.aws.datasets import datasets
from landbridge.catalog.aws.prices import PriceKind
from landbridge.environment import DataStaging, Environment, FsxLustre
from landbridge.plan.aws.storage.dataset_place import class_fault, hub_buckets
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.hosts.roles_anywhere import ROOT_FILE, roles_anywhere
from landbridge.plan.site.data_exchange import EXPORT, data_staging

LEDGER = "/var/lib/landbridge/data-ledger.jsonl"
#: slurm.conf of configless slurmd: it names the bucket of each class.
SLURM_CONF = "/run/slurm/conf/slurm.conf"


def data_mover_variables(environment: Environment, host: str, outputs: StackOutputs | None) -> dict[str, Any]:
    """Return the role data_mover's variables for the storage host; empty for other hosts, and before the stack exists."""
    staging, served = data_staging(environment), service_hosts(environment)
    if staging is None or outputs is None or host != served.storage:
        return {}
    folders = [
        {"path": f"{staging.folder.rstrip('/')}/{name}", "group": staging.groups.get(name, "")}
        for name in sorted(environment.data_classes)
    ]
    return {
        "data_mover_config": mover_config(environment, staging, outputs),
        "data_mover_folders": folders,
        "data_mover_find_links": served.packages.python_find_links or "",
    }


def mover_config(environment: Environment, staging: DataStaging, outputs: StackOutputs) -> dict[str, Any]:
    """Return the mover's configuration as plain data, without secrets (landbridge/live/staging/config.py reads it)."""
    buckets = hub_buckets(environment, outputs)
    return {
        "region": environment.region,
        "exchange": f"{EXPORT}/{environment.name}",
        "folder": staging.folder.rstrip("/"),
        "mount": staging.mount.rstrip("/"),
        "ledger": LEDGER,
        "classes": {
            name: {
                "sites": [site for site in ("onprem", "aws") if class_fault(environment, name, site) is None],
                "bucket": buckets.get(name),
                "mount": bucket_mount(environment, name),
            }
            for name in sorted(environment.data_classes)
        },
        "workers": datasets().workers.value,
        "role": outputs.identity.mover_role_arn,
        "endpoint": aws_endpoint(environment),
        "credentials": ROOT_FILE if roles_anywhere(environment) is not None else None,
        "profile": "mover",
        "fips": fips_endpoints(environment, "onprem"),
        "limit_mbps": staging.limit_mbps,
        **_prices(environment.region),
    }


def bucket_mount(environment: Environment, data_class: str) -> str | None:
    """Return where cloud nodes see the root of a class's bucket: the folder of a data repository of the pools' Lustre."""
    for share in environment.storage.in_aws().values():
        for repository in share.repositories if isinstance(share, FsxLustre) else ():
            if repository.data_class == data_class:
                return f"{share.mount.rstrip('/')}/{repository.folder.strip('/')}"
    return None


def _prices(region: str) -> Mapping[str, float | None]:
    return {
        "usd_gb_out": _highest("network", "internet_out_first_10_tb", region),
        "usd_1000_writes": _highest("storage", "s3_standard_put", region),
        "usd_1000_reads": _highest("storage", "s3_standard_get", region),
    }


def _highest(kind: PriceKind, name: str, region: str) -> float | None:
    price = price_of(kind, name, region)
    if price is None:
        return None
    return price.high if isinstance(price, PriceRange) else price.usd


ROLE = HostRole(
    host_variables=lambda site, host: data_mover_variables(site.environment, host.name, site.outputs),
)
