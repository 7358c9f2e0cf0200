"""AWS managed policies: loaded one by one when a request names their ARN (moto loads all or none)."""

import json
from functools import cache
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, IAMBackend

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.moto_hooks import before


def install(world: EmulatorState) -> None:
    """Install the loading of managed policies in moto. Global to the process, as moto's state is."""
    for name in ("attach_role_policy", "get_policy"):
        before(IAMBackend, name, _know)


def _know(backend: Any, asked: dict[str, Any]) -> None:
    know(backend, asked["policy_arn"])


def know(backend: Any, arn: str) -> None:
    """Let moto have the policy of this ARN, if AWS has it."""
    if ":iam::aws:policy/" not in arn or arn in backend.managed_policies:
        return
    name = arn.rpartition("/")[2]
    data = _all().get(name)
    if data is not None:
        made = AWSManagedPolicy.from_data(name, backend.account_id, backend.region_name, data)
        if made.arn == arn:
            backend.managed_policies[arn] = made


@cache
def _all() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(aws_managed_policies_data)
    return found
