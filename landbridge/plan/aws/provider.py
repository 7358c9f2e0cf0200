"""Settings of Pulumi's AWS provider: the region, the one account that it may change, and custom endpoints if
configured.
"""

from typing import Any

from landbridge.environment import Environment

#: The services that the components use; each gets the endpoint where an environment names one.
SERVICES = (
    "budgets",
    "cloudtrail",
    "ec2",
    "efs",
    "events",
    "fsx",
    "iam",
    "kms",
    "lambda",
    "logs",
    "s3",
    "secretsmanager",
    "ssm",
    "sts",
)


def provider_args(environment: Environment) -> dict[str, Any]:
    """Return the keyword arguments of `aws.Provider`."""
    args: dict[str, Any] = {"region": environment.region}
    if environment.aws.account is not None:
        args["allowed_account_ids"] = [environment.aws.account]
    endpoint = environment.aws.endpoints.operator
    if endpoint is not None:
        # An AWS behind one address has no bucket subdomains, and its accounts are its own.
        args |= {
            "endpoints": [dict.fromkeys(SERVICES, endpoint)],
            "s3_use_path_style": True,
            "skip_credentials_validation": True,
            "skip_metadata_api_check": True,
            "skip_region_validation": True,
        }
    return args
