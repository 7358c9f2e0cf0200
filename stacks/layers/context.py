"""Values that all layers receive."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from landbridge.environment import Environment
from landbridge.plan.aws.provider import provider_args

#: Outputs that a layer adds to the stack, by name.
Exports = Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """Environment, AWS account, and the resource options with the stack's provider."""

    environment: Environment
    account: Account
    options: pulumi.ResourceOptions

    @classmethod
    def of(cls, environment: Environment) -> "Context":
        """Register the provider of this stack."""
        provider = aws.Provider("aws", **provider_args(environment))
        return cls(environment, Account.of(provider), pulumi.ResourceOptions(providers=[provider]))
