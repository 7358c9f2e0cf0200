"""Table of the compiled policy: for each data class, what every point of enforcement has received."""

from dataclasses import dataclass
from typing import Any

from landbridge.ops.residency.class_policy import class_policies
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.plan.placement.service_control_policy import class_regions
from landbridge.residency import aws_refusal


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """Row of a data class: the points of enforcement by name, each with its entries; an empty one has none."""

    data_class: str
    points: dict[str, tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for `--format json`."""
        return {"data_class": self.data_class, **{name: list(entries) for name, entries in self.points.items()}}


def policy_table(forms: CompiledForms) -> tuple[PolicyRow, ...]:
    """Return a row for each data class, in the file's order."""
    environment, rows = forms.environment, []
    for name, policy in class_policies(environment).items():
        launched = {
            region
            for account in policy.accounts
            for region in forms.networks
            if aws_refusal(forms.accounts, forms.operators, environment.region, account, region=region) is None
        }
        servers = [server for server in forms.servers if server.data_class == name]
        stores = [f"{server.uri} ({'bucket' if server.stores_in else 'directory'})" for server in servers]
        buckets = [form for form in forms.buckets.values() if form.data_class == name]
        admitted = [
            form.name for form in forms.partitions if policy.accounts and all(map(form.admits, policy.accounts))
        ]
        points = {
            "policy": policy.locations,
            "accounts": policy.accounts,
            "partitions": tuple(admitted),
            "launches": tuple(region for region in forms.networks if region in launched),
            "service control policy": class_regions(environment, name),
            "buckets": tuple(f"{form.name} in {form.region}" for form in buckets),
            "keys": tuple(form.key_arn for form in buckets),
            "roles": tuple(role.name for role in forms.roles.values() if role.name == f"job-{name}"),
            "data mover": ("yes",) if name in forms.moved else (),
            "MLflow": tuple(stores),
        }
        rows.append(PolicyRow(name, points))
    return tuple(rows)
