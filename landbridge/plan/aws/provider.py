"""Settings of Pulumi's AWS provider: the region, the one account that it may change, and custom endpoints if
configured.
"""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.fips import fips_endpoints

#: AWS services that the components use; each gets the environment's endpoint if it has one.
SERVICES = (
    "budgets",
    "ce",
    "cloudtrail",
    "cloudwatch",
    "directconnect",
    "ec2",
    "efs",
    "events",
    "fsx",
    "iam",
    "imagebuilder",
    "kms",
    "lambda",
    "logs",
    "rds",
    "rolesanywhere",
    "route53",
    "route53resolver",
    "s3",
    "sagemaker",
    "secretsmanager",
    "sns",
    "ssm",
    "sts",
)


def provider_args(environment: Environment) -> dict[str, Any]:
    """Return the keyword arguments of `aws.Provider`."""
    args: dict[str, Any] = {"region": environment.region}
    if environment.aws.account is not None:
        args["allowed_account_ids"] = [environment.aws.account]
    if fips_endpoints(environment):
        args["use_fips_endpoint"] = True
    endpoint = environment.aws.endpoints.operator
    if endpoint is not None:
        # An emulator at one address has no bucket subdomains, and accounts that AWS does not know.
        args |= {
            "endpoints": [dict.fromkeys(SERVICES, endpoint)],
            "s3_use_path_style": True,
            "skip_credentials_validation": True,
            "skip_metadata_api_check": True,
            "skip_region_validation": True,
        }
    return args
