"""Role dataset_cache: a cache of staged datasets on the nodes' own disks, at both sites."""

from typing import Any

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.plan.aws.access.job_roles import job_roles
from landbridge.plan.aws.pool import POOL_FILE
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.host_role import EVERYWHERE, HostRole
from landbridge.plan.roles.hosts.data_mover import bucket_mount
from landbridge.plan.site.data_exchange import data_staging

#: Socket of the service; the role's unit creates its folder.
SOCKET = "/run/landbridge-dataset-cache/socket"
GIB = 1 << 30
#: slurm.conf of configless slurmd: it names the bucket of each class.
SLURM_CONF = "/run/slurm/conf/slurm.conf"


def dataset_cache_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one node's variables; empty without `storage.staging.cache`, and for a node without local scratch.

    A class is cached if its data may be on-prem and a group reads it: of the others no job reads the staged copy.
    """
    staging = data_staging(environment)
    cache = None if staging is None else staging.cache
    if staging is None or cache is None:
        return {}
    for group in environment.node_groups:
        if group.local_scratch and host in hostlist.expand(group.hosts):
            classes = {
                name: {"group": reader, "keep": name not in cache.remove_after_job}
                for name, reader in sorted(staging.groups.items())
                if name in environment.data_classes and "onprem" in environment.data_classes[name].sites
            }
            return {
                "dataset_cache_mount": group.local_scratch,
                "dataset_cache_config": {
                    "root": f"{group.local_scratch.rstrip('/')}/datasets",
                    "source": staging.mount.rstrip("/"),
                    "socket": SOCKET,
                    "classes": classes,
                    "limit_bytes": cache.size_gib * GIB,
                    "workers": 8,
                    "inspection_seconds": 5,
                },
            }
    return {}


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
    mounts = {name: mount for name in classes if (mount := bucket_mount(environment, name)) is not None}
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


ROLE = HostRole(
    variables={EVERYWHERE: lambda site: cloud_dataset_cache_variables(site.environment)},
    host_variables=lambda site, host: dataset_cache_variables(site.environment, host.name) if host.platform else {},
)
