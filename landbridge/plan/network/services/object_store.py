"""Object store of the site: its host, buckets, accounts and policies.

A bucket belongs to one data class that may be on-prem. Its policy names the class's accounts, and nothing else: an account
of another class, and requests without an access key, are refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.catalog import limits
from landbridge.catalog.object_store import object_store_facts
from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.resource_names import shortened

#: Access key of the server's own account, which creates buckets and policies. It is used on the store's host only.
ROOT = "landbridge"
#: Services with an account for each class: its access key and the name of its secret contain it.
JOBS, COPIES = "jobs", "copies"
#: Side of the writer of a prefix, by service.
_WRITES = {JOBS: "store", COPIES: "hub"}


@dataclass(frozen=True, slots=True)
class StoreAccount:
    """Account of the object store: its access key, the name of its secret key in the store of secrets, and its service."""

    access_key: str
    secret: str
    service: str
    data_class: str


@dataclass(frozen=True, slots=True)
class StoreBucket:
    """Bucket of a data class in the object store, with its accounts and its policy."""

    name: str
    data_class: str
    accounts: tuple[StoreAccount, ...]
    policy: Mapping[str, Any]


def store_port(environment: Environment) -> int:
    """Return the port of the object store."""
    settings = environment.storage.object_store
    return settings.port if settings is not None and settings.port is not None else object_store_facts().port


def store_url(environment: Environment) -> str:
    """Return the URL of the object store for clients at the site; empty without one."""
    host = service_hosts(environment).object_store
    return "" if host is None else f"https://{host}:{store_port(environment)}"


def store_buckets(environment: Environment) -> tuple[StoreBucket, ...]:
    """Return the buckets in the order of `data_classes`; empty without an object store. A class that may be in AWS only has
    none.
    """
    if service_hosts(environment).object_store is None:
        return ()
    return tuple(
        _bucket(environment, name)
        for name, data_class in environment.data_classes.items()
        if "onprem" in data_class.sites
    )


def replicated_classes(environment: Environment) -> tuple[str, ...]:
    """Return the classes whose objects are copied to AWS and back: classes of the file that may be at both sites."""
    settings = environment.storage.object_store
    if settings is None or service_hosts(environment).object_store is None:
        return ()
    classes = environment.data_classes
    return tuple(
        name for name in settings.replicate if name in classes and set(classes[name].sites) == {"onprem", "aws"}
    )


def _bucket(environment: Environment, data_class: str) -> StoreBucket:
    facts = object_store_facts()
    name = shortened(f"{environment.name}-{data_class}", limits().names.rules["s3_bucket"].characters[1])
    replicated = data_class in replicated_classes(environment)
    accounts = tuple(
        StoreAccount(f"{service}-{data_class}", f"object-store-{service}-{data_class}", service, data_class)
        for service in facts.accounts
        if service != COPIES or replicated
    )
    arn = f"arn:aws:s3:::{name}"
    statements: list[dict[str, Any]] = []
    for account in accounts:
        rights = facts.accounts[account.service]
        may_delete = account.service == JOBS and environment.data_classes[data_class].jobs_may_delete
        of_objects = [*rights.objects, *([facts.deletion] if may_delete else [])]
        prefixes = facts.prefixes.values() if account.service == COPIES else ("",)
        objects = [f"{arn}/{prefix}*" for prefix in prefixes]
        statements += [
            _statement("Allow", account, list(rights.bucket), [arn]),
            _statement("Allow", account, of_objects, objects),
        ]
        if replicated:
            foreign = [
                f"{arn}/{prefix}*" for side, prefix in facts.prefixes.items() if side != _WRITES[account.service]
            ]
            statements.append(_statement("Deny", account, ["s3:PutObject", facts.deletion], foreign))
    return StoreBucket(name, data_class, accounts, {"Version": "2012-10-17", "Statement": statements})


def _statement(effect: str, account: StoreAccount, actions: list[str], resources: list[str]) -> dict[str, Any]:
    principal = {"AWS": [account.access_key]}
    return {"Effect": effect, "Principal": principal, "Action": actions, "Resource": resources}
