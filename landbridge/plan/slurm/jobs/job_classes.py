"""Data classes of accounts and roles of data classes, as comments in slurm.conf.

Configless Slurm distributes slurm.conf to every node of both sites, and again after each change: an account that is
added gets credentials without a new image. landbridge-job-credentials (role job_credentials) reads the lines.
"""

from landbridge.environment import Environment
from landbridge.plan.aws.access.job_roles import job_roles

#: Role of a class that must stay on-prem.
NO_ROLE = "-"


def class_lines(environment: Environment) -> list[str]:
    """Return one line for each account and one for each data class; none without accounts.

    The path and name of a role are known before the stack exists; its account and partition are those of the node.
    """
    accounts = environment.scheduler.accounts
    if not accounts:
        return []
    roles = {plan.data_class: f"role{environment.aws.iam.path}{plan.name}" for plan in job_roles(environment)}
    return [
        *(f"# landbridge-class {name} {roles.get(name, NO_ROLE)}" for name in sorted(environment.data_classes)),
        # Slurm's names of accounts are in lower case.
        *(f"# landbridge-account {name.lower()} {account.data_class}" for name, account in sorted(accounts.items())),
    ]
