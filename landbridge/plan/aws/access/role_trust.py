"""Trust policies of the IAM roles, and the duration of sessions of on-prem roles."""

from landbridge.plan.aws.access import iam_policies
from landbridge.plan.aws.access.identity import IdentityArgs
from landbridge.plan.aws.access.onprem_hosts import OnPremRole
from landbridge.plan.policy_document import document

#: MaxSessionDuration of a role for which none is set.
_DEFAULT_SESSION_SECONDS = 3600


def instance_trust() -> str:
    """Return the trust policy of nodes: only EC2 may assume the role."""
    return document([iam_policies.service_trust("ec2.amazonaws.com")])


def managed_trust(account: str) -> str:
    """Return the trust policy of managed nodes: only Systems Manager on behalf of this account."""
    return document([iam_policies.service_trust("ssm.amazonaws.com", account)])


def longest_session(args: IdentityArgs) -> int | None:
    """Return MaxSessionDuration of an on-prem role; None: IAM's default of one hour.

    A session of IAM Roles Anywhere cannot be longer (IAM User Guide, "Update the maximum session duration for a role").
    """
    return args.anchor.seconds if args.anchor is not None and args.anchor.seconds > _DEFAULT_SESSION_SECONDS else None


def onprem_trust(args: IdentityArgs, role: OnPremRole, account: str, anchor: str | None) -> str:
    """Return the trust policy of a role for on-prem hosts."""
    return document([iam_policies.roles_anywhere_trust(account, args.hosts[role], anchor)])
