"""Cache of staged datasets on nodes in AWS: the variables of the role `dataset_cache` in a node image."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.ansible.data_mover import cloud_mount
from landbridge.plan.aws.access.job_roles import job_roles
from landbridge.plan.aws.pool import POOL_FILE
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.site.data_exchange import data_staging
from landbridge.plan.site.dataset_cache import GIB, SOCKET

#: slurm.conf of configless slurmd: it names the bucket of each class.
SLURM_CONF = "/run/slurm/conf/slurm.conf"


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
    mounts = {name: mount for name in classes if (mount := cloud_mount(environment, name)) is not None}
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
