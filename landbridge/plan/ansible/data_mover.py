"""Mover of the data that jobs state, and the cache of staged data on nodes in AWS: the variables of `data_mover` and `dataset_cache`."""

from collections.abc import Mapping
from typing import Any

from landbridge.catalog import PriceRange, price_of
from landbridge.catalog.aws.datasets import datasets
from landbridge.catalog.aws.prices import PriceKind
from landbridge.environment import DataStaging, Environment, FsxLustre
from landbridge.plan.ansible.burst import aws_endpoint
from landbridge.plan.ansible.roles_anywhere import ROOT_FILE, roles_anywhere
from landbridge.plan.aws.access.job_roles import job_roles
from landbridge.plan.aws.pool import POOL_FILE
from landbridge.plan.aws.storage.dataset_place import class_fault, hub_buckets
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.data_exchange import EXPORT, data_staging
from landbridge.plan.site.dataset_cache import GIB, SOCKET

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
                "mount": _mount(environment, name),
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


def _mount(environment: Environment, data_class: str) -> str | None:
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


def cloud_dataset_cache_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of a node image; empty without `storage.staging.cache`, roles of jobs, and a pool with local scratch.

    All pools have one image: the pool's file names the disk at boot. The buckets' classes have no group: IAM decides with the
    credentials of the job, and each job has a folder of its user.
    """
    staging = data_staging(environment)
    cache = None if staging is None else staging.cache
    if cache is None or not job_roles(environment) or not any(pool.local_scratch for pool in environment.aws.pools):
        return {}
    classes = {
        name: {"group": "", "keep": name not in cache.remove_after_job}
        for name, data_class in sorted(environment.data_classes.items())
        if "aws" in data_class.sites
    }
    mounts = {name: mount for name in classes if (mount := _mount(environment, name)) is not None}
    return {
        "landbridge_dataset_cache": {
            "pool": POOL_FILE,
            "root": "",
            "source": "",
            "socket": SOCKET,
            "buckets": {
                "region": environment.region,
                "slurm_conf": SLURM_CONF,
                "url": _bucket_url(environment),
                "mounts": mounts,
            },
            "classes": classes,
            "limit_bytes": cache.size_gib * GIB,
            "workers": 16,
            "inspection_seconds": 5,
        }
    }


def _bucket_url(environment: Environment) -> str:
    """Return the URL of a bucket with BUCKET in the place of its name. Source: AWS General Reference, "Amazon S3 endpoints"."""
    endpoint, region = environment.aws.endpoints.cloud, environment.region
    if endpoint is not None:
        return f"{str(endpoint).rstrip('/')}/BUCKET"
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    service = "s3-fips" if fips_endpoints(environment, "cloud") else "s3"
    return f"https://BUCKET.{service}.{region}.{suffix}"
