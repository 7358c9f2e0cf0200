"""The AWS account that a provider works in."""

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True)
class Account:
    """What names in AWS are made of: known only once the provider has been asked."""

    id: pulumi.Output[str]
    partition: pulumi.Output[str]

    @classmethod
    def of(cls, provider: aws.Provider) -> "Account":
        """Ask a provider; costs nothing and makes nothing."""
        options = pulumi.InvokeOutputOptions(provider=provider)
        return cls(
            id=aws.get_caller_identity_output(opts=options).account_id,
            partition=aws.get_partition_output(opts=options).partition,
        )
