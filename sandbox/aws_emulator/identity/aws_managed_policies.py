"""AWS managed policies, each loaded when a request contains its ARN (moto loads all or none)."""

import json
from functools import cache
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.moto_hooks import before


def install(emulator: EmulatorState) -> None:
    """Install the loading of managed policies in moto. Global to the process, as moto's state is."""
    for name in ("attach_role_policy", "get_policy"):
        before(IAMBackend, name, _load_requested)


def _load_requested(backend: Any, arguments: dict[str, Any]) -> None:
    load(backend, arguments["policy_arn"])


def load(backend: Any, arn: str) -> None:
    """Add the policy of this ARN to moto if it is an AWS managed policy."""
    if ":iam::aws:policy/" not in arn or arn in backend.managed_policies:
        return
    name = arn.rpartition("/")[2]
    data = _all().get(name)
    if data is not None:
        policy = AWSManagedPolicy.from_data(name, backend.account_id, backend.region_name, data)
        if policy.arn == arn:
            backend.managed_policies[arn] = policy


@cache
def _all() -> dict[str, Any]:
    policies: dict[str, Any] = json.loads(aws_managed_policies_data)
    return policies
