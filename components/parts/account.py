"""AWS account of a provider."""

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True)
class Account:
    """Account id and partition, for ARNs and names; outputs of the provider."""

    id: pulumi.Output[str]
    partition: pulumi.Output[str]

    @classmethod
    def of(cls, provider: aws.Provider) -> "Account":
        """Return the account of a provider; creates no resource."""
        options = pulumi.InvokeOutputOptions(provider=provider)
        return cls(
            id=aws.get_caller_identity_output(opts=options).account_id,
            partition=aws.get_partition_output(opts=options).partition,
        )
