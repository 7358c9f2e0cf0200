"""Copies of the home directories outside the site: the variables of the role home_copies."""

from typing import Any

from landbridge.environment import Environment, NfsHome
from landbridge.environment.storage import HomeCopies
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.resource_names import HOMES_PREFIX

#: Secret with the password of the repository.
PASSWORD = "home-copies"
#: Random delay of the timer, in hours: that of the role.
DELAY_HOURS = 0.1


def home_copies(environment: Environment) -> HomeCopies | None:
    """Return the settings of the copies; None without homes on the storage host, or without copies of them."""
    home = environment.storage.home
    return home.copies if isinstance(home, NfsHome) and environment.onprem is not None else None


def any_copies(environment: Environment) -> HomeCopies | None:
    """Return the settings of the copies, also for homes in AWS after the loss of a site."""
    return environment.storage.home_copies


def is_locked(environment: Environment, copies: HomeCopies) -> bool:
    """Return whether the storage host cannot delete the copies. A repository of the site's own is not known."""
    hub_class = environment.storage.data_hub.classes.get(copies.data_class or "")
    return hub_class is not None and hub_class.object_lock is not None


def home_copies_variables(
    environment: Environment, host: str, outputs: StackOutputs | None, credentials_file: str
) -> dict[str, Any]:
    """Return the role's variables for the host that has the homes with root's rights: the storage host, or in AWS the first
    login host, for the playbooks alone. Empty for other hosts, and before the bucket is known.

    `credentials_file`: AWS credentials of the host's administrators, with the profile `mover`; empty for the host's own.
    """
    copies, home, served = any_copies(environment), environment.storage.home, service_hosts(environment)
    is_site = isinstance(home, NfsHome)
    if copies is None or host != (served.storage if is_site else next(iter(served.logins), None)):
        return {}
    repository, region = copies.repository, ""
    if copies.data_class is not None:
        bucket = outputs.data_hub.buckets.get(copies.data_class) if outputs is not None else None
        if bucket is None:
            return {}
        region = environment.region
        suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
        repository = f"s3:https://s3.{region}.{suffix}/{bucket.name}/{HOMES_PREFIX}"
    return {
        "home_copies_folder": home.export if isinstance(home, NfsHome) else home.mount,
        "home_copies_repository": repository,
        "home_copies_calendar": f"*-*-* 0/{copies.hours}:00:00" if copies.hours < 24 else "*-*-* 01:00:00",
        "home_copies_keep_hours": 48 // copies.hours,
        "home_copies_keep_days": copies.keep_days,
        "home_copies_region": region,
        "home_copies_credentials_file": credentials_file if is_site and copies.data_class is not None else "",
        "home_copies_profile": "mover",
        # The role `mover` may not delete: copies in the bucket are removed with an operator's rights.
        "home_copies_prune": copies.data_class is None,
    }
