"""Role object_store: the S3 store of the site."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from landbridge.catalog.object_store import object_store_facts
from landbridge.environment import Environment
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.network.firewall_rule import FirewallRule, tcp_rule
from landbridge.plan.network.host_role import HostRole, Site
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.object_store import COPIES, replicated_classes, store_buckets, store_port
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE

if TYPE_CHECKING:
    from landbridge.plan.outputs import StackOutputs


def object_store_variables(
    environment: Environment, outputs: "StackOutputs | None" = None, endpoint: str = ""
) -> dict[str, Any]:
    """Return the variables of the role object_store, without secrets; empty without an object store. The copies are absent until
    the buckets in AWS are known. `endpoint`: URL of AWS's S3 API, empty for its own.
    """
    settings, facts = environment.storage.object_store, object_store_facts()
    if settings is None or service_hosts(environment).object_store is None:
        return {}
    variables: dict[str, Any] = {
        "object_store_folder": settings.folder,
        "object_store_port": store_port(environment),
        "object_store_region": facts.region,
        "object_store_health": facts.health,
        "object_store_settings": {name: setting.value for name, setting in facts.settings.items()},
        # The same days as in the data hub in AWS.
        "object_store_noncurrent_days": environment.storage.data_hub.noncurrent_days,
        "object_store_upload_days": facts.upload_days,
        "object_store_expiry_calendar": facts.expiry_calendar,
        "object_store_certificate": HOST_FILE,
        "object_store_authority": AUTHORITY_FILE,
        "object_store_buckets": [
            {
                "name": bucket.name,
                "data_class": bucket.data_class,
                "accounts": [
                    {"access_key": account.access_key, "secret": account.secret} for account in bucket.accounts
                ],
                "policy": bucket.policy,
            }
            for bucket in store_buckets(environment)
        ],
    }
    if copies := _copies(environment, outputs):
        variables |= {
            "object_store_copies": copies,
            "object_store_copy_calendar": facts.copy_calendar,
            "object_store_hub_region": environment.region,
            "object_store_hub_endpoint": endpoint,
        }
    if settings.program is not None:
        variables |= {
            "object_store_program_url": settings.program.url,
            "object_store_program_sha256": settings.program.sha256,
        }
    return variables


def _copies(environment: Environment, outputs: "StackOutputs | None") -> list[dict[str, str]]:
    """Return the copies of each replicated class in both directions."""
    if outputs is None:
        return []
    in_store = {bucket.data_class: bucket.name for bucket in store_buckets(environment)}
    return [
        {
            "from": side,
            "source": source,
            "target": target,
            "prefix": object_store_facts().prefixes[side],
            "access_key": f"{COPIES}-{name}",
        }
        for name in replicated_classes(environment)
        if name in outputs.data_hub.buckets
        for side, source, target in (
            ("store", in_store[name], outputs.data_hub.buckets[name].name),
            ("hub", outputs.data_hub.buckets[name].name, in_store[name]),
        )
    ]


def _firewall(site: Site) -> Iterator[tuple[str, FirewallRule]]:
    if site.services.object_store is not None:
        clients = (str(site.services.cidr),)
        yield ROLE.group, tcp_rule(clients, store_port(site.environment), "jobs reach the object store")


ROLE = HostRole(
    group="object_store",
    place=120,
    members=lambda environment, served: () if served.object_store is None else (served.object_store,),
    variables={
        "object_store": lambda site: object_store_variables(
            site.environment, site.outputs, aws_endpoint(site.environment) or ""
        )
    },
    firewall=_firewall,
)
